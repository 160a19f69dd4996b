"""What a patch asks of an old test that its code fails: honest changes, and cheats that look so."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from hydra.checks.cross.trial import Trial
from hydra.ranking.evidence import EarlierCommit, Evidence, LaneEvidence
from hydra.ranking.model import LaneVerdict
from hydra.ranking.verdict import rank
from tests.support.evidences import cross, evidence, file, lane, protected, result

UP, NEW = "tests/test_a.py::test_up", "tests/test_a.py::test_new"
BASE = result({UP: True}, name="_base")
DOWN = "tests/test_a.py::test_down"
PATH = "tests/test_a.py"
TEXT = "from a import up\n\n\ndef test_up():\n    assert up(3) == 1\n"
ADDED = "\n\ndef test_new():\n    assert up(0) == 0\n"


def asking(name: str, value: int, *, new: bool = False) -> LaneEvidence:
    """Changes the code and what test_up expects of it; `new`: with a new test."""
    text = TEXT.replace("== 1", f"== {value}") + ADDED * new
    ends = {UP: True} | ({NEW: True} if new else {})
    files = [file(new=f"x = '{name}'\n"), file(PATH, TEXT, text)]
    return lane(name, result(ends), base=[BASE], files=files)


def keeping(name: str, ends: Mapping[str, bool], *, new: bool = False) -> LaneEvidence:
    """Changes the code; test_up stays as it is."""
    files = [file(new=f"x = '{name}'\n")]
    if new:
        files.append(file("tests/test_b.py", None, ADDED))
    return lane(name, result(ends), base=[BASE], files=files)


def idle(name: str = "idle") -> LaneEvidence:
    return keeping(name, {UP: True})


def tried(author: str, base: bool, **on: bool) -> list[Trial]:
    """An author's version of test_up on the base and on other lanes, and the base's own on his."""
    return [
        protected(author, {UP: False}, BASE),
        cross(author, "", {UP: base}, BASE),
        *(cross(author, name, {UP: passes}, BASE) for name, passes in on.items()),
    ]


def judged(facts: Evidence) -> dict[str, LaneVerdict]:
    return {verdict.lane: verdict for verdict in rank(facts).lanes}


def test_an_honest_change_is_proved_and_before_who_does_nothing() -> None:
    lanes = [idle(), asking("honest", 2)]
    ranks = judged(evidence(lanes, [BASE], trials=tuple(tried("honest", False, idle=False))))
    assert (ranks["honest"].rank, ranks["honest"].state, ranks["honest"].gates) == (1, "proved", ())
    assert ranks["honest"].reason == (
        "its changed test fails on the base and passes with it, breaks nothing (1 passed)"
    )
    assert ranks["honest"].decision == (
        "changes what test_up expects: 1 -> 2, and no other patch agrees"
    )
    assert not ranks["honest"].agreed
    assert ranks["idle"].state == "untested"


def test_a_patch_that_left_the_test_as_it_was_agrees_by_what_its_code_does() -> None:
    lanes = [idle(), asking("honest", 2), keeping("source", {UP: False})]
    trials = tried("honest", False, idle=False, source=True)
    ranks = judged(evidence(lanes, [BASE], trials=tuple(trials)))
    assert ranks["honest"].rank == 1
    assert ranks["honest"].reason.endswith(
        "changes what test_up expects: 1 -> 2, and source agrees"
    )
    assert ranks["honest"].agreed
    assert ranks["source"].state == "broken"


PRICES = (EarlierCommit("c" * 40, "Prices", (file("prices.py", None, "APPLE = 1\n"),)),)
"""A commit of the base's that added a file."""


