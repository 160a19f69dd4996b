"""Supervision with real processes. Limits are short but real; no test orders by sleeping."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from hydra.process import limits
from hydra.process.control import ProcessControl
from hydra.process.records import CannotStart, Notice
from hydra.records.outcome import ExitStatus
from hydra.records.request import Limits
from tests.support.processes import MODES, python, running, shell, token
from tests.support.supervised import Watched

both = pytest.mark.parametrize("mode", MODES)

QUICK = replace(Limits(), grace_int=0.2, grace_term=0.2)
"""Long limits, short graces."""

DEAF = "trap '' INT TERM; echo ready; while :; do sleep 0.05; done"


@both
async def test_both_streams_and_the_exit(mode: str) -> None:
    agent = Watched(shell("echo out; echo err >&2; exit 3"), mode)
    end = await agent.run()
    assert (bytes(agent.stdout), bytes(agent.stderr)) == (b"out\n", b"err\n")
    assert end.exit == ExitStatus(code=3)
    assert end.stopped == ""


async def test_stdin_is_what_was_named_and_nothing_else() -> None:
    agent = Watched(("cat",), stdin=b"do it")
    await agent.run()
    assert bytes(agent.stdout) == b"do it"
    await (empty := Watched(("cat",))).run()
    assert bytes(empty.stdout) == b""


@both
async def test_nobody_writes_to_the_prompt_by_its_descriptor(mode: str) -> None:
    code = (
        "import os\n"
        "for pid in ('self', os.getppid()):\n"
        "    try: os.write(os.open(f'/proc/{pid}/fd/0', os.O_WRONLY), b'x')\n"
        "    except OSError: pass\n"
        "os.write(1, os.read(0, 99))"
    )
    agent = Watched(python(code), mode, stdin=b"do it")
    await agent.run()
    assert bytes(agent.stdout) == b"do it"


@both
async def test_the_started_notice_names_the_agent_as_seen_from_here(mode: str) -> None:
    mark = token()
    agent = Watched(("sleep", mark), mode)
    seen: list[list[int]] = []

    def look(notice: Notice) -> None:
        seen.append(running(mark))
        agent.control.kill("enough")

    agent.on_notice = look
    await agent.run(QUICK)
    assert agent.notices[0].kind == "started"
    assert [agent.notices[0].data["pid"]] == seen[0]


@both
async def test_the_ladder_ends_an_agent_that_ignores_int_and_term(mode: str) -> None:
    agent = Watched(shell(DEAF), mode)
    agent.on_output = lambda chunk: agent.control.stop("interrupt")
    end = await agent.run(QUICK)
    assert end.exit.signal == 9
    assert end.stopped == "interrupt"
    assert [notice.data for notice in agent.noticed("signal")] == [
        {"reason": "interrupt", "signal": name} for name in ("SIGINT", "SIGTERM", "SIGKILL")
    ]


@both
async def test_an_agent_that_obeys_int_gives_its_own_answer(mode: str) -> None:
    agent = Watched(shell("trap 'echo bye; exit 0' INT; echo ready; sleep 99 & wait"), mode)
    agent.on_output = lambda chunk: agent.control.stop("interrupt")
    end = await agent.run(replace(Limits(), grace_int=600))
    assert end.exit.code == 0
    assert end.stopped == "interrupt"
    assert bytes(agent.stdout) == b"ready\nbye\n"
    assert [notice.data["signal"] for notice in agent.noticed("signal")] == ["SIGINT"]


async def test_a_second_stop_shortens_the_first() -> None:
    agent = Watched(shell(DEAF))

    def stop_twice(chunk: bytes) -> None:
        agent.control.stop("interrupt", graces=(600, 600))
        agent.control.stop("again", graces=(0.1, 0.1))

    agent.on_output = stop_twice
    end = await agent.run(Limits())
    assert (end.stopped, end.exit.signal) == ("interrupt", 9)
    assert end.seconds < 30


async def test_kill_is_at_once_and_may_come_before_the_start() -> None:
    agent = Watched(shell(DEAF))
    agent.control.kill("interrupt")
    end = await agent.run(Limits())
    assert (end.stopped, end.exit.signal) == ("interrupt", 9)
    assert [notice.data["signal"] for notice in agent.noticed("signal")] == ["SIGKILL"]


@both
async def test_idle_is_called_warned_of_and_ended(mode: str) -> None:
    agent = Watched(("sleep", token()), mode)
    end = await agent.run(replace(QUICK, idle=0.6))
    assert end.stopped == "idle"
    (half,) = agent.noticed("half")
    assert (half.data["limit"], half.data["of"]) == ("idle", 0.6)
    assert agent.notices.index(half) < agent.notices.index(agent.noticed("signal")[0])


async def test_progress_resets_idle_and_the_notice_comes_once_a_silence() -> None:
    agent = Watched(("sleep", token()))

    def progress_thrice(notice: object) -> None:
        if len(agent.noticed("half")) < 3:
            agent.control.progress()

    agent.on_notice = progress_thrice
    end = await agent.run(replace(QUICK, idle=0.4))
    assert len(agent.noticed("half")) == 3
    assert end.stopped == "idle"
    assert end.seconds >= 0.2 + 0.2 + 0.4


async def test_a_changed_worktree_is_progress() -> None:
    numbers: list[float] = []
    before = time.time()

    async def changed_since(when: float) -> float | None:
        numbers.append(when)
        await trio.lowlevel.checkpoint()
        return time.time() if len(numbers) < 3 else None

    agent = Watched(("sleep", token()), changed_since=changed_since)
    end = await agent.run(replace(QUICK, idle=0.3))
    assert len(numbers) == 3
    assert before <= numbers[0] < numbers[1] < numbers[2] <= time.time()
    assert end.seconds >= 0.9


async def test_a_change_before_the_last_event_is_no_further_progress() -> None:
    numbers: list[float] = []

    async def changed_since(when: float) -> float | None:
        # A file that was written a moment before the event that told of it.
        numbers.append(when)
        await trio.lowlevel.checkpoint()
        return when - 0.005

    agent = Watched(("sleep", token()), changed_since=changed_since)
    end = await agent.run(replace(QUICK, idle=0.3))
    assert (len(numbers), end.stopped) == (1, "idle")


async def test_an_agent_that_speaks_while_we_look_is_not_idle() -> None:
    agent = Watched(("sleep", token()))
    looks = 0

    async def changed_since(when: float) -> float | None:
        nonlocal looks
        looks += 1
        if looks == 1:
            agent.control.progress()
        return None

    agent.changed_since = changed_since
    end = await agent.run(replace(QUICK, idle=0.3))
    assert (looks, end.stopped) == (2, "idle")


async def test_an_open_tool_call_has_its_own_limit() -> None:
    agent = Watched(("sleep", token()))

    def open_once(notice: Notice) -> None:
        if notice.kind == "started":
            agent.control.tool_opened("bash")

    agent.on_notice = open_once
    end = await agent.run(replace(QUICK, idle=0.1, tool=0.8))
    assert (end.stopped, end.closed) == ("tool", False)
    assert agent.noticed("half")[0].data["limit"] == "tool"


@pytest.mark.slow
@both
async def test_a_tool_that_computes_is_progress(mode: str) -> None:
    # The tool has a session of its own, as the real CLIs' have; silent beyond the limit, then gone.
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    os.write(1, b"began ")
    end = time.process_time() + 1.2
    while time.process_time() < end:
        pass
    os._exit(0)
os.wait()
os.write(1, b"done")
"""
    agent = Watched(python(code), mode)
    agent.on_output = lambda chunk: agent.control.progress()  # the silence is the tool's own
    end = await agent.run(replace(QUICK, idle=0.5))
    assert bytes(agent.stdout) == b"began done"
    assert (end.stopped, end.exit.code) == ("", 0)


