"""Runs of imports, sorted: their order is form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_LONGEST = 1000
"""Tokens of one import."""

_NAME = re.compile(r"[^\W\d][\w$]*")


def ordered(read: list[str], language: str) -> Iterator[str]:
    """The tokens with each run of imports sorted. What is not surely an import ends a run."""
    reader = _READERS[language]
    at, run = 0, list[str]()
    begins = True
    while at < len(read):
        pair = reader(read, at) if begins else None
        if pair is not None:
            at, names = pair
            run += names
            continue
        yield from sorted(run)
        run = []
        yield read[at]
        begins = read[at] in (";", "}", "{", "\n") or read[at].startswith("#")
        at += 1
    yield from sorted(run)


_Import = tuple[int, list[str]] | None
"""Where the statement ends, and what it imports."""


def _until(read: list[str], at: int, end: str) -> int:
    """Where a piece stands from `at` on, within what an import can be long; -1 if nowhere."""
    try:
        return read.index(end, at, at + 2000)
    except ValueError:
        return -1


def _script(read: list[str], at: int) -> _Import:
    """`import a, { b as c } from "x";`: one for all, the names in braces sorted."""
    if read[at] != "import" or at + 1 >= len(read) or read[at + 1] in ("(", "."):
        return None
    out: list[str] = []
    named: list[list[str]] | None = None
    for place in range(at + 1, min(at + _LONGEST, len(read))):
        piece = read[place]
        if piece in (";", "=", "(", "\n", "import"):
            return None
        if piece == "{" and named is None:
            named = [[]]
        elif named is not None and piece == "}":
            out += ["{", *sorted(" ".join(texts) for texts in named), "}"]
            named = None
        elif named is not None and piece == ",":
            named.append([])
        elif named is not None:
            named[-1].append(piece)
        elif piece[0] in "\"'":
            end = place + 1
            if end < len(read) and read[end] not in (";", "\n"):
                return None
            return end + 1, [" ".join(("import", *out, piece))]
        else:
            out.append(piece)
    return None


def _go(read: list[str], at: int) -> _Import:
    """`import x "a";` and `import ( ... );`: one for each."""
    if read[at] != "import" or at + 1 >= len(read):
        return None
    many = read[at + 1] == "("
    end = _until(read, at, ")") if many else _until(read, at, ";")
    if end < 0:
        return None
    specs: list[list[str]] = [[]]
    for piece in read[at + 2 if many else at + 1 : end]:
        if piece == ";":
            specs.append([])
        else:
            specs[-1].append(piece)
    if any(len(spec) > 2 or (spec and spec[-1][0] not in '"`') for spec in specs):
        return None
    after = end + 1 if not many or read[end + 1 : end + 2] != [";"] else end + 2
    return after, [" ".join(("import", *spec)) for spec in specs if spec]


def _java(read: list[str], at: int) -> _Import:
    """`import static a.b.*;`."""
    end = _until(read, at, ";") if read[at] == "import" else -1
    if end < 0:
        return None
    lines = read[at:end]
    fits = all(_NAME.fullmatch(name) or name in (".", "*", ".*") for name in lines)
    return (end + 1, [" ".join((*lines, ";")).replace(". *", ".*")]) if fits else None


def _csharp(read: list[str], at: int) -> _Import:
    """`using static a.b;`, `using a = b.c;`; `using var x = ...` is no import."""
    end = _until(read, at, ";") if read[at] == "using" else -1
    if end < 0:
        return None
    text = " ".join(read[at:end])
    fits = re.fullmatch(r"using (?:static )?(?:\w+ = )?\w+(?: \. \w+)*", text)
    return (end + 1, [f"{text} ;"]) if fits else None


def _rust(read: list[str], at: int) -> _Import:
    """`pub use a::{c, b};`: one for each path."""
    start = at
    if read[at] == "pub":
        at += 1
        if read[at : at + 1] == ["("] and read[at + 2 : at + 3] == [")"]:
            at += 3
    if read[at : at + 1] != ["use"]:
        return None
    end = _until(read, at, ";")
    if end < 0:
        return None
    paths = _flat(read[at + 1 : end])
    text = " ".join(read[start : at + 1])
    return (end + 1, [f"{text} {path} ;" for path in paths]) if paths is not None else None


def _flat(read: list[str]) -> list[str] | None:
    """The paths of a tree of `use`; None where it is none."""
    stems, text = [""], ""
    out: list[str] = []
    for piece, after in zip(read, [*read[1:], ""], strict=True):
        if piece == "{":
            stems.append(stems[-1] + text)
            text = ""
        elif piece in (",", "}"):
            out += [stems[-1] + text] if text else []
            text = ""
            closed = stems.pop() if piece == "}" else ""
            if not stems or (piece == "," and len(stems) < 2) or (closed and after not in ",}"):
                return None
        elif _NAME.fullmatch(piece.removeprefix("r#")) or piece in ("::", "*"):
            text += f" {piece} "
        else:
            return None
        if len(out) > 500 or len(stems) > 20:
            return None
    out += [text] if text else []
    return out if out and len(stems) == 1 else None


def _include(read: list[str], at: int) -> _Import:
    """`#include <x>`."""
    return (at + 1, [read[at]]) if read[at].startswith(("#include ", "#import ")) else None


_READERS: dict[str, Callable[[list[str], int], _Import]] = {
    "javascript": _script,
    "typescript": _script,
    "go": _go,
    "java": _java,
    "csharp": _csharp,
    "rust": _rust,
    "c": _include,
}
