"""What is asked of a program is asked once, of no more at a time than there are cores; an answer
is remembered as long as it counts, and one that gave none is told as that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.contract import Probe
from hydra.adapters.probe.cache import LASTS, WRAPPER_LASTS, Memory, identify
from hydra.adapters.probe.probes import SIGN_IN, Question, unanswered
from hydra.conformance.selection import chosen
from hydra.process.limits import CpuClock
from hydra.process.run import run
from hydra.records.agent import ProbeOutput


def test_each_agents_help_and_version_tell_why_they_could_not_be_asked() -> None:
    """And never that a flag is gone, or that its sandbox is broken."""
    lines: list[str] = []
    for subject in chosen([], [], None, os.environ)[0]:
        descriptor = subject.adapter.descriptor
        answers = subject.versions()[-1].probes(descriptor.probes) if subject.versions() else {}
        help = "exec_help" if subject.key == "codex" else "help"
        for name in {"version", help} & answers.keys():
            silent = replace(answers[name], exit_code=126, stdout="", stderr="bwrap: no")
            failed = {**answers, name: silent}
            error = unanswered(subject.detect(failed), descriptor, failed).error
            lines.append(error.message if error else f"{subject.key} {name}: ready")
    untold = [line for line in lines if not line.endswith("cannot be started: bwrap: no")]
    assert untold == ["acp help: ready"]  # no flag of it is needed
    assert len(lines) > 30


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
        (SIGN_IN, None, False, 0.0),
        (SIGN_IN, 126, False, 0.0),  # it could not be asked
    ],
)
def test_how_long_an_answer_counts(
    name: str, code: int | None, wrapper: bool, lasts: float
) -> None:
    codex = registry.OWN["codex"].descriptor
    probe = Probe(name=name, args=("a",), settings=name == "settings")
    probe = next((row for row in codex.probes if row.name == name == SIGN_IN), probe)
    question = Question(descriptor=codex, probe=probe, binary=Path("/a"), key="a", wrapper=wrapper)
    assert question.lasts(ProbeOutput(argv=("a",), exit_code=code)) == lasts


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
    for text in ("", "[]", '{"answers": 3}', '{"schema": 2, "answers": {"a": 1}}'):
        file.write_text(text)  # a damaged memory is an empty one
        assert Memory(file).answer("a") is None


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_program_is_its_file_and_a_shim_as_many_as_it_has_names(scratch: Path) -> None:
    for line, is_wrapper in (("/bin/sh", True), ("/usr/bin/env bash", True), ("/bin/node", False)):
        script = executable(scratch / "bin" / "agent", f"#!{line}\n")
        before = identify(script)
        assert (before.wrapper, identify(script)) == (is_wrapper, before)
        script.write_text(f"#!{line}\n# updated")
        assert identify(script).text != before.text
    shim = executable(scratch / "shim", "\x7fELF")
    for name in ("claude", "codex"):
        (scratch / name).symlink_to(shim)
    assert identify(scratch / "claude") != identify(scratch / "codex")
    assert identify(scratch / "gone").text == ""


# --- a limit that a busy machine does not shorten ------------------------------------------------


def test_what_waits_for_a_core_is_not_counted() -> None:
    clock = CpuClock()
    for more, spent, wants, seconds in (
        (5.0, 0.1, True, 0.1),  # it wanted a core for 5 s and got 0.1 s of one
        (5.0, 5.1, True, 5.1),  # it computed
        (5.0, 5.1, False, 10.1),  # it slept
        (1.0, 9.0, True, 11.1),  # two threads: no second counts twice
    ):
        clock.look(more, spent, wants)
        assert clock.seconds == pytest.approx(seconds)


@pytest.mark.slow
@pytest.mark.parametrize("line", ["sleep 60", "while :; do :; done"])
async def test_what_sleeps_and_what_spins_has_a_limit(line: str) -> None:
    argv, env = ("/bin/sh", "-c", line), {"PATH": os.environ["PATH"]}
    assert (await run(argv, env=env, cwd=Path("/"), timeout=1.0, waits_for_core=True)).timed_out
