"""The grammar of what is said of a lane: each shape has one pattern and one predicate.

A predicate reads the run's raw results alone (`raw_facts`). A sentence is one clause or several;
what no shape fits is an error, so that a new sentence needs a shape of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hydra.checks.record import CheckStatus
from hydra.checks.regressions import FEWER
from tests.support.raw_facts import Brought, Facts, end_of, is_flaky, ran

Groups = Mapping[str, str]
Predicate = Callable[[Facts, str, Groups], bool]


class Clause(NamedTuple):
    """A part of a sentence that is said of `lane`."""

    shape: str
    lane: str
    groups: Groups

    def about(self, name: str = "lane") -> str:
        """The other lane that it names."""
        return self.groups.get(name) or ""


class Shape(NamedTuple):
    """One way to say something."""

    name: str
    pattern: re.Pattern[str]
    holds: Predicate


class NoShape(AssertionError):
    """A sentence that the grammar does not have."""


_LANE = r"(?:claude-2|claude|codex|gemini|aider|amp)"
_TEST = r"(?:(?:tests|late)/[\w./]+(?:::\w+)?|test_\w+(?:\.py)?|pytest|slow|make-test)"
_PARTS = {
    "lane": _LANE,
    "lanes": rf"{_LANE}(?:, {_LANE})*(?: and {_LANE})?",
    "agent": _LANE,
    "test": _TEST,
    "tests": rf"{_TEST}(?:, {_TEST})*(?: and \d+ more)?",
    "named": rf"(?:{_TEST}|\d+ tests \({_TEST}(?:, {_TEST})*(?: and \d+ more)?\))",
    "check": r"(?:pytest|slow|make-test|build|ruff|mypy)",
    "checks": r"(?:pytest|slow|make-test|build|ruff|mypy)(?:(?:, | and )"
    r"(?:pytest|slow|make-test|build|ruff|mypy))*",
    "kind": r"(?:new or changed|new|changed) tests?",
    "paths": r"[\w./]+(?:, [\w./]+)*(?: and \d+ more)?",
    "stopped": "(?:over 5:00|its program was not there|npm ci exited with 1|it was interrupted"
    "|no space left|it exited with 1|no tests found)",
    "says": r"(?:\d+ passed, \d+ failed|\d+ passed|passed|(?:\d+ passed, )?failed \(exit 1\)"
    r"|failed|\d+ broken|flaky"
    "|no tests found|program missing|timed out|set-up failed|interrupted|not run)",
    "state": "(?:proved|untested|broken|held back)",
    "n": r"[\d,]+",
    "k": r"[\d,]+",
    "was": r"assert f\(\d\) == \d",
    "now": r"assert f\(\d\) == \d",
    "a": r"\d+",
    "b": r"\d+",
}
_END = r"(?=$|; |, | \(|: )"


def _compiled(pattern: str) -> re.Pattern[str]:
    expanded = re.sub(
        r"\{(\w+)\}",
        lambda match: f"(?P<{match[1]}>{_PARTS[match[1]]})" if match[1] in _PARTS else match[0],
        pattern,
    )
    return re.compile(expanded + _END)


def clauses(sentence: str, lane: str) -> list[Clause]:
    """A sentence's parts. Raises `NoShape`."""
    parsed = _parsed(sentence, 0, lane)
    if parsed is None:
        raise NoShape(f"no shape for what is said of {lane}: {sentence!r}")
    return parsed


def _parsed(sentence: str, start: int, lane: str) -> list[Clause] | None:
    if start == len(sentence):
        return []
    for shape in SHAPES:
        match = shape.pattern.match(sentence, start)
        if match is None:
            continue
        gap = re.compile(r"; |, |: |(?= \()|$").match(sentence, match.end())
        rest = _parsed(sentence, gap.end(), lane) if gap else None
        if rest is not None:
            groups = {name: text for name, text in match.groupdict().items() if text}
            return [Clause(shape.name, lane, groups), *rest]
    return None


def holds(clause: Clause, facts: Facts) -> bool:
    """Whether a clause is true of the run's raw results."""
    shape = next(shape for shape in SHAPES if shape.name == clause.shape)
    return shape.holds(facts, clause.lane, clause.groups)


# What predicates have in common.


def _number(text: str | None, default: int = 1) -> int:
    return int(text.replace(",", "")) if text else default


def _names(listed: str) -> tuple[list[str], int]:
    """The names of a list, and how many it stands for."""
    inner = re.fullmatch(r"\d+ tests \((.*)\)", listed)
    text = inner[1] if inner else listed
    first, _, more = text.partition(" and ")
    names = first.split(", ")
    return names, len(names) + _number(more.removesuffix(" more"), 0)


def _lists(listed: str, ids: Iterable[str]) -> bool:
    """Whether a list names these ids, by their whole names or their last part, and counts all."""
    texts = [*dict.fromkeys(ids)]
    names, count = _names(listed)
    ends = {end for id in texts for end in (id, re.split("::|/", id)[-1])}
    return count == len(texts) and {*names} <= ends


def _all_of(listed: str) -> list[str]:
    return re.split(r", | and ", listed)


def _is_known(_facts: Facts, _lane: str, _groups: Groups) -> bool:
    """Of a clause that another check of the test reads, or that repeats the record word by word."""
    return True


def _status(facts: Facts, lane: str, check: str) -> CheckStatus | None:
    result = facts.own.get((lane, check))
    return result.status if result else None


def _base_status(facts: Facts, check: str) -> CheckStatus | None:
    result = facts.base.get(check)
    return result.status if result else None


# The base's tests.


