"""One Chromium for all; pages are made once of runs with real patches."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import SCRATCH_ROOT, make_repository
from tests.support.browser import Scheme, Watched, browser, chromium, opened
from tests.support.page_ends import ends
from tests.support.page_hostile import hostile
from tests.support.page_large import large, one_diff
from tests.support.page_small import small
from tests.support.pages import PageRun

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Open = Callable[..., Watched]
KINDS: Mapping[str, Callable[[Path, Path], PageRun]] = {
    "small": small,
    "hostile": hostile,
    "ends": ends,
    "one_diff": one_diff,
    "many": partial(large, lanes=3, files=300, lines=3, tests=400),  # for a tree that scrolls
}
"""By name: makes it of a repository and a scratch folder."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this folder wants a browser, and takes its time."""
    path = Path(__file__).parent
    missing = _missing()
    for item in items:
        if path in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if missing:
                item.add_marker(pytest.mark.skip(reason=missing))


def _missing() -> str:
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is not installed (the extra `browser`)"
    return "" if chromium() else "no Chromium here (HYDRA_CHROMIUM names one)"


@pytest.fixture(scope="session")
def chrome() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="session")
def made() -> Iterator[Callable[[str], PageRun]]:
    """A run by its name in tests.support.pages, made once; its page is `run.page`."""
    runs: dict[str, PageRun] = {}
    with ExitStack() as stack:
        # Hydra's own git must not read this machine's settings; fixtures of a test come later.
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=SCRATCH_ROOT)))
        patch.setenv("HOME", str(home))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")

        def make(name: str) -> PageRun:
            if name not in runs:
                folder = tempfile.TemporaryDirectory(prefix="hydra-page-", dir=SCRATCH_ROOT)
                scratch = Path(stack.enter_context(folder))
                runs[name] = KINDS[name](make_repository(scratch / "shop"), scratch)
                runs[name].file(scratch)
            return runs[name]

        yield make


@pytest.fixture
def show(chrome: Browser, made: Callable[[str], PageRun]) -> Iterator[Open]:
    """Opens a run's page in a context of its own."""
    with ExitStack() as stack:

        def open_it(
            name: str,
            view: str = "",
            *,
            width: int = 1280,
            height: int = 900,
            scheme: Scheme = "light",
        ) -> Watched:
            file = made(name).shelf.state.parent / "page.html"
            size = {"width": width, "height": height}
            return stack.enter_context(opened(chrome, file, scheme=scheme, view=view, **size))

        yield open_it
