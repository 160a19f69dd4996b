"""A file's normal form: two texts that differ only in form have the same one.

It is a test of equality, not a measure. Where a language is not surely read, the form is the text
itself: to call two patches the same that are not would be a lie, to miss two is only a pity.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator

from hydra.analysis.equivalence import python
from hydra.analysis.equivalence.changes import ends
from hydra.analysis.equivalence.imports import ordered
from hydra.analysis.equivalence.languages import DIRECTIVE, language, word_set
from hydra.analysis.equivalence.lexer import RULES, tokens
from hydra.analysis.equivalence.outline import strings

MOST = 512 * 1024
"""Characters. A text that is longer is its own form."""

_MOST_KEPT = 16384


def form(path: str, text: str) -> bytes:
    """A digest of the normal form of a file's text."""
    spoken = language(path)
    if spoken == "exact" or len(text) > MOST:
        return b"=" + _digest(text)
    return _cached(spoken, text)


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
        worded = spoken == "python" or spoken in LANGUAGES
        other = worded and _says_other(spoken, old, new)
        _SAME[key] = not other and form(path, old) == form(path, new)
    return _SAME[key]


_SAME: dict[tuple[str, bytes, bytes], bool] = {}
_FORMS: dict[tuple[str, bytes], bytes] = {}
"""Forms that were worked out, by language and text: lanes hold the same files many times over."""


def _cached(spoken: str, text: str) -> bytes:
    key = (spoken, _digest(text))
    if key not in _FORMS:
        if len(_FORMS) >= _MOST_KEPT:
            _FORMS.clear()
        _FORMS[key] = _form(spoken, text)
    return _FORMS[key]


def _form(spoken: str, text: str) -> bytes:
    if spoken in LANGUAGES:
        read = normal(text, spoken)
    elif "\0" in text:
        read = None
    else:
        read = _READERS[spoken](text) if spoken in _READERS else None
    if read is not None:
        return b"~" + _digest(read)
    bare = None if spoken in _READERS or "\0" in text else plain(text)
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
_IDENTIFIER = re.compile(r"\b[^\W\d]\w*")


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
            return _program_words(spoken, was) != _program_words(spoken, now)
    gone, come = (Counter(line.strip() for line in part) for part in parts)
    return _program_words(spoken, [*gone - come]) != _program_words(spoken, [*come - gone])


def _outside(lines: list[str], start: int, end: int) -> list[str]:
    """Lines of Python that are not in a string that runs over lines."""
    inside = strings(lines)
    return [lines[at] for at in range(start, end) if at not in inside]


def _program_words(spoken: str, lines: list[str]) -> set[str]:
    """The words of a program, what seems to be a string or a comment left out."""
    code = _NOT_CODE.get(spoken, _NOT_CODE[""]).sub(" ", "\n".join(lines))
    return set(_IDENTIFIER.findall(code)) - {"pass"}


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


# ---- Languages in braces without their form: tokens, trailing commas gone, imports in order.

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