async def test_a_program_in_the_agents_own_group_is_the_agent() -> None:
    # Codex's native program works below a node script and must not keep its own lane alive.
    code = "import os\nif os.fork() == 0:\n    while True: pass\nos.wait()"
    end = await Watched(python(code)).run(replace(QUICK, idle=0.5))
    assert end.stopped == "idle"


async def test_an_agent_that_only_spins_itself_is_idle() -> None:
    end = await Watched(python("while True: pass")).run(replace(QUICK, idle=0.5))
    assert end.stopped == "idle"


async def test_nothing_extends_the_total_limit() -> None:
    agent = Watched(shell("while echo tick; do sleep 0.02; done"))
    agent.on_output = lambda chunk: agent.control.progress()
    end = await agent.run(replace(QUICK, total=0.6))
    assert end.stopped == "total"
    assert [notice.data["limit"] for notice in agent.noticed("half")] == ["total"]


@both
async def test_closed_stdout_of_a_living_agent_ends_it(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limits._CLOSED_FOR == 2.0
    monkeypatch.setattr(limits, "_CLOSED_FOR", 0.3)
    agent = Watched(shell("echo out; exec >&-; sleep 99"), mode)
    end = await agent.run(QUICK)
    assert end.stopped == "stdout_closed"
    assert bytes(agent.stdout) == b"out\n"
    assert 0.3 <= end.seconds < 60


@both
async def test_a_daemon_that_holds_the_pipe_is_killed_and_named(mode: str) -> None:
    mark = token()
    code = """
import os, sys
came, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.execvp("sleep", ["sleep", sys.argv[1]])
os.close(tell)
os.read(came, 1)
os._exit(0)
"""
    # The agent's read ends when the daemon's exec has closed the pipe's last other end.
    agent = Watched(python(code, mark), mode)
    end = await agent.run(QUICK)
    assert (end.exit.code, end.stopped) == (0, "")
    assert [name.split()[0] for name in end.exit.survivors] == ["sleep"]
    assert running(mark) == []


async def test_an_agent_that_kills_its_keeper_leaves_nothing() -> None:
    mark = token()
    code = """
import os, signal, sys
keeper = os.getppid()
if os.fork() == 0:
    os.setsid()
    os.execve("/bin/sleep", ["sleep", sys.argv[1]], {})
os.kill(keeper, signal.SIGKILL)
signal.pause()
"""
    end = await Watched(python(code, mark)).run(QUICK)
    assert end.exit == ExitStatus(keeper_lost=True)
    assert running(mark) == []


async def test_an_agent_that_kills_keeper_and_guard_is_swept_up() -> None:
    mark = token()
    code = """
import os, signal, sys
keeper = os.getppid()
guard = int(open(f"/proc/{keeper}/stat").read().rsplit(")", 1)[1].split()[1])
if os.fork() == 0:
    os.setsid()
    os.execvp("sleep", ["sleep", sys.argv[1]])
os.kill(guard, signal.SIGKILL)
os.kill(keeper, signal.SIGKILL)
signal.pause()
"""
    for _ in range(10):
        try:
            end = await Watched(python(code, mark)).run(QUICK)
        except CannotStart:  # quicker than the keeper's word that it had been started
            assert running(mark) == []
            continue
        assert end.exit.keeper_lost
        assert running(mark) == []
        # A keeper that lives an instant longer than its guard ends all of them itself.
        if end.exit.survivors:
            break
    # The agent and its child, under whatever name the sweep met them.
    assert len({name.split()[-1] for name in end.exit.survivors}) == 2


async def test_as_pid_1_the_keeper_outlives_the_attempt() -> None:
    end = await Watched(shell("kill -9 1; kill -9 $PPID; exit 4"), "pid1").run(QUICK)
    assert end.exit == ExitStatus(code=4)


@both
async def test_a_keeper_killed_from_outside_ends_the_lane(mode: str) -> None:
    mark = token()
    agent = Watched(("sleep", mark), mode)

    def kill_keeper(notice: object) -> None:
        pid = agent.notices[0].data["pid"]
        stat = Path(f"/proc/{pid}/stat").read_text()
        os.kill(int(stat.rsplit(")", 1)[1].split()[1]), 9)

    agent.on_notice = kill_keeper
    end = await agent.run(QUICK)
    assert end.exit.keeper_lost
    assert (end.exit.code, end.exit.signal) == (None, None)
    assert running(mark) == []


async def test_a_confinement_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hydra.process.limits.START", 0.1)
    monkeypatch.setattr("hydra.process.supervisor.ANSWER", 0.1)
    mark = token()
    agent = Watched(("true",), wrap=lambda argv: ("sleep", mark))
    with pytest.raises(CannotStart, match="true was never started: nothing was said"):
        await agent.run(QUICK)
    assert running(mark) == []


@both
async def test_cancelled_from_outside_it_leaves_nothing(mode: str) -> None:
    mark = token()
    agent = Watched(shell(f"trap '' TERM INT; setsid sleep {mark} & sleep {mark}"), mode)
    with trio.CancelScope() as scope:
        agent.on_notice = lambda notice: scope.cancel()
        await agent.run(QUICK)
    assert scope.cancelled_caught
    assert running(mark) == []


async def test_a_callback_that_fails_leaves_nothing() -> None:
    mark = token()
    agent = Watched(shell(f"echo out; setsid sleep {mark}"))

    def fail(chunk: bytes) -> None:
        raise ZeroDivisionError

    agent.on_output = fail
    with pytest.raises(BaseExceptionGroup) as group:
        await agent.run(QUICK)
    assert group.group_contains(ZeroDivisionError)
    assert running(mark) == []


def _held_open() -> list[str]:
    return sorted(entry.name for entry in Path("/proc/self/fd").iterdir())


async def test_nothing_of_hydra_is_held_open_afterwards() -> None:
    await Watched(("true",)).run()
    before = _held_open()
    for _ in range(3):
        await Watched(("true",), control=ProcessControl()).run()
    with pytest.raises(CannotStart):
        await Watched(("/nowhere",)).run()
    assert _held_open() == before