def _fixes_of(facts: Facts, lane: str, groups: Groups) -> bool:
    failing = _steadily_failing(facts, lane, required=False)
    whole = {"the failing test": 1, "both failing tests": 2}.get(groups["what"])
    count = whole or _number(groups.get("k") or groups.get("n"))
    return len(facts.fixed(lane)) == count and len(failing) == (whole or _number(groups["n"]))


def _steadily_failing(facts: Facts, lane: str, *, required: bool) -> list[tuple[str, str]]:
    """What failed on the base, but for what is flaky with the patch and not mended."""
    fixed = facts.fixed(lane)
    names = {*(name for name, _, _ in facts.tests(lane)), *(name for name, _ in fixed)}
    return [
        (name, id)
        for name in names
        if (own := facts.own[lane, name]).check.required or not required
        for id in facts.failing(name)
        if not is_flaky(own, id) or (name, id) in fixed
    ]


def _fixes_none(facts: Facts, lane: str, groups: Groups) -> bool:
    failing = _steadily_failing(facts, lane, required=True)
    return not facts.fixed(lane) and len(failing) == _number(groups.get("n"))


def _fixes_in(facts: Facts, lane: str, groups: Groups) -> bool:
    check, what = groups["check"], groups["what"]
    steady = _steadily_failing(facts, lane, required=False)
    mended, failing = len(facts.fixed(lane, check)), sum(name == check for name, _ in steady)
    every = {"the one failure": 1, "both failures": 2}.get(what)
    if "none" in what or what == "does not fix the one failure":
        return not mended and failing == _number(groups.get("n"))
    count = every or _number(groups.get("k") or groups.get("n"))
    return mended == count and failing == (every or _number(groups.get("n")))


def _fixes_in_check(facts: Facts, lane: str, groups: Groups) -> bool:
    """All that failed on the base in one check."""
    count = {"the failing test": 1, "both failing tests": 2}.get(groups["what"])
    fixed = facts.fixed(lane, groups["check"])
    return len(fixed) == len(facts.failing(groups["check"])) == (count or _number(groups.get("n")))


def _breaks(facts: Facts, lane: str, groups: Groups) -> bool:
    return _lists(groups.get("tests") or groups["test"], facts.broken(lane, required=True))


def _breaks_nothing(facts: Facts, lane: str, groups: Groups) -> bool:
    return not facts.broken(lane)


def _unserved(facts: Facts, lane: str, groups: Groups) -> bool:
    """Those of all tests that could be compared."""
    runs = [own.tests for _, _, own in facts.tests(lane) if own.tests]
    return sum(len(tests.unserved) for tests in runs) == _number(groups["n"])


def _still(facts: Facts, lane: str, groups: Groups) -> bool:
    """Those that fail on the base, and with the lane's own version too."""
    still = [
        id
        for name, _, _ in facts.tests(lane)
        for id in facts.failing(name)
        if facts.end(lane, name, id) is False
    ]
    return len(still) == _number(groups["n"])


def _turned_checks(facts: Facts, lane: str, groups: Groups) -> bool:
    return all(
        _base_status(facts, check) is CheckStatus.FAILED
        and _status(facts, lane, check) is CheckStatus.PASSED
        for check in _all_of(groups["checks"])
    )


def _none_fails(facts: Facts, lane: str, groups: Groups) -> bool:
    base, own = facts.base[groups["check"]].tests, facts.own[lane, groups["check"]].tests
    return base is not None and own is not None and base.failed == _number(groups["n"]) > own.failed


def _passed_count(facts: Facts, lane: str, groups: Groups) -> bool:
    """Of all checks, or of those that end as on the base."""
    alike = [
        check.tests
        for check in facts.lane(lane).checks
        if check.tests is not None and check.status is _base_status(facts, check.check.name)
    ]
    passed = (facts.passed(lane), sum(tests.passed for tests in alike))
    failed = sum(tests.failed for tests in alike)
    return _number(groups["n"]) in passed and (
        "failed" not in groups or failed == _number(groups["k"])
    )


def _alike_with_and_without(facts: Facts, lane: str, groups: Groups) -> bool:
    return all(
        _base_status(facts, check) is _status(facts, lane, check)
        for check in _all_of(groups["checks"])
    )


def _passes_without(facts: Facts, lane: str, groups: Groups) -> bool:
    statuses = [_base_status(facts, check) for check in _all_of(groups["checks"])]
    return _alike_with_and_without(facts, lane, groups) and {*statuses} == {CheckStatus.PASSED}


def _red(facts: Facts, lane: str, groups: Groups) -> bool:
    check = groups["check"]
    statuses = (_base_status(facts, check), _status(facts, lane, check))
    return statuses == (CheckStatus.PASSED, CheckStatus.FAILED)


def _red_too(facts: Facts, lane: str, groups: Groups) -> bool:
    check = groups["check"]
    return _base_status(facts, check) is _status(facts, lane, check) is CheckStatus.FAILED


def _not_on_base(facts: Facts, lane: str, groups: Groups) -> bool:
    ends = {"passes": CheckStatus.PASSED, "fails": CheckStatus.FAILED}[groups["ends"]]
    return _status(facts, lane, groups["check"]) is ends and not ran(
        facts.base.get(groups["check"])
    )


def _stopped(facts: Facts, lane: str, groups: Groups) -> bool:
    return not ran(facts.own.get((lane, groups["check"])))


def _stopped_alone(facts: Facts, lane: str, groups: Groups) -> bool:
    return _stopped(facts, lane, groups) and ran(facts.base.get(groups["check"]))


