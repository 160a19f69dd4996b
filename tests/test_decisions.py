"""A patch that leaves a decision to the user: what it needs to land, who is asked, and what is kept
of the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hydra.commands import merge_landing as app
from hydra.commands.merge_selection import MergeRequest
from hydra.errors import LandingRefused
from hydra.landing.picks import Pick
from hydra.records.store.files import write_json
from hydra.report.landing import Landing
from hydra.text import of_run
from tests.conftest import git, make_repository
from tests.support import verdicts
from tests.support.command import Hydra
from tests.support.landings import RUN, Shelf, Whole, leftovers
from tests.support.rendering import (
    comment,
    compare_text,
    opening,
    race_end,
    steps,
    summary,
)
from tests.support.shelf import fixture_of
from tests.support.terminal import Terminal
from tests.support.verdict_races import RIGHT, Judged, shop

CLAUSE = "changes what test_up expects: 2 -> 3, and no other patch agrees"
ASKED = f"codex {CLAUSE}"
SUITE = "tests/test_pager.py"
OVERRIDE = '--override "why it may land"'


# --- what a patch needs ------------------------------------------------------------------------


# --- landings ----------------------------------------------------------------------------------


def undecided(scratch: Path) -> Shelf:
    """Codex and claude, each with a patch of two files; codex' verdict leaves a decision."""
    shelf = Shelf.of(make_repository(scratch / "shop"), scratch)
    for lane in ("codex", "claude"):
        shelf.lane(lane, lambda tree, lane=lane: edit(tree, lane))  # type: ignore[misc]
    record(shelf)
    return shelf


shelf = fixture_of(undecided)


def edit(tree: Path, lane: str) -> None:
    (tree / "src" / "pager.py").write_text(f"# {lane}\n")
    (tree / "tests").mkdir()
    (tree / SUITE).write_text(f"# as {lane} has it\n")


def record(shelf: Shelf, *, top: str | None = "codex", **codex: Any) -> None:
    """The race's verdict: codex first, with a decision that is open unless it is said otherwise."""
    commits = {lane: git(shelf.race.patches, "rev-parse", lane) for lane in ("codex", "claude")}
    document = verdicts.ranked(RUN, commits, top=top)
    decision = verdicts.reason("decision", "changes what test_up expects", path=SUITE, line=3)
    data = {"decision": CLAUSE, "agreed": False, "reasons": [decision]}
    document["lanes"][0] |= {**data, **codex}
    file = shelf.race.patches.parent / "result.json"
    write_json(file, {**json.loads(file.read_text()), "verdict": document})


class Person:
    """Whoever stands at the terminal, and what they were asked."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.names: list[str] = []

    def __call__(self, sentence: str) -> bool:
        self.names.append(sentence)
        return self.answer


def land(
    shelf: Shelf, confirm: Callable[[str], bool] | None, **data: Any
) -> tuple[Landing, list[str]]:
    """The landing, and what was said before it; the race's checks pass on it."""
    lines: list[str] = []
    data.setdefault("check", lambda *_: {"ok": True, "why": "", "checks": []})
    request = MergeRequest(environ=shelf.environ, warn=lines.append, confirm=confirm, **data)
    return app.merge(request), lines


def kept(landing: Landing) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path(landing.record.record).read_text())
    return document


