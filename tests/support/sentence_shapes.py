"""The grammar of what is said of a lane: each shape has one pattern and one predicate.

A predicate reads the run's raw results alone (`raw_facts`). A sentence is one clause or several;
what no shape fits is an error, so that a new sentence needs a shape of its own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hydra.checks.record import CheckStatus
from hydra.checks.regressions import FEWER
from tests.support.raw_facts import Brought, Facts, is_flaky, ran

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
    "fewer": FEWER,
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


# What it changes.


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


def _are_in_state(facts: Facts, lane: str, groups: Groups) -> bool:
    states = {groups[name].replace(" ", "_") for name in ("state", "other") if name in groups}
    return {facts.states[other] for other in _all_of(groups["lanes"])} == states


def _breaks_in(facts: Facts, lane: str, groups: Groups) -> bool:
    return _lists(groups["named"], facts.broken(lane))


def _gone_listed(facts: Facts, lane: str, groups: Groups) -> bool:
    return _gone(facts, lane, {"named": groups["tests"]})


def _same_patch(facts: Facts, lane: str, groups: Groups) -> bool:
    return "lanes" not in groups or _same_tree(facts, lane, groups)


_ROWS = tomllib.loads((Path(__file__).parents[1] / "data" / "sentences.toml").read_text("utf-8"))
SHAPES = tuple(
    Shape(f"{name} ({at})", _compiled(pattern), globals()[f"_{predicate}"])
    for at, (name, predicate, pattern) in enumerate(_ROWS["shapes"])
)