def _gone(facts: Facts, lane: str, groups: Groups) -> bool:
    """Tests of the base that the lane's own run does not name."""
    names, _ = _names(groups["named"])
    old = [
        id
        for _, base, own in facts.tests(lane)
        if base.tests is not None and own.tests is not None
        for id in base.tests.by_id
        if own.tests.by_id.get(id, "skipped") == "skipped"
    ]
    return {*names} <= {end for id in old for end in (id, id.rpartition("::")[2])}


def _fails_now(facts: Facts, lane: str, groups: Groups) -> bool:
    broken = set(facts.broken(lane))
    names, count = _names(groups["tests"])
    return {*names} <= broken and count == _number(groups["n"])


def _still_in(facts: Facts, lane: str, groups: Groups) -> bool:
    failing = facts.failing(groups["check"])
    still = [id for id in failing if facts.end(lane, groups["check"], id) is False]
    still = [id for id in still if facts.own_end(lane, groups["check"], id) is False]
    return _lists(groups["tests"], still)


def _by_its_own(facts: Facts, lane: str, groups: Groups) -> bool:
    check = groups["check"]
    names, _ = _names(groups["tests"])
    return all(
        facts.own_end(lane, check, id) is True and facts.end(lane, check, id) is not True
        for id in names
    )


def _only_by_its_own(facts: Facts, lane: str) -> list[tuple[str, str]]:
    """What failed on the base, passes with it, and fails by the base's version of anything."""
    return [
        (check, id)
        for check in facts.base
        for id in facts.failing(check)
        if facts.own_end(lane, check, id) is True
        and any(
            end_of(item.result, id) is False
            for item in facts.put_back(lane)
            if item.result.check.name == check and ran(item.result)
        )
    ]


def _by_its_own_version(facts: Facts, lane: str, groups: Groups) -> bool:
    count = len(_only_by_its_own(facts, lane))
    return count == _number(groups["n"]) and _touches_a_file_so_called(facts, lane, groups)


def _fail_with_the_bases(facts: Facts, lane: str, groups: Groups) -> bool:
    return 0 < len(_only_by_its_own(facts, lane)) < _number(groups["n"]) <= _number(groups["k"])


def _touches_a_file_so_called(facts: Facts, lane: str, groups: Groups) -> bool:
    names = {file.path.rpartition("/")[2] for file in facts.lane(lane).files}
    return {*_names(groups["paths"])[0]} <= names


def _are_without_code(facts: Facts, lane: str, groups: Groups) -> bool:
    return all(
        file.path.startswith("tests/") or file.path.endswith((".md", ".lock"))
        for other in _all_of(groups["lanes"])
        for file in facts.lane(other).files
    )


def _is_without_code(facts: Facts, lane: str, groups: Groups) -> bool:
    return _are_without_code(facts, lane, {"lanes": lane})


def _breaks_nothing_in(facts: Facts, lane: str, groups: Groups) -> bool:
    own = facts.own[lane, groups["check"]]
    broken = facts.broken(lane)
    return own.tests is not None and not {*own.tests.by_id} & {*broken}


def _flaky_in(facts: Facts, lane: str, groups: Groups) -> bool:
    sides = (facts.base.get(groups["check"]), facts.own[lane, groups["check"]])
    names, _ = _names(groups["tests"])
    return all(any(is_flaky(side, id) for side in sides) for id in names)


def _put_back_fails(facts: Facts, lane: str, groups: Groups) -> bool:
    """Each fails in a run with the base's tests put back, or does not run there."""
    trials = facts.put_back(lane)
    results = [item.result for item in trials]
    return all(
        any(
            (
                result.tests is None
                and result.check.name == name
                and result.status is CheckStatus.FAILED
            )
            or (result.tests is not None and result.tests.by_id.get(name, "failed") != "passed")
            for result in results
        )
        for name in _names(groups["tests"])[0]
    )


def _put_back_passes(facts: Facts, lane: str, groups: Groups) -> bool:
    """No test of the base that its own version passes fails so."""
    trials = facts.put_back(lane)
    return bool(trials) and not any(
        facts.own_end(lane, item.result.check.name, id) is True
        and facts.end(lane, item.result.check.name, id) is False
        for item in trials
        if item.result.tests is not None
        for id in item.result.tests.by_id
        if facts.is_of_base(item.result.check.name, id) and not is_flaky(item.result, id)
    )


def _mended_so(facts: Facts, lane: str, groups: Groups) -> bool:
    failing = {id for check in facts.base for id in facts.failing(check)}
    good = {id for check in facts.base for id in failing if facts.end(lane, check, id)}
    return {*_names(groups["tests"])[0]} <= good


# What lanes' tests say.


def _steady(facts: Facts, author: str) -> list[Brought]:
    mine = (brought for brought in facts.brought if brought.author == author)
    return [brought for brought in mine if not facts.is_unsteady(brought)]


def _own_tests(facts: Facts, lane: str, on_base: bool | None) -> list[Brought]:
    return [brought for brought in _steady(facts, lane) if facts.cell(brought, "") is on_base]


def _own_prove(facts: Facts, lane: str, groups: Groups) -> bool:
    passing = [test for test in _own_tests(facts, lane, False) if facts.cell(test, lane)]
    return len(passing) == _number(groups.get("n")) and _is_kind(groups["kind"], passing)


def _is_kind(kind: str, tests: Sequence[Brought]) -> bool:
    values = {True: "changed", False: "new"}
    kinds = {values[test.changed] for test in tests}
    return kind.removesuffix("s").removesuffix(" test") == (
        kinds.pop() if len(kinds) == 1 else "new or changed"
    )


def _own_pass_on_base(facts: Facts, lane: str, groups: Groups) -> bool:
    return len(_own_tests(facts, lane, True)) >= _number(groups.get("n"))