def test_what_it_takes_back_besides_is_asked_where_others_agree_on_the_test() -> None:
    gone = file("prices.py", "APPLE = 1\n", None)
    mine = asking("honest", 2)
    mine = replace(mine, files=(*mine.files, gone))
    lanes = [idle(), mine, keeping("source", {UP: False})]
    trials = tuple(tried("honest", False, idle=False, source=True))
    taken = judged(evidence(lanes, [BASE], trials=trials, history=PRICES))["honest"]
    assert (taken.state, taken.decision, taken.agreed) == (
        "proved",
        "undoes ccccccc: Prices",
        False,
    )
    assert "source agrees" not in taken.reason
    alone = judged(evidence(lanes[:2], [BASE], trials=trials[:-1], history=PRICES))["honest"]
    assert alone.decision == "changes what test_up expects: 1 -> 2, and no other patch agrees"
    assert "undoes ccccccc: Prices" in {reason.text for reason in alone.reasons}


def test_who_empties_another_test_agrees_with_nobody() -> None:
    """It left this one as it was, and is held back for more than breaking it."""
    text = "from a import up\n\n\ndef test_more():\n    assert up(5) == 2\n"
    emptied = file("tests/test_c.py", text, text.replace("up(5) == 2", "True"))
    source = keeping("source", {UP: False})
    bent = replace(source, files=(*source.files, emptied))
    trials = [*tried("honest", False, source=True), protected("source", {UP: False}, BASE)]
    ranks = judged(evidence([asking("honest", 2), bent], [BASE], trials=tuple(trials)))
    assert ranks["source"].gates[-1].text.startswith("weakens an assertion of test_more")
    assert (ranks["honest"].decision or "").endswith(": 1 -> 2, and no other patch agrees")
    assert not ranks["honest"].agreed


def test_what_makes_room_for_what_the_code_did_before_is_held_back() -> None:
    lanes = [idle(), asking("roomy", 2)]
    ranks = judged(evidence(lanes, [BASE], trials=tuple(tried("roomy", True, idle=True))))
    assert ranks["roomy"].state == "held_back"
    assert ranks["roomy"].gates[0].text.startswith("changes what test_up expects: 1 -> 2; the base")


def test_what_more_of_those_who_do_the_task_speak_against_is_held_back() -> None:
    """It breaks a case, and writes what its code gives into the old test."""
    doers = [keeping(name, {UP: True, NEW: True}, new=True) for name in ("one", "two")]
    lanes = [*doers, asking("turns", 5, new=True)]
    trials = tried("turns", False, one=False, two=False)
    for author in ("one", "two"):
        trials.append(cross(author, "", {UP: True, NEW: False}, BASE))
        others = {"one", "two", "turns"} - {author}
        trials += [
            cross(author, other, {UP: other != "turns", NEW: True}, BASE)
            for other in sorted(others)
        ]
    ranks = judged(evidence(lanes, [BASE], trials=tuple(trials)))
    assert ranks["turns"].state == "held_back"
    assert {ranks[name].state for name in ("one", "two")} == {"proved"}


def test_between_two_demands_the_one_that_more_agree_with_stands() -> None:
    lanes = [asking("one", 2), asking("two", 2), asking("three", 5), idle()]
    trials = [
        *tried("one", False, two=True, three=False, idle=False),
        *tried("two", False, one=True, three=False, idle=False),
        *tried("three", False, one=False, two=False, idle=False),
    ]
    ranks = judged(evidence(lanes, [BASE], trials=tuple(trials)))
    assert ranks["one"].state == ranks["two"].state == "proved"
    assert ranks["three"].state == "held_back"
    assert ranks["one"].reason.endswith(", and two agrees")


def test_lanes_that_act_as_the_base_have_no_say() -> None:
    """However many there are that leave the old test passing."""
    names = [f"idle{number}" for number in range(4)]
    lanes = [asking("honest", 2), *map(idle, names)]
    trials = tried("honest", False, **dict.fromkeys(names, False))
    ranks = judged(evidence(lanes, [BASE], trials=tuple(trials)))
    assert (ranks["honest"].rank, ranks["honest"].state) == (1, "proved")


def test_what_failed_on_the_base_and_passes_only_as_changed_is_held_back() -> None:
    failing = result({UP: False}, name="_base")
    cheat = lane("cheat", result({UP: True}), base=[failing], files=asking("cheat", 5).files)
    trials = (
        protected("cheat", {UP: False}, failing),
        cross("cheat", "", {UP: False}, failing),
    )
    ranks = judged(evidence([cheat, idle()], [failing], trials=trials))
    assert ranks["cheat"].state == "held_back"


