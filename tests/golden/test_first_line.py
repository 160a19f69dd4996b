"""What a command waits for is said at once: before git, or any program, has answered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from tests.support import fakes
from tests.support.command import Hydra
from tests.support.terminal import Terminal

_GIT = '#!/bin/sh\nread line <"{gate}"\nexec git-itself "$@"\n'


@pytest.fixture
def let_git_go(hydra: Hydra) -> Iterator[Callable[[], object]]:
    """Each git waits until it is called."""
    folder = hydra.scratch / "slow"
    folder.mkdir()
    os.mkfifo(folder / "gate")
    (folder / "git").write_text(_GIT.format(gate=folder / "gate"))
    (folder / "git").chmod(0o755)
    (folder / "git-itself").symlink_to("/usr/bin/git")
    hydra.path.insert(0, folder)
    gate = os.open(folder / "gate", os.O_RDWR)
    yield lambda: os.write(gate, b"\n" * 4096)
    os.close(gate)


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            ("race", "Do it"),
            "looking at your repository, at which agents are ready, and at how your tests run",
        ),
        (
            ("race", "Do it", "-a", "claude", "-a", "2xcodex", "--check", "make test"),
            "looking at your repository, at claude and 2xcodex, and at whether your checks start",
        ),
        (("check",), "looking at the race and its checks"),
        (("merge",), "looking at the race and at your branch"),
    ],
)
def test_a_pipe_has_its_first_line_before_any_git_has_answered(
    hydra: Hydra, let_git_go: Callable[[], object], args: tuple[str, ...], line: str
) -> None:
    process = hydra.start(*args)
    assert process.stderr is not None
    assert process.stderr.readline() == f"{line}\n"
    let_git_go()
    process.communicate(timeout=120)


def test_so_has_a_terminal(hydra: Hydra, let_git_go: Callable[[], object]) -> None:
    terminal = Terminal(hydra, "race", "Do it", "-a", "claude", "--no-check")
    terminal.read("looking at your repository, at claude")
    let_git_go()
    terminal.read()
    terminal.wait()


def test_who_reads_a_document_or_asked_for_quiet_gets_no_such_line(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.finish("Done.")])
    for way in ("--json", "--quiet"):
        done = hydra.run("race", "Do it", "-a", "claude", "--no-check", "--dry-run", way)
        assert (done.returncode, done.stderr) == (0, "")
        assert "looking" not in hydra.run("check", way).stderr


def test_a_full_disk_behind_standard_error_ends_no_race(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.finish("Done.")])
    hydra.wrap = ["/bin/sh", "-c", 'exec "$@" 2>/dev/full', "sh"]
    assert hydra.run("race", "Do it", "-a", "claude", "--no-check", "--dry-run").returncode == 0