def _own_untried(facts: Facts, lane: str, groups: Groups) -> bool:
    return len(_own_tests(facts, lane, None)) == _number(groups.get("n"))


def _own_fail(facts: Facts, lane: str, groups: Groups) -> bool:
    failing = [
        brought.id
        for brought in facts.brought
        if brought.author == lane and not facts.cell(brought, lane)
    ]
    return {*_names(groups["tests"])[0]} <= {*failing}


def _own_fail_everywhere(facts: Facts, lane: str, groups: Groups) -> bool:
    tests = [
        brought for brought in _steady(facts, lane) if brought.id in _names(groups["tests"])[0]
    ]
    return bool(tests) and not any(facts.cell(test, on) for test in tests for on in facts.patched)


def _own_flaky(facts: Facts, lane: str, groups: Groups) -> bool:
    tests = [brought for brought in facts.brought if brought.author == lane]
    flaky = {test.id for test in tests if facts.is_unsteady(test)}
    return {*_names(groups["tests"])[0]} <= flaky


def _tried_of(facts: Facts, lane: str, author: str) -> list[Brought]:
    """Of an author's tests those that were tried on this lane and do not pass on the base."""
    return [
        brought
        for brought in _steady(facts, author)
        if facts.cell(brought, "") is not True and facts.cell(brought, lane) is not None
    ]


def _fails_of(facts: Facts, lane: str, groups: Groups) -> bool:
    tried = _tried_of(facts, lane, groups["lane"])
    fails = [brought.id for brought in tried if facts.cell(brought, lane) is False]
    count = _number(groups.get("n"))
    counted = len(fails) == _number(groups.get("k"), count) and len(tried) == count
    return counted and ("tests" not in groups or _lists(groups["tests"], fails))


def _fails_alone(facts: Facts, lane: str, groups: Groups) -> bool:
    tried = _tried_of(facts, lane, groups["lane"])
    fails = [brought for brought in tried if facts.cell(brought, lane) is False]
    others = {name for name in facts.patched if name != groups["lane"]}
    return _fails_of(facts, lane, groups) and not any(
        facts.cell(fail, other) for fail in fails for other in others
    )


def _fails_too(facts: Facts, lane: str, groups: Groups) -> bool:
    tried = _tried_of(facts, lane, groups["lane"])
    fails = [brought for brought in tried if facts.cell(brought, lane) is False]
    by_author = {facts.cell(fail, groups["lane"]) for fail in fails}
    return _fails_of(facts, lane, groups) and by_author == {False}


def _passes_of(facts: Facts, lane: str, groups: Groups) -> bool:
    tried = _tried_of(facts, lane, groups["lane"])
    return len(tried) == _number(groups.get("n")) and all(
        facts.cell(brought, lane) for brought in tried
    )


def _proved_by(facts: Facts, lane: str, groups: Groups) -> bool:
    tests = [
        brought
        for author in _all_of(groups["lanes"])
        for brought in _tried_of(facts, lane, author)
        if facts.cell(brought, "") is False and facts.cell(brought, lane)
    ]
    return len(tests) == _number(groups.get("n")) and _is_kind(groups["kind"], tests)


def _spoils(facts: Facts, lane: str, groups: Groups) -> bool:
    fails = [
        brought.id
        for brought in _steady(facts, groups["lane"])
        if facts.cell(brought, "")
        and facts.cell(brought, groups["lane"])
        and facts.cell(brought, lane) is False
    ]
    counted = len(fails) == _number(groups["n"])
    return counted and ("tests" not in groups or _lists(groups["tests"], fails))


def _asked_of(facts: Facts, lane: str, groups: Groups) -> bool:
    answers = [test.ends[lane] for test in facts.evidence.review_tests if lane in test.ends]
    fails = answers.count(False)
    if groups["verb"] == "passes":
        return len(answers) == _number(groups.get("n")) and not fails
    count = _number(groups.get("n"))
    return len(answers) == count and fails == _number(groups.get("k"), count)


def _proved_by_asked(facts: Facts, lane: str, groups: Groups) -> bool:
    tests = [
        test
        for test in facts.evidence.review_tests
        if test.ends.get(lane) and test.on_base is False
    ]
    return len(tests) == _number(groups.get("n"))


def _same_new_tests(facts: Facts, lane: str, groups: Groups) -> bool:
    ends = {
        facts.cell(brought, lane)
        for brought in facts.brought
        if not facts.is_unsteady(brought)
        and {True, False} <= {facts.cell(brought, patch) for patch in facts.patched}
    }
    rows = (test.ends for test in facts.evidence.review_tests)
    ends |= {values.get(lane) for values in rows if {True, False} <= {*values.values()}}
    if ("passes" in groups["ends"], "fails" in groups["ends"]) != (True in ends, False in ends):
        return False
    return not any(
        test
        for other in _all_of(groups["lanes"])
        for test in facts.differ(lane, other)
        if test[0] != "base"
    )


def _same_tree(facts: Facts, lane: str, groups: Groups) -> bool:
    mine = facts.lane(lane).tree
    return all(facts.lane(other).tree == mine for other in _all_of(groups["lanes"]))


def _same_but_for_form(facts: Facts, lane: str, groups: Groups) -> bool:
    return all(
        _without_comments(facts, other) == _without_comments(facts, lane)
        for other in _all_of(groups["lanes"])
    )


def _without_comments(facts: Facts, lane: str) -> list[tuple[str, str]]:
    files = facts.lane(lane).files
    return [(file.path, re.sub(r"#.*|\s", "", file.new or "")) for file in files]