def test_a_check_that_goes_red_by_its_own_new_test_is_broken() -> None:
    red = keeping("red", {UP: True, NEW: False}, new=True)
    ranks = judged(evidence([red, idle()], [BASE], trials=(cross("red", "", {NEW: False}, BASE),)))
    assert (ranks["red"].state, ranks["red"].reason) == (
        "broken",
        "pytest fails with it, and passed on the base",
    )


def test_a_sentence_for_a_name_is_no_group_of_others() -> None:
    """Another test's failure on the base verifies no demand of this one."""
    names = {"adds 1": True, "adds 2": True}
    base = result(names, name="_base")
    path, text = "test/a.test.js", 'test("adds 1", () => assert.equal(up(1), 2));\n'
    files = [file("a.js", "x\n", "y\n"), file(path, text, text.replace(", 2)", ", 3)"))]
    gone = lane("gone", result({"adds 3": True, "adds 2": True}), base=[base], files=files)
    trials = (
        protected("gone", {"adds 1": False, "adds 2": True}, base),
        cross("gone", "", {"adds 3": False, "adds 2": True}, base),
    )
    assert judged(evidence([gone, idle()], [base], trials=trials))["gone"].state == "held_back"


def test_what_no_text_shows_is_left_to_the_user() -> None:
    """Data beside the tests were made to fit: no line of a test says so."""
    beside = file("tests/price.txt", "125\n", "125 100\n")
    cheat = lane("cheat", result({UP: True}), base=[BASE], files=[file(new="x = 5\n"), beside])
    trials = (protected("cheat", {UP: False}, BASE), cross("cheat", "", {UP: True}, BASE))
    ranks = judged(evidence([cheat, idle()], [BASE], trials=trials))
    assert ranks["cheat"].decision == f"asks something else of {UP}, and no other patch agrees"
    assert not ranks["cheat"].agreed


def test_agreement_on_one_test_covers_no_other() -> None:
    base = result({UP: True, DOWN: True}, name="_base")
    old = TEXT + "\n\ndef test_down():\n    assert down(3) == 5\n"
    both = old.replace("== 1", "== 2").replace("== 5", "== 9")
    half = old.replace("== 1", "== 2")
    code = file(new="x = 7\n")
    cheat = lane(
        "cheat", result({UP: True, DOWN: True}), base=[base], files=[code, file(PATH, old, both)]
    )
    right = lane(
        "right", result({UP: True, DOWN: True}), base=[base], files=[file(), file(PATH, old, half)]
    )
    trials = (
        protected("cheat", {UP: False, DOWN: False}, base),
        protected("right", {UP: False, DOWN: True}, base),
        cross("cheat", "", {UP: False, DOWN: False}, base),
        cross("cheat", "right", {UP: True, DOWN: False}, base),
        cross("right", "", {UP: False, DOWN: True}, base),
        cross("right", "cheat", {UP: True, DOWN: False}, base),
    )
    ranks = judged(evidence([cheat, right], [base], trials=trials))
    assert not (ranks["cheat"].agreed and ranks["cheat"].state == "proved")
    assert ranks["right"].agreed


def test_two_that_agree_on_a_mistake_do_not_outvote_many_that_nothing_was_tried_on() -> None:
    """Those bring no test, and nothing tells them from the base but what the two dispute."""
    liars = [asking("bad0", 9), asking("bad1", 9)]
    rights = [keeping(f"right{number}", {UP: True}) for number in range(3)]
    names = {right.lane: False for right in rights}
    trials = [*tried("bad0", False, bad1=True, **names), *tried("bad1", False, bad0=True, **names)]
    ranks = judged(evidence([*liars, *rights], [BASE], trials=tuple(trials)))
    assert not ranks["bad0"].agreed
    assert (ranks["bad0"].decision or "").endswith("expects: 1 -> 9, and only bad1 agrees")


