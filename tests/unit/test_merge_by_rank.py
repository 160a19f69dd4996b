"""`hydra merge` without a LANE: the top of the ranking, and when it is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hydra.checks.baseline import LANDING
from hydra.commands import merge_landing as app
from hydra.commands.merge_selection import MergeRequest
from hydra.errors import LandingRefused, RecordError, UsageError
from hydra.landing.hunks import hunks
from hydra.landing.picks import Pick
from hydra.race.recovery import runs
from hydra.race.recovery.reviews import FOLDER
from hydra.race.verdict import judgement
from hydra.records.store.files import write_json
from hydra.records.store.reader import RunRecord
from hydra.report.landing import Landing
from tests.conftest import git, make_repository
from tests.support import verdicts
from tests.support.landings import RUN, Shelf, Whole, leftovers
from tests.support.rendering import as_verdict, steps
from tests.support.shelf import fixture_of

GATE = "removes 2 assertions of test_first_page"


def two_lanes(scratch: Path) -> Shelf:
    """Two lanes, each with a patch of its own, of two files."""
    shelf = Shelf.of(make_repository(scratch / "shop"), scratch)
    for lane in ("claude", "codex"):
        shelf.lane(lane, lambda tree, lane=lane: edit(tree, lane))  # type: ignore[misc]
    return shelf


shelf = fixture_of(two_lanes)


def edit(tree: Path, lane: str) -> None:
    write(tree / "src" / "pager.py", f"# {lane}\n")
    write(tree / "tests" / "test_pager.py", "# nothing is expected\n")


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def commits(shelf: Shelf, *lanes: str) -> dict[str, str]:
    return {lane: git(shelf.race.patches, "rev-parse", lane) for lane in lanes}


def record(shelf: Shelf, verdict: Any) -> None:
    """Puts a verdict into the run's result, as its race would have."""
    file = shelf.race.patches.parent / "result.json"
    write_json(file, {**json.loads(file.read_text()), "verdict": verdict})


def ranking(shelf: Shelf, *lanes: str, **more: Any) -> verdicts.Document:
    return verdicts.ranked(RUN, commits(shelf, *lanes), **more)


def tie(shelf: Shelf) -> verdicts.Document:
    document = ranking(shelf, "codex", "claude", top=None)
    for lane, other in zip(document["lanes"], ("claude", "codex"), strict=True):
        lane |= {"rank": 1, "tied": [other]}
    return document


def none_passing(shelf: Shelf) -> verdicts.Document:
    document = ranking(shelf, "codex", "claude", top=None)
    return verdicts.held(verdicts.held(document, "codex", GATE), "claude", "fails 1 test")


def land(shelf: Shelf, lane: str = "", **document: Any) -> tuple[Landing, list[str]]:
    """The landing, and what was said before it."""
    lines: list[str] = []
    request = MergeRequest(lane=lane, environ=shelf.environ, warn=lines.append, **document)
    return app.merge(request), lines


def landed(shelf: Shelf) -> str:
    return (shelf.repo / "src" / "pager.py").read_text()


def test_without_a_lane_the_top_lands(shelf: Shelf) -> None:
    record(shelf, ranking(shelf, "codex", "claude"))
    landing, lines = land(shelf)
    assert landing.lanes == ("codex",)
    assert landed(shelf) == "# codex\n"
    assert lines == []
    (ruled,) = landing.record.verdict
    assert (ruled.lane, ruled.rank, ruled.state, ruled.gates) == ("codex", 1, "proved", ())
    assert landing.record.override is None


def refuses(shelf: Shelf, match: str, **terms: Any) -> LandingRefused:
    """A landing is refused with that, and nothing is touched."""
    before = Whole.of(shelf.repo)
    with pytest.raises(LandingRefused, match=match) as caught:
        land(shelf, **terms)
    assert Whole.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []
    return caught.value


def passing(*_: object) -> Any:
    """Checks that hold nothing back."""
    return {"ok": True, "why": "", "checks": []}