# What it changes.


def _expects(facts: Facts, lane: str, groups: Groups) -> bool:
    files = facts.lane(lane).files
    pattern = "def {}\\(\\):\n    assert f\\((\\d)\\) == {}\n"
    old = pattern.format(groups["test"], groups["a"])
    new = pattern.format(groups.get("other") or groups["test"], groups["b"])
    return any(re.search(old, file.old or "") for file in files) and any(
        re.search(new, file.new or "") for file in files
    )


def _replaces(facts: Facts, lane: str, groups: Groups) -> bool:
    files = facts.lane(lane).files
    return any(groups["was"] in (file.old or "") for file in files) and any(
        groups["now"] in (file.new or "") for file in files
    )


def _deletes_test(facts: Facts, lane: str, groups: Groups) -> bool:
    defined = f"def {groups['test']}("
    files = facts.lane(lane).files
    return any(defined in (file.old or "") for file in files) and not any(
        defined in (file.new or "") for file in files
    )


def _deletes_file(facts: Facts, lane: str, groups: Groups) -> bool:
    change = facts.change(lane, groups["test"])
    return change is not None and change.new is None


def _skips(facts: Facts, lane: str, groups: Groups) -> bool:
    marked = f'later")\ndef {groups["test"]}('
    return any(marked in (file.new or "") for file in facts.lane(lane).files)


def _touches(facts: Facts, lane: str, groups: Groups) -> bool:
    touched = {file.path for file in facts.lane(lane).files}
    return {*_names(groups["paths"])[0]} <= touched


def _deletes(facts: Facts, lane: str, groups: Groups) -> bool:
    changes = {file.path: file for file in facts.lane(lane).files}
    return all(not changes[path].new_mode for path in _names(groups["paths"])[0])


def _alone_in(facts: Facts, lane: str, groups: Groups) -> bool:
    others = {
        file.path
        for name, evidence in facts.lanes.items()
        if name != lane
        for file in evidence.files
    }
    return _touches(facts, lane, groups) and others.isdisjoint(_names(groups["paths"])[0])


def _runs_no_longer(facts: Facts, lane: str, groups: Groups) -> bool:
    return _asks_else(facts, lane, groups) and all(
        facts.own_end(lane, check, id) is None
        for id in _names(groups["tests"])[0]
        for check in facts.base
    )


def _asks_else(facts: Facts, lane: str, groups: Groups) -> bool:
    return all(
        any(
            facts.own_end(lane, check, id) is not False and facts.end(lane, check, id) is False
            for check in facts.base
        )
        for id in _names(groups["tests"])[0]
    )


# Against the next.


def _fixes_more(facts: Facts, lane: str, groups: Groups) -> bool:
    return all(len(facts.fixed(lane)) > len(facts.fixed(name)) for name in _all_of(groups["lanes"]))


def _breaks_less(facts: Facts, lane: str, groups: Groups) -> bool:
    return all(
        len(facts.broken(lane)) < len(facts.broken(name)) for name in _all_of(groups["lanes"])
    )


def _no_better(facts: Facts, lane: str, groups: Groups) -> bool:
    """None passes a test that fails on the base."""
    return not any(
        facts.fixed(other)
        or any(
            facts.cell(brought, "") is False and facts.cell(brought, other)
            for brought in facts.brought
            if not facts.is_unsteady(brought)
        )
        for other in _all_of(groups["lanes"])
    )


def _differ_as_known(facts: Facts, lane: str, groups: Groups) -> bool:
    """Whether a test ends otherwise on them, or is known of one of them alone."""
    return all(facts.ends(lane) != facts.ends(other) for other in _all_of(groups["lanes"]))


def _fails_fewer_asked(facts: Facts, lane: str, groups: Groups) -> bool:
    fails = {
        name: [test.ends[name] for test in facts.evidence.review_tests].count(False)
        for name in (lane, *_all_of(groups["lanes"]))
    }
    return all(fails[lane] < count for name, count in fails.items() if name != lane)


def _loses_less(facts: Facts, lane: str, groups: Groups) -> bool:
    """Whether a test of each of the others passes, or stops, by its own version alone."""
    return all(
        any(
            not ran(item.result)
            or item.result.tests is None
            or any(
                facts.own_end(other, item.result.check.name, id) is not False and end == "failed"
                for id, end in item.result.tests.by_id.items()
            )
            for item in facts.put_back(other)
        )
        for other in _all_of(groups["lanes"])
    )


def _same_reason(facts: Facts, lane: str, groups: Groups) -> bool:
    return [*facts.reasons.values()].count(facts.reasons[lane]) > 1


def _are_in_state(facts: Facts, lane: str, groups: Groups) -> bool:
    states = {groups[name].replace(" ", "_") for name in ("state", "other") if name in groups}
    return {facts.states[other] for other in _all_of(groups["lanes"])} == states


def _checks_better(kind: str) -> Predicate:
    def holds(facts: Facts, lane: str, groups: Groups) -> bool:
        def good(name: str) -> bool:
            return all(
                check.passed for check in facts.lane(name).checks if check.check.kind == kind
            )

        return good(lane) and not any(good(other) for other in _all_of(groups["lanes"]))

    return holds


def _brings_tests(facts: Facts, lane: str, groups: Groups) -> bool:
    not_passing = (*_own_tests(facts, lane, False), *_own_tests(facts, lane, None))
    brought = [test for test in not_passing if facts.cell(test, lane)]
    return 0 < _number(groups["n"]) <= len(brought)


def _never_ran(facts: Facts, lane: str, groups: Groups) -> bool:
    return not facts.lane(lane).checks


