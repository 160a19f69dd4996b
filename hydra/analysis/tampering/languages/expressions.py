"""Squeezed text of an expression: its parts, and what it asks where it must be true."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from hydra.analysis.tampering.model import Assertion, assertion

_STRING = r"\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|`(?:[^`\\]++|\\.)*+`"
_STEP = re.compile(
    rf"(?P<string>{_STRING})|(?P<open>[(\[{{])|(?P<close>[)\]}}])"
    r"|(?P<op>===|!==|==|!=|>=|<=|&&|\|\||=>|->|<<|>>|[<>,:])"
)
_TRUE = frozenset(("true", "True", "1", "!0", "!false"))


def split(text: str, at: str = ",") -> list[str]:
    """The parts of a list, at its own level."""
    return [part for part in _parts(text, (at,))[0] if part]


def _parts(text: str, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The text cut at some of its operators, and those operators."""
    parts: list[str] = []
    cuts: list[str] = []
    depth = first = 0
    for match in _STEP.finditer(text):
        if match["open"]:
            depth += 1
        elif match["close"]:
            depth -= 1
        elif not depth and match["op"] in names:
            parts.append(text[first : match.start()])
            cuts.append(match["op"])
            first = match.end()
    return [*(part.strip() for part in parts), text[first:].strip()], cuts


def truth(text: str, line: int) -> list[Assertion]:
    """What is asked where `text` must be true."""
    text = unwrapped(text)
    whole, cuts = _parts(text, ("&&",))
    if cuts:
        return [claim for part in whole for claim in truth(part, line)]
    either, cuts = _parts(text, ("||",))
    if cuts:
        if any(part in _TRUE for part in either):
            return [Assertion("always holds", either[0], "|| true", line)]
        first = truth(either[0], line)[0]
        value = " or ".join(claim.description for part in either for claim in truth(part, line))
        return [Assertion("in", first.subject, value, line)]
    if text.startswith("!") and not text.startswith("!="):
        return [opposite(claim) for claim in truth(text[1:], line)[:1]]
    sides, cuts = _parts(text, ("===", "!==", "==", "!=", ">=", "<=", "<", ">"))
    if len(cuts) == 1 and all(sides):
        op = {"===": "==", "!==": "!="}.get(cuts[0], cuts[0])
        return [assertion(op, sides[0], sides[1], line)]
    return [assertion("is true", text, "", line)]


def unwrapped(text: str) -> str:
    """The text without brackets around all of it."""
    while text.startswith("(") and text.endswith(")") and len(_parts(text[1:-1], (",",))[1]) == 0:
        depth = 0
        for at, sign in enumerate(text):
            depth += (sign == "(") - (sign == ")")
            if not depth and at < len(text) - 1:
                return text
        text = text[1:-1].strip()
    return text


_OPPOSITE = {
    "==": "!=",
    "!=": "==",
    "is true": "is false",
    "is false": "is true",
    "in": "not in",
    "not in": "in",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "raises": "raises nothing",
    "raises anything": "raises nothing",
}


def opposite(claim: Assertion) -> Assertion:
    """What is asked where that must not be so."""
    if claim.op == "is there":
        return replace(claim, op="==", expected="null")
    if claim.op in _OPPOSITE:
        return assertion(_OPPOSITE[claim.op], claim.subject, claim.expected, claim.line)
    if claim.op == "always holds":
        return claim
    return replace(claim, op="!=", expected=f"{claim.op} {claim.expected}".strip())


_OPENED = {"[": "]", "(": ")", "{": "}"}


def row(pattern: str, value: str) -> dict[str, str]:
    """Names of a pattern (`[a, b]`, `{a, b}`, `a`), each with its part of a value."""
    pattern, names = pattern.strip(), {}
    inner = _inner(value)
    if pattern[:1] in _OPENED and pattern[-1:] in ")]}":
        texts = split(pattern[1:-1])
        if pattern[0] == "{":
            keyed = _keyed(inner)
            return {name: keyed[name] for name in texts if name in keyed}
        return dict(zip(texts, split(inner), strict=False))
    if not re.fullmatch(r"[\w$]+", pattern):
        parted = split(pattern)
        return dict(zip(parted, split(inner), strict=False)) if len(parted) > 1 else {}
    names[pattern] = value
    if inner != value:
        names |= {f"{pattern}.{key}": part for key, part in _keyed(inner).items()}
        for at, part in enumerate(split(inner)):
            names[f"{pattern}.{at}"] = names[f"{pattern}[{at}]"] = part
    return names


def _inner(value: str) -> str:
    return value[1:-1] if value[:1] in _OPENED and value.endswith(_OPENED[value[0]]) else value


def _keyed(inner: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in split(inner):
        sides, cuts = _parts(part, (":", "=>"))
        if cuts:
            values[sides[0].strip("\"'")] = ":".join(sides[1:])
        elif re.fullmatch(r"[\w$]+", part):
            values[part] = part
    return values