def test_on_a_tie_nothing_lands_and_both_lines_are_said(shelf: Shelf) -> None:
    record(shelf, tie(shelf))
    for override in (None, "it must be tonight"):
        error = refuses(shelf, "codex and claude are tied", override=override)
        assert "\nhydra merge codex -r abc\nhydra merge claude -r abc" in error.hint
        assert ("--override does not choose" in error.message) == bool(override)
    land(shelf, "claude")
    assert landed(shelf) == "# claude\n"
    shelf.undo()
    record(shelf, {**tie(shelf), "top": "codex"})  # of the very same patches the first lands
    assert land(shelf)[0].lanes == ("codex",)
    shelf.undo()
    record(shelf, ranking(shelf, top=None))
    refuses(shelf, "no lane has a patch")


def test_what_is_not_mergeable_does_not_land_without_a_reason(shelf: Shelf) -> None:
    record(shelf, none_passing(shelf))
    for lane, empty in (("", ""), ("claude", "  "), ("claude", "\n")):
        with pytest.raises(UsageError, match="--override has no reason"):
            land(shelf, lane, override=empty)
    assert shelf.command("merge", "--undo", "--override", "x").returncode == 2
    line = 'hydra merge {} -r abc --override "why it may land"'
    assert line.format("codex") in refuses(shelf, GATE).hint
    held = f"codex is held back: {GATE}"
    whole = (Pick("codex", path=""),)
    for terms, named in (({"lane": "codex"}, "codex"), ({"picks": whole}, "--pick codex:.")):
        error = refuses(shelf, f"^nothing was landed: {held}$", **terms)
        assert error.hint == f"to land it all the same: {line.format(named)}"
    part = (Pick("codex", path="src"),)  # the checks decide on it
    land(shelf, picks=part, dry_run=True, check=passing)
    for lane in ("codex", ""):
        landing, lines = land(shelf, lane, override="  the assertions were wrong\n")
        assert (landed(shelf), lines) == ("# codex\n", [held])
        assert landing.record.override == "the assertions were wrong"
        assert landing.record.verdict[0].gates == (GATE,)
        document = json.loads(Path(landing.record.record).read_text())
        assert document["override"] == "the assertions were wrong"
        shelf.undo()


def gated(shelf: Shelf) -> None:
    """Records that codex is held back for what it does in one file."""
    document = none_passing(shelf)
    gate = verdicts.reason("gate", GATE, path="tests/test_pager.py", line=9)
    document["lanes"][0]["gates"] = [gate]
    record(shelf, document)


def picks_of(shelf: Shelf, way: str) -> tuple[Pick, ...]:
    """Picks that take codex whole, or the file in which lies what speaks against it."""
    files = (Pick("codex", path="src/pager.py"), Pick("codex", path="tests/test_pager.py"))
    git_dir = shelf.race.patches
    pieces = hunks(git_dir, shelf.race.base, git(git_dir, "rev-parse", "codex"))
    return {
        "folder by folder": (Pick("codex", path="src"), Pick("codex", path="tests/")),
        "file by file": files,
        "hunk by hunk": tuple(Pick("codex", hunk=piece.id) for piece in pieces),
        "beside another lane": (*files, Pick("claude", path="tests")),
        "its file": files[1:],
    }[way]


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["folder by folder", "file by file", "hunk by hunk", "beside another lane", "its file"]
)
def test_picks_that_take_what_speaks_against_a_lane_need_a_reason_as_it_does(
    shelf: Shelf, way: str
) -> None:
    gated(shelf)
    picks, held = picks_of(shelf, way), f"codex is held back: {GATE}"
    error = refuses(shelf, f"^nothing was landed: {held}$", picks=picks, check=passing)
    assert error.hint.startswith("to land it all the same: hydra merge --")
    assert error.hint.endswith(' --override "why it may land"')
    landing, lines = land(shelf, picks=picks, check=passing, override="the test was wrong")
    assert lines == [held]
    assert [row.lane for row in landing.record.verdict] == ["codex"]
    assert landing.record.override == "the test was wrong"
    shelf.undo()  # and those that leave it out need none
    landing, lines = land(shelf, picks=(Pick("codex", path="src"),), check=passing)
    assert (landed(shelf), landing.record.verdict, lines) == ("# codex\n", (), [])


