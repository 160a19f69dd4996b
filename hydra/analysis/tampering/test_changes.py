"""What a patch did to the tests that were there, by cues: what they asserted and no longer do, what
keeps them from failing or from running, which are gone.

Nothing here knows what an assertion means. The base's own tests are put back and run as well, so
that what is only suspected is decided there; by itself a patch is held back for what no run of
these shows: it asks less of code that passes them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from hydra.analysis.patch import Finding, Weight
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.cues import (
    QUIETS,
    Statement,
    condition,
    returns_first,
    swallowed,
    unawaited,
    uncalled,
    values,
    wider,
)
from hydra.analysis.tampering.other_names import given_away
from hydra.analysis.tampering.pairs import Pairs, force_of
from hydra.analysis.tampering.regions import Region, Suite
from hydra.analysis.tampering.skip_marks import SkipMark
from hydra.text import join_names, plural

_Both = list[tuple[Statement, Statement]]
_Row = tuple[str, Weight, str, int | None]
"""Of a finding: its kind, its weight, its sentence, and its line."""


def changes_to_tests(suite: Suite) -> Iterator[Finding]:
    """All on the tests of the base, in their order."""
    yield from _Changes(suite).all()


@dataclass(slots=True)
class _Losses:
    """Of one region: assertions that are gone, or that others stand for now. `handed` is a call
    that may ask the removed ones; the test has `added` others, and `moved` went elsewhere."""

    weakened: _Both = field(default_factory=list)
    changed: _Both = field(default_factory=list)
    doubtful: _Both = field(default_factory=list)
    removed: list[Statement] = field(default_factory=list)
    handed: str = ""
    added: int = 0
    moved: int = 0


class _Changes:
    def __init__(self, suite: Suite) -> None:
        self.suite, self.old, self.new = suite, suite.old, suite.new
        self.pairs = Pairs(suite)

    def all(self) -> Iterator[Finding]:
        restructured: list[Region] = []
        gone: defaultdict[str, list[Region]] = defaultdict(list)
        for key, old in self.old.tests.items():
            new = self.pairs.taken.get(key)
            if new is not None:
                yield from self._of_pair(old, new, (old.name,))
                if (new.path, new.name) != key:
                    restructured.append(old)
            elif (other := self._uncollected(old)) is not None:
                yield self._no_longer(old, other)
            else:
                gone[old.path].append(old)
        for path, many in gone.items():
            yield from self._gone(path, many, restructured)
        yield from self._beside()
        for (_, name), tests in given_away(self.pairs).items():
            what = wording.names([test.name for test in tests])
            text = f"gives the name {wording.name(name)}, which {what} "
            text += f"ask{'s' * (len(tests) == 1)}, to something else"
            yield _about("assertion_weakened", "gate", text, tests)
        yield from self._marks()
        yield from self._by_lines()
        if restructured:
            names = tuple(test.name for test in restructured)
            text = f"moves, renames or merges {plural(names, 'test')} ({wording.names(names)})"
            text += ", and loses none of their assertions"
            path = restructured[0].path
            yield _finding("tests_restructured", "remark", text, path, None, names)

    def _losses(self, old: Region, new: Region) -> _Losses:
        losses = _Losses()
        before, after = self.old.assertions(old), self.new.assertions(new)
        lost = _surplus(before, after)
        gained = _surplus(after, before)
        calls = [row for row in gained if self.new.may_ask(row)]
        _match(lost, gained, lambda was, now: now not in calls and self._is_same(was, now))
        fewer = _exact(after) < _exact(before)

        def is_weaker(was: Statement, now: Statement) -> bool:
            if now.force >= was.force:
                return False
            if was.is_empty and now.is_negative:
                return False
            return fewer and now not in calls and (not now.force or was.is_about(now))

        losses.weakened = _match(lost, gained, is_weaker)
        elsewhere = [row for row in lost if self.pairs.is_kept(row)]
        losses.moved = len(elsewhere)
        lost = [row for row in lost if row not in elsewhere]
        if lost and calls:
            losses.handed = calls[0].shown
            losses.removed = lost
            return losses
        losses.added = len(gained)
        for was, now in _match(lost, gained, lambda was, now: True):
            is_wider = wider(was.text, now.text)
            is_more = now.force > was.force and was.is_about(now)
            if is_wider:
                losses.weakened.append((was, now))
            elif is_wider is None and not is_more:
                less = now.force < was.force
                (losses.doubtful if less else losses.changed).append((was, now))
        losses.removed = lost
        return losses

    def _is_same(self, was: Statement, now: Statement) -> bool:
        """Whether two assertions ask the same: in other words, of another name for a thing, or with
        a value by the name that it was given."""
        if was.asks_as(now):
            return bool(was.values) or was.is_about(now)
        if (was.force, was.is_negative) != (now.force, now.is_negative):
            return False
        mine, theirs = Counter(was.values), Counter(now.values)
        if not was.values:
            return was.is_about(now)
        return theirs <= mine and mine - theirs <= self.pairs.assigned

    def _of_pair(self, old: Region, new: Region, tests: tuple[str, ...]) -> Iterator[Finding]:
        if old.plain == new.plain:
            return
        what = _quoted(old.name) if old.name else old.path
        if old.name and new.name != old.name:
            what = f"{what} (now {_quoted(new.name)})"
        is_asked = bool(tests) or self._is_emptied(old, new)
        sure: Weight = "gate" if is_asked and not self._is_doubtful(old) else "suspect"
        for kind, weight, text, line in (
            *self._sentences(old, new, what, sure),
            *self._cases(old, new, what, sure),
        ):
            at = line or new.line
            yield _finding(kind, weight, text, new.path, at, tests)

    def _sentences(self, old: Region, new: Region, what: str, sure: Weight) -> Iterator[_Row]:
        before, losses = self.old.assertions(old), self._losses(old, new)
        every = wording.part(len(before), len(before), "assertion")
        quieted = [*self._quieted(old, new)] if before else []
        for kind, text in quieted:
            every = "assertions" if len(before) > 1 else "the only assertion"
            text = text.format(test=f"{every} of {what}", say="say" if len(before) > 1 else "says")
            yield kind, sure, text, None
        if losses.removed:
            part = f"{wording.part(len(losses.removed), len(before), 'assertion')} of {what}"
            if losses.handed:
                text = f"replaces {part} by a call of code that it does not have: "
                yield "assertion_removed", "suspect", text + wording.value(losses.handed), None
            elif losses.added or losses.moved:
                more = f", and adds {plural(losses.added, 'other')}" if losses.added else ""
                yield "assertion_removed", "suspect", f"removes {part}{more}", None
            elif not quieted:
                yield "assertion_removed", sure, f"removes {part}", None
        weakened: tuple[tuple[Weight, _Both], ...] = (
            (sure, losses.weakened),
            ("suspect", losses.doubtful),
        )
        for weight, many in weakened:
            if many:
                count = "an assertion" if len(many) == 1 else f"{len(many):,} assertions"
                text = f"weakens {count} of {what}: {_changes(many)}"
                yield "assertion_weakened", weight, text, many[0][1].line
        if losses.changed:
            text = f"changes what {what} expects: {_changes(losses.changed)}"
            yield "expectation_changed", "suspect", text, losses.changed[0][1].line
        is_whole = before and not losses.removed and not quieted
        if is_whole and (line := condition(old.statements, new.statements)):
            text = f"puts {every} of {what} under a condition: {wording.value(line)}"
            yield "assertion_weakened", "suspect", text, None

    def _is_emptied(self, old: Region, new: Region) -> bool:
        """Whether a helper, whose callers may be in no patch, asks for no one value now."""
        return bool(old.name and _exact(self.old.assertions(old))) and not _exact(
            self.new.assertions(new)
        )

    def _is_doubtful(self, old: Region) -> bool:
        """Whether a test's file is not read for certain, or it was left out anyway."""
        ran = not any(mark.kind == "skip" and mark.certain for mark in self.suite.marks(old))
        return old.path in self.suite.unsure or not ran

    def _quieted(self, old: Region, new: Region) -> Iterator[tuple[str, str]]:
        asserted = [row.text for row in self.new.assertions(new)]
        if swallowed(new.code, asserted) > swallowed(old.code, asserted):
            yield "assertion_weakened", "swallows what {test} {say}"
        for pattern, text in QUIETS:
            if len(pattern.findall(new.code)) > len(pattern.findall(old.code)):
                yield "assertion_removed", text
        if uncalled(new.code, asserted) > uncalled(old.code, asserted):
            yield "assertion_removed", "leaves {test} in a function that nothing calls"
        if unawaited(new.code, asserted) > unawaited(old.code, asserted):
            yield "assertion_removed", "puts {test} where nothing waits for a failure"
        if returns_first(new.code, asserted) > returns_first(old.code, asserted):
            yield "assertion_removed", "returns before {test}"

    def _cases(self, old: Region, new: Region, what: str, sure: Weight) -> Iterator[_Row]:
        gone = [row for row in old.cases if row not in new.cases]
        force = force_of(self.old.assertions(old))
        lost = [row for row in gone if not self.pairs.has(values(row), force)]
        gained = [row for row in new.cases if row not in old.cases]
        if not lost:
            return
        if gained:
            both = zip(lost, gained, strict=False)
            shown = [f"{wording.value(was)} -> {wording.value(now)}" for was, now in both]
            text = f"changes what {what} expects: {join_names(shown, 2)}"
            yield "expectation_changed", "suspect", text, None
        elif old.cases & new.cases and new.names == old.names:
            text = f"removes {plural(lost, 'case')} of {what}"  # a row may be none that is read
            yield "assertion_removed", sure, text, None
        elif new.names - old.names:
            text = f"changes the cases of {what}, which are not all read"
            yield "expectation_changed", "suspect", text, None

    # ---- Tests that are gone.

    def _uncollected(self, old: Region) -> Region | None:
        """The function that a test became, which no runner takes for one."""
        own = {row.text for row in self.old.assertions(old)}
        for other in self._came.get(_stem(old.short), ()):
            if not own or own & {row.text for row in other.statements}:
                return other
        return None

    @cached_property
    def _came(self) -> Mapping[str, list[Region]]:
        """Functions beside tests that are new, by what their names end with."""
        had = {(other.path, other.name) for other in self.old.others}
        came: defaultdict[str, list[Region]] = defaultdict(list)
        for other in self.new.others:
            if (other.path, other.name) not in had:
                came[_stem(other.short)].append(other)
        return came

    def _no_longer(self, old: Region, new: Region) -> Finding:
        if old.name == new.name:
            where = f" in {new.path}" if new.path != old.path else ""
            text = f"leaves {_quoted(old.name)}{where} where no test runner collects it"
        else:
            names = f"{wording.name(old.name)} to {wording.name(new.name)}"
            text = f"renames {names}, which no test runner collects"
        return _finding("skip_added", "gate", text, new.path, new.line, [old.name])

    def _gone(self, path: str, many: Sequence[Region], moved: list[Region]) -> Iterator[Finding]:
        """Tests without a counterpart, of one file."""
        whole: list[Region] = []
        for test in many:
            own = self.old.assertions(test)
            lost = self.pairs.lost_of(test)
            if own and not lost:
                moved.append(test)
            elif len(lost) < len(own):
                number = wording.part(len(lost), len(own), "assertion")
                text = f"drops {number} with the test {_quoted(test.name)}"
                weight: Weight = "suspect" if self._is_doubtful(test) else "gate"
                yield _about("assertion_removed", weight, text, [test])
            else:
                whole.append(test)
        if not whole:
            return
        names = wording.names([test.name for test in whole])
        every = [test for test in self.old.tests.values() if test.path == path]
        if path not in self.new.texts and len(whole) == len(every):
            text = f"deletes {path} with {plural(whole, 'test')} ({names})"
        elif len(whole) == 1:
            text = f"deletes the test {names}"
        else:
            text = f"deletes {len(whole):,} tests of {path} ({names})"
        weight = "suspect" if all(map(self._is_doubtful, whole)) else "gate"
        yield _about("test_deleted", weight, text, whole)

    # ---- What stands beside tests, and what keeps tests from running.

    def _beside(self) -> Iterator[Finding]:
        """Functions that tests call, and what of a file is in none."""
        new = {(region.path, region.name): region for region in self.new.others}
        for old in self.old.others:
            now = new.get((old.path, old.name))
            if now is not None and now.plain != old.plain:
                within = f"{old.name} > " if old.name else ""
                below = [test.name for test in self._of(old.path) if test.name.startswith(within)]
                tests = below or self._calling.get(old.short, [])
                yield from self._of_pair(old, now, tuple(tests[:100]))

    @cached_property
    def _calling(self) -> Mapping[str, list[str]]:
        """By function, the tests of the base that call it."""
        calling: defaultdict[str, list[str]] = defaultdict(list)
        for test in self.old.tests.values():
            for name in test.calls():
                calling[name].append(test.name)
        return calling

    def _marks(self) -> Iterator[Finding]:
        pairs = [(old, self.pairs.taken.get(key)) for key, old in self.old.tests.items()]
        rows = ((old, new) for old, new in pairs if new is not None and old.plain != new.plain)
        for old, new in rows:
            had = self.suite.marks(old)
            if any(mark.kind == "skip" and mark.certain for mark in had):
                continue
            for mark in _fresh(self.suite.marks(new), had):
                yield from self._marked(mark, new, [old])
        before = {(region.path, region.name): region for region in self.old.others}
        for region in self.new.others:
            was = before.get((region.path, region.name))
            had = self.suite.marks(was) if was is not None else Counter()
            for mark in _fresh(self.suite.marks(region), had):
                yield from self._marked(mark, region, self._under(region, mark))
        for path, many in self.new.by_path.items():
            for mark in self.suite.new_tags(path):
                yield from self._marked(mark, many[0], self._of(path))

    def _of(self, path: str) -> list[Region]:
        return [test for test in self.old.tests.values() if test.path == path]

    def _under(self, region: Region, mark: SkipMark) -> list[Region]:
        """The tests of the base that a mark of what is no test stands over."""
        above = mark.of or region.name
        tests = self._of(region.path)
        if not above:
            return tests
        was = self.old.texts.get(region.path)
        if mark.of and was and not re.search(rf"\b{re.escape(mark.of)}\b", was.code):
            return []  # a class that is new
        parts = re.compile(rf"(?:^|\.| > ){re.escape(above)}(?:\.| > |$)")
        within = [test for test in tests if parts.search(test.name)]
        return within or ([] if region.name and not mark.of else tests)

    def _marked(self, mark: SkipMark, region: Region, tests: Sequence[Region]) -> Iterator[Finding]:
        path, line = region.path, region.line_at(mark.at)
        names = tuple(test.name for test in tests)
        if mark.kind == "only":
            others = tuple(test.name for test in self._of(path) if test.name not in names)
            if others:
                what = _marked_by(mark, region, names) if names else "others"
                text = f"runs {what} alone ({mark.spelling}): "
                text += f"the other tests of {path} are left out"
                yield _finding("skip_added", "gate", text, path, line, others)
            return
        if not tests:
            return
        what = _marked_by(mark, region, names)
        spelling = wording.value(mark.spelling)
        is_skip = mark.kind == "skip"
        text = f"skips {what}" if is_skip else f"marks {what} as expected to fail"
        text = f"{text} ({spelling})"
        if ".mark." in f".{spelling}" and not mark.certain and "skip" not in spelling:
            text = f"marks {what} with {spelling}, which a run may leave out"
        kind = "skip_added" if is_skip else "expected_failure_added"
        if mark.of and not region.is_test:
            own = (name for name in names if mark.of in name)
            names = (mark.of, *own)  # which is those, too, that it inherits
        yield _finding(kind, "gate" if mark.certain else "suspect", text, path, line, names)

    def _by_lines(self) -> Iterator[Finding]:
        """Languages without a grammar: fewer lines that assert, in all files together."""
        old, new = self.suite.lines
        came = sum((Counter(lines) for lines in new.values()), Counter[str]())
        spare = came - sum((Counter(lines) for lines in old.values()), Counter[str]())
        for path, lines in old.items():
            now = new.get(path, Counter())
            gone = lines - now - came if path not in new else lines - now - spare
            missing = gone.total() - (now - lines).total()
            if missing > 0:
                verb = "drops" if path in new else "deletes"
                part = wording.part(missing, lines.total(), "line")
                text = f"{verb} {part} of assertions in {path}"
                yield Finding(kind="assertion_removed", weight="suspect", text=text, path=path)


