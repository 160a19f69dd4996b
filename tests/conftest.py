"""Fixtures for every test: a scratch folder, a small repository, and walls around the real HOME."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.support import command, fakes, reports

# The same examples in every run, and no clock: whether a run is green is not a matter of chance or
# of what else the machine does. `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile(
    "hydra", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("hydra")
# Hypothesis draws constants of the modules that are loaded, too: which these are says what other
# tests this worker had before.
setattr(providers, "_get_local_constants", lambda: providers._local_constants)  # noqa: B010

# Under `nohup` a child would ignore a SIGHUP, and a job that a script put behind a SIGINT: what is
# tested is a Hydra that nobody has told to ignore anything.
for _number, _handler in (
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGINT, signal.default_int_handler),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler)

SCRATCH_ROOT = Path("/var/tmp")
"""Not /tmp: Hydra's state may not lie there (codex's own sandbox writes to it)."""


@pytest.fixture(autouse=True)
def _no_real_places(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No test reads the real HOME, the real state folder, or an inherited git environment."""
    home = tmp_path_factory.mktemp("home")
    foreign = ("GIT_", "HYDRA_", "CLAUDE", "ANTHROPIC", "CODEX", "OPENAI", "CURSOR", "XDG_")
    for name in list(os.environ):
        if name.startswith(foreign) and name != "HYDRA_LIVE_BIN":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as `pure` what asks for no folder that Hydra accepts as its state's place.

    Files with slow tests begin first, so that at the end no worker waits for another.
    """
    for item in items:
        if isinstance(item, pytest.Function) and "scratch" not in item.fixturenames:
            item.add_marker(pytest.mark.pure)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What failed in CI once has to be told by its report alone."""
    report = yield
    if report.failed and call.excinfo is not None:
        report.sections += reports.sections(call.excinfo.value)
    return report


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    """A race that a test has started ends with the test, also where it fails; what it has called
    `hydra` for leaves no process."""
    reports.clear()
    command.scratches.clear()  # what a module's tests share is its own to look after
    fakes.Fifo.opened.clear()
    yield
    assert command.end_started() == []


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A fresh folder that Hydra accepts as a place for state, removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="hydra-test-", dir=SCRATCH_ROOT))
    try:
        yield folder
    finally:
        for path, folders, _ in os.walk(folder):
            for name in folders:
                sub = Path(path, name)
                if not sub.is_symlink():
                    sub.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Closed when the test ends."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def repo(scratch: Path) -> Path:
    """A small repository on branch `main` with one commit of three files."""
    return make_repository(scratch / "shop")


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> command.Hydra:
    """The real command on that repository."""
    return command.Hydra(scratch, repo)


@cache
def _template() -> Path:
    """The repository that `make_repository` copies, made once by each worker."""
    folder = Path(tempfile.mkdtemp(prefix="hydra-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / "shop"
    (root / "src").mkdir(parents=True)
    (root / "README.md").write_text("# Shop\n")
    (root / "src" / "pager.py").write_text("def pages(n, size):\n    return n // size\n")
    (root / ".gitignore").write_text("*.log\n.env\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.com")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "First commit")
    return root


def make_repository(root: Path) -> Path:
    """The repository of the `repo` fixture, at `root`."""
    shutil.copytree(_template(), root, symlinks=True, dirs_exist_ok=True)
    git(root, "update-index", "-q", "--refresh")
    return root


def git(cwd: Path, *args: str) -> str:
    """Plain git, as the user would run it; its stdout without the last newline."""
    done = subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout.rstrip("\n")


def commit(cwd: Path, message: str) -> None:
    """All that is there, by plain git."""
    git(cwd, "add", "-A")
    git(cwd, "commit", "-qm", message)


def write(root: Path, files: Mapping[str, str | bytes | None]) -> None:
    """Puts files into a tree, or takes them out of it; what begins with `#!` may be run."""
    for name, content in files.items():
        path = root / name
        if content is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if content[:2] in ("#!", b"#!"):
            path.chmod(0o755)
