"""Rust: `#[test]` functions, also those inside of a module of the code itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hydra.analysis.tampering.languages import calls
from hydra.analysis.tampering.languages.braces import BraceSource, squeeze
from hydra.analysis.tampering.languages.calls import CaseBody, Claim, Rounds
from hydra.analysis.tampering.languages.expressions import opposite, split, truth
from hydra.analysis.tampering.languages.functions import Functions, failing, read_all
from hydra.analysis.tampering.model import Assertion, FileReading, SkipMark, assertion

_FN = re.compile(
    r"(?P<attributes>(?:#\[[^\n]*\]\s*)*+)(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|unsafe\s+|const\s+)*"
    r"fn\s+(?P<name>\w+)\s*(?:<[^{(]*>)?\s*\("
)
_ATTRIBUTE = re.compile(r"#\[([^\n]*?)\]\s*(?=#|$|\n|pub|async|fn|unsafe|const|\Z)")
_TEST = re.compile(r"(?:[\w:]*::)?(?:test|rstest|test_case|wasm_bindgen_test|quickcheck)\b")
_MACRO = re.compile(
    r"\b(?:prop_|debug_|k9::|insta::|pretty_assertions::)?(assert(?:_\w+)?)!\s*[(\[{]"
)
_IF = re.compile(r"\bif\s+(?!let\b)([^{};\n]+?)\s*\{")
_PANIC = re.compile(r"\b(?:panic|unreachable)!\s*\(")
_CALLED = re.compile(r"(?<![\w.])(?:\w+::)*([a-z_]\w*)\s*\(")
_LISTS = re.compile(r"\b(?:let|const|static)\s+(\w+)(?:\s*:[^=\n]+)?\s*=\s*&?(?:vec!)?\[")
_LOOP = re.compile(r"\bfor\s+&?([^{}\n]+?)\s+in\s+&?([^{}\n]+?)\s*\{")


def read(texts: Mapping[str, str]) -> Mapping[str, FileReading]:
    """Each file by its path."""
    return read_all(texts, "rust", _file)


@dataclass(slots=True)
class _Head:
    """What stands before a function's body."""

    name: str
    attributes: list[str]
    line: int
    params: list[str]
    start: int
    end: int


def _file(path: str, text: BraceSource) -> Functions:
    file = Functions(path, text, _CALLED)
    file.loops = list(_loops(text))
    for head in _heads(text):
        block = CaseBody(head.name, head.name, head.line, head.start, head.end)
        block.marks += _marks(head)
        if any(_TEST.match(attribute) for attribute in head.attributes):
            file.tests.append(block)
            rows = [
                attribute[5:-1] for attribute in head.attributes if attribute.startswith("case(")
            ]
            rows += [
                attribute[10:-1].partition(";")[0]
                for attribute in head.attributes
                if attribute.startswith("test_case(")
            ]
            if rows:
                rounds = calls.rounds(
                    head.start, head.end, f"[{','.join(head.params)}]", [f"[{r}]" for r in rows]
                )
                file.loops += [rounds] if rounds is not None else []
        else:
            file.others.append(block)
            file.params[head.name] = head.params
    file.claims = sorted([*_claims(text), *_panicking(text)], key=lambda claim: claim[0])
    return file


def _heads(text: BraceSource) -> Iterator[_Head]:
    for match in _FN.finditer(text.bare):
        first, last = text.inside(match.end() - 1)
        semicolon, body = text.bare.find(";", last), text.bare.find("{", last)
        if body < 0 or 0 <= semicolon < body:
            continue
        start, end = text.inside(body)
        code = text.code[match.start("attributes") : match.end("attributes")]
        attributes = [squeeze(document) for document in _ATTRIBUTE.findall(code)]
        params = [
            re.sub(r"^(?:#\[[^\]]*\])?(?:mut )?", "", param).partition(":")[0]
            for param in split(text.squeezed(first, last))
        ]
        yield _Head(match["name"], attributes, text.line(match.start("name")), params, start, end)


_IGNORE = re.compile(r"ignore(?=$|[=(\s])")
_WHERE = re.compile(r"cfg\(|cfg_attr\(.*,\s*(?:ignore\b(?!::)|cfg\()")


def _marks(head: _Head) -> Iterator[SkipMark]:
    for attribute in head.attributes:
        if _IGNORE.match(attribute):
            yield SkipMark("skip", "#[ignore]", head.line)
        elif attribute.startswith("cfg(any())"):
            yield SkipMark("skip", f"#[{attribute}]", head.line)
        elif _WHERE.match(attribute) and attribute != "cfg(test)":
            yield SkipMark("skip", f"#[{attribute}]", head.line, certain=False)


def _panicking(text: BraceSource) -> Iterator[Claim]:
    """`#[should_panic]` asks of the whole body."""
    for head in _heads(text):
        for attribute in head.attributes:
            if attribute.startswith("should_panic"):
                line = attribute.partition('"')[2].rpartition('"')[0]
                op = "raises" if line else "raises anything"
                yield head.start, [Assertion(op, "the test", line, head.line)]


def _loops(text: BraceSource) -> Iterator[Rounds]:
    lists = {
        match[1]: list(text.parts(*text.inside(match.end() - 1)))
        for match in _LISTS.finditer(text.bare)
    }
    for match in _LOOP.finditer(text.bare):
        line = text.code[match.start(2) : match.end(2)].strip().removesuffix(".iter()")
        values = calls.listed(line, lists)
        if values is not None:
            start, end = text.inside(match.end() - 1)
            pattern = text.squeezed(match.start(1), match.end(1))
            rounds = calls.rounds(start, end, pattern, [squeeze(value) for value in values])
            if rounds is not None:
                yield rounds


def _claims(text: BraceSource) -> Iterator[Claim]:
    for match in _MACRO.finditer(text.bare):
        args = list(text.parts(*text.inside(match.end() - 1)))
        many = _expectation(match[1], args, text.line(match.start()))
        if many:
            yield match.start(), many
    yield from failing(
        text,
        _IF,
        _PANIC,
        lambda text, line: [opposite(claim) for claim in truth(squeeze(text), line)],
    )


_MATCHES = re.compile(r"matches!\((.*)\)")


def _expectation(name: str, args: list[str], line: int) -> list[Assertion]:
    first = args[0] if args else ""
    second = args[1] if len(args) > 1 else ""
    if name == "assert_eq":
        return [assertion("==", first, second, line)]
    if name == "assert_ne":
        return [assertion("!=", first, second, line)]
    if name == "assert":
        matching = _MATCHES.fullmatch(first)
        if matching is not None:
            sides = split(matching[1])
            return [Assertion("matches", sides[0] if sides else "", ", ".join(sides[1:]), line)]
        return [_presence(claim) for claim in truth(first, line)]
    if name in ("assert_matches", "assert_snapshot", "assert_debug_snapshot"):
        return [Assertion("matches", first, second or "snapshot", line)]
    return [Assertion("asserts", first, f"{name} {', '.join(args[1:])}".strip(), line)]


def _presence(claim: Assertion) -> Assertion:
    """`x.is_ok()` and `x.is_some()` ask little of x."""
    for end in (".is_ok()", ".is_some()"):
        if claim.op == "is true" and claim.subject.endswith(end):
            return Assertion("is there", claim.subject.removesuffix(end), "", claim.line)
    return claim
