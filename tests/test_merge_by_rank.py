"""`hydra merge` without a LANE: the top of the ranking, and when it is refused."""

from __future__ import annotations

import json
import re
import shlex
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
from tests.support.landings import RUN, Shelf, Whole, laid, leftovers
from tests.support.rendering import as_verdict, steps

GATE = "removes 2 assertions of test_first_page"


def two_lanes(scratch: Path) -> Shelf:
    """Two lanes, each with a patch of its own, of two files."""
    shelf = Shelf.of(make_repository(scratch / "shop"), scratch)
    for lane in ("claude", "codex"):
        shelf.lane(lane, lambda tree, lane=lane: edit(tree, lane))  # type: ignore[misc]
    return shelf


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """That; the test stands in its repository."""
    shelf = laid(scratch, two_lanes)
    monkeypatch.chdir(shelf.repo)
    return shelf


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


@pytest.mark.parametrize("override", [None, "it must be tonight"])
def test_on_a_tie_nothing_lands_and_both_lines_are_said(shelf: Shelf, override: str | None) -> None:
    record(shelf, tie(shelf))
    before = Whole.of(shelf.repo)
    with pytest.raises(LandingRefused) as refused:
        land(shelf, override=override)
    assert "codex and claude are tied" in refused.value.message
    assert "\nhydra merge codex -r abc\nhydra merge claude -r abc" in refused.value.hint
    assert ("--override does not choose" in refused.value.message) == bool(override)
    assert Whole.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []
    land(shelf, "claude")
    assert landed(shelf) == "# claude\n"


def test_of_the_very_same_patches_the_first_lands(shelf: Shelf) -> None:
    document = tie(shelf)
    record(shelf, {**document, "top": "codex"})
    assert land(shelf)[0].lanes == ("codex",)


def test_what_is_not_mergeable_does_not_land_without_a_reason(shelf: Shelf) -> None:
    record(shelf, none_passing(shelf))
    before = Whole.of(shelf.repo)
    with pytest.raises(LandingRefused, match=GATE) as refused:
        land(shelf)
    assert 'hydra merge codex -r abc --override "why it may land"' in refused.value.hint
    assert Whole.of(shelf.repo) == before
    landing, lines = land(shelf, override="  the assertions were wrong\n")
    assert landed(shelf) == "# codex\n"
    assert landing.record.override == "the assertions were wrong"
    assert landing.record.verdict[0].gates == (GATE,)
    assert lines == [f"codex is held back: {GATE}"]
    document = json.loads(Path(landing.record.record).read_text())
    assert document["override"] == "the assertions were wrong"


def test_each_of_the_lines_that_are_offered_lands_its_lane(shelf: Shelf) -> None:
    document = none_passing(shelf)
    for lane in document["lanes"]:
        lane |= {"rank": 1}
    document["lanes"][1] |= {"state": "untested"}
    record(shelf, document)
    with pytest.raises(LandingRefused) as refused:
        land(shelf)
    texts = refused.value.hint.partition("all the same:\n")[2].split("\n")
    assert [line.split()[2] for line in texts] == ["codex", "claude"]
    for line in texts:
        _, _, lane, *options = shlex.split(line)
        land(shelf, lane, override=options[-1] if "--override" in options else None)
        shelf.undo()
    assert texts[0].endswith('--override "why it may land"')
    assert texts[1] == "hydra merge claude -r abc"


@pytest.mark.parametrize("empty", ["", "  ", "\n"])
def test_a_reason_has_words(shelf: Shelf, empty: str) -> None:
    record(shelf, none_passing(shelf))
    with pytest.raises(UsageError, match="--override has no reason"):
        land(shelf, override=empty)
    with pytest.raises(UsageError, match="--override has no reason"):
        land(shelf, "claude", override=empty)


