"""Languages whose tests are functions with braces: what Go, Rust and the JVM share."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from hydra.analysis.tampering.languages import calls
from hydra.analysis.tampering.languages.braces import BraceSource, Family, source
from hydra.analysis.tampering.languages.calls import CaseBody, Claim, Rounds
from hydra.analysis.tampering.languages.quiet import Span, returns, silent
from hydra.analysis.tampering.model import Assertion, FileReading, SkipMark, TestRead, too_much

Helper = tuple[list[str], Sequence[Claim]]


@dataclass(slots=True)
class Functions:
    """One file, taken apart: `tests` and `others` are its functions, `claims` what is asked in
    it, `params` the parameters of the others by name."""

    path: str
    source: BraceSource
    called: re.Pattern[str]
    tests: list[CaseBody] = field(default_factory=list)
    others: list[CaseBody] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    loops: list[Rounds] = field(default_factory=list)
    params: dict[str, list[str]] = field(default_factory=dict)
    skips: re.Pattern[str] | None = None

    def helpers(self) -> dict[str, Helper]:
        """The functions beside tests that ask something."""
        pairs: dict[str, Helper] = {}
        for block in self.others:
            inside = calls.between(self.claims, block.start, block.end)
            if inside:
                expanded = calls.expanded(inside, self.loops)
                pairs[block.short] = (self.params.get(block.short, []), expanded)
        return pairs

    def reading(self, everywhere: Mapping[str, Helper]) -> FileReading:
        """Its tests, and the functions beside them that ask something."""
        del self.loops[calls.MOST_LOOPS :]
        helpers = {**everywhere, **self.helpers()}
        quiet: list[Span] = silent(self.source) + calls.emptied(self.loops)
        calls.unique(self.tests)
        tests = [self._read(block, helpers, quiet) for block in self.tests]
        others = [self._read(block, {}, quiet) for block in self.others]
        if self.source.tangled:
            return FileReading(problem=calls.TANGLED)
        return FileReading(
            tests=tuple(tests), others=tuple(other for other in others if other.assertions)
        )

    def _read(
        self, block: CaseBody, helpers: Mapping[str, Helper], quiet: Sequence[Span]
    ) -> TestRead:
        own = calls.between(self.claims, block.start, block.end)
        every = calls.helped(own, self.source, helpers, block.start, block.end, self.called)
        late = returns(self.source, block.start, block.end)
        for match in (
            self.skips.finditer(self.source.bare, block.start, block.end) if self.skips else ()
        ):
            inner = self.source.bare.rfind("{", block.start, match.start())
            nested = inner > 0 and self.source.ends.get(inner, match.start()) >= match.start()
            text = match[0].rstrip("( ")
            block.marks.append(SkipMark("skip", text, self.source.line(match.start()), not nested))
        expanded = calls.expanded(every, self.loops)
        return calls.read_block(self.path, block, self.source, expanded, [*quiet, *late])


def read_all(
    texts: Mapping[str, str], family: Family, file: Callable[[str, BraceSource], Functions]
) -> Mapping[str, FileReading]:
    """Each file by its path, read by `file`; one that is too much says so."""
    readings: dict[str, FileReading] = {}
    files: list[Functions] = []
    for path, text in texts.items():
        problem = too_much(text)
        if problem:
            readings[path] = FileReading(problem=f"is not read: {problem}")
        else:
            files.append(file(path, source(text, family)))
    return readings | together(files)


def together(files: Sequence[Functions]) -> dict[str, FileReading]:
    """All files of a side: a helper of one may be called in another."""
    everywhere: dict[str, Helper] = {}
    readings: dict[str, FileReading] = {}
    for file in files:
        if calls.tangled([*file.tests, *file.others], file.source):
            readings[file.path] = FileReading(problem=calls.TANGLED)
        else:
            everywhere |= file.helpers()
    return readings | {
        file.path: file.reading(everywhere) for file in files if file.path not in readings
    }


def failing(
    source: BraceSource,
    condition: re.Pattern[str],
    fails: re.Pattern[str],
    negate: Callable[[str, int], Sequence[Assertion]],
) -> list[Claim]:
    """`if a != b { fail }`: each such condition is an assertion of its opposite; a failure that
    stands under no condition is one of itself."""
    pairs: list[Claim] = []
    conditions = list(condition.finditer(source.bare))
    starts = [condition.end() for condition in conditions]
    taken: set[int] = set()
    for fail in fails.finditer(source.bare):
        # The innermost of the few conditions before it that still holds there.
        at = bisect_left(starts, fail.start())
        for back in range(at - 1, max(at - 6, -1), -1):
            match = conditions[back]
            if source.inside(match.end() - 1)[1] > fail.start():
                if back not in taken:
                    taken.add(back)
                    text = source.code[match.start(1) : match.end(1)]
                    pairs.append((match.start(), negate(text, source.line(match.start()))))
                break
        else:
            line = source.line(fail.start())
            pairs.append((fail.start(), [Assertion("asserts", "fail", "", line)]))
    return pairs
