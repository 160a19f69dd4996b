"""Languages in braces without their form: tokens, trailing commas gone, imports in order."""

from __future__ import annotations

from hydra.judge.agreement.imports import ordered
from hydra.judge.agreement.lexer import RULES, tokens
from hydra.judge.agreement.words import words

LANGUAGES = frozenset(RULES)

_CLOSERS = {
    "javascript": ")]}",
    "typescript": ")]}",
    "go": ")}",
    "rust": ")]}",
    "java": "}",
    "csharp": "}",
    "c": "}",
}
"""Before which of these a comma says nothing."""

_NOT_CALLED = words("return in match if while let mut ref break move as else")
_MACROS = words(
    "vec format print println eprint eprintln write writeln panic assert assert_eq assert_ne todo "
    "debug_assert debug_assert_eq debug_assert_ne unreachable unimplemented matches json"
)
"""Macros of Rust to which a last comma says nothing; others may tell it."""


def normal(text: str, language: str) -> str | None:
    """The program, free of layout, comments and the order of imports; None if it is not read."""
    read = tokens(text, language)
    if read is None:
        return None
    bare = read if "macro_rules" in read else _bare(read, language)
    return "\0".join(ordered(bare, language))


def _bare(read: list[str], language: str) -> list[str]:
    """The tokens without the commas and semicolons that a closing bracket makes idle."""
    closers, out = _CLOSERS[language], list[str]()
    idle = {"go": ")}", "javascript": "}", "typescript": "}"}.get(language, "")
    # For each bracket that is open: how many commas stand in it, or -1 where the last one speaks.
    commas: list[int] = []
    for piece in read:
        if piece in _OPENING:
            commas.append(_first(out, piece) if language == "rust" else 1)
        elif piece in _CLOSING:
            seen = commas.pop() if commas else -1
            last, before = out[-1:], out[-2:-1]
            comma = last == [","] and piece in closers and seen > 1 and before[0] not in _NOTHING
            if comma or (last == [";"] and piece in idle):
                out.pop()
        elif piece == "," and commas and commas[-1] >= 0:
            commas[-1] += 1
        out.append(piece)
    return out


_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_NOTHING = frozenset(",([{")


def _first(out: list[str], bracket: str) -> int:
    """Rust: `f(a,)` is `f(a)`, but `(a,)` is a tuple, which `(a, b,)` is in any case."""
    last = out[-1] if out else ""
    if last == "!":
        return 1 if out[-2:-1] and out[-2] in _MACROS else -1
    called = last.replace("_", "a").isalnum() and last not in _NOT_CALLED
    return 1 if called or bracket != "(" else 0
