"""Go: `testing`, with `if ... { t.Errorf }`, tables of cases, and testify."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from hydra.analysis.tampering.languages import calls
from hydra.analysis.tampering.languages.braces import BraceSource, squeeze
from hydra.analysis.tampering.languages.calls import CaseBody, Claim, Rounds
from hydra.analysis.tampering.languages.expressions import opposite, split, truth
from hydra.analysis.tampering.languages.functions import Functions, failing, read_all
from hydra.analysis.tampering.model import Assertion, FileReading, SkipMark, assertion
from hydra.analysis.tampering.wording import listed_words

_FUNC = re.compile(r"^func\s+(?:\([^()]*\)\s*)?(\w+)\s*\(", re.M)
_TEST = re.compile(r"(?:Test|Fuzz)(?![a-z])\w*")
_IF = re.compile(r"\bif\s+([^{}\n]+?)\s*\{")
_FAILS = re.compile(r"\b[tbf]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\bpanic\s*\(")
_TESTING = re.compile(r"\b(\w+)\s+\*?testing\.(?:T|B|F|TB)\b")
_NAMES = 20
_IGNORED = re.compile(r"(?<![\w!])ignore\b")
_TESTIFY = re.compile(
    r"\b(?:assert|require|s|suite)\.(?:Require\(\)\.|Assert\(\)\.)?([A-Z]\w*)\s*\("
)
_CALLED = re.compile(r"(?<![\w.])(?:\w+\.)?([A-Za-z_]\w*)\s*\(")
_TABLE = re.compile(
    r"\b(\w+)\s*:?=\s*(?:\[[.\d]*\]|map\[[^\]\n]+\])\s*(?:struct\s*)?\*?[\w.]*\s*\{"
)
_RANGE = re.compile(r"\bfor\s+(?:\w+\s*,\s*)?(\w+)\s*:=\s*range\s+([^{}\n]+?)\s*\{")
_BUILD = re.compile(r"//(?:go:build| \+build)\s+(.+)")
_FIELDS = re.compile(r"\s*((?:\w+\s*,\s*)*\w+)\s+\S")
_SAME = re.compile(r"(?:reflect\.DeepEqual|bytes\.Equal|slices\.Equal|maps\.Equal)\((.*)\)")


def read(texts: Mapping[str, str]) -> Mapping[str, FileReading]:
    """Each file by its path."""
    return read_all(texts, "go", _file)


def _file(path: str, text: BraceSource) -> Functions:
    names = "|".join([r"\w+\.T\(\)", *sorted({*_TESTING.findall(text.bare)})[:_NAMES]])
    skips = re.compile(rf"\b(?:{names})\.(?:Skip|Skipf|SkipNow)\s*\(")
    file = Functions(path, text, _CALLED, skips=skips)
    tags = [
        SkipMark("skip", value.strip(), line, certain=bool(_IGNORED.search(value)), whole=True)
        for line, comment in text.comments
        if (match := _BUILD.match(comment)) is not None and (value := match[0])
    ]
    for hit in _FUNC.finditer(text.bare):
        first, last = text.inside(hit.end() - 1)
        body = text.bare.find("{", last)
        if body < 0:
            continue
        start, end = text.inside(body)
        block = CaseBody(hit[1], hit[1], text.line(hit.start()), start, end, list(tags))
        takes_t = re.search(
            r"\btesting\.[TBF]\b|^func\s*\(\w+\s+\*?\w*Suite\)", text.bare[hit.start() : body]
        )
        if _TEST.fullmatch(hit[1]) and takes_t and path.endswith("_test.go"):
            file.tests.append(block)
        else:
            file.others.append(block)
            params = split(text.squeezed(first, last))
            file.params[hit[1]] = [param.partition(" ")[0] for param in params]
    file.loops = list(_loops(text))
    file.claims = sorted(_claims(text), key=lambda claim: claim[0])
    return file


def _loops(text: BraceSource) -> Iterator[Rounds]:
    tables: dict[str, list[str]] = {}
    for match in _TABLE.finditer(text.bare):
        opening = match.end() - 1
        fields: list[str] = []
        if re.search(r"struct\s*\{$", match[0]):
            first, last = text.inside(opening)
            fields = [
                name
                for row in re.split(r"[;\n]", text.bare[first:last])
                if (hit := _FIELDS.match(row)) is not None
                for name in split(squeeze(hit[1]))
            ]
            rows = re.compile(r"\s*\{").match(text.bare, last + 1)
            if rows is None:
                continue
            opening = rows.end() - 1
        tables[match[1]] = [_keyed(value, fields) for value in text.parts(*text.inside(opening))]
    for match in _RANGE.finditer(text.bare):
        values = tables.get(match[2])
        if values is not None:
            start, end = text.inside(match.end() - 1)
            rounds = calls.rounds(start, end, match[1], values)
            if rounds is not None:
                yield rounds


def _keyed(value: str, fields: Sequence[str]) -> str:
    """A row of a table with the names of its fields; what a test calls a row says nothing."""
    key = re.match(r"\"[^\"]*\":\{", value)
    if key is not None:
        value = value[key.end() - 1 :]
    value = re.sub(r"^&?[\w.]*\{", "{", value)
    parts = split(value[1:-1]) if value.startswith("{") else []
    if parts and fields and not re.match(r"\w+:", parts[0]):
        return f"{{{','.join(f'{k}:{v}' for k, v in zip(fields, parts, strict=False))}}}"
    return value


def _claims(text: BraceSource) -> Iterator[Claim]:
    yield from failing(text, _IF, _FAILS, _negated)
    for match in _TESTIFY.finditer(text.bare):
        args = list(text.parts(*text.inside(match.end() - 1)))
        if args and args[0] in ("t", "s.T()", "tb", "suite.T()"):
            args = args[1:]
        many = _testify(match[1], args, text.line(match.start()))
        if many:
            yield match.start(), many


def _negated(text: str, line: int) -> Sequence[Assertion]:
    """`if told { t.Fatal }` asks for the opposite; what it sets first is put in its place."""
    first, _, condition = text.rpartition(";")
    condition = squeeze(condition)
    whole = truth(condition, line)
    assertions = [_same(opposite(claim)) for claim in whole]
    name, bound, value = first.partition(":=")
    if bound:
        names = {name.partition(",")[0].strip(): squeeze(value)}
        assertions = [calls.bound(claim, names) for claim in assertions]
    return assertions


def _same(claim: Assertion) -> Assertion:
    inner = _SAME.fullmatch(claim.subject)
    if inner is None or claim.op not in ("is true", "is false"):
        return claim
    sides = split(inner[1])
    if len(sides) != 2:
        return claim
    return assertion("==" if claim.op == "is true" else "!=", sides[0], sides[1], claim.line)


_EQUAL = frozenset(("Equal", "Equalf", "EqualValues", "Exactly", "Same", "JSONEq", "Implements"))


def _testify(name: str, args: Sequence[str], line: int) -> list[Assertion]:
    short = name.removesuffix("f")
    first = args[0] if args else ""
    second = args[1] if len(args) > 1 else ""
    if name in _EQUAL or short in _EQUAL:
        return [assertion("==", second, first, line)]
    if short in ("NotEqual", "NotSame"):
        return [assertion("!=", second, first, line)]
    if short in ("Nil", "NoError"):
        return [assertion("==", first, "nil", line)]
    if short in ("NotNil", "NotEmpty", "Error"):
        return [assertion("is there", first, "", line)]
    if short == "True":
        return [_same(claim) for claim in truth(first, line)]
    if short == "False":
        return [_same(opposite(claim)) for claim in truth(first, line)[:1]]
    if short == "Empty":
        return [assertion("==", first, "[]", line)]
    if short in ("Len", "ErrorIs", "EqualError"):
        subject = f"len({first})" if short == "Len" else first
        return [assertion("==", subject, second, line)]
    if short in ("Contains", "ErrorContains", "Subset", "ErrorAs"):
        return [Assertion("in", first, second, line)]
    if short == "ElementsMatch":
        return [assertion("same items", first, second, line)]
    if short in ("InDelta", "InEpsilon"):
        near = assertion("approx", second, first, line)
        return [replace(near, tolerance=_number(args[2] if len(args) > 2 else ""))]
    if short in ("Panics", "PanicsWithValue", "PanicsWithError"):
        op = "raises anything" if short == "Panics" else "raises"
        return [Assertion(op, args[-1] if args else "", first if op == "raises" else "", line)]
    if short in _OTHERS:
        return [Assertion("asserts", first, f"{short} {', '.join(args[1:])}".strip(), line)]
    return []


_OTHERS = frozenset(
    listed_words(
        "Greater GreaterOrEqual Less LessOrEqual Regexp IsType Zero NotZero NotPanics FileExists "
        "Eventually WithinDuration NotContains Positive Negative Fail FailNow IsIncreasing"
    )
)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