def _surplus(rows: Sequence[Statement], others: Sequence[Statement]) -> list[Statement]:
    """Those that the others have not as often."""
    remainder = Counter(other.text for other in others)
    surplus = []
    for row in rows:
        if remainder[row.text] > 0:
            remainder[row.text] -= 1
        else:
            surplus.append(row)
    return surplus


def _match(
    lost: list[Statement],
    gained: list[Statement],
    is_its: Callable[[Statement, Statement], bool],
) -> _Both:
    """Takes out of both what belongs together."""
    both = []
    for was in [*lost]:
        now = next((row for row in gained if is_its(was, row)), None)
        if now is not None:
            lost.remove(was)
            gained.remove(now)
            both.append((was, now))
    return both


def _exact(rows: Iterable[Statement]) -> int:
    return sum(row.force == 2 for row in rows)


def _changes(many: _Both) -> str:
    return join_names([*dict.fromkeys(_change(was, now) for was, now in many)], 2)


def _change(was: Statement, now: Statement) -> str:
    """The value that is expected, if nothing but that is another now; else the lines themselves."""
    before, after = was.shown, now.shown
    if was.form == now.form:
        both = [*zip(was.values, now.values, strict=True)]
        others = [value for value in both if len({*value}) > 1]
        if len(others) == 1 and both[-1] == others[0] and _is_expected(before, others[0][0]):
            before, after = others[0]
    return f"{wording.value(before)} -> {wording.value(after)}"