PARTS = (Pick("codex", path="src/pager.py"), Pick("codex", path=SUITE))
WAYS: dict[str, dict[str, Any]] = {
    "bare": {},
    "by name": {"lane": "codex"},
    "all of it": {"picks": (Pick("codex", path=""),)},
    "file by file": {"picks": PARTS},
    "its file": {"picks": PARTS[1:]},
    "beside another lane": {"picks": (Pick("codex", path=SUITE), Pick("claude", path="src"))},
    "unchecked": {"picks": PARTS[:1], "check": None},
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_person_is_asked_and_where_nobody_can_be_a_reason_lands_it(
    shelf: Shelf, way: str
) -> None:
    before = Whole.of(shelf.repo)
    refusing, agreeing = Person(False), Person(True)
    with pytest.raises(LandingRefused, match="nothing was landed: you said no"):
        land(shelf, refusing, **WAYS[way])
    with pytest.raises(LandingRefused) as refused:
        land(shelf, None, **WAYS[way])
    assert refused.value.message == (
        f"nothing was landed: {ASKED}; without a terminal you cannot be asked"
    )
    assert refused.value.hint.startswith("to land it all the same: hydra merge ")
    assert refused.value.hint.endswith(f" {OVERRIDE}")
    assert Whole.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []
    landing, lines = land(shelf, agreeing, **WAYS[way])
    assert refusing.names == agreeing.names == [ASKED]
    assert lines == []  # it was said in the question
    assert (kept(landing)["confirmed"], kept(landing)["override"]) == ([ASKED], None)
    (data,) = (row for row in kept(landing)["verdict"] if row["lane"] == "codex")
    assert (data["decision"], data["agreed"]) == (CLAUSE, False)
    shelf.undo()
    landing, lines = land(shelf, refusing, override="3 is right", **WAYS[way])
    assert (refusing.names, lines) == ([ASKED], [ASKED])  # not asked again
    assert (kept(landing)["override"], kept(landing)["confirmed"]) == ("3 is right", [])


def test_a_part_without_the_file_of_the_decision_is_the_checks_to_decide(shelf: Shelf) -> None:
    landing, lines = land(shelf, None, picks=PARTS[:1])
    assert (landing.record.verdict, lines) == ((), [])
    shelf.undo()
    record(shelf, reasons=[])  # which file it is in is not known: it may be any
    with pytest.raises(LandingRefused, match="you cannot be asked"):
        land(shelf, None, picks=PARTS[:1])


@pytest.mark.parametrize("state", ["proved", "untested"])
def test_a_decision_that_another_patch_agrees_with_is_only_said(shelf: Shelf, state: str) -> None:
    record(shelf, state=state, reason="why", agreed=True)
    landing, lines = land(shelf, None, lane="codex")
    assert lines == [*(["codex is untested: why"] if state == "untested" else []), ASKED]
    assert landing.record.confirmed == ()


def test_an_untested_lane_is_asked_about_once_it_is_named(shelf: Shelf) -> None:
    record(shelf, top=None, state="untested", reason="why")
    person = Person(True)
    with pytest.raises(LandingRefused, match="codex, which comes first, is untested") as refused:
        land(shelf, person)
    assert refused.value.hint.endswith("\nhydra merge codex -r abc")
    assert person.names == []
    assert land(shelf, person, lane="codex")[1] == ["codex is untested: why"]
    assert person.names == [ASKED]


def test_a_held_back_lane_needs_a_reason_and_no_yes(shelf: Shelf) -> None:
    record(shelf, top=None, state="held_back", reason="why", gates=[verdicts.reason("gate", "why")])
    person = Person(True)
    with pytest.raises(LandingRefused, match="codex is held back: why"):
        land(shelf, person, lane="codex")
    assert person.names == []


def test_two_lanes_are_one_question(shelf: Shelf) -> None:
    file = shelf.race.patches.parent / "result.json"
    result = json.loads(file.read_text())
    result["verdict"]["lanes"][1] |= {"decision": "changes test_down", "agreed": False}
    write_json(file, result)
    person = Person(True)
    picks = (Pick("codex", path=SUITE), Pick("claude", path="src"))
    landing, _ = land(shelf, person, picks=picks)
    assert person.names == [f"{ASKED}; claude changes test_down"]
    assert landing.record.confirmed == (ASKED, "claude changes test_down")


# --- on a terminal -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_real_race_on_a_terminal(hydra: Hydra) -> None:
    """Its verdict gets a decision; a no, Ctrl-D and Ctrl-C land nothing, and a yes does."""
    shop(hydra.repo)
    name = "claude-right"
    judged = Judged(hydra, {"right": {"src/pager.py": RIGHT}}).run()
    assert judged.top() == "right", str(judged)
    leave_a_decision(hydra, f"{CLAUSE}\x1b[2J")
    question = f"{name} {CLAUSE}^[[2J. Land it? [y/N]"
    run = of_run(judged.document["run"])
    before = Whole.of(hydra.repo)

    done = hydra.run("merge")
    assert (done.returncode, done.stdout) == (5, "")
    assert f"\nerror: nothing was landed: {name} {CLAUSE}^[[2J; without " in done.stderr
    assert f"hint: to land it all the same: hydra merge {name}{run} {OVERRIDE}" in done.stderr
    dry_run = hydra.run("merge", "--dry-run")
    assert (dry_run.returncode, dry_run.stderr.count(f"it would ask: {question}")) == (0, 1)
    assert f"would land {name} on main" in dry_run.stdout

    dry = Terminal(hydra, "merge", "--dry-run", columns=200)
    shown = dry.read()
    assert dry.wait() == 0
    assert f"it would ask: {question}" in shown
    assert f"would land {name} on main" in shown
    assert "decided by you" not in shown
    for value, keys, code, text in (
        ((), "n\r", 5, "nothing was landed: you said no"),
        ((name,), "\r", 5, "nothing was landed: you said no"),
        (("--pick", f"{name}:."), "\x04", 130, "nothing was landed"),
        ((), "\x03", 130, "nothing was landed"),
    ):
        ended, shown = answered(hydra, value, keys)
        assert (ended, shown.count(question)) == (code, 1), shown
        assert text in shown
        assert Whole.of(hydra.repo) == before
        assert leftovers(hydra.repo) == []

    ended, shown = answered(hydra, (), "y\r")
    assert (ended, shown.count("Land it?")) == (0, 1), shown
    assert f"decided by you: {name} changes what test_up expects" in shown
    assert (hydra.repo / "src/pager.py").read_text() == RIGHT
    assert f"decided by you: {name} changes what" in one_line(hydra.run("runs", "show").stdout)
    assert hydra.run("merge", "--undo").returncode == 0

    over = Terminal(hydra, "merge", "--override", "3 is right", columns=200)
    shown = over.read()
    assert over.wait() == 0
    assert "Land it?" not in shown
    assert f"warning: {name} {CLAUSE}" in shown
    assert "overriding the verdict: 3 is right" in shown
    data = json.loads(hydra.run("runs", "show", "--json").stdout)["landings"]
    assert [(row["confirmed"], row["override"]) for row in data] == [
        ([f"{name} {CLAUSE}\x1b[2J"], None),
        ([], "3 is right"),
    ]


def answered(hydra: Hydra, terms: tuple[str, ...], keys: str) -> tuple[int, str]:
    """The exit code of `hydra merge WORDS` that is answered so, and all that was shown."""
    terminal = Terminal(hydra, "merge", *terms, columns=200)
    terminal.read(until="[y/N] ")
    terminal.type(keys)
    terminal.read()
    return terminal.wait(), terminal.text


def one_line(shown: str) -> str:
    return " ".join(shown.split())


def leave_a_decision(hydra: Hydra, clause: str) -> None:
    """Writes into the race's verdict that its lane leaves this to the user."""
    file = Path(hydra.run("runs", "path").stdout.strip(), "result.json")
    result = json.loads(file.read_text())
    result["verdict"]["lanes"][0] |= {"decision": clause, "agreed": False}
    file.write_text(json.dumps(result))


# --- what is offered ---------------------------------------------------------------------------


def document(**more: Any) -> dict[str, Any]:
    """Codex first, and its decision is open."""
    data = verdicts.verdict(**more)
    data["lanes"][0] |= {"decision": CLAUSE, "agreed": False}
    return data


def test_the_line_to_land_is_the_same_and_the_question_stands_beside_it() -> None:
    asks = f"you are asked first: {ASKED}"
    data = document()
    assert steps(data)[:2] == ["land it:       hydra merge codex -r k3f", asks]
    whole = {"run": "r", "lanes": data["lanes"], "verdict": data}
    for shown in (
        compare_text(data, width=None),
        race_end(whole, width=None),
        summary(whole, width=None),
        one_line(race_end(whole, width=80)),
        one_line(compare_text(data, width=80)),
    ):
        assert shown.count(asks) == 1
        assert "hydra merge codex" in shown
        assert "--override" not in shown
    assert max(map(len, race_end(whole, width=80).splitlines())) <= 80
    assert "asked first" not in race_end(whole, width=80, steps=False)
    assert f"- you are asked first: codex {CLAUSE.split(':')[0]}" in comment(data)
    page = opening(data, {})
    assert page["help"] == f"You are asked first: {ASKED}."
    assert page["lines"] == ["hydra merge codex -r k3f"]
