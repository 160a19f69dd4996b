"""`hydra compare --separate` in races that bring no test: what true tests mend and false ones cost.

A scripted agent answers with upstream's telling tests, cut to one assertion each; then with every
third of them turned round, so that it demands what the base does.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.fixes.answers import answer, telling
from benchmarks.fixes.checkout import Checkout
from benchmarks.fixes.races import TRUTH, race, run, stand
from benchmarks.fixes.task import Task
from benchmarks.intervals import bootstrap
from hydra.commands.demo import script, shims

ROLES = ("source", "near", "dropped", "comment", "overfitted", "breaking")
"""Lanes without tests; one is right by construction."""

TOLD = "separate.json"
"""Beside a race's truth: by way who was first, and how many tests were asked and false."""

WAYS = ("before", "true", "a third false")
ENOUGH = 3
"""Of fewer tests none or all would be false."""

_QUESTION = "Your working folder is the base"


def separate(task: Task, clones: Path, work: Path, runs: Path) -> None:
    """Races the task, if it was not, and asks in each way. Raises what `race` does, and
    `ValueError` where upstream's tests tell nothing once they stand in files of their own."""
    folder = runs / task.name
    if (folder / TOLD).exists():
        return
    checkout = Checkout(clones, work, task.repository)
    checkout.make()
    names = telling(task, checkout)
    if not names:
        raise ValueError("no test of upstream's tells in a file of its own")
    false = names[task.draw("false") % 3 :: 3]
    answers = ["", answer(task, checkout, names), answer(task, checkout, names, false)]
    race(task, clones, work, runs, ROLES)
    stand(checkout, task)
    first = {way: _first(folder, checkout, text) for way, text in zip(WAYS, answers, strict=True)}
    outcome = {"tests": len(names), "false": len(false), "first": first}
    (folder / TOLD).write_text(json.dumps(outcome, indent=1))
    print(f"{task.name}: {len(names)} tests, {len(false)} false, {first}", flush=True)


def _first(folder: Path, checkout: Checkout, answer: str) -> list[str]:
    """The roles of the lanes in the first place, as the command says it."""
    for consult in (folder / "state").glob("*/runs/*/consult"):
        shutil.rmtree(consult)
    steps = [script.say(answer), script.finish()]
    cases = [(_QUESTION, steps)] if answer else []
    shims.place(folder / "agents", "claude", [script.finish()], cases=cases)
    options = ("--separate", "claude", "--budget", "20m") if answer else ()
    done = run(folder, checkout, ["compare", "--json", *options])
    document = json.loads(done.stdout)
    if answer and not (document["separated"] or {}).get("separates"):
        print(f"{folder.name}: {done.stderr.strip()}", file=sys.stderr)
    truth = json.loads((folder / TRUTH).read_text())["lanes"]
    return [truth[lane["lane"]]["role"] for lane in document["lanes"] if lane["rank"] == 1]


def table(runs: Path) -> str:
    """How often a right patch is first, of all tasks and of those with enough tests."""
    tasks = [(path.parent, json.loads(path.read_text())) for path in sorted(runs.glob(f"*/{TOLD}"))]
    lines = []
    for what, chosen in (
        ("all", tasks),
        (f"{ENOUGH} tests or more", [task for task in tasks if task[1]["tests"] >= ENOUGH]),
    ):
        if chosen:
            false, tests = (
                sum(outcome[key] for _, outcome in chosen) for key in ("false", "tests")
            )
            lines += [f"{what}: {len(chosen)} tasks, {tests} tests asked, {false} of them false"]
            lines += _rows(
                [{way: _share(at, outcome["first"][way]) for way in WAYS} for at, outcome in chosen]
            )
    return "\n".join(lines)


def _rows(shares: Sequence[Mapping[str, float]]) -> Iterator[str]:
    ends = bootstrap({way: [share[way] for share in shares] for way in WAYS})
    for way, end in ends.items():
        yield f"  right first, {way:<16} {end.mean:6.1%}  [{end.low:.0%}, {end.high:.0%}]"
    before, true, false = (ends[way].mean for way in WAYS)
    if before < 1:
        yield f"  of the gap to 100% closed    {(true - before) / (1 - before):6.1%}"
    yield f"  points lost by false tests   {(true - false) * 100:6.1f}"


def _share(folder: Path, roles: Sequence[str]) -> float:
    lanes = json.loads((folder / TRUTH).read_text())["lanes"].values()
    right = {lane["role"] for lane in lanes if lane["right"]}
    return sum(role in right for role in roles) / len(roles)