@pytest.mark.slow
@pytest.mark.parametrize("state", ["broken", "held_back"])
def test_what_speaks_against_a_named_lane_needs_a_reason(shelf: Shelf, state: str) -> None:
    document = none_passing(shelf)
    document["lanes"][0] |= {"state": state}
    record(shelf, document)
    before = Whole.of(shelf.repo)
    for value in ({"lane": "codex"}, {"picks": (Pick("codex", path=""),)}):
        with pytest.raises(LandingRefused) as refused:
            land(shelf, **value)
        assert refused.value.message == (
            f"nothing was landed: codex is {state.replace('_', ' ')}: {GATE}"
        )
        named = "codex" if "lane" in value else "--pick codex:."
        assert refused.value.hint == (
            f'to land it all the same: hydra merge {named} -r abc --override "why it may land"'
        )
    assert Whole.of(shelf.repo) == before
    part = (Pick("codex", path="src"),)  # the checks decide on it
    land(shelf, picks=part, dry_run=True, check=passing)
    landing, lines = land(shelf, "codex", override="it may")
    assert lines == [f"codex is {state.replace('_', ' ')}: {GATE}"]
    assert landing.record.override == "it may"
    assert landed(shelf) == "# codex\n"


def passing(*_: object) -> Any:
    """Checks that hold nothing back."""
    return {"ok": True, "why": "", "checks": []}


def gated(shelf: Shelf, path: str = "tests/test_pager.py", line: int | None = 9) -> None:
    """Records that codex is held back for what it does in one file."""
    document = none_passing(shelf)
    document["lanes"][0]["gates"] = [verdicts.reason("gate", GATE, path=path, line=line)]
    record(shelf, document)


def hunk_picks(shelf: Shelf, lane: str) -> tuple[Pick, ...]:
    git_dir = shelf.race.patches
    pieces = hunks(git_dir, shelf.race.base, git(git_dir, "rev-parse", lane))
    return tuple(Pick(lane, hunk=piece.id) for piece in pieces)


WAYS = ("folder by folder", "file by file", "hunk by hunk", "beside another lane", "its file")


def picks_of(shelf: Shelf, way: str) -> tuple[Pick, ...]:
    """Picks that take codex whole, or the file in which lies what speaks against it."""
    files = (Pick("codex", path="src/pager.py"), Pick("codex", path="tests/test_pager.py"))
    return {
        "folder by folder": (Pick("codex", path="src"), Pick("codex", path="tests/")),
        "file by file": files,
        "hunk by hunk": hunk_picks(shelf, "codex"),
        "beside another lane": (*files, Pick("claude", path="tests")),
        "its file": files[1:],
    }[way]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_picks_that_take_what_speaks_against_a_lane_need_a_reason_as_it_does(
    shelf: Shelf, way: str
) -> None:
    gated(shelf)
    picks = picks_of(shelf, way)
    before = Whole.of(shelf.repo)
    with pytest.raises(LandingRefused) as refused:
        land(shelf, picks=picks, check=passing)
    assert refused.value.message == f"nothing was landed: codex is held back: {GATE}"
    assert refused.value.hint.startswith("to land it all the same: hydra merge --")
    assert refused.value.hint.endswith(' --override "why it may land"')
    assert Whole.of(shelf.repo) == before
    landing, lines = land(shelf, picks=picks, check=passing, override="the test was wrong")
    assert lines == [f"codex is held back: {GATE}"]
    assert [row.lane for row in landing.record.verdict] == ["codex"]
    assert landing.record.override == "the test was wrong"


def test_picks_that_leave_out_what_speaks_against_a_lane_need_none(shelf: Shelf) -> None:
    gated(shelf)
    landing, lines = land(shelf, picks=(Pick("codex", path="src"),), check=passing)
    assert landed(shelf) == "# codex\n"
    assert (landing.record.verdict, lines) == ((), [])


@pytest.mark.slow
@pytest.mark.parametrize("checked", [True, False])
def test_a_part_of_a_lane_on_which_no_check_decides_needs_a_reason_as_the_lane_does(
    shelf: Shelf, checked: bool
) -> None:
    """With --no-check, or in a run without checks."""
    document = {**none_passing(shelf), "checked": checked}
    record(shelf, document)
    part = (Pick("codex", path="src/pager.py"),)
    check = None if checked else passing
    with pytest.raises(LandingRefused, match=f"codex is held back: {GATE}"):
        land(shelf, picks=part, check=check)
    assert land(shelf, picks=part, check=check, override="it may")[0].lanes == ("codex",)
    shelf.undo()
    record(shelf, ranking(shelf, "codex", "claude", checked=checked))
    assert land(shelf, picks=part, check=check)[0].lanes == ("codex",)


