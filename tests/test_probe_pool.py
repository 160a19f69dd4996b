"""What is asked of a program is asked once, in an order, by no more at a time than cores serve."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hydra.adapters import registry
from hydra.adapters.contract import Probe
from hydra.adapters.probe.cache import WRAPPER_LASTS, CachedAnswer, Memory, identify
from hydra.adapters.probe.probes import SIGN_IN, Question
from hydra.adapters.probe.scheduler import Pool
from hydra.process import limits
from hydra.process.limits import CpuClock
from hydra.process.run import run

CLAUDE = registry.OWN["claude"].descriptor


def question(name: str, key: str | None = None, **options: object) -> Question:
    return Question(
        descriptor=CLAUDE,
        probe=Probe(name="version", args=(name,)),
        binary=Path("/bin") / name,
        key=name if key is None else key,
        line=name,
        **{"timeout": 10.0, **options},  # type: ignore[arg-type]
    )


@dataclass
class Programs:
    """Stand in for programs: each runs until the test lets it end."""

    began: list[str] = field(default_factory=list)
    ends: dict[str, trio.Event] = field(default_factory=dict)
    sleeps: dict[str, Callable[[bool], None]] = field(default_factory=dict)

    async def put(self, item: Question, on_sleep: Callable[[bool], None]) -> CachedAnswer:
        name = item.line
        self.began.append(name)
        self.ends[name] = trio.Event()
        self.sleeps[name] = on_sleep
        await self.ends[name].wait()
        return CachedAnswer(
            argv=item.argv, exit_code=0, stdout=f"{name} {item.timeout:g}", seconds=1
        )

    async def end(self, *names: str) -> None:
        for name in names:
            self.ends[name].set()
        await wait_all_tasks_blocked()


@pytest.fixture
def programs() -> Programs:
    return Programs()


async def test_no_more_than_the_cores_and_one_and_that_one_is_the_quickest(
    programs: Programs, nursery: trio.Nursery
) -> None:
    memory = Memory(None)
    for name, seconds in {"a": 1, "b": 9, "c": 0.1, "d": 5, "e": 0.2}.items():
        memory.took(name, seconds)
    pool = Pool(nursery, programs.put, memory, 2)
    for name in ("a", "b", "c", "d", "e", "new"):
        pool.ask(question(name))
    await wait_all_tasks_blocked()
    assert programs.began == []  # not before all have asked
    pool.open()
    await wait_all_tasks_blocked()
    assert sorted(programs.began) == ["b", "c", "new"]  # one that never ran may be the longest
    await programs.end("c")
    assert programs.began[3:] == ["e"]  # what is quick does not wait for what is slow
    await programs.end("b")
    assert programs.began[4:] == ["d"]
    await programs.end("e")
    assert programs.began[5:] == ["a"]
    await programs.end("a", "d", "new")


async def test_a_question_is_put_once_whoever_asks_and_gets_the_longest_limit(
    programs: Programs, nursery: trio.Nursery
) -> None:
    pool = Pool(nursery, programs.put, Memory(None), 8)
    questions = [pool.ask(question("a", timeout=limit)) for limit in (20, 45, 30)]
    alone = [pool.ask(question(name, key="")) for name in ("x", "y")]  # of these nothing is known
    pool.open()
    await wait_all_tasks_blocked()
    assert sorted(programs.began) == ["a", "x", "y"]
    await programs.end("a", "x", "y")
    lines = [(await probe_question.wait()).stdout for probe_question in (*questions, *alone)]
    assert lines == ["a 45"] * 3 + ["x 10", "y 10"]
    late = pool.ask(question("a"))
    assert (await late.wait()).stdout == "a 45"
    assert len(programs.began) == 3


async def test_what_sleeps_holds_no_place(programs: Programs, nursery: trio.Nursery) -> None:
    pool = Pool(nursery, programs.put, Memory(None), 1)
    for name in "abcd":
        pool.ask(question(name))
    pool.open()
    await wait_all_tasks_blocked()
    assert len(programs.began) == 2
    first = programs.began[0]
    programs.sleeps[first](True)
    await wait_all_tasks_blocked()
    assert len(programs.began) == 3
    programs.sleeps[first](False)
    await programs.end(programs.began[1])
    assert len(programs.began) == 3  # it is awake again, and counts
    await programs.end(first, programs.began[2])
    await programs.end(programs.began[3])


# --- what is remembered --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code", "wrapper", "lasts"),
    [
        ("version", 0, False, None),
        ("version", 0, True, WRAPPER_LASTS),
        ("version", 1, False, 0.0),
        ("help", None, False, 0.0),
        ("settings", 0, False, 600.0),
        (SIGN_IN, 0, False, 600.0),
        (SIGN_IN, 1, True, 600.0),
        (SIGN_IN, None, False, 0.0),
    ],
)
def test_how_long_an_answer_counts(
    name: str, code: int | None, wrapper: bool, lasts: float | None
) -> None:
    item = question("a", wrapper=wrapper)
    item.probe = Probe(name=name, args=("a",), settings=name == "settings")
    assert item.lasts(CachedAnswer(argv=("a",), exit_code=code)) == lasts


def test_an_answer_that_is_too_old_or_from_the_future_is_none(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("hydra.adapters.probe.cache.time.time", lambda: now)
    file = scratch / "cache" / "probes.json"
    memory = Memory(file)
    answer = CachedAnswer(argv=("a", "b"), exit_code=0, stdout="1.0")
    memory.keep("short", answer, 60)
    memory.keep("ever", answer, None)
    memory.took("a", 2.5)
    memory.save()
    assert file.stat().st_mode & 0o777 == 0o600
    again = Memory(file)
    assert (again.answer("short"), again.seconds("a")) == (answer, 2.5)
    now += 60
    assert (again.answer("short"), again.answer("ever")) == (None, answer)
    now -= 61
    assert again.answer("short") is None


@pytest.mark.parametrize("text", ["", "[]", '{"answers": 3}', '{"schema": 2, "answers": {"a": 1}}'])
def test_a_damaged_memory_is_an_empty_one(scratch: Path, text: str) -> None:
    file = scratch / "probes.json"
    file.write_text(text)
    assert Memory(file).answer("a") is None


# --- what a program is ---------------------------------------------------------------------------


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_shell_wrapper_is_what_it_leads_to(scratch: Path) -> None:
    inner = executable(scratch / "lib" / "cli.js", "one")
    wrapper = executable(scratch / "bin" / "agent", f'#!/bin/sh\nexec node "{inner}" "$@"\n')
    before = identify(wrapper, "/bin")
    assert before.wrapper
    assert identify(wrapper, "/bin") == before
    inner.write_text("two!")  # an update that leaves the wrapper as it was
    assert identify(wrapper, "/bin") != before


def test_a_script_is_its_interpreter_too(scratch: Path) -> None:
    script = executable(scratch / "bin" / "agent", "#!/usr/bin/env node\n")
    old = executable(scratch / "old" / "node", "old")
    new = executable(scratch / "new" / "node", "new")
    identities = {identify(script, str(folder.parent)) for folder in (old, new)}
    assert len(identities) == 2
    assert not any(identity.wrapper for identity in identities)


def test_one_shim_is_as_many_programs_as_it_has_names(scratch: Path) -> None:
    shim = executable(scratch / "shim", "\x7fELF")
    for name in ("claude", "codex"):
        (scratch / name).symlink_to(shim)
    assert identify(scratch / "claude", None) != identify(scratch / "codex", None)
    assert identify(scratch / "gone", None).text == ""


# --- a limit that a busy machine does not shorten ------------------------------------------------


def test_what_waits_for_a_core_is_not_counted() -> None:
    counted = CpuClock()
    counted.look(5.0, 0.1, True)  # it wanted a core for 5 s and got 0.1 s of one
    assert counted.seconds == pytest.approx(0.1)
    counted.look(5.0, 5.1, True)  # it computed
    counted.look(5.0, 5.1, False)  # it slept
    assert counted.seconds == pytest.approx(10.1)
    assert counted.slept == 5.0
    counted.look(1.0, 9.0, True)  # two threads: no second counts twice
    assert counted.seconds == pytest.approx(11.1)
    assert counted.slept == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("line", ["sleep 60", "while :; do :; done"])
async def test_what_sleeps_and_what_spins_has_a_limit(line: str) -> None:
    answers: list[bool] = []
    ran = await run(
        ("/bin/sh", "-c", line),
        env={"PATH": os.environ["PATH"]},
        cwd=Path("/"),
        timeout=1.6,
        on_sleep=answers.append,
    )
    assert ran.timed_out
    assert answers[:1] == ([True] if line.startswith("sleep") else [])


@pytest.mark.full
@pytest.mark.serial
async def test_a_program_that_gets_no_core_is_waited_for(scratch: Path) -> None:
    """It has a core that another keeps busy, and the last place in the queue for it."""
    core = str(min(os.sched_getaffinity(0)))
    busy = ["taskset", "-c", core, "/bin/sh", "-c", "echo; while :; do :; done"]
    work = 'i=0; while [ "$i" -lt 200000 ]; do i=$((i+1)); done; echo done'
    line = ("taskset", "-c", core, "chrt", "-i", "0", "/bin/sh", "-c", work)
    env = {"PATH": os.environ["PATH"]}
    with subprocess.Popen(busy, stdout=subprocess.PIPE) as other:  # noqa: ASYNC220  a shell
        assert other.stdout is not None
        other.stdout.readline()

        async def release() -> None:
            await trio.sleep(3)
            other.kill()

        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(release)
                ran = await run(
                    line, env=env, cwd=scratch, timeout=1.0, on_sleep=lambda asleep: None
                )
        finally:
            other.kill()
    assert (ran.timed_out, ran.stdout) == (False, b"done\n")
    assert ran.seconds < limits.MOST  # mostly over its limit, by the clock