@pytest.mark.slow
@pytest.mark.parametrize("checked", [True, False])
def test_a_part_of_a_lane_on_which_no_check_decides_needs_a_reason_as_the_lane_does(
    shelf: Shelf, checked: bool
) -> None:
    """With --no-check, or in a run without checks."""
    record(shelf, {**none_passing(shelf), "checked": checked})
    terms: Any = {"picks": (Pick("codex", path="src/pager.py"),)}
    terms["check"] = None if checked else passing
    refuses(shelf, f"codex is held back: {GATE}", **terms)
    assert land(shelf, override="it may", **terms)[0].lanes == ("codex",)
    shelf.undo()
    record(shelf, ranking(shelf, "codex", "claude", checked=checked))
    assert land(shelf, **terms)[0].lanes == ("codex",)


@pytest.mark.slow
def test_a_dry_run_checks_as_the_landing_would_and_not_what_is_in_the_way(shelf: Shelf) -> None:
    record(shelf, ranking(shelf, "codex", "claude"))
    checked: list[str] = []

    def check(_: object, commit: str) -> Any:
        checked.append(commit)
        return {"ok": False, "why": "breaks test_b"}

    refusals = set()
    for branch, dry in (("", True), ("", False), ("try", True)):
        terms: Any = {"lane": "codex", "branch": branch, "dry_run": dry}
        error = refuses(shelf, "breaks test_b", check=check, **terms)
        refusals.add((error.message, error.hint))
    assert (len(refusals), len(checked)) == (1, 3)
    done = shelf.command("merge", "--dry-run", "--no-check")
    assert "would land codex on main" in done.stdout
    assert "its checks were not run (--no-check)" in done.stdout
    write(shelf.repo / "src" / "pager.py", "# mine\n")
    error = refuses(shelf, "in the way", lane="codex", dry_run=True, check=check)
    assert [path for path, _ in error.paths] == ["src/pager.py"]
    assert len(checked) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "passes", "checked", "way"),
    [
        ("proved", True, True, "itself"),
        ("untested", True, True, "name"),
        ("untested", False, True, "name"),
        ("broken", False, True, "override"),
        ("held_back", False, True, "override"),
        ("untested", True, False, "itself"),
        ("held_back", False, False, "override"),
    ],
)
def test_the_state_decides_how_a_patch_lands(
    shelf: Shelf, state: str, passes: bool, checked: bool, way: str
) -> None:
    """The same in `merge` with and without a name and in the lines that are offered; without a
    check, of a race of one lane."""
    top = "codex" if way == "itself" else None
    lanes = ("codex", "claude") if checked else ("codex",)
    document = ranking(shelf, *lanes, top=top, checked=checked)
    document["lanes"][0] |= {"state": state, "reason": "why"}
    document["lanes"][0]["gates"] = [] if passes else [verdicts.reason("gate", "why")]
    record(shelf, document)
    line = "hydra merge codex -r abc"
    line += ' --override "why it may land"' if way == "override" else ""
    assert [step.split(": ", 1)[1].strip() for step in steps(document) if " merge " in step] == [
        line
    ]
    for lane in ("", "codex"):
        if way == "itself" or (way == "name" and lane):
            assert land(shelf, lane, dry_run=True)[0].lanes == ("codex",)
            continue
        with pytest.raises(LandingRefused) as refused:
            land(shelf, lane, dry_run=True)
        assert re.search(rf"land it all the same:[ \n]{re.escape(line)}$", refused.value.hint)
        assert land(shelf, lane, dry_run=True, override="it may")[0].lanes == ("codex",)