def test_an_untested_lane_lands_once_it_is_named(shelf: Shelf) -> None:
    document = none_passing(shelf)
    why = "pytest could not run on it, nor on the base: pytest: not found"
    document["lanes"][0] |= {"state": "untested", "reason": why}
    record(shelf, document)
    with pytest.raises(LandingRefused, match="codex, which comes first, is untested") as refused:
        land(shelf)
    assert refused.value.hint.endswith("to land it all the same:\nhydra merge codex -r abc")
    landing, lines = land(shelf, "codex")
    assert lines[0].startswith("codex is untested: ")
    assert landing.record.override is None
    assert landed(shelf) == "# codex\n"


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
def test_of_several_lanes_in_which_nothing_was_tested_each_lands_by_its_name(shelf: Shelf) -> None:
    check_now = "hydra check --check 'npm test'"
    document = ranking(shelf, "codex", "claude", top=None, checked=False, check_now=check_now)
    for lane in document["lanes"]:
        lane["state"] = "untested"
    record(shelf, document)
    before = Whole.of(shelf.repo)
    for override in (None, "it must be tonight"):
        with pytest.raises(LandingRefused, match="nothing was tested, and there is no") as refused:
            land(shelf, override=override)
        assert ("--override does not choose" in refused.value.message) == bool(override)
        assert refused.value.hint == (
            f"test them now: {check_now}\nor look (hydra compare -r abc), then name one:\n"
            "hydra merge codex -r abc\nhydra merge claude -r abc"
        )
    assert Whole.of(shelf.repo) == before
    assert " merge " not in "".join(steps(document))
    for lane in ("codex", "claude"):
        assert land(shelf, lane, dry_run=True)[0].lanes == (lane,)


@pytest.mark.parametrize("where", [{}, {"branch": "try"}])
def test_a_dry_run_checks_as_the_landing_would(shelf: Shelf, where: Any) -> None:
    record(shelf, ranking(shelf, "codex", "claude"))
    before = Whole.of(shelf.repo)
    checked: list[str] = []

    def check(_: object, commit: str) -> Any:
        checked.append(commit)
        return {"ok": False, "why": "breaks test_b"}

    refusals = []
    for dry in (True, False):
        with pytest.raises(LandingRefused, match="breaks test_b") as refused:
            land(shelf, "codex", dry_run=dry, check=check, **where)
        refusals.append((refused.value.message, refused.value.hint))
    assert refusals[0] == refusals[1]
    assert len(checked) == 2
    assert Whole.of(shelf.repo) == before


def test_a_dry_run_says_what_is_in_the_way_before_it_checks(shelf: Shelf) -> None:
    record(shelf, ranking(shelf, "codex", "claude"))
    write(shelf.repo / "src" / "pager.py", "# mine\n")
    with pytest.raises(LandingRefused) as refused:
        land(shelf, "codex", dry_run=True, check=lambda *_: pytest.fail("it was checked"))
    assert [path for path, _ in refused.value.paths] == ["src/pager.py"]


@pytest.mark.slow
def test_a_dry_run_without_checks_says_so(shelf: Shelf) -> None:
    record(shelf, ranking(shelf, "codex", "claude"))
    done = shelf.command("merge", "--dry-run", "--no-check")
    assert "would land codex on main" in done.stdout
    assert "its checks were not run (--no-check)" in done.stdout


def test_a_reason_that_was_not_needed_is_kept_too(shelf: Shelf) -> None:
    record(shelf, ranking(shelf, "codex", "claude"))
    landing, _ = land(shelf, "claude", override="I like it better")
    assert landing.record.override == "I like it better"
    shelf.undo()
    picks = (Pick("claude", "src/pager.py"),)
    landing, lines = land(shelf, picks=picks, override="only this")
    assert (landing.record.override, landing.record.verdict) == ("only this", ())
    assert lines == []


