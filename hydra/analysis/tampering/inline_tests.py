"""Tests that lie in code: Rust's modules of tests, blocks of tests, examples in comments and
docstrings; and the base's put back into a patch's code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.languages.braces import BraceSource, Family, source, squeeze
from hydra.analysis.tampering.model import too_much
from hydra.analysis.tampering.test_files import (
    existed,
    exists,
    is_configuration,
    supports_tests,
)
from hydra.text import plural


class InlineTest(NamedTuple):
    """A piece of a text. `key` is what it is known by in another version of the text; `loose` says
    whether it may as well stand at the text's end."""

    key: str
    start: int
    end: int
    loose: bool = False


def inline_changed(files: Sequence[FileChange]) -> tuple[FileChange, ...]:
    """The files of code in which a patch changes or drops tests that were there."""
    came = _came(files)
    return tuple(file for file in files if _is_code(file) and _lost(file, came))


def writes_tests(files: Sequence[FileChange]) -> bool:
    """Whether a patch adds or changes a test, in code or beside it."""
    return any(supports_tests(file) or _writes(file) for file in files)


def inline_brought(files: Sequence[FileChange]) -> tuple[FileChange, ...]:
    """The files of code that were there and in which a patch adds or changes tests."""
    return tuple(file for file in files if _is_code(file) and exists(file) and _writes(file))


def _writes(file: FileChange) -> bool:
    return not {*_texts(file.path, file.new or "")} <= {*_texts(file.path, file.old or "")}


def gone(files: Sequence[FileChange]) -> dict[str, tuple[str, ...]]:
    """By file of code the tests that a patch has taken out of it, by what they are known by, where
    no other stands in their place there, and none like them where their code has moved to, in what
    is left or in a file of tests: whether they pass there, the base's show, which are put back."""
    came, lines = _came(files), _lines_of_tests(files)
    rows = ((file.path, _taken_out(file, came, lines)) for file in files if _is_code(file))
    return {path: names for path, names in rows if names}


def blocks_deleted(files: Sequence[FileChange]) -> Iterator[Finding]:
    """A gate for each file of code that has fewer blocks of tests: these run, where anybody may
    leave examples out of his run. Rust's are read as files of tests are."""
    for path, names in gone(files).items():
        if path.rpartition(".")[2].lower() in _BLOCKS:
            text = f"deletes {plural(names, 'test')} of {path}"
            yield Finding(kind="test_deleted", weight="gate", text=text, path=path)


def put_back(file: FileChange, files: Sequence[FileChange]) -> str | None:
    """The patch's text of a file with the base's tests in place of its own; None where one has no
    place in it, as that of a function that is gone. `files` are all of the patch: what has moved
    to another is not lost."""
    old, new = file.old, file.new
    if old is None or new is None or too_much(old) or too_much(new):
        return None
    text, lost = _replaced(file.path, new, old)
    moved = _moved(file, _came(files))
    lost = [piece for piece in lost if old[piece.start : piece.end] not in moved]
    return text + _at_end(old, lost) if all(piece.loose for piece in lost) else None


def with_tests(path: str, text: str, other: str) -> str:
    """A text with the tests of another version of it in place of its own; what has no place in it
    is left out."""
    replaced, lost = _replaced(path, text, other)
    return replaced + _at_end(other, [piece for piece in lost if piece.loose])


def _replaced(path: str, text: str, other: str) -> tuple[str, list[InlineTest]]:
    """`text` with the tests of `other` in place of its own, and those that no place was found
    for."""
    pieces = {piece.key: piece for piece in _pieces(path, other)}
    keys = {other[piece.start : piece.end]: key for key, piece in pieces.items()}
    parts: list[str] = []
    at = 0
    for piece in _pieces(path, text):
        own = text[piece.start : piece.end]
        fitting = pieces.pop(piece.key, None) or pieces.pop(keys.get(own, ""), None)
        parts.append(text[at : piece.start])
        at = piece.end
        if fitting is not None:
            parts.append(other[fitting.start : fitting.end])
    return "".join((*parts, text[at:])), [*pieces.values()]


def _at_end(text: str, pieces: Iterable[InlineTest]) -> str:
    return "".join(f"\n{text[piece.start : piece.end]}\n" for piece in pieces)


