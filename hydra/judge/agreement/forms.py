"""A file's normal form: two texts that differ only in form have the same one.

It is a test of equality, not a measure. Where a language is not surely read, the form is the text
itself: to call two patches the same that are not would be a lie, to miss two is only a pity.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from hydra.judge.agreement import brace, data, lines, python
from hydra.judge.agreement.changed import ends
from hydra.judge.agreement.languages import language
from hydra.judge.agreement.outline import strings

MOST = 512 * 1024
"""Characters. A text that is longer is its own form."""

_MOST_KEPT = 16384

_READERS = {
    "python": python.normal,
    "json": data.json_form,
    "toml": data.toml_form,
    "shell": lines.shell,
    "ruby": lines.ruby,
    "make": lines.make,
    "yaml": lines.yaml,
}


def form(path: str, text: str) -> bytes:
    """A digest of the normal form of a file's text."""
    spoken = language(path)
    if spoken == "exact" or len(text) > MOST:
        return b"=" + _digest(text)
    return _kept(spoken, text)


def same(path: str, old: str, new: str) -> bool:
    """Whether a file's two texts differ in form only (or not at all)."""
    if old == new:
        return True
    spoken = language(path)
    if spoken == "exact" or max(len(old), len(new)) > MOST:
        return False
    key = (spoken, _digest(old), _digest(new))
    if key not in _SAME:
        if len(_SAME) >= _MOST_KEPT:
            _SAME.clear()
        worded = spoken == "python" or spoken in brace.LANGUAGES
        other = worded and _says_other(spoken, old, new)
        _SAME[key] = not other and form(path, old) == form(path, new)
    return _SAME[key]


_SAME: dict[tuple[str, bytes, bytes], bool] = {}
_FORMS: dict[tuple[str, bytes], bytes] = {}
"""Forms that were worked out, by language and text: lanes hold the same files many times over."""


def _kept(spoken: str, text: str) -> bytes:
    key = (spoken, _digest(text))
    if key not in _FORMS:
        if len(_FORMS) >= _MOST_KEPT:
            _FORMS.clear()
        _FORMS[key] = _form(spoken, text)
    return _FORMS[key]


def _form(spoken: str, text: str) -> bytes:
    if spoken in brace.LANGUAGES:
        read = brace.normal(text, spoken)
    elif "\0" in text:
        read = None
    else:
        read = _READERS[spoken](text) if spoken in _READERS else None
    if read is not None:
        return b"~" + _digest(read)
    bare = None if spoken in _READERS or "\0" in text else lines.plain(text)
    return b"=" + _digest(text) if bare is None else b"-" + _digest(bare)


# A string that is not closed ends with its line, so that none is looked through twice.
_ONE_LINE = r'"(?:\\.|[^"\\\n])*+"?'
_OTHER = r"'(?:\\.|[^'\\\n])*+'?"
_NOT_CODE = {
    "python": re.compile(
        r"""(?:\b[rbuf]{1,2})?(?:\"{3}.*?(?:\"{3}|$)|'{3}.*?(?:'{3}|$)|"""
        + rf"{_ONE_LINE}|{_OTHER})|\#[^\n]*+",
        re.I | re.M,
    ),
    # A quote may be a lifetime's.
    "rust": re.compile(rf"{_ONE_LINE}|'(?:\\.|[^'\\\n])'|//[^\n]*+|/\*(?:[\s\S]*?\*/|[\s\S]*+)"),
    "": re.compile(rf"{_ONE_LINE}|{_OTHER}|//[^\n]*+|/\*(?:[\s\S]*?\*/|[\s\S]*+)"),
}
_WORD = re.compile(r"\b[^\W\d]\w*")


def _says_other(spoken: str, old: str, new: str) -> bool:
    """Whether the lines that changed have other words, roughly, comments and strings left out:
    nearly always they do, and that is seen long before two whole files are parsed."""
    was, now = old.split("\n"), new.split("\n")
    start, end = ends(was, now)
    if spoken == "python":
        parts = [_outside(lines, start, len(lines) - end) for lines in (was, now)]
    else:
        parts = [lines[start : len(lines) - end] for lines in (was, now)]
        if any(mark in line for lines in (was, now) for line in lines for mark in ("/*", "*/")):
            # A comment over lines is seen as a whole or not at all.
            return _words(spoken, was) != _words(spoken, now)
    gone, come = (Counter(line.strip() for line in part) for part in parts)
    return _words(spoken, [*gone - come]) != _words(spoken, [*come - gone])


def _outside(lines: list[str], start: int, end: int) -> list[str]:
    """Lines of Python that are not in a string that runs over lines."""
    inside = strings(lines)
    return [lines[at] for at in range(start, end) if at not in inside]


def _words(spoken: str, lines: list[str]) -> set[str]:
    """The words of a program, what seems to be a string or a comment left out."""
    code = _NOT_CODE.get(spoken, _NOT_CODE[""]).sub(" ", "\n".join(lines))
    return set(_WORD.findall(code)) - {"pass"}


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
