"""Fixtures of the live tests: which account they run as, and a place to run in."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from hydra.conformance.script import Script
from hydra.conformance.server import serve
from tests.live.support import AGENTS, BIN, ORDINARY_UID, Place, hydra_program, unmet

MakePlace = Callable[[str | Script], Place]


AS_ROOT = [pytest.mark.full] if os.geteuid() == 0 else []


@pytest.fixture(params=[pytest.param("self", marks=AS_ROOT), "ordinary user"])
def account(request: pytest.FixtureRequest) -> int:
    """The uid to run hydra as: our own, and as root an ordinary user's as well."""
    if request.param == "self":
        return os.geteuid()
    if os.geteuid() != 0:
        pytest.skip("not root: the test has run as an ordinary user already")
    return ORDINARY_UID


@pytest.fixture
def make_place(account: int) -> Iterator[MakePlace]:
    """Makes a place with a model server that plays a script; all of it goes at the end."""
    with ExitStack() as stack:

        def make(script: str | Script) -> Place:
            return stack.enter_context(_place(script, account))

        yield make


@pytest.fixture
def own_place(request: pytest.FixtureRequest) -> Iterator[MakePlace]:
    """As `make_place`, for tests that run once, as whoever runs them."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(_place(script, os.geteuid()))


class _place:
    """Context manager: a scratch folder under /var/tmp that belongs to one account."""

    def __init__(self, script: str | Script, uid: int) -> None:
        self._script, self._uid, self._stack = script, uid, ExitStack()

    def __enter__(self) -> Place:
        if not BIN.is_dir():
            pytest.skip("HYDRA_LIVE_BIN names no folder with the real CLIs")
        # What is skipped or fails on the way in is cleared up, too.
        with self._stack as stack:
            place = self._make_place(stack)
            self._stack = stack.pop_all()
        return place

    def _make_place(self, stack: ExitStack) -> Place:
        root = Path(tempfile.mkdtemp(prefix="hydra-live-", dir="/var/tmp"))
        stack.callback(shutil.rmtree, root, ignore_errors=True)
        root.chmod(0o755)
        server = stack.enter_context(serve(self._script))
        place = Place(root, self._uid, server)
        stack.callback(place.close)
        for folder in (place.home, place.repo):
            folder.mkdir()
        place.hand_over()
        _require_programs(place)
        return place

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _require_programs(place: Place) -> None:
    """Every program must run as this account, or the test says which does not."""
    for argv in ((hydra_program(), "--version"), *((str(BIN / a), "--version") for a in AGENTS)):
        try:
            process = place.start(*argv)
            _, stderr = process.communicate(timeout=60)
        except (OSError, subprocess.TimeoutExpired) as error:
            unmet(f"uid {place.uid} cannot run {argv[0]}: {error}")
        else:
            if process.returncode:
                unmet(f"uid {place.uid} cannot run {argv[0]}: {stderr[-300:]}")
