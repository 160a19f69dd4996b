"""A signal, or a kill, in each phase of a race: how it ends, what is kept, that nothing is left,
and what the next command finds; the one after it finds nothing to do."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.conftest import commit
from tests.support import fakes
from tests.support.command import Hydra, in_turn
from tests.support.processes import running, token, wait_until

EDIT = fakes.edit("a.txt", "x\n")
DEAF = [
    *(fakes.daemon(ignore_term=True, clear_env=True), fakes.daemon(hold_stdout=True)),
    fakes.ignore("SIGINT", "SIGTERM"),
]
SHORT = '[limits]\ngrace_int = "300ms"\ngrace_term = "300ms"\n'


def settings(hydra: Hydra, text: str) -> None:
    (hydra.home / "hydra.toml").write_text(text)


Reached = Callable[[], object]
Lay = Callable[[Hydra, fakes.Barrier], tuple[tuple[str, ...], Reached]]


def in_a_hook(hydra: Hydra, gate: fakes.Barrier) -> tuple[tuple[str, ...], Reached]:
    hydra.agent("claude", [EDIT, fakes.finish("done")])
    settings(hydra, f"[hooks]\npre_run = ['echo . >{gate.path}; sleep 600 #{hydra.scratch}']\n")
    return (), gate.wait


def at_work(hydra: Hydra, gate: fakes.Barrier) -> tuple[tuple[str, ...], Reached]:
    hydra.agent("claude", [EDIT, gate.arrive(), fakes.hang()])
    return (), gate.wait


def deaf(hydra: Hydra, gate: fakes.Barrier) -> tuple[tuple[str, ...], Reached]:
    hydra.agent("claude", [EDIT, *DEAF, gate.arrive(), fakes.hang()])
    settings(hydra, SHORT)
    return (), gate.wait


def in_a_check(hydra: Hydra, gate: fakes.Barrier) -> tuple[tuple[str, ...], Reached]:
    """It hangs on the patch, not on the base; Hydra's own line does not have the mark."""
    mark = token()
    (hydra.repo / "slow.sh").write_text(f"test -e a.txt || exit 0\nsleep {mark}\n")
    commit(hydra.repo, "A slow check")
    hydra.agent("claude", [EDIT, fakes.finish("done")])
    return ("--check", "slow=sh slow.sh"), lambda: wait_until(lambda: running(mark))


def in_a_later_try(hydra: Hydra, gate: fakes.Barrier) -> tuple[tuple[str, ...], Reached]:
    first = [fakes.edit("b.txt", "half\n"), fakes.signal_self(11)]
    in_turn(hydra, first, [EDIT, *gate.stop()])
    settings(hydra, '[retry]\nwait = "0s"\nwith_patch = true\n')
    return ("--retry", "1"), gate.wait


def between_tries(hydra: Hydra, gate: fakes.Barrier) -> tuple[tuple[str, ...], Reached]:
    first = [EDIT, fakes.signal_self(11)]
    in_turn(hydra, first, [fakes.finish("no")])
    settings(hydra, '[retry]\nwait = "1h"\nlongest = "1h"\nwith_patch = true\n')
    return ("--retry", "1"), lambda: wait_until(lambda: "lane_retrying" in kinds(hydra))


def kinds(hydra: Hydra) -> list[str]:
    return [row["kind"] for row in hydra.recorded()]


@dataclass(frozen=True)
class Case:
    """`status` is its lane's, "" where there is no race; `next` what the next command says."""

    lay: Lay
    signals: str
    code: int
    status: str = ""
    next: str = ""


TAKEN = "1 patch taken"
CASES = [
    Case(in_a_hook, "INT", 130),
    Case(in_a_hook, "HUP", -signal.SIGHUP),
    Case(at_work, "INT", 130, "interrupted"),
    Case(at_work, "HUP HUP", 143, "interrupted"),
    Case(at_work, "KILL", -signal.SIGKILL, "interrupted", TAKEN),
    Case(deaf, "INT", 130, "interrupted"),
    Case(deaf, "TERM", 143, "interrupted"),
    Case(deaf, "INT INT", 130, "interrupted", TAKEN),
    Case(in_a_check, "INT", 130, "completed"),
    Case(in_a_check, "KILL", -signal.SIGKILL, "interrupted", "0 patches taken"),
    Case(in_a_later_try, "KILL", -signal.SIGKILL, "interrupted", TAKEN),
    Case(between_tries, "INT", 130, "failed"),
    Case(between_tries, "KILL", -signal.SIGKILL, "failed", "0 patches taken"),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.lay.__name__}, {case.signals}")
def test_a_signal_in_a_phase(hydra: Hydra, case: Case) -> None:
    options, reached = case.lay(hydra, fakes.Barrier(hydra.scratch, "reached"))
    race = hydra.start("race", "Do it", "-a", "claude", "-q", *options)
    assert reached() is not False
    for number, name in enumerate(case.signals.split()):
        if number:
            assert wait_until(lambda: "run_interrupted" in kinds(hydra))
        race.send_signal(signal.Signals[f"SIG{name}"])
    race.communicate(timeout=60)
    assert race.returncode == case.code
    done = hydra.run("runs", "--json")
    assert case.next in done.stderr
    assert bool(case.next) == bool(done.stderr), done.stderr
    if not case.status:
        assert json.loads(done.stdout)["runs"] == []
        assert not list((hydra.state / "g").iterdir())
        return
    (lane,) = json.loads(hydra.run("runs", "show", "--json").stdout)["lanes"]
    assert (lane["status"], lane["patch"]["files"], lane["usable"]) == (case.status, 1, False)
    assert "+x\n" in hydra.run("diff", "claude").stdout
    assert [kinds(hydra).count(kind) for kind in ("lane_ended", "run_ended")] == [1, 1]
    assert hydra.run("runs").stderr == ""
    assert not list(hydra.state.glob("g/*/_*")), "a check's ground is left"