@pytest.mark.slow
def test_a_verdict_that_is_missing_or_older_than_checks_answers_or_patches_is_made_anew(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = none_passing(shelf)
    with monkeypatch.context() as patch:
        patch.setattr("hydra.race.verdict.of_result", lambda *_: as_verdict(document))
        assert land(shelf, "claude", dry_run=True)[1] == []  # of an older run, without any
        record(shelf, None)
        with pytest.raises(LandingRefused, match=f"codex is held back: {GATE}"):
            land(shelf, "codex")
    document = ranking(shelf, "claude", "codex")
    monkeypatch.setattr("hydra.race.verdict.of_result", lambda *_: as_verdict(document))
    assert land(shelf, dry_run=True)[0].lanes == ("claude",)
    record(shelf, ranking(shelf, "codex", "claude", round=1))
    (shelf.race.patches.parent / "checks" / "1").mkdir(parents=True)
    assert land(shelf, dry_run=True)[0].lanes == ("codex",)
    (shelf.race.patches.parent / "checks" / "2").mkdir()
    assert land(shelf, dry_run=True)[0].lanes == ("claude",)
    record(shelf, ranking(shelf, "codex", "claude", round=2))
    assert land(shelf, dry_run=True)[0].lanes == ("codex",)
    (shelf.race.patches.parent / "checks" / "3" / LANDING).mkdir(parents=True)
    assert land(shelf, dry_run=True)[0].lanes == ("codex",)  # a landing's checks are of no lane
    (shelf.race.patches.parent / FOLDER).mkdir()
    assert land(shelf, dry_run=True)[0].lanes == ("claude",)
    (shelf.race.patches.parent / FOLDER).rmdir()
    stale = ranking(shelf, "codex", "claude", round=2)
    stale["lanes"][0]["patch"]["commit"] = "0" * 40
    record(shelf, stale)
    assert land(shelf, dry_run=True)[0].lanes == ("claude",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why", "whole"),
    [
        ("{", "result.json of run [^ ]* is not what Hydra writes", True),
        ('{"schema": 2}', "result.json of run [^ ]* is from a newer Hydra", False),
        ({"schema": 2}, "the verdict of run [^ ]* is from a newer Hydra", True),
        ({"lanes": None}, "the verdict of run [^ ]* is not what Hydra writes", False),
    ],
)
def test_a_verdict_that_cannot_be_read_lands_nothing_without_a_reason(
    shelf: Shelf, text: str | dict[str, Any], why: str, whole: bool
) -> None:
    if isinstance(text, str):
        (shelf.race.patches.parent / "result.json").write_text(text)
    else:
        record(shelf, {**ranking(shelf, "claude", "codex"), **text})
    with pytest.raises(RecordError, match=why) as unnamed:
        land(shelf)
    assert "no lane was named" in unnamed.value.message
    assert "name the lane: hydra merge LANE -r abc --override" in unnamed.value.hint
    document: Any = {"lane": "claude"} if whole else {"picks": (Pick("claude", path="src"),)}
    refused = refuses(shelf, why, check=passing, **document)
    line = "hydra merge claude" if whole else "hydra merge --pick claude:src"
    shown = f'to land it all the same: {line} -r abc --override "why it may land"'
    assert refused.hint.endswith(shown)
    landing, lines = land(shelf, check=passing, override="I have read it", **document)
    assert re.match(why, lines[0])
    assert landing.record.override == "I have read it"
    assert landed(shelf) == "# claude\n"


def test_what_its_race_held_back_lands_with_a_reason_and_says_so(shelf: Shelf) -> None:
    record(shelf, none_passing(shelf))
    with pytest.raises(LandingRefused, match="breaks test_b"):  # what is seen only now
        land(shelf, override="known", check=lambda *_: {"ok": False, "why": "breaks test_b"})
    file = shelf.race.patches.parent / "result.json"
    result = json.loads(file.read_text())
    failed = verdicts.check("pytest", "1 broken", "failed", held_back="breaks test_a")
    for lane in result["lanes"]:
        lane |= {"checks": [failed], "held_back": ["pytest: breaks test_a"]}
    write_json(file, {**result, "verdict": none_passing(shelf)})

    def check(*_: object) -> Any:
        pytest.fail("its race has checked this very tree")

    with pytest.raises(LandingRefused, match=GATE):
        land(shelf, "codex", check=check)
    both = (Pick("codex", path="src"), Pick("codex", path="tests"))
    with pytest.raises(LandingRefused, match=GATE):
        land(shelf, picks=both, check=check)
    landing, _ = land(shelf, override="known, and mended tomorrow", check=check)
    assert (landing.record.checks or {})["ok"] is False
    assert landing.record.override == "known, and mended tomorrow"


# --- the command -------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_says_what_it_lands_and_the_run_shows_why(shelf: Shelf) -> None:
    record(shelf, none_passing(shelf))
    refused = shelf.command("merge", "-r", RUN)
    assert refused.returncode == 5
    assert GATE in refused.stderr
    assert "hydra merge codex -r abc --override" in refused.stderr
    record(shelf, tie(shelf))
    tied = shelf.command("merge", "--json")
    error = json.loads(tied.stdout)["error"]
    assert (tied.returncode, "are tied" in error["message"]) == (5, True)
    assert "\nhydra merge codex -r abc\nhydra merge claude -r abc" in error["hint"]
    record(shelf, none_passing(shelf))
    evil = "late \x1b[2J\u202e night"
    done = shelf.command("merge", "--no-check", "--override", evil)
    assert done.returncode == 0, done.stderr
    assert f"\nwarning: codex is held back: {GATE}\n" in done.stderr
    assert "overriding the verdict: late ^[[2J<U+202E> night" in done.stdout
    shown = shelf.command("runs", "show").stdout
    text = " ".join(shown.split())  # wherever its lines are broken
    assert "overriding the verdict: late ^[[2J<U+202E> night" in text
    assert "held back" in shown
    document = json.loads(shelf.command("runs", "show", "--json").stdout)
    assert [row["override"] for row in document["landings"]] == [evil]
    shelf.command("merge", "--undo")
    assert "; taken back" in shelf.command("runs", "show").stdout


def record_checks(shelf: Shelf, status: str) -> None:
    """Puts a check of this status into each lane, as its race would have."""
    file = shelf.race.patches.parent / "result.json"
    rows = [
        {
            "lane": lane,
            "status": "completed",
            "patch": {"commit": commit, "base": "0" * 40, "files": 1},
            "checks": [{"check": "t", "status": status}],
            "held_back": [],
        }
        for lane, commit in commits(shelf, "claude", "codex").items()
    ]
    write_json(file, {**json.loads(file.read_text()), "lanes": rows})


@pytest.mark.parametrize(("status", "times"), [("passed", 0), ("not_run", 1), ("interrupted", 1)])
def test_a_check_that_could_not_run_in_the_race_runs_before_it_lands(
    shelf: Shelf, status: str, times: int
) -> None:
    record_checks(shelf, status)
    record(shelf, ranking(shelf, "codex", "claude"))
    runs: list[str] = []

    def check(_: object, commit: str) -> Any:
        runs.append(commit)
        return {"ok": True, "why": "", "checks": []}

    land(shelf, "codex", check=check)
    assert len(runs) == times


def test_a_branch_that_was_moved_since_is_not_what_was_checked(shelf: Shelf) -> None:
    """Whoever moved it: the race's own checks are of another patch."""
    file = shelf.race.patches.parent / "result.json"
    values = commits(shelf, "claude", "codex")
    record_checks(shelf, "passed")
    git(shelf.race.patches, "update-ref", "refs/heads/claude", values["codex"])
    judged = judgement(runs.read(RunRecord(file.parent)), shelf.environ)
    gates = {row.lane: [gate.text for gate in row.gates] for row in judged.lanes}
    assert gates["codex"] == []
    assert gates["claude"] == [
        "its branch was moved since the race: what was checked is another patch"
    ]
    checked: list[str] = []

    def check(_: object, commit: str) -> Any:
        checked.append(commit)
        return {"ok": True, "why": "", "checks": []}

    land(shelf, "claude", check=check)
    assert len(checked) == 1


def test_what_the_code_of_a_proved_patch_does_all_the_same_is_a_warning(shelf: Shelf) -> None:
    document = ranking(shelf, "codex")
    asks = "asks in src/pager.py whether it runs under tests (PYTEST_CURRENT_TEST)"
    document["lanes"][0]["reason"] += f"; but {asks}"
    record(shelf, document)
    assert land(shelf)[1] == [f"codex {asks}"]