_NOT_CALLED = word_set("return in match if while let mut ref break move as else")
_MACROS = word_set(
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


# ---- JSON and TOML without their layout; the order of keys stays.

MOST_DATA = 128 * 1024
"""Characters. Parsers of nested text are slow on what is made so."""


def json_form(text: str) -> str | None:
    """The document, numbers as they are written; None if it is not JSON."""
    if len(text) > MOST_DATA:
        return None
    try:
        whole = json.loads(
            text,
            object_pairs_hook=lambda pairs: {"": pairs},
            parse_int=lambda digits: {"i": digits},
            parse_float=lambda digits: {"f": digits},
            parse_constant=lambda name: {"c": name},
        )
        return json.dumps(whole)
    except (ValueError, RecursionError):
        return None


def toml_form(text: str) -> str | None:
    """The document, its keys in their order; None if it is not TOML."""
    if len(text) > MOST_DATA:
        return None
    try:
        return repr(tomllib.loads(text, parse_float=lambda digits: ("f", digits)))
    except (ValueError, RecursionError):
        return None


# ---- Languages that are read by lines: comment lines, blank lines and white space at the ends go.
#
# What is inside a string or a document that runs over lines must stay as it is. So these readers
# stop to touch anything from the first line on of which that is not certain.

_SURE = re.compile(r"""(?:[^'"\\#]++|'[^']*+'|"(?:\\.|[^"\\])*+"|\\.|(?<=\s)#.*|#)*+\\?""")
_STRING = re.compile(r"""'[^']*+'|"(?:\\.|[^"\\])*+\"""")
_HEREDOC = re.compile(r"<<[-~]?\s*[\"'`\\A-Za-z_]")
_RUBY_HEREDOC = re.compile(r"<<[-~]?[\"'`A-Za-z_]")
_RUBY = re.compile(r"%[qQwWiIrxs]?[^\w\s=]|^=begin|^__END__|`")
_ARITHMETIC = re.compile(r"\$\(|`")
_RUN = re.compile(r"require(?:_relative)?\s*\(?\s*(['\"])[\w./-]+\1\s*\)?")


def shell(text: str) -> str:
    """A shell's script: indentation goes too. A carriage return is part of the script."""
    return "\n".join(_lines(text, _doubtful_shell, indented=False))


def ruby(text: str) -> str:
    """Ruby: indentation goes too; runs of `require` are sorted."""
    return "\n".join(_runs(_lines(text.replace("\r\n", "\n"), _doubtful_ruby, indented=False)))


def make(text: str) -> str:
    """A makefile: only blank lines and comment lines outside of recipes."""
    return "\n".join(_lines(text.replace("\r\n", "\n"), _doubtful_make, indented=True))


def plain(text: str) -> str | None:
    """A language that nobody here reads: ends of lines, and blank lines; None if in doubt."""
    if _OVER_LINES.search(text):
        return None
    lines = [line.rstrip(" \t\r") for line in text.split("\n")]
    odd = any(line.count('"') % 2 or line.count("'") % 2 or line.endswith("\\") for line in lines)
    return None if odd else "\n".join(line for line in lines if line)


_OVER_LINES = re.compile(r"\"\"\"|'''|`|<<|\[=*\[|R\"|[@$]\"|\\\\|=begin|__END__|\r(?!\n)")
"""What opens text that may run over lines, in one language or another."""


def _lines(text: str, doubtful: Callable[[str], bool], *, indented: bool) -> Iterator[str]:
    lines = text.split("\n")
    joined = False
    for at, line in enumerate(lines):
        bare = line.strip(" \t")
        recipe = indented and line.startswith("\t")
        comment = bare.startswith("#") and not recipe and not (at == 0 and bare.startswith("#!"))
        if doubtful(line) or (joined and comment):
            yield "\0"
            yield from lines[at:]
            return
        if not joined and ((comment and not DIRECTIVE.search(bare)) or not (bare or recipe)):
            continue
        is_retained = joined or indented or line.endswith("\\")
        yield line if is_retained else bare
        joined = line.endswith("\\") and not comment


def _doubtful_shell(line: str) -> bool:
    if line.lstrip(" \t").startswith("#"):
        return False
    if _HEREDOC.search(line) or not _SURE.fullmatch(line) or re.search(r"\\[ \t]+$", line):
        return True
    nested = _ARITHMETIC.search(line)
    return bool(nested) and (line.count("(") != line.count(")") or line.count("`") % 2 > 0)


def _doubtful_ruby(line: str) -> bool:
    if line.lstrip(" \t").startswith("#"):
        return False
    if _RUBY_HEREDOC.search(line) or not _SURE.fullmatch(line):
        return True
    bare = _STRING.sub('""', line)
    if _RUBY.search(bare):
        return True
    if "#{" in line and line.count("{") != line.count("}"):
        return True
    # What is left of a regular expression with quotes in it.
    return "/" in bare or bool(re.search(r"\?[\"']", line))


def _doubtful_make(line: str) -> bool:
    """A definition over lines, and a comment that its last character carries on."""
    if line.startswith("\t"):
        return False
    if line.lstrip(" ").startswith("#"):
        return line.endswith("\\")
    return bool(re.match(r" *(?:override +|export +)*define\b", line))


def _runs(lines: Iterator[str]) -> Iterator[str]:
    run: list[str] = []
    for line in lines:
        if _RUN.fullmatch(line):
            run.append(line)
            continue
        yield from sorted(run)
        run = []
        yield line
    yield from sorted(run)


_BLOCK = re.compile(r"(?:^|[\s:-])[|>][-+0-9]{0,2}(?:\s+#.*)?$")
_KEY = re.compile(r"\s*(?:- +)*[\w./-]+:(?:\s|$)|---")


def yaml(text: str) -> str:
    """YAML: comment lines, blank lines before a key, white space at the ends.

    A block's lines stay as they are (the lines below it that are indented deeper than its key's
    line), and so does everything from the first quote on that is not closed on its line.
    """
    return "\n".join(_yaml(text.replace("\r\n", "\n").split("\n")))


def _yaml(lines: list[str]) -> Iterator[str]:
    block, blank = -1, 0
    for at, line in enumerate(lines):
        bare = line.strip(" ")
        indent = len(line) - len(line.lstrip(" "))
        if block >= 0 and (not bare or indent > block):
            yield line
            continue
        block = -1
        if "\t" in line or "\r" in line or not _SURE.fullmatch(line) or _document(line):
            yield "\0"
            yield from lines[at:]
            return
        if not bare:
            blank += 1
            continue
        if bare.startswith("#") and not DIRECTIVE.search(bare):
            continue
        if not _KEY.match(line):
            yield from [""] * blank
        blank = 0
        yield line.rstrip(" ")
        block = indent if _BLOCK.search(line) else -1


def _document(line: str) -> bool:
    """A block whose lines may stand no deeper than its own line, and what says how to read on."""
    if line.startswith(("---", "%")):
        return line.rstrip() != "---"
    return bool(_BLOCK.search(line)) and not _KEY.match(line) and not line.lstrip().startswith("- ")


_READERS = {
    "python": python.normal,
    "json": json_form,
    "toml": toml_form,
    "shell": shell,
    "ruby": ruby,
    "make": make,
    "yaml": yaml,
}