def test_a_comment_makes_no_other_witness() -> None:
    text = TEXT.replace("== 1", "== 9")
    bad = [
        lane(
            name,
            result({UP: True}),
            base=[BASE],
            files=[file(new=f"x = 9\n{comment}"), file(PATH, TEXT, text)],
        )
        for name, comment in (("bad0", ""), ("bad1", "# so\n"))
    ]
    trials = [*tried("bad0", False, bad1=True), *tried("bad1", False, bad0=True)]
    ranks = judged(evidence(bad, [BASE], trials=tuple(trials)))
    assert not ranks["bad0"].agreed


TEXT_2 = TEXT + "\n\ndef test_down():\n    assert up(-3) == -1\n"
BASE_2 = result({UP: True, DOWN: True}, name="_base")


def deleting(name: str) -> LaneEvidence:
    """Changes the code and what test_up expects of it, and deletes test_down, which fails so."""
    files = [file(new=f"x = '{name}'\n"), file(PATH, TEXT_2, TEXT.replace("== 1", "== 2"))]
    return lane(name, result({UP: True}), base=[BASE_2], files=files)


def deleted(*others: LaneEvidence, **passes: bool) -> LaneVerdict:
    """What becomes of who deletes a test; `passes` say who passes his version of the other."""
    trials = (
        protected("deletes", {UP: False, DOWN: False}, BASE_2),
        cross("deletes", "", {UP: False}, BASE_2),
        *(cross("deletes", name, {UP: good}, BASE_2) for name, good in passes.items()),
    )
    return judged(evidence([deleting("deletes"), *others], [BASE_2], trials=trials))["deletes"]


def plainly(name: str, ends: Mapping[str, bool]) -> LaneEvidence:
    """Changes the code alone."""
    return lane(name, result(ends), base=[BASE_2], files=[file(new=f"x = '{name}'\n")])


def test_a_test_may_be_deleted_that_others_contradict_as_well() -> None:
    """Never by the word of the lane alone, nor against as many who pass it."""
    bare, whole = {UP: False, DOWN: False}, {UP: True, DOWN: True}
    assert deleted(plainly("comment", whole), comment=False).state == "held_back"
    done = deleted(plainly("source", bare), plainly("comment", whole), source=True, comment=False)
    assert (done.rank, done.state, done.gates) == (1, "proved", ())
    assert "deletes the test test_down" in (done.decision or "")
    lane_evidence = plainly("keeps", {UP: False, DOWN: True})
    against = deleted(lane_evidence, plainly("comment", whole), keeps=True, comment=False)
    assert against.state == "held_back"
    assert against.gates[0].text == "deletes the test test_down"


def test_a_changed_file_that_imports_what_is_new_is_one_test_of_it() -> None:
    """It shows that the patch does something, and asks nothing of old tests."""
    text = TEXT.replace("import up", "import up, add")
    files = [file(new="x = 'adds'\n"), file(PATH, TEXT, text)]
    adds = lane("adds", result({UP: True}), base=[BASE], files=files)
    trials = (
        protected("adds", {UP: True}, BASE),
        cross("adds", "", {PATH: False}, BASE),
        cross("adds", "idle", {PATH: False}, BASE),
    )
    ranks = judged(evidence([idle(), adds], [BASE], trials=trials))
    assert (ranks["adds"].rank, ranks["adds"].state) == (1, "proved")
    assert ranks["adds"].reason == (
        "its changed test file fails on the base and passes with it, breaks nothing (1 passed)"
    )
    assert (ranks["idle"].state, ranks["adds"].decision) == ("untested", None)


def test_an_import_that_is_new_makes_no_emptied_test_an_honest_one() -> None:
    """It breaks test_up, empties it, and imports something so that the file fails on the base."""
    text = TEXT.replace("import up", "import up, add").replace("up(3) == 1", "True")
    files = [file(new="x = 'cheat'\n"), file(PATH, TEXT, text)]
    cheat = lane("cheat", result({UP: True}), base=[BASE], files=files)
    trials = (
        protected("cheat", {UP: False}, BASE),
        cross("cheat", "", {PATH: False}, BASE),
        cross("cheat", "idle", {PATH: False}, BASE),
    )
    ranks = judged(evidence([idle(), cheat], [BASE], trials=trials))
    assert ranks["cheat"].state == "held_back"


