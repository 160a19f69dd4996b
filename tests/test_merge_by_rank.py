"""`hydra merge` without a LANE: the top of the ranking, and when it is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydra.app import merge as app
from hydra.app.judgement import judgement
from hydra.app.merge import Landing, MergeRequest
from hydra.errors import LandingRefused, RecordError, UsageError
from hydra.landing.picks import Pick
from hydra.recover.consults import FOLDER
from hydra.reporters.ranking import steps
from hydra.store import RunRecord, write_json
from tests.conftest import git
from tests.support import verdicts
from tests.support.landings import RUN, Shelf, Whole, leftovers

GATE = "removes 2 assertions of test_first_page"


@pytest.fixture
def shelf(repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Two lanes, each with a patch of its own."""
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    for lane in ("claude", "codex"):
        shelf.lane(lane, lambda tree, lane=lane: write(tree / "src" / "pager.py", f"# {lane}\n"))  # type: ignore[misc]
    return shelf


def write(file: Path, text: str) -> None:
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


def none_mergeable(shelf: Shelf) -> verdicts.Document:
    document = ranking(shelf, "codex", "claude", top=None, mergeable=0)
    return verdicts.held(verdicts.held(document, "codex", GATE), "claude", "fails 1 test")


def land(shelf: Shelf, lane: str = "", **words: Any) -> tuple[Landing, list[str]]:
    """The landing, and what was said before it."""
    said: list[str] = []
    request = MergeRequest(lane=lane, environ=shelf.environ, warn=said.append, **words)
    return app.merge(request), said


def landed(shelf: Shelf) -> str:
    return (shelf.repo / "src" / "pager.py").read_text()


def test_without_a_lane_the_top_lands(shelf: Shelf) -> None:
    record(shelf, ranking(shelf, "codex", "claude"))
    landing, said = land(shelf)
    assert landing.lanes == ("codex",)
    assert landed(shelf) == "# codex\n"
    assert said == []
    (told,) = landing.document["verdict"]
    assert (told["lane"], told["rank"], told["state"]) == ("codex", 1, "proved")
    assert (told["mergeable"], told["gates"]) == (True, [])
    assert landing.document["override"] is None


@pytest.mark.parametrize("override", [None, "it must be tonight"])
def test_on_a_tie_nothing_lands_and_both_lines_are_said(shelf: Shelf, override: str | None) -> None:
    record(shelf, tie(shelf))
    before = Whole.of(shelf.repo)
    with pytest.raises(LandingRefused) as refused:
        land(shelf, override=override)
    assert "codex and claude are tied" in refused.value.message
    assert "hydra merge codex, or hydra merge claude" in refused.value.hint
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
    record(shelf, none_mergeable(shelf))
    before = Whole.of(shelf.repo)
    with pytest.raises(LandingRefused, match=GATE) as refused:
        land(shelf)
    assert 'hydra merge codex --override "why it may land"' in refused.value.hint
    assert Whole.of(shelf.repo) == before
    landing, said = land(shelf, override="  the assertions were wrong\n")
    assert landed(shelf) == "# codex\n"
    assert landing.document["override"] == "the assertions were wrong"
    assert landing.document["verdict"][0]["gates"] == [GATE]
    assert said == [f"codex is held back: {GATE}"]
    kept = json.loads(Path(landing.document["record"]).read_text())
    assert kept["override"] == "the assertions were wrong"


@pytest.mark.parametrize("empty", ["", "  ", "\n"])
def test_a_reason_has_words(shelf: Shelf, empty: str) -> None:
    record(shelf, none_mergeable(shelf))
    with pytest.raises(UsageError, match="--override has no reason"):
        land(shelf, override=empty)
    with pytest.raises(UsageError, match="--override has no reason"):
        land(shelf, "claude", override=empty)


@pytest.mark.parametrize("state", ["broken", "held_back"])
def test_what_speaks_against_a_named_lane_needs_a_reason(shelf: Shelf, state: str) -> None:
    document = none_mergeable(shelf)
    document["lanes"][0] |= {"state": state}
    record(shelf, document)
    before = Whole.of(shelf.repo)
    for words in ({"lane": "codex"}, {"picks": (Pick("codex", path=""),)}):
        with pytest.raises(LandingRefused) as refused:
            land(shelf, **words)
        assert refused.value.message == (
            f"nothing was landed: codex is {state.replace('_', ' ')}: {GATE}"
        )
        named = "codex" if "lane" in words else "--pick codex:."
        assert refused.value.hint == (
            f'to land it all the same: hydra merge {named} --override "why it may land"'
        )
    assert Whole.of(shelf.repo) == before
    land(shelf, picks=(Pick("codex", path="src"),), dry_run=True)  # the checks decide on a part
    landing, said = land(shelf, "codex", override="it may")
    assert said == [f"codex is {state.replace('_', ' ')}: {GATE}"]
    assert landing.document["override"] == "it may"
    assert landed(shelf) == "# codex\n"