def _without_put_back(facts: Facts, lane: str, groups: Groups) -> bool:
    tried = {item.result.check.name for item in facts.put_back(lane) if ran(item.result)}
    own = {check.check.name for check in facts.lane(lane).checks if check.check.kind == "test"}
    stopped = any(
        check.check.kind == "test" and not ran(check) for check in facts.lane(lane).checks
    )
    return stopped or bool(own - tried)


def _nothing(facts: Facts, lane: str, groups: Groups) -> bool:
    return not facts.lane(lane).files


def _moved(facts: Facts, lane: str, groups: Groups) -> bool:
    return facts.lane(lane).moved


def _ended(facts: Facts, lane: str, groups: Groups) -> bool:
    return facts.lane(lane).ended.endswith(groups["ended"])


_SHAPES: tuple[tuple[str, str, Predicate], ...] = (
    # A lane's end.
    ("nothing", "changed nothing", _nothing),
    ("ended", r"(?P<ended>(?:timed out: )?idle for 10:00|(?:failed: )?the agent exited with 1"
     r"|interrupted by SIGINT)", _ended),
    ("kept", "its patch is kept", lambda facts, lane, _: bool(facts.lane(lane).files)),
    ("moved", "its branch was moved since the race: what was checked is another patch", _moved),
    ("incomplete", "its patch is incomplete: over 1 GB", _is_known),
    ("more", r" \(and {n} more\)", _is_known),
    # What its checks are.
    ("fixes", "(?P<what>{n} tests? fails? with and without it)", _fixes_none),
    ("fixes yet", "fixes (?P<what>the failing test|both failing tests|the {n} failing tests), yet "
     "{check} exits with {k}: new, or hidden on the base by what failed", _fixes_in_check),
    ("none fails yet", "{n} tests? failed on the base and none with it, yet {check} exits with "
     "{k}: new, or hidden on the base by what failed", _none_fails),
    ("fixes", r"fixes (?P<what>the failing test|both failing tests|the {n} failing tests)",
     _fixes_of),
    ("fixes", r"fixes (?P<what>{k} of the {n} failing tests)", _fixes_of),
    ("fixes in", r"(?P<what>fixes none of the {n} failures|does not fix the one failure) "
     "of the base in {check}", _fixes_in),
    ("fixes in", r"fixes (?P<what>the one failure|both failures|all {n} failures) "
     "of the base in {check}", _fixes_in),
    ("fixes in", r"fixes (?P<what>{k} of {n} failures) of the base in {check}", _fixes_in),
    ("not its mend", r"(?:{k} of {n} failures|the one failure) of the base in {check} pass(?:es)? "
     "with it(?: and its own version of tests)?", _is_known),
    ("turned", r"{checks} failed on the base and pass(?:es)?", _turned_checks),
    ("breaks nothing", "breaks nothing(?: that ran)?", _breaks_nothing),
    ("unserved", "{n} tests? skipped for lack of a service", _unserved),
    ("breaks nothing in", "breaks nothing in {check}: {says}", _breaks_nothing_in),
    ("passed", r" \({n} passed(?:, (?P<failed>{k} failed))?\)", _passed_count),
    ("still", r"{n} tests? (?:still fails?|fails? as on the base)", _still),
    ("breaks", "breaks {test}, which passed on the base", _breaks),
    ("breaks", r"breaks {n} tests that passed on the base \({tests}\)", _breaks),
    ("breaks", r"fails (?:{test}, which|{n} tests that) the base's output does not name"
     r"(?: \({tests}\))?", _breaks),
    ("breaks in", "breaks {named} in a check that it need not pass",
     lambda facts, lane, groups: _lists(groups["named"], facts.broken(lane))),
    ("keeps", "keeps {named} of the base from running", _gone),
    ("gone", r"{named} of the base no longer runs?", _gone),
    ("skips", "skips {named}, which ran on the base", _gone),
    ("gone", "{named}, which failed on the base, did not run with it", _gone),
    ("not said", "what {check} prints does not say how (?:{named}|{tests}) ended", _is_known),
    ("not said", "the output of its checks does not say how {named} ended", _is_known),
    ("none passes", "no test passes with it; on the base {n} passed",
     lambda facts, lane, _: not facts.passed(lane)),
    ("red", "{check} fails with it, and passed on the base", _red),
    ("red too", r"{check} fails with and without it(?: \((?:exit|signal) {n}\))?", _red_too),
    ("nameless", "{check} fails and names no test; on the base {n} passed", _is_known),
    ("no tests", "{check} finds no tests with it; on the base {says}", _stopped),
    ("no end", "{check} does not come to its end with it, and does on the base", _stopped_alone),
    ("no start", "{check} cannot start with it, and did on the base: {stopped}", _stopped_alone),
    ("not run", "{check} could not run on it(?:, nor on the base)?: {stopped}", _stopped),
    ("not on base", "{check} (?P<ends>passes|fails) with it, and was not run on the base",
     _not_on_base),
    ("not on base", "{check} (?P<ends>passes|fails) with it, and could not run on the base: "
     "{stopped}", _not_on_base),
    ("fewer", f"(?:{{check}}: )?{FEWER}", _is_known),
    ("pass without", r"{checks} pass(?:es)? with and without it", _passes_without),
    ("alike without", r"{checks} ends? alike with and without it", _alike_with_and_without),
    ("nothing tells", "no check that must pass tells it from the base", _is_known),
    ("advice", "add a test that fails without it", _is_known),
    ("advice", "it changes no line of code, so only a reader can tell", _is_without_code),
    ("no check", "changes no line of code, and no check ran", _never_ran),
    ("no check", r"no check ran: `hydra check -r \S+ --check COMMAND` tests it", _never_ran),
    ("no check", "its checks did not run|no tests were run on it", lambda facts, lane, _:
     not any(check.check.kind == "test" and ran(check) for check in facts.lane(lane).checks)),
    ("no put back", "it changes tests, and could not be run with the base's version of them",
     _without_put_back),
    ("no put back", "it changes tests, and was not run with the base's version of them "
     r"\((?:the limit of 40 runs was reached|{check} did not run to its end on the patch itself"
     r"|interrupted)\)", _without_put_back),
    ("no put back", "it changes data alone, by which its check may go: only a reader can tell",
     _without_put_back),
    # Its gates.
    ("fails now", r"(?:{check}: )?{n} tests? (?:passed on the base and fails?|that the base's "
     "output does not name fails?) now: {tests}", _fails_now),
    ("gone now", r"(?:{check}: )?{n} tests? of the base (?:is|are) (?:gone|skipped now): {tests}",
     lambda facts, lane, groups: _gone(facts, lane, {"named": groups["tests"]})),
    ("not said", r"(?:{check}: )?{n} tests? of the base (?:is|are) not named now: {tests}",
     _is_known),
    ("exited", r"(?:does not build: )?{check} exited with {n}(?:; it fails on the base as well, "
     "(?:with tests of other names|and does not say (?:(?:there )?which tests|of what)"
     "|and says only there which tests)|, though no test failed)?", lambda facts, lane, groups:
     _status(facts, lane, groups["check"]) is CheckStatus.FAILED),
    ("stopped", r"{check}: (?:its program is missing: )?{stopped}(?:, as on the base)?", _is_known),
    ("no tests", "{check} found no tests; on the base {n} passed", _stopped),
    ("no tests", r"{check} found no tests(?:, and none on the base)? \(exit {n}\)", _stopped),
    ("protected path", r"touches {n} protected paths?: {paths}", _touches),
    ("base's fails", "the base's version of {tests} fails with it", _put_back_fails),
    ("base's fails", "the base's version fails with it: {tests}", _put_back_fails),
    ("base's fails", "the base's version still fails(?: with it)?", _is_known),
    ("base's fails", r"with the base's version: {check}:? (?:{says}|{stopped})"
     r"(?:; (?:pytest|slow|make-test):? [\w ,()]+)*", _is_known),
    ("only by its own", r"{checks} pass(?:es)? only with its own version of (?:the tests in )?"
     "{paths}", _touches_a_file_so_called),
    ("only by its own", r"{n} (?:of the {k} )?failing tests? pass(?:es)? only with its own version "
     "of (?:the tests in )?{paths}", _by_its_own_version),
    ("only by its own", r"changes (?:{tests}|(?:the tests in )?{paths}); {n} of {k} "
     "failing tests still fails? with your tests", _fail_with_the_bases),
    ("skips", "skips {tests} in {check}; run as on the base, (?:it fails|they fail)",
     lambda facts, lane, groups: _put_back_fails(facts, lane, groups)),
    ("lost", r"{n} tests? that passed on the base no longer runs?: {tests}",
     lambda facts, lane, groups: _gone(facts, lane, {"named": groups["tests"]})),
    ("silent", "{check} passes and names no test(?:; on the base {says})?", _is_known),
    # What reading its patch has shown.
    ("expects_lines", r"changes what {test}(?: \(now (?P<other>\w+)\))? expects: "
     r"{was} -> {now}(?: \(and {n} more\))?", _replaces),
    ("expects", r"changes what {test}(?: \(now (?P<other>\w+)\))? expects: "
     r"{a} -> {b}(?: \(and {n} more\))?", _expects),
    ("replaces", r"replaces an assertion of {test} by others: (?P<was>f\(\d\) == \d) -> "
     r"(?P<now>f\(\d\) == \d)(?: \(and {n} more\))?", _replaces),
    ("replaces", r"replaces an assertion of {test} by others", _is_known),
    ("removes", "removes the only assertion of {test}", _is_known),
    ("deletes", "deletes the test {test}", _deletes_test),
    ("deletes", r"deletes {test} with \d tests? \([\w, ]+\)", _deletes_file),
    ("skips", r"skips {test} \(pytest\.mark\.skip\)", _skips),
    ("renames", r"moves, renames or merges {n} tests? \([\w, ]+\), and loses none of their "
     "assertions", _is_known),
    ("configures", "adds {test}, which configures the tests",
     lambda facts, lane, groups: facts.change(lane, groups["test"]) is not None),
    ("alone in", r"is alone in touching (?:\d+ files: )?{paths}", _alone_in),
    ("deletes", r"deletes (?:\d+ files: )?{paths}", _deletes),
    ("hard coded", r"(?:but )?(?:gives|answers) [^;]+", _is_known),
    # What it asks of old tests.
    ("asks else", "asks something else of {tests}", _asks_else),
    ("runs no longer", "no longer runs {tests}", _runs_no_longer),
    ("agree", "and (?P<agree>(?:only )?{lanes} agrees?|no other patch agrees)", _is_known),
    # The base's own, put back.
    ("still in", r"{check}: {tests} still fails?", _still_in),
    ("own version", r"{check}: {tests} pass(?:es)? with its own tests(?: and configuration)?, not "
     "with the base's", _by_its_own),
    ("as a whole", r"{check}: {tests} fails? as a whole", _is_known),
    ("flaky in", "flaky in {check}: {tests}", _flaky_in),
    ("check", "{check}: {says}(?:; on the base {stopped})?", _is_known),
    ("check", "on the base (?:{says}|{stopped})", _is_known),
    ("put back passes", "the base's tests pass with it(?:, under the base's settings)?",
     _put_back_passes),
    ("put back fails", r"with the base's tests(?: and settings)?, {tests} fails?"
     "(?P<own>, as with its own)?", _put_back_fails),
    ("put back stops", r"with the base's tests(?: and settings)?: {check}:? (?:{says}|{stopped})"
     r"(?:; (?:pytest|slow|make-test):? [\w ,()]+)*", _is_known),
    ("put back stops", "the base's tests(?: and settings)? could not be run with it", _is_known),
    ("mended so", r"so {tests} pass(?:es)?, which fails? on the base", _mended_so),
    ("not put back", r"the base's tests were not run with it: (?:the limit of 40 runs was reached"
     "|{check} did not run to its end on the patch itself)", _is_known),
    # What lanes' tests say.
    ("own prove", r"its (?:{n} )?{kind} fails? on the base and pass(?:es)? with it", _own_prove),
    ("own prove", r"{n} {kind} of its own fails? on the base and pass(?:es)? here", _own_prove),
    ("own pass on base", r"its (?:{n} )?{kind} pass(?:es)? on the base too", _own_pass_on_base),
    ("own pass on base", r"{n} {kind} of its own pass(?:es)? on the base, so tells? nothing: "
     "{tests}", _own_pass_on_base),
    ("own fail everywhere", r"{n} {kind} of its own fails? on every patch, so tells? nothing: "
     "{tests}", _own_fail_everywhere),
    ("own flaky", r"{n} {kind} of its own (?:is|are) flaky, so tells? nothing: {tests}",
     _own_flaky),
    ("own flaky", "its new test is flaky|{n} new tests of its own are flaky", _is_known),
    ("own not run", "{paths}, which it brings, (?:was|were) not run(?: by {checks}: name a check "
     "that runs (?:it|them))?", _is_known),
    ("own untried", r"its (?:{n} )?{kind} (?:was|were) not run on the base", _own_untried),
    ("own fail", r"{n} {kind} of its own fails?: {tests}", _own_fail),
    ("proved by", r"passes {lanes}'s (?:{n} )?{kind}, which fails? on the base", _proved_by),
    ("proved by", r"passes (?:{n} )?{kind} of {lanes}, which fails? on the base", _proved_by),
    ("proved by asked", r"passes the (?:{n} )?{kind} that {agent} was asked for, which fails? on "
     "the base", _proved_by_asked),
    ("spoils", r"fails {lane}'s {n} {kind}, which pass(?:es)? on the base(?:: {tests})?", _spoils),
    ("fails of", r"fails (?:{k} of )?{lane}'s (?:{n} )?{kind}, which pass(?:es)? on no other patch"
     "(?:: {tests})?", _fails_alone),
    ("fails too", r"fails (?:{k} of )?{lane}'s {n} {kind}, as (?P=lane) does(?:: {tests})?",
     _fails_too),
    ("fails of", r"fails (?:{k} of )?{lane}'s (?:{n} )?{kind}(?:: {tests})?", _fails_of),
    ("passes of", r"passes {lane}'s {n} {kind}", _passes_of),
    ("asked", r"(?P<verb>fails) (?:{k} of )?the {n} {kind} that {agent} was asked for"
     r"(?:, which pass(?:es)? on no other patch)?(?:: {tests})?", _asked_of),
    ("asked", r"(?P<verb>passes) the {n} {kind} that {agent} was asked for", _asked_of),
    # Who is alike.
    ("same patch", r"left the very same patch as {lanes}|the very same patch", lambda facts, lane,
     groups: "lanes" not in groups or _same_tree(facts, lane, groups)),
    ("same form", "is the same as {lanes} but for formatting, comments or the order of imports",
     _same_but_for_form),
    ("same new tests", "(?P<ends>passes|fails|passes and fails) the same new tests as {lanes}",
     _same_new_tests),
    ("same reason", "passes the same tests", _same_reason),
    # Why it comes before the next.
    ("without code", r"{lanes} (?:is|are) without a line of code", _are_without_code),
    ("next", r"{lanes} (?:is|are) {state}(?: or (?P<other>broken|held back|untested))?",
     _are_in_state),
    ("fixes more", "it fixes more failing tests than {lanes}", _fixes_more),
    ("breaks less", "it breaks less than {lanes}", _breaks_less),
    ("no better", r"{lanes} (?:is|are) no better than the base on any test", _no_better),
    ("fewer of base", "fewer of its tests than of those of {lanes} fail once the base's version is "
     "put back", _loses_less),
    ("asked fewer", "of the tests that a model was asked for, it fails fewer than {lanes}",
     _fails_fewer_asked),
    ("cross", "the new tests speak for it more than for {lanes}", _differ_as_known),
    ("objections", "tests of fewer lanes fail with it than with {lanes}", _differ_as_known),
    ("literal", "the code of {lanes} gives what a test expects, or asks whether tests run it",
     _is_known),
    ("spoils less", "new tests that pass on the base fail with {lanes}, and of fewer lanes or none "
     "with it", _differ_as_known),
    ("agreement", "more lanes left the same patch as it than as {lanes}", _is_known),
    ("builds", "it builds, and {lanes} does not", _checks_better("build")),
    ("lints", "its lint passes, and that of {lanes} does not", _checks_better("lint")),
    ("brings", "it is equal to {lanes} in all tests, and brings {n} of them", _brings_tests),
)  # fmt: skip

SHAPES = tuple(
    Shape(f"{name} ({at})", _compiled(pattern), predicate)
    for at, (name, pattern, predicate) in enumerate(_SHAPES)
)