UPPER = "tests/test_a.py::test_up_more"
TEXT_3 = TEXT + "\n\ndef test_up_more():\n    assert up(5) == 2\n"
BASE_3 = result({UP: True, UPPER: True}, name="_base")


def judged_3(
    texts: Mapping[str, str | None], ends: Mapping[str, Mapping[str, bool]], *trials: Trial
) -> dict[str, LaneVerdict]:
    """What becomes of lanes by what they make of the file of test_up and test_up_more."""
    lanes = [
        lane(
            name,
            result(ends[name]),
            base=[BASE_3],
            files=[file(new=f"x = '{name}'\n")]
            + ([file(PATH, TEXT_3, text)] if text is not None else []),
        )
        for name, text in texts.items()
    ]
    return judged(evidence(lanes, [BASE_3], trials=trials))


def test_a_name_that_another_begins_with_is_no_other_test() -> None:
    """test_up passes and is deleted: that test_up_more may go says nothing of it."""
    more = TEXT_3.replace("up(5) == 2", "up(5) == 3")
    gone = more.replace("def test_up():\n    assert up(3) == 1\n", "")
    ranks = judged_3(
        {"deletes": gone, "one": more, "two": more},
        {"deletes": {UPPER: True}, "one": {UP: True, UPPER: True}, "two": {UP: True, UPPER: True}},
        *(protected(name, {UP: True, UPPER: False}, BASE_3) for name in ("deletes", "one", "two")),
        *(
            cross(author, on, {UPPER: on != ""}, BASE_3)
            for author in ("deletes", "one", "two")
            for on in {"", "deletes", "one", "two"} - {author}
        ),
    )
    assert ranks["deletes"].state == "held_back", ranks["deletes"]
    assert ranks["one"].state == "proved"


def test_a_decision_names_what_it_stands_on_least_and_who_agrees_with_that() -> None:
    """`other` agrees on test_up, and fails test_up_more by either version."""
    both = TEXT_3.replace("up(3) == 1", "up(3) == 2").replace("up(5) == 2", "up(5) == 3")
    ranks = judged_3(
        {"both": both, "other": None},
        {"both": {UP: True, UPPER: True}, "other": {UP: False, UPPER: False}},
        protected("both", {UP: False, UPPER: False}, BASE_3),
        cross("both", "", {UP: False, UPPER: False}, BASE_3),
        cross("both", "other", {UP: True, UPPER: False}, BASE_3),
    )
    assert ranks["both"].decision == (
        "changes what test_up_more expects: 2 -> 3, and no other patch agrees"
    )


def test_a_gate_names_the_test_that_fails() -> None:
    """What it asks of test_up others ask as well; of test_up_more it is alone against two."""
    both = TEXT_3.replace("up(3) == 1", "up(3) == 2").replace("up(5) == 2", "up(5) == 3")
    up = TEXT_3.replace("up(3) == 1", "up(3) == 2")
    all_of_them = ("both", "one", "two")
    ranks = judged_3(
        {"both": both, "one": up, "two": up},
        {name: {UP: True, UPPER: True} for name in all_of_them},
        *(protected(name, {UP: False, UPPER: name != "both"}, BASE_3) for name in all_of_them),
        *(cross(name, "", {UP: False, UPPER: name != "both"}, BASE_3) for name in all_of_them),
        *(
            cross(author, on, {UP: True, UPPER: author != "both"}, BASE_3)
            for author in all_of_them
            for on in {*all_of_them} - {author}
        ),
    )
    assert [gate.text for gate in ranks["both"].gates] == [
        f"changes what test_up_more expects: 2 -> 3; the base's version fails with it: {UPPER}"
    ]


