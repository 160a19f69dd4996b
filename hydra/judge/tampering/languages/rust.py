"""Rust: `#[test]` functions, also those inside of a module of the code itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hydra.judge.tampering.languages import calls
from hydra.judge.tampering.languages.braces import Source, squeeze
from hydra.judge.tampering.languages.calls import Block, Claim, Rounds
from hydra.judge.tampering.languages.expressions import opposite, split, truth
from hydra.judge.tampering.languages.functions import Functions, failing, read_all
from hydra.judge.tampering.reading import Assertion, Mark, Reading, assertion

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


def read(texts: Mapping[str, str]) -> Mapping[str, Reading]:
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


def _file(path: str, text: Source) -> Functions:
    file = Functions(path, text, _CALLED)
    file.loops = list(_loops(text))
    for head in _heads(text):
        block = Block(head.name, head.name, head.line, head.start, head.end)
        block.marks += _marks(head)
        if any(_TEST.match(one) for one in head.attributes):
            file.tests.append(block)
            rows = [one[5:-1] for one in head.attributes if one.startswith("case(")]
            rows += [
                one[10:-1].partition(";")[0]
                for one in head.attributes
                if one.startswith("test_case(")
            ]
            if rows:
                made = calls.rounds(
                    head.start, head.end, f"[{','.join(head.params)}]", [f"[{r}]" for r in rows]
                )
                file.loops += [made] if made is not None else []
        else:
            file.others.append(block)
            file.params[head.name] = head.params
    file.claims = sorted([*_claims(text), *_panicking(text)], key=lambda claim: claim[0])
    return file


def _heads(text: Source) -> Iterator[_Head]:
    for one in _FN.finditer(text.bare):
        first, last = text.inside(one.end() - 1)
        semicolon, body = text.bare.find(";", last), text.bare.find("{", last)
        if body < 0 or 0 <= semicolon < body:
            continue
        start, end = text.inside(body)
        code = text.code[one.start("attributes") : one.end("attributes")]
        attributes = [squeeze(found) for found in _ATTRIBUTE.findall(code)]
        params = [
            re.sub(r"^(?:#\[[^\]]*\])?(?:mut )?", "", param).partition(":")[0]
            for param in split(squeeze(text.code[first:last]))
        ]
        yield _Head(one["name"], attributes, text.line(one.start("name")), params, start, end)


def _marks(head: _Head) -> Iterator[Mark]:
    for one in head.attributes:
        if one.startswith("ignore"):
            yield Mark("skip", "#[ignore]", head.line)
        elif one.startswith("cfg(any())"):
            yield Mark("skip", f"#[{one}]", head.line)
        elif one.startswith(("cfg_attr(", "cfg(")) and one != "cfg(test)":
            yield Mark("skip", f"#[{one}]", head.line, certain=False)


def _panicking(text: Source) -> Iterator[Claim]:
    """`#[should_panic]` asks of the whole body."""
    for head in _heads(text):
        for one in head.attributes:
            if one.startswith("should_panic"):
                words = one.partition('"')[2].rpartition('"')[0]
                op = "raises" if words else "raises anything"
                yield head.start, [Assertion(op, "the test", words, head.line)]


def _loops(text: Source) -> Iterator[Rounds]:
    lists = {
        one[1]: list(text.parts(*text.inside(one.end() - 1))) for one in _LISTS.finditer(text.bare)
    }
    for one in _LOOP.finditer(text.bare):
        told = text.code[one.start(2) : one.end(2)].strip().removesuffix(".iter()")
        values = calls.listed(told, lists)
        if values is not None:
            start, end = text.inside(one.end() - 1)
            pattern = squeeze(text.code[one.start(1) : one.end(1)])
            made = calls.rounds(start, end, pattern, [squeeze(value) for value in values])
            if made is not None:
                yield made


def _claims(text: Source) -> Iterator[Claim]:
    for one in _MACRO.finditer(text.bare):
        args = list(text.parts(*text.inside(one.end() - 1)))
        many = _asked(one[1], args, text.line(one.start()))
        if many:
            yield one.start(), many
    yield from failing(
        text, _IF, _PANIC, lambda told, line: [opposite(one) for one in truth(squeeze(told), line)]
    )


_MATCHES = re.compile(r"matches!\((.*)\)")


def _asked(name: str, args: list[str], line: int) -> list[Assertion]:
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
        return [_there(one) for one in truth(first, line)]
    if name in ("assert_matches", "assert_snapshot", "assert_debug_snapshot"):
        return [Assertion("matches", first, second or "snapshot", line)]
    return [Assertion("asserts", first, f"{name} {', '.join(args[1:])}".strip(), line)]


def _there(one: Assertion) -> Assertion:
    """`x.is_ok()` and `x.is_some()` ask little of x."""
    for end in (".is_ok()", ".is_some()"):
        if one.op == "is true" and one.subject.endswith(end):
            return Assertion("is there", one.subject.removesuffix(end), "", one.line)
    return one