def test_a_lane_of_an_older_run_lands_without_any_verdict(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hydra.race.verdict.of_result", lambda *_: pytest.fail("it was judged"))
    landing, lines = land(shelf, "claude")
    assert landing.record.verdict == ()
    assert lines == []


def test_a_run_that_recorded_no_verdict_is_judged(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ranking(shelf, "claude", "codex")
    monkeypatch.setattr("hydra.race.verdict.of_result", lambda *_: as_verdict(document))
    assert land(shelf)[0].lanes == ("claude",)
    record(shelf, None)
    shelf.undo()
    assert land(shelf)[0].lanes == ("claude",)


def test_a_lane_of_a_race_that_ended_before_its_verdict_is_judged_before_it_lands(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = none_passing(shelf)
    monkeypatch.setattr("hydra.race.verdict.of_result", lambda *_: as_verdict(document))
    record(shelf, None)
    with pytest.raises(LandingRefused, match=f"codex is held back: {GATE}"):
        land(shelf, "codex")


@pytest.mark.slow
def test_a_verdict_that_is_older_than_checks_answers_or_patches_is_made_anew(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ranking(shelf, "claude", "codex")
    monkeypatch.setattr("hydra.race.verdict.of_result", lambda *_: as_verdict(document))
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


def test_without_a_readable_record_the_way_out_is_to_name_a_lane(shelf: Shelf) -> None:
    file = shelf.race.patches.parent / "result.json"
    file.write_text("{")
    with pytest.raises(RecordError) as refused:
        land(shelf)
    assert "no lane was named" in refused.value.message
    assert "name the lane: hydra merge LANE -r abc --override" in refused.value.hint
    assert land(shelf, "claude", override="I have read it")[0].lanes == ("claude",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "result.json of run [^ ]* is not what Hydra writes"),
        ('{"schema": 2}', "result.json of run [^ ]* is from a newer Hydra"),
        ({"schema": 2}, "the verdict of run [^ ]* is from a newer Hydra"),
        ({"lanes": None}, "the verdict of run [^ ]* is not what Hydra writes"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_verdict_that_cannot_be_read_lands_nothing_without_a_reason(
    shelf: Shelf, text: str | dict[str, Any], why: str, whole: bool
) -> None:
    if isinstance(text, str):
        (shelf.race.patches.parent / "result.json").write_text(text)
    else:
        record(shelf, {**ranking(shelf, "claude", "codex"), **text})
    with pytest.raises(RecordError, match=why):
        land(shelf)
    before = Whole.of(shelf.repo)
    document: Any = {"lane": "claude"} if whole else {"picks": (Pick("claude", path="src"),)}
    with pytest.raises(LandingRefused, match=why) as refused:
        land(shelf, check=passing, **document)
    line = "hydra merge claude" if whole else "hydra merge --pick claude:src"
    shown = f'to land it all the same: {line} -r abc --override "why it may land"'
    assert refused.value.hint.endswith(shown)
    assert Whole.of(shelf.repo) == before
    landing, lines = land(shelf, check=passing, override="I have read it", **document)
    assert re.match(why, lines[0])
    assert landing.record.override == "I have read it"
    assert landed(shelf) == "# claude\n"


def test_where_no_lane_has_a_patch_there_is_nothing_to_land(shelf: Shelf) -> None:
    record(shelf, ranking(shelf, top=None))
    with pytest.raises(LandingRefused, match="no lane has a patch"):
        land(shelf)


def test_what_its_race_held_back_lands_with_a_reason_and_says_so(shelf: Shelf) -> None:
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


def test_what_is_found_only_now_still_holds_it_back(shelf: Shelf) -> None:
    record(shelf, none_passing(shelf))
    with pytest.raises(LandingRefused, match="breaks test_b"):
        land(shelf, override="known", check=lambda *_: {"ok": False, "why": "breaks test_b"})


# --- the command -------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_says_what_it_lands_and_the_run_shows_why(shelf: Shelf) -> None:
    record(shelf, none_passing(shelf))
    refused = shelf.command("merge", "-r", RUN)
    assert refused.returncode == 5
    assert GATE in refused.stderr
    assert "hydra merge codex -r abc --override" in refused.stderr
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


@pytest.mark.slow
def test_the_command_takes_no_empty_reason_and_none_with_undo(shelf: Shelf) -> None:
    for args in (("--override", ""), ("claude", "--override", " "), ("--undo", "--override", "x")):
        done = shelf.command("merge", *args)
        assert done.returncode == 2, args
        assert landed(shelf) != "# codex\n"


@pytest.mark.slow
def test_a_tie_in_the_command(shelf: Shelf) -> None:
    record(shelf, tie(shelf))
    done = shelf.command("merge", "--json")
    assert done.returncode == 5
    error = json.loads(done.stdout)["error"]
    assert "are tied" in error["message"]
    assert "\nhydra merge codex -r abc\nhydra merge claude -r abc" in error["hint"]


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