def without_tests(path: str, text: str) -> str:
    """A text without the tests in it."""
    parts: list[str] = []
    at = 0
    for piece in _pieces(path, text):
        parts.append(text[at : piece.start])
        at = piece.end
    return "".join((*parts, text[at:]))


def lies_in_code(file: FileChange) -> bool:
    """Whether the tests that a file has are known by their marks, and the rest of it is code."""
    text = (file.old if existed(file) else file.new) or ""
    if file.path.endswith(".py") and _OF_PYTHON.search(text):
        return False
    return bool(_pieces(file.path, text))


def _is_code(file: FileChange) -> bool:
    return existed(file) and not supports_tests(file) and not is_configuration(file.path)


def _lost(file: FileChange, elsewhere: frozenset[str]) -> bool:
    old, new = _texts(file.path, file.old or ""), _texts(file.path, file.new or "")
    return old != new and not {*old} <= {*_moved(file, elsewhere), *new}


def _taken_out(
    file: FileChange, elsewhere: frozenset[str], lines: frozenset[str]
) -> tuple[str, ...]:
    old, new = file.old or "", file.new or ""
    before = {piece.key: old[piece.start : piece.end] for piece in _pieces(file.path, old)}
    after = {piece.key: new[piece.start : piece.end] for piece in _pieces(file.path, new)}
    same = {*after.values(), *_moved(file, elsewhere)}
    lines = lines.union(*map(_lines, after.values()))
    names = [
        key
        for key, text in before.items()
        if key not in after and text not in same and not _asks(file.path, text) <= lines
    ]
    others = [
        key for key, text in after.items() if key not in before and text not in before.values()
    ]
    return tuple(map(_name, names)) if len(others) < len(names) else ()


def _moved(file: FileChange, elsewhere: frozenset[str]) -> frozenset[str]:
    """The tests of a file that stand in another by now, as what they test does: one whose code
    is where it was has been copied, and asks what it asked of nothing there."""
    old, new = file.old or "", file.new or ""
    stays = _defined(file.path, without_tests(file.path, new))
    names = stays | _defined(file.path, without_tests(file.path, old))
    keys = {piece.key for piece in _pieces(file.path, new)}
    moved = set()
    for piece in _pieces(file.path, old):
        text = old[piece.start : piece.end]
        if text in elsewhere and piece.key not in keys and _name(piece.key) not in stays:
            tested = names.intersection(_NAME.findall(text))
            if not tested or not tested <= stays:
                moved.add(text)
    return frozenset(moved)


def _came(files: Sequence[FileChange]) -> frozenset[str]:
    """All tests that code has with the patch and had not without it."""
    rows = (
        _texts(file.path, file.new or "") - _texts(file.path, file.old or "")
        for file in files
        if exists(file)
    )
    return frozenset[str]().union(*(row.keys() for row in rows))


def _lines_of_tests(files: Sequence[FileChange]) -> frozenset[str]:
    """All lines that files of tests have with the patch and had not without it."""
    rows = (
        _lines(file.new or "") - _lines(file.old or "")
        for file in files
        if exists(file) and supports_tests(file)
    )
    return frozenset[str]().union(*rows)


def _lines(text: str) -> set[str]:
    """The lines that say something, however far they stand in."""
    lines = (line.strip() for line in text.split("\n") if "import.meta.vitest" not in line)
    return {line for line in lines if _NAME.search(line)}


def _asks(path: str, text: str) -> set[str]:
    """The lines of a test without that which names a block, where it has others."""
    body = text.lstrip().partition("\n")[2]
    is_named = path.rpartition(".")[2].lower() in _BLOCKS and _NAME.search(body)
    return _lines(body if is_named else text)


def _name(key: str) -> str:
    """What a test is of, or its own name: `Book.pages 1` is of `pages`."""
    return key.rpartition(" ")[0].rpartition(".")[2]


_DEFINES = re.compile(
    r"\b(?:def|defp|cdef|cpdef|fn|func|function|class|struct|enum|trait|type|const|let|var"
    r"|auto|void|bool|char|int|long|float|double|string|u?int\d+_t)[ \t]+(\w+)"
)
_TYPED = re.compile(
    r"^[ \t]*(?!(?:return|else|throw|new|case|goto|delete|assert|co_\w+)\b)"
    r"(?:[\w:<>,\[\]*&!.]++[ \t]++)+[*&]*+(\w+)[ \t]*\(",
    re.M,
)
"""A function of a language that begins it with its type: `size_t pages(size_t n)`."""
_NAME = re.compile(r"\w+")