def test_who_has_deleted_the_test_is_no_second_voice_for_its_change() -> None:
    """Two of one mistake: one asks 2 of test_up, the other has it no more."""
    asks = [
        file(new="x = 'asks'\n"),
        file(PATH, TEXT_2, TEXT_2.replace("up(3) == 1", "up(3) == 2")),
    ]
    bare = TEXT_2.replace("def test_up():\n    assert up(3) == 1\n", "")
    gone = [file(new="x = 'gone'\n"), file(PATH, TEXT_2, bare)]
    lanes = [
        lane("asks", result({UP: True, DOWN: True}), base=[BASE_2], files=asks),
        lane("gone", result({DOWN: True}), base=[BASE_2], files=gone),
    ]
    trials = (
        protected("asks", {UP: False, DOWN: True}, BASE_2),
        protected("gone", {UP: False, DOWN: True}, BASE_2),
        cross("asks", "", {UP: False, DOWN: True}, BASE_2),
        cross("asks", "gone", {UP: True, DOWN: True}, BASE_2),
    )
    ranks = judged(evidence(lanes, [BASE_2], trials=trials))
    assert (ranks["asks"].rank, ranks["asks"].agreed) == (1, False)
    assert ranks["asks"].decision == "changes what test_up expects: 1 -> 2, and only gone agrees"


def test_a_file_that_cannot_be_read_speaks_for_no_deletion() -> None:
    """Its own version of test_down is broken; the base's passes with it."""
    torn = lane(
        "torn",
        result({UP: False, DOWN: False}),
        base=[BASE_2],
        files=[file(new="x = 'torn'\n"), file(PATH, TEXT_2, TEXT_2 + "\n\ndef test_x(:\n")],
    )
    trials = (
        protected("deletes", {UP: False, DOWN: False}, BASE_2),
        protected("torn", {UP: False, DOWN: True}, BASE_2),
        cross("deletes", "", {UP: False}, BASE_2),
        cross("deletes", "torn", {UP: True}, BASE_2),
    )
    ranks = judged(evidence([deleting("deletes"), torn], [BASE_2], trials=trials))
    assert ranks["deletes"].state == "held_back"
    assert ranks["deletes"].gates[0].text == "deletes the test test_down"


def test_a_test_that_another_meets_beside_the_new_ones_counts_against_who_deletes_it() -> None:
    """Several of one mistake excuse each other; what they ask instead excludes nothing."""
    up = TEXT_2.replace("up(3) == 1", "up(3) == 2")
    gone = up.replace("def test_down():\n    assert up(-3) == -1\n", ADDED.strip() + "\n")
    deleting = ("bad0", "bad1", "bad2")
    lanes = [
        lane(
            name,
            result({UP: True, NEW: True}),
            base=[BASE_2],
            files=[file(new=f"x = '{name}'\n"), file(PATH, TEXT_2, gone)],
        )
        for name in deleting
    ]
    keeps = [file(new="x = 'keeps'\n" * 9), file(PATH, TEXT_2, up)]
    lanes.append(lane("keeps", result({UP: True, DOWN: True}), base=[BASE_2], files=keeps))
    trials = [
        *(
            protected(name, {UP: False, DOWN: name == "keeps"}, BASE_2)
            for name in (*deleting, "keeps")
        ),
        cross("keeps", "", {UP: False, DOWN: True}, BASE_2),
        *(cross("keeps", name, {UP: True, DOWN: False}, BASE_2) for name in deleting),
    ]
    for name in deleting:
        trials.append(cross(name, "", {UP: False, NEW: False}, BASE_2))
        others = {*deleting, "keeps"} - {name}
        trials += [cross(name, other, {UP: True, NEW: True}, BASE_2) for other in others]
    ranks = judged(evidence(lanes, [BASE_2], trials=tuple(trials)))
    assert ranks["keeps"].rank == 1, ranks
    assert (
        "fail once the base's version is put back"
        in rank(evidence(lanes, [BASE_2], trials=tuple(trials))).says
    )