def test_an_untested_lane_lands_once_it_is_named(shelf: Shelf) -> None:
    document = none_mergeable(shelf)
    why = "pytest could not run on it, nor on the base: pytest: not found"
    document["lanes"][0] |= {"state": "untested", "reason": why}
    record(shelf, document)
    with pytest.raises(LandingRefused, match="codex, which comes first, is untested") as refused:
        land(shelf)
    assert refused.value.hint.endswith("to land it all the same: hydra merge codex")
    landing, said = land(shelf, "codex")
    assert said[0].startswith("codex is untested: ")
    assert landing.document["override"] is None
    assert landed(shelf) == "# codex\n"


@pytest.mark.parametrize(
    ("state", "mergeable", "checked", "way"),
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
    shelf: Shelf, state: str, mergeable: bool, checked: bool, way: str
) -> None:
    """The same in `merge` with and without a name and in the lines that are offered."""
    top = "codex" if way == "itself" else None
    document = ranking(shelf, "codex", "claude", top=top, checked=checked)
    document["lanes"][0] |= {"state": state, "mergeable": mergeable, "reason": "why"}
    record(shelf, document)
    line = {"itself": "hydra merge codex", "name": "hydra merge codex"}.get(
        way, 'hydra merge codex --override "why it may land"'
    )
    assert [it.split(": ", 1)[1].strip() for it in steps(document, "") if " merge " in it] == [line]
    for lane in ("", "codex"):
        if way == "itself" or (way == "name" and lane):
            assert land(shelf, lane, dry_run=True)[0].lanes == ("codex",)
            continue
        with pytest.raises(LandingRefused) as refused:
            land(shelf, lane, dry_run=True)
        assert refused.value.hint.endswith(f"land it all the same: {line}")
        assert land(shelf, lane, dry_run=True, override="it may")[0].lanes == ("codex",)


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


def test_a_dry_run_without_checks_says_so(shelf: Shelf) -> None:
    record(shelf, ranking(shelf, "codex", "claude"))
    done = shelf.command("merge", "--dry-run", "--no-check")
    assert "would land codex on main" in done.stdout
    assert "its checks were not run (--no-check)" in done.stdout


def test_a_reason_that_was_not_needed_is_kept_too(shelf: Shelf) -> None:
    record(shelf, ranking(shelf, "codex", "claude"))
    landing, _ = land(shelf, "claude", override="I like it better")
    assert landing.document["override"] == "I like it better"
    shelf.undo()
    picks = (Pick("claude", "src/pager.py"),)
    landing, said = land(shelf, picks=picks, override="only this")
    assert (landing.document["override"], landing.document["verdict"]) == ("only this", [])
    assert said == []