def _defined(path: str, text: str) -> set[str]:
    typed = path.rpartition(".")[2].lower() in _TYPES_FIRST
    return {*_DEFINES.findall(text), *(_TYPED.findall(text) if typed else ())}


def _texts(path: str, text: str) -> Counter[str]:
    return Counter(text[piece.start : piece.end] for piece in _pieces(path, text))


_OF_PYTHON = re.compile(r"^[ \t]*(?:assert\b|(?:import|from) (?:unittest|pytest)\b)", re.M)

_TYPES_FIRST = ("c", "cc", "cpp", "cxx", "h", "hh", "hpp", "d")
_BLOCKS: dict[str, tuple[Family, re.Pattern[str]]] = {
    "zig": ("jvm", re.compile(r"^[ \t]*test\b[^{;]{0,500}\{", re.M)),
    "d": ("go", re.compile(r"^[ \t]*(?:@?\w+[ \t]+)*unittest\s*\{", re.M)),
    **dict.fromkeys(
        ("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"),
        ("javascript", re.compile(r"^[ \t]*if\s*\(\s*import\.meta\.vitest\s*\)\s*\{", re.M)),
    ),
    **dict.fromkeys(
        _TYPES_FIRST[:-1],
        (
            "jvm",
            re.compile(r"^[ \t]*(?:DOCTEST_)?TEST_CASE(?:_\w+)?\s*\([^{;]{0,500}\)\s*\{", re.M),
        ),
    ),
}
"""By ending: how a text is read, and what a block of tests begins with."""

_TELLING = re.compile(r">>>|\biex|#!?\[|```|unittest|^[ \t]*test\b|TEST_CASE|meta\.vitest", re.M)


@lru_cache(maxsize=256)
def _pieces(path: str, text: str) -> tuple[InlineTest, ...]:
    """In their order, none in another; those of one key are numbered."""
    if not _TELLING.search(text) or too_much(text):
        return ()
    ending = path.rpartition(".")[2].lower()
    pieces: Iterable[InlineTest] = ()
    if ending in ("py", "pyi", "pyx"):
        pieces = _joined(text, _examples(text), _QUOTES)
    elif ending in ("ex", "exs"):
        pieces = _joined(text, _before(text, _ELIXIR, _DEF), _QUOTES)
    elif ending == "rs":
        pieces = (*_items(text), *_joined(text, _before(text, _FENCED, _ITEM), _NO_COMMENT))
    elif ending in _BLOCKS:
        pieces = _blocks(text, *_BLOCKS[ending])
    seen: Counter[str] = Counter()
    numbered: list[InlineTest] = []
    for piece in sorted(pieces, key=lambda piece: piece.start):
        if numbered and piece.start < numbered[-1].end:
            continue  # an example in a module of tests
        seen[piece.key] += 1
        numbered.append(piece._replace(key=f"{piece.key} {seen[piece.key]}"))
    return tuple(numbered)


# ---- Examples: prompts in docstrings of Python and Elixir, fences in comments of Rust.

_EXAMPLE = re.compile(
    r"^[ \t]*>>> [^\n]*\n(?:(?![ \t]*(?:\"\"\"|'''|```|$))[^\n]+(?:\n|\Z))*", re.M
)
_OWNER = re.compile(r"^([ \t]*)(?:async[ \t]+)?(?:c?p?def|class)[ \t]+(\w+)[ \t]*[(:]", re.M)
_ELIXIR = re.compile(r"^[ \t]*iex(?:\(\d+\))?> [^\n]*\n(?:(?![ \t]*(?:\"\"\"|$))[^\n]+\n)*", re.M)
_DEF = re.compile(r"^[ \t]*def(?:p|macro|module)?[ \t]+([\w.?!]+)", re.M)
_FENCED = re.compile(
    r"^[ \t]*//[/!][ \t]*```[^\n]*\n(?:[ \t]*//[/!][^\n]*\n)*?[ \t]*//[/!][ \t]*```", re.M
)
_ITEM = re.compile(
    r"^[ \t]*(?:pub\b(?:\([^)\n]*\))?[ \t]+)?(?:(?:const|async|unsafe|extern)[ \t]+)*"
    r"(?:fn|struct|enum|trait|type|mod|static|macro_rules!|impl)\b[ \t]*([^\n{;(<]*)",
    re.M,
)
_QUOTES = re.compile(r"\"\"\"|'''")
_NO_COMMENT = re.compile(r"^(?![ \t]*//)[^\n]*\S", re.M)