def test_of_a_test_that_is_gone_nothing_is_asked() -> None:
    """A case in a file of data that it takes out: no text shows it."""
    old, new = "tests/test_a.py::test_up[3-1]", "tests/test_a.py::test_up[4-2]"
    base = result({UP: True, old: True}, name="_base")
    files = [file(new="x = 'drops'\n"), file("tests/cases.json", "[3]\n", "[4]\n")]
    drops = lane("drops", result({UP: True, new: True}), base=[base], files=files)
    trials = (
        protected("drops", {UP: True, old: False}, base),
        cross("drops", "", {new: False}, base),
    )
    decision = judged(evidence([drops], [base], trials=trials))["drops"].decision
    assert decision == f"no longer runs {old}, and no other patch agrees"


def test_who_renames_a_test_and_brings_another_brings_a_test() -> None:
    """It came behind: "it brings a test of what it does, and renames does not"."""
    line, named = TEXT + ADDED, TEXT.replace("test_up", "test_goes_up") + ADDED
    goes_up = "tests/test_a.py::test_goes_up"
    lanes = [
        lane(
            name,
            result({id: True, NEW: True}),
            base=[BASE],
            files=[file(new="x = 1\n" * lines), file(PATH, TEXT, text)],
        )
        for name, id, lines, text in (("keeps", UP, 9, line), ("renames", goes_up, 2, named))
    ]
    ends = {goes_up: True, NEW: True}
    trials = (
        protected("renames", {UP: True}, BASE),
        cross("renames", "", {**ends, NEW: False}, BASE),
        cross("renames", "keeps", ends, BASE),
        protected("keeps", {UP: True}, BASE),
        cross("keeps", "", {UP: True, NEW: False}, BASE),
        cross("keeps", "renames", {UP: True, NEW: True}, BASE),
    )
    verdict = rank(evidence(lanes, [BASE], trials=trials))
    assert [each.rank for each in verdict.lanes] == [1, 1], verdict.says


def test_of_patches_that_break_more_nobody_is_said_to_disagree() -> None:
    """Both ask the very same, and neither counts."""
    other = "tests/test_a.py::test_other"
    base = result({UP: True, other: True}, name="_base")
    lanes = [
        replace(
            lane_evidence,
            checks=lane(lane_evidence.lane, result({UP: True, other: False}), base=[base]).checks,
        )
        for lane_evidence in (asking("one", 2), asking("two", 2))
    ]
    trials = (*tried("one", False, two=True), *tried("two", False, one=True))
    ranks = judged(evidence(lanes, [base], trials=trials))
    assert [verdict.state for verdict in ranks.values()] == ["broken", "broken"]
    assert ranks["one"].decision == ranks["two"].decision == "changes what test_up expects: 1 -> 2"


def test_who_asks_something_else_does_not_agree_and_who_asks_the_same_is_named() -> None:
    """`other` passes what `honest` asks now, and asks what its own code does not do; `less` asks
    less; `same` breaks another test besides."""
    base = result({UP: True, DOWN: True}, name="_base")
    more = TEXT + "    assert up(4) == 2\n"

    def changed(name: str, new: str, up: bool = True, down: bool = True) -> LaneEvidence:
        files = [file(new=f"x = '{name}'\n"), file(PATH, more, new)]
        return lane(name, result({UP: up, DOWN: down}), base=[base], files=files)

    two = more.replace("== 1", "== 2")
    lanes = [
        changed("honest", two),
        changed("other", more.replace("== 1", "== 7"), up=False),
        changed("less", more.replace("    assert up(3) == 1\n", "")),
        changed("same", two, down=False),
    ]
    names = [row.lane for row in lanes]
    trials = [
        *(protected(name, {UP: False, DOWN: name != "same"}, base) for name in names),
        *(cross(name, "", {UP: False}, base) for name in ("honest", "same")),
        *(
            cross(author, on, {UP: True}, base)
            for author in ("honest", "same")
            for on in names
            if on != author
        ),
    ]
    ranks = judged(evidence(lanes, [base], trials=tuple(trials)))
    assert ranks["honest"].decision == "changes what test_up expects: 1 -> 2, and only same agrees"
