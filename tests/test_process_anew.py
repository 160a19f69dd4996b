"""A start whose confinement falls over what was there a moment ago."""

from __future__ import annotations

import os
import resource
import shutil
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.process.child import WAITS
from hydra.process.control import ProcessControl
from hydra.process.records import CannotStart, Wrap
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.process.sandbox.discovery import compute_view
from hydra.process.sandbox.policy import SandboxPolicy
from hydra.process.stdin_queue import StdinQueue
from hydra.records.plan import Confinement
from tests.support.processes import namespaces_work
from tests.support.supervised import Watched

BWRAP = shutil.which("bwrap") or ""
needs_bwrap = pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here")
FALLS = ("sh", "-c", 'echo "bwrap: Can\'t mkdir /opt/x: Read-only file system" >&2; exit 1')


class Falling:
    """A `wrap` that falls the first `times`."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.calls = 0

    def __call__(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        self.calls += 1
        return FALLS if self.calls <= self.times else argv


async def ran(wrap: Wrap, *argv: str) -> tuple[int | None, bytes]:
    env = {"PATH": os.environ["PATH"]}
    done = await run(argv, env=env, cwd=Path("/"), timeout=30, wrap=wrap, stdin=b"task")
    return done.exit_code, done.stdout


@pytest.mark.parametrize("times", [1, len(WAITS)])
async def test_it_is_computed_and_made_anew_and_is_given_all_that_it_needs(times: int) -> None:
    wrap = Falling(times)
    assert await ran(wrap, "cat") == (0, b"task")
    assert wrap.calls == times + 1


async def test_one_that_falls_again_and_again_says_why() -> None:
    wrap = Falling(9)
    with pytest.raises(CannotStart, match="cat was never started: bwrap: Can't mkdir /opt/x"):
        await ran(wrap, "cat")
    assert wrap.calls == len(WAITS) + 1


@pytest.mark.parametrize("argv", [("/nowhere",), ("sh", "-c", "echo bwrap: no >&2; exit 1")])
async def test_what_was_executed_or_is_not_there_is_not_tried_twice(argv: tuple[str, ...]) -> None:
    wrap = Falling(0)
    if argv == ("/nowhere",):
        with pytest.raises(CannotStart):
            await ran(wrap, *argv)
    else:
        assert await ran(wrap, *argv) == (1, b"")
    assert wrap.calls == 1


async def test_an_agent_that_is_talked_to_hears_what_was_said_before_its_second_start() -> None:
    inlet = StdinQueue()
    inlet.write(b"task")
    inlet.close()
    agent = Watched(("cat",), wrap=Falling(1), inlet=inlet)
    await agent.run()
    assert bytes(agent.stdout) == b"task"
    assert len(agent.noticed("started")) == 1


async def test_one_that_was_stopped_meanwhile_is_not_started_again() -> None:
    control = ProcessControl()
    control.expect("interrupt")
    wrap = Falling(1)
    with pytest.raises(CannotStart):
        await Watched(("true",), wrap=wrap, control=control).run()
    assert wrap.calls == 1


# --- what vanishes of a real one -----------------------------------------------------------------


@pytest.fixture
def policy(scratch: Path) -> SandboxPolicy:
    """Two folders on PATH, each with a program, one with a file that is covered."""
    home, lane, path = scratch / "home", scratch / "lane", scratch / "a"
    for folder in (home, lane, path, scratch / "b"):
        folder.mkdir()
    for program in (path / "tool", scratch / "b" / "other"):
        program.write_text("#!/bin/sh\necho ran\n")
        program.chmod(0o755)
    (path / ".env").write_text("KEY=x\n")
    view = compute_view(home, {"PATH": f"{path}:{scratch}/b:/usr/bin"})
    assert path / ".env" in view.masked
    return SandboxPolicy(
        state=scratch / "state", view=view, cwd=lane, home_folder=lane / "home", writable=(lane,)
    )


@needs_bwrap
async def test_a_covered_file_that_vanishes_before_it_is_mounted_is_left_out(
    policy: SandboxPolicy, scratch: Path
) -> None:
    lines: list[tuple[str, ...]] = []

    def wrap(argv: tuple[str, ...]) -> tuple[str, ...]:
        lines.append(confine(Confinement(kind="bwrap", program=BWRAP), policy, argv))
        (scratch / "a" / ".env").unlink(missing_ok=True)
        return lines[-1]

    assert await ran(wrap, f"{scratch}/a/tool") == (0, b"ran\n")
    assert [f"{scratch}/a/.env" in line for line in lines] == [True, False]


@needs_bwrap
async def test_what_is_shown_and_has_vanished_since_is_left_out(
    policy: SandboxPolicy, scratch: Path
) -> None:
    shutil.rmtree(scratch / "b")
    own = replace(policy, readonly=(scratch / "b",))
    wrap = lambda argv: confine(Confinement(kind="bwrap", program=BWRAP), own, argv)  # noqa: E731
    assert await ran(wrap, f"{scratch}/a/tool") == (0, b"ran\n")


@needs_bwrap
async def test_a_home_for_which_there_is_no_room_is_told_as_that(policy: SandboxPolicy) -> None:
    confined = Confinement(kind="bwrap", program=BWRAP)

    def without_room(argv: tuple[str, ...]) -> tuple[str, ...]:
        most = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, most[1]))  # no file may hold a byte
        try:
            return confine(confined, policy, argv)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, most)
            signal.signal(signal.SIGXFSZ, before)

    with pytest.raises(CannotStart) as told:
        await ran(without_room, "true")
    assert told.value.message == f"its HOME could not be made: File too large: {policy.home_folder}"
    script = f"test -s {policy.view.home}/.gitconfig"
    assert await ran(lambda argv: confine(confined, policy, argv), "sh", "-c", script) == (0, b"")