def _is_expected(line: str, value: str) -> bool:
    """Whether a value stands last in an assertion, where it is no argument of what is asked."""
    end = rf"{re.escape(value)}[\s;)}}\]{{]*$"
    compared = rf"(?:[=<>!]=+\s*|\)\s*,\s*|\)(?:\.\w+)*\.\w+(?:\s\w+)?[( ]\s*){end}"
    assigned = rf"^\W*(?:\w+\.)*\w*(?i:assert|equal)\w*!?\s*\(.*,\s*{re.escape(value)}\s*\)[\s;]*$"
    return bool(re.search(compared, line) or re.search(assigned, line, re.DOTALL))


def _stem(name: str) -> str:
    """`test_first`, `_test_first`, `check_first` and `xtest_first` are one."""
    bare = name.lower().strip("_")
    for start in ("xtest", "test", "check", "disabled_test", "disabled", "skip", "old", "notest"):
        if bare.startswith(start) and bare != start:
            return bare.removeprefix(start).strip("_")
    return bare


def _quoted(name: str) -> str:
    """A name that is a sentence stands in quotes."""
    shown = wording.name(name)
    return f'"{shown}"' if " " in shown else shown


def _fresh(marks: Counter[SkipMark], had: Counter[SkipMark]) -> list[SkipMark]:
    """Those that have come; of one that was there before too, which of them is not known."""
    return [replace(mark, at=-1) if had[mark] else mark for mark in marks - had]


def _marked_by(mark: SkipMark, region: Region, names: Sequence[str]) -> str:
    """What a mark stands on. How many tests those are is not known: some are inherited, and some
    made in a loop."""
    if region.is_test and len(names) == 1:
        test = wording.name(names[0])
        return f"{_quoted(mark.of)} in {test}" if mark.of else test
    if mark.of:
        return f"class {mark.of}" if mark.of[0].isupper() else mark.of
    if region.name and not region.is_test and not mark.spelling.startswith("//"):
        return f"tests in {_quoted(region.name)}"
    return f"tests of {region.path}"


def _about(kind: str, weight: Weight, text: str, tests: Sequence[Region]) -> Finding:
    line = tests[0].line if len(tests) == 1 else None
    return _finding(kind, weight, text, tests[0].path, line, [test.name for test in tests])


def _finding(
    kind: str, weight: Weight, text: str, path: str, line: int | None, tests: Sequence[str]
) -> Finding:
    return Finding(kind=kind, weight=weight, text=text, path=path, line=line, tests=(*tests,))