def test_a_lane_of_an_older_run_lands_without_any_verdict(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hydra.app.verdicts.judged", lambda *_: pytest.fail("it was judged"))
    landing, said = land(shelf, "claude")
    assert landing.document["verdict"] == []
    assert said == []


def test_a_run_that_recorded_no_verdict_is_judged(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ranking(shelf, "claude", "codex")
    monkeypatch.setattr("hydra.app.verdicts.judged", lambda *_: made)
    assert land(shelf)[0].lanes == ("claude",)
    record(shelf, None)
    shelf.undo()
    assert land(shelf)[0].lanes == ("claude",)


def test_a_lane_of_a_race_that_ended_before_its_verdict_is_judged_before_it_lands(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = none_mergeable(shelf)
    monkeypatch.setattr("hydra.app.verdicts.judged", lambda *_: made)
    record(shelf, None)
    with pytest.raises(LandingRefused, match=f"codex is held back: {GATE}"):
        land(shelf, "codex")


def test_a_verdict_that_is_older_than_checks_answers_or_patches_is_made_anew(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ranking(shelf, "claude", "codex")
    monkeypatch.setattr("hydra.app.verdicts.judged", lambda *_: made)
    record(shelf, ranking(shelf, "codex", "claude", round=1))
    (shelf.race.patches.parent / "checks" / "1").mkdir(parents=True)
    assert land(shelf, dry_run=True)[0].lanes == ("codex",)
    (shelf.race.patches.parent / "checks" / "2").mkdir()
    assert land(shelf, dry_run=True)[0].lanes == ("claude",)
    record(shelf, ranking(shelf, "codex", "claude", round=2))
    assert land(shelf, dry_run=True)[0].lanes == ("codex",)
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
    assert "name the lane: hydra merge LANE" in refused.value.hint
    assert land(shelf, "claude")[0].lanes == ("claude",)


def test_a_newer_verdict_does_not_choose_and_does_not_stand_in_the_way(shelf: Shelf) -> None:
    record(shelf, {**ranking(shelf, "codex", "claude"), "schema": 2})
    with pytest.raises(RecordError, match="newer Hydra"):
        land(shelf)
    assert land(shelf, "claude")[0].lanes == ("claude",)


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
    write_json(file, {**result, "verdict": none_mergeable(shelf)})

    def check(*_: object) -> Any:
        pytest.fail("its race has checked this very tree")

    with pytest.raises(LandingRefused, match=GATE):
        land(shelf, "codex", check=check)
    with pytest.raises(LandingRefused, match="breaks test_a"):
        land(shelf, picks=(Pick("codex", path="src"),), check=check)
    landing, _ = land(shelf, override="known, and mended tomorrow", check=check)
    assert landing.document["checks"]["ok"] is False
    assert landing.document["override"] == "known, and mended tomorrow"


def test_what_is_found_only_now_still_holds_it_back(shelf: Shelf) -> None:
    record(shelf, none_mergeable(shelf))
    with pytest.raises(LandingRefused, match="breaks test_b"):
        land(shelf, override="known", check=lambda *_: {"ok": False, "why": "breaks test_b"})


# --- the command -------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_says_what_it_lands_and_the_run_shows_why(shelf: Shelf) -> None:
    record(shelf, none_mergeable(shelf))
    refused = shelf.command("merge", "-r", RUN)
    assert refused.returncode == 5
    assert GATE in refused.stderr
    assert f"hydra merge codex -r {RUN} --override" in refused.stderr
    evil = "late \x1b[2J\u202e night"
    done = shelf.command("merge", "--no-check", "--override", evil)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"warning: codex is held back: {GATE}\n")
    assert "overriding the verdict: late <CSI 2J><U+202E> night" in done.stdout
    shown = shelf.command("runs", "show").stdout
    words = " ".join(shown.split())  # wherever its lines are broken
    assert "overriding the verdict: late <CSI 2J><U+202E> night" in words
    assert "held back" in shown
    told = json.loads(shelf.command("runs", "show", "--json").stdout)
    assert [one["override"] for one in told["landings"]] == [evil]
    shelf.command("merge", "--undo")
    assert "; taken back" in shelf.command("runs", "show").stdout


def test_the_command_takes_no_empty_reason_and_none_with_undo(shelf: Shelf) -> None:
    for args in (("--override", ""), ("claude", "--override", " "), ("--undo", "--override", "x")):
        done = shelf.command("merge", *args)
        assert done.returncode == 2, args
        assert landed(shelf) != "# codex\n"


def test_a_tie_in_the_command(shelf: Shelf) -> None:
    record(shelf, tie(shelf))
    done = shelf.command("merge", "--json")
    assert done.returncode == 5
    error = json.loads(done.stdout)["error"]
    assert "are tied" in error["message"]
    assert "hydra merge codex, or hydra merge claude" in error["hint"]


def test_a_branch_that_was_moved_since_is_not_what_was_checked(shelf: Shelf) -> None:
    """Whoever moved it: the race's own checks are of another patch."""
    file = shelf.race.patches.parent / "result.json"
    held = commits(shelf, "claude", "codex")
    told = [
        {
            "lane": lane,
            "status": "completed",
            "patch": {"commit": commit, "files": 1},
            "checks": [{"check": "t", "status": "passed"}],
            "held_back": [],
        }
        for lane, commit in held.items()
    ]
    write_json(file, {**json.loads(file.read_text()), "lanes": told})
    git(shelf.race.patches, "update-ref", "refs/heads/claude", held["codex"])
    judged = judgement(RunRecord(file.parent), shelf.environ)
    gates = {it["lane"]: [gate["text"] for gate in it["gates"]] for it in judged["lanes"]}
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
