"""What is asked of a program is asked once, and of no more at a time than there are cores."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hydra.adapters import registry
from hydra.adapters.contract import Probe
from hydra.adapters.probe import detect
from hydra.adapters.probe.cache import LASTS, WRAPPER_LASTS, Memory, identify
from hydra.adapters.probe.context import ProbeContext
from hydra.adapters.probe.probes import SIGN_IN, Question
from hydra.process import limits
from hydra.process.limits import CpuClock
from hydra.process.run import run
from hydra.records.agent import ProbeOutput
from hydra.records.plan import Confinement

CLAUDE = registry.OWN["claude"].descriptor


def question(**options: object) -> Question:
    probe = Probe(name="version", args=("a",))
    return Question(descriptor=CLAUDE, probe=probe, binary=Path("/bin/a"), key="a", **options)  # type: ignore[arg-type]


async def test_a_question_is_put_once_and_no_more_at_a_time_than_there_are_cores(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[tuple[str, ...]] = []
    running: list[int] = [0]

    async def put(question: Question, around: ProbeContext, views: object) -> ProbeOutput:
        lines.append(question.argv)
        running.append(running[-1] + 1)
        await wait_all_tasks_blocked()
        running.append(running[-1] - 1)
        return ProbeOutput(argv=question.argv, exit_code=0, stdout="1.0")

    monkeypatch.setattr(detect, "put", put)
    monkeypatch.setattr(detect, "cores", lambda: 2)
    _, program = [executable(scratch / "bin" / name, "") for name in ("claude", "opencode")]
    around = ProbeContext(
        environ={"PATH": str(scratch / "bin")},
        home=scratch,
        confinement=Confinement(kind="none"),
        state=scratch / "state",
        paths={},
        extra_names={},
    )
    keys = ("claude", "opencode", "opencode-http")
    results = await detect.detect_all([registry.OWN[key] for key in keys], around)
    assert list(results) == list(keys)
    assert len(lines) == len(set(lines))
    assert (str(program), "--version") in lines
    assert max(running) == 2


# --- what is remembered --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code", "wrapper", "lasts"),
    [
        ("version", 0, False, LASTS),
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
    name: str, code: int | None, wrapper: bool, lasts: float
) -> None:
    item = question(wrapper=wrapper)
    item.probe = Probe(name=name, args=("a",), settings=name == "settings")
    assert item.lasts(ProbeOutput(argv=("a",), exit_code=code)) == lasts


def test_an_answer_that_is_too_old_or_from_the_future_is_none(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("hydra.adapters.probe.cache.time.time", lambda: now)
    file = scratch / "cache" / "probes.json"
    memory = Memory(file)
    answer = ProbeOutput(argv=("a", "b"), exit_code=0, stdout="1.0")
    memory.keep("short", answer, 60)
    memory.keep("long", answer, LASTS)
    memory.save()
    assert file.stat().st_mode & 0o777 == 0o600
    again = Memory(file)
    assert again.answer("short") == answer
    now += 60
    assert (again.answer("short"), again.answer("long")) == (None, answer)
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


@pytest.mark.parametrize(
    ("line", "wrapper"), [("/bin/sh", True), ("/usr/bin/env bash", True), ("/bin/env node", False)]
)
def test_a_program_is_its_file(scratch: Path, line: str, wrapper: bool) -> None:
    script = executable(scratch / "bin" / "agent", f"#!{line}\n")
    before = identify(script)
    assert before.wrapper is wrapper
    assert identify(script) == before
    script.write_text(f"#!{line}\n# updated")
    assert identify(script).text != before.text


def test_one_shim_is_as_many_programs_as_it_has_names(scratch: Path) -> None:
    shim = executable(scratch / "shim", "\x7fELF")
    for name in ("claude", "codex"):
        (scratch / name).symlink_to(shim)
    assert identify(scratch / "claude") != identify(scratch / "codex")
    assert identify(scratch / "gone").text == ""


# --- a limit that a busy machine does not shorten ------------------------------------------------


def test_what_waits_for_a_core_is_not_counted() -> None:
    counted = CpuClock()
    counted.look(5.0, 0.1, True)  # it wanted a core for 5 s and got 0.1 s of one
    assert counted.seconds == pytest.approx(0.1)
    counted.look(5.0, 5.1, True)  # it computed
    counted.look(5.0, 5.1, False)  # it slept
    assert counted.seconds == pytest.approx(10.1)
    counted.look(1.0, 9.0, True)  # two threads: no second counts twice
    assert counted.seconds == pytest.approx(11.1)


@pytest.mark.slow
@pytest.mark.parametrize("line", ["sleep 60", "while :; do :; done"])
async def test_what_sleeps_and_what_spins_has_a_limit(line: str) -> None:
    ran = await run(
        ("/bin/sh", "-c", line),
        env={"PATH": os.environ["PATH"]},
        cwd=Path("/"),
        timeout=1.6,
        waits_for_core=True,
    )
    assert ran.timed_out


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
                ran = await run(line, env=env, cwd=scratch, timeout=1.0, waits_for_core=True)
        finally:
            other.kill()
    assert (ran.timed_out, ran.stdout) == (False, b"done\n")
    assert ran.seconds < limits.MOST  # mostly over its limit, by the clock
