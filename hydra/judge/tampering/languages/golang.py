"""Go: `testing`, with `if ... { t.Errorf }`, tables of cases, and testify."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hydra.judge.tampering.languages import calls
from hydra.judge.tampering.languages.braces import Source, squeeze
from hydra.judge.tampering.languages.calls import Block, Claim, Rounds
from hydra.judge.tampering.languages.expressions import opposite, split, truth
from hydra.judge.tampering.languages.functions import Functions, failing, read_all
from hydra.judge.tampering.reading import Assertion, Mark, Reading, assertion
from hydra.judge.tampering.words import listed_words

_FUNC = re.compile(r"^func\s+(?:\([^()]*\)\s*)?(\w+)\s*\(", re.M)
_TEST = re.compile(r"(?:Test|Fuzz)(?![a-z])\w*")
_IF = re.compile(r"\bif\s+([^{}\n]+?)\s*\{")
_FAILS = re.compile(r"\b[tbf]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\bpanic\s*\(")
_SKIP = re.compile(r"\b[tbf]\.(?:Skip|Skipf|SkipNow)\s*\(")
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


def read(texts: Mapping[str, str]) -> Mapping[str, Reading]:
    """Each file by its path."""
    return read_all(texts, "go", _file)


def _file(path: str, text: Source) -> Functions:
    file = Functions(path, text, _CALLED, skips=_SKIP)
    tags = [
        Mark("skip", words.strip(), line, certain="ignore" in words, whole=True)
        for line, comment in text.comments
        if (found := _BUILD.match(comment)) is not None and (words := found[0])
    ]
    for one in _FUNC.finditer(text.bare):
        first, last = text.inside(one.end() - 1)
        body = text.bare.find("{", last)
        if body < 0:
            continue
        start, end = text.inside(body)
        block = Block(one[1], one[1], text.line(one.start()), start, end, list(tags))
        takes_t = re.search(
            r"\btesting\.[TBF]\b|^func\s*\(\w+\s+\*?\w*Suite\)", text.bare[one.start() : body]
        )
        if _TEST.fullmatch(one[1]) and takes_t and path.endswith("_test.go"):
            file.tests.append(block)
        else:
            file.others.append(block)
            params = split(squeeze(text.code[first:last]))
            file.params[one[1]] = [param.partition(" ")[0] for param in params]
    file.loops = list(_loops(text))
    file.claims = sorted(_claims(text), key=lambda claim: claim[0])
    return file


def _loops(text: Source) -> Iterator[Rounds]:
    tables: dict[str, list[str]] = {}
    for one in _TABLE.finditer(text.bare):
        opening = one.end() - 1
        fields: list[str] = []
        if re.search(r"struct\s*\{$", one[0]):
            first, last = text.inside(opening)
            fields = [
                name
                for row in re.split(r"[;\n]", text.bare[first:last])
                if (found := _FIELDS.match(row)) is not None
                for name in split(squeeze(found[1]))
            ]
            rows = re.compile(r"\s*\{").match(text.bare, last + 1)
            if rows is None:
                continue
            opening = rows.end() - 1
        tables[one[1]] = [_keyed(value, fields) for value in text.parts(*text.inside(opening))]
    for one in _RANGE.finditer(text.bare):
        values = tables.get(one[2])
        if values is not None:
            start, end = text.inside(one.end() - 1)
            made = calls.rounds(start, end, one[1], values)
            if made is not None:
                yield made


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


def _claims(text: Source) -> Iterator[Claim]:
    yield from failing(text, _IF, _FAILS, _negated)
    for one in _TESTIFY.finditer(text.bare):
        args = list(text.parts(*text.inside(one.end() - 1)))
        if args and args[0] in ("t", "s.T()", "tb", "suite.T()"):
            args = args[1:]
        many = _testify(one[1], args, text.line(one.start()))
        if many:
            yield one.start(), many


def _negated(told: str, line: int) -> Sequence[Assertion]:
    """`if told { t.Fatal }` asks for the opposite; what it sets first is put in its place."""
    first, _, condition = told.rpartition(";")
    condition = squeeze(condition)
    whole = truth(condition, line)
    found = [_same(opposite(one)) for one in whole]
    name, bound, value = first.partition(":=")
    if bound:
        names = {name.partition(",")[0].strip(): squeeze(value)}
        found = [calls.bound(one, names) for one in found]
    return found


def _same(one: Assertion) -> Assertion:
    inner = _SAME.fullmatch(one.subject)
    if inner is None or one.op not in ("is true", "is false"):
        return one
    sides = split(inner[1])
    if len(sides) != 2:
        return one
    return assertion("==" if one.op == "is true" else "!=", sides[0], sides[1], one.line)


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
        return [_same(one) for one in truth(first, line)]
    if short == "False":
        return [_same(opposite(one)) for one in truth(first, line)[:1]]
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