def _examples(text: str) -> Iterator[InlineTest]:
    """Python's, each by the function or class that it is of."""
    owners = iter([*_OWNER.finditer(text), None])
    owner = next(owners)
    above: list[tuple[int, str]] = []
    for match in _EXAMPLE.finditer(text):
        while owner is not None and owner.start() < match.start():
            indent = len(owner[1])
            above = [item for item in above if item[0] < indent] + [(indent, owner[2])]
            owner = next(owners)
        depth = len(match[0]) - len(match[0].lstrip())
        key = ".".join(name for indent, name in above if indent < depth)
        yield InlineTest(key, match.start(), match.end())


def _before(text: str, example: re.Pattern[str], item: re.Pattern[str]) -> Iterator[InlineTest]:
    """What stands before the function or module that it is of."""
    items = iter([*item.finditer(text), None])
    after = next(items)
    for match in example.finditer(text):
        while after is not None and after.start() < match.end():
            after = next(items)
        yield InlineTest(after[1].strip() if after else "", match.start(), match.end())


def _joined(text: str, pieces: Iterable[InlineTest], end: re.Pattern[str]) -> Iterator[InlineTest]:
    """Those of one docstring, or one comment, as one piece: what stands between is no code."""
    last: InlineTest | None = None
    for piece in pieces:
        same = last is not None and last.key == piece.key
        if last is not None and same and not end.search(text, last.end, piece.start):
            last = last._replace(end=piece.end)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


# ---- Items and blocks.


def _blocks(text: str, family: Family, pattern: re.Pattern[str]) -> Iterator[InlineTest]:
    whole = source(text, family)
    end = 0
    for match in pattern.finditer(whole.bare):
        if match.start() >= end:
            end = whole.inside(match.end() - 1)[1] + 1
            yield _piece(whole, match.start(), match.start(), end)


_ATTRIBUTE = re.compile(r"#!?\[")
_OF_TESTS = re.compile(
    r"\s*(?:cfg\((?!.*\bnot\(\s*test\b).*\btest\b"
    r"|(?:\w+::)*(?:test|rstest|test_case|wasm_bindgen_test|quickcheck)\b)"
)
_STATEMENT = re.compile(
    r"(?:pub\b(?:\([^)\n]*\))?\s+)?(?:use|static|const(?!\s+fn)|type|extern crate)\b"
)
_ENDS = re.compile(r"[;({\[]")
_BLANK = re.compile(r"\s*")


def _items(text: str) -> Iterator[InlineTest]:
    """Rust's: whatever has an attribute that says so, with all its attributes."""
    whole = source(text, "rust")
    end = 0
    while match := _ATTRIBUTE.search(whole.bare, end):
        at = match.start()
        is_test = is_inner = False
        while group := _ATTRIBUTE.match(whole.bare, at):
            first, last = whole.inside(group.end() - 1)
            is_test |= _OF_TESTS.match(whole.bare[first:last]) is not None
            is_inner |= group[0] == "#!["
            at = _after(whole, last + 1)
        if is_test and is_inner:
            yield InlineTest("", match.start(), len(text))
            return
        end = max(at, match.end())
        if is_test:
            end = _end(whole, at)
            yield _piece(whole, match.start(), at, end)


def _after(whole: BraceSource, at: int) -> int:
    blank = _BLANK.match(whole.bare, at)
    return blank.end() if blank else at


def _piece(whole: BraceSource, start: int, head: int, end: int) -> InlineTest:
    key = squeeze(whole.code[head:end].partition("{")[0])
    loose = not whole.text[start].isspace() and whole.text[start - 1 : start] in ("", "\n")
    return InlineTest(key, start, min(end, len(whole.text)), loose)


def _end(whole: BraceSource, at: int) -> int:
    """Where an item ends: at its semicolon, or with its block."""
    is_plain = _STATEMENT.match(whole.bare, at) is not None
    while match := _ENDS.search(whole.bare, at):
        if match[0] == ";":
            return match.end()
        at = whole.inside(match.start())[1] + 1
        if match[0] == "{" and not is_plain:
            return at
    return len(whole.text)
