"""Tests that lie in code: modules, classes and blocks of them, examples in comments and docstrings;
and the base's put back into a patch's code."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from hydra.analysis.patch import FileChange, Finding, Holds
from hydra.analysis.syntax import language_of, read_syntax, too_much
from hydra.analysis.tampering.cues import bare
from hydra.analysis.tampering.test_files import (
    existed,
    exists,
    is_configuration,
    is_support,
    supports_tests,
    with_moves,
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
        if _ending(path) in _BLOCKS:
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


def same_tests(path: str, text: str, other: str) -> bool:
    """Whether two versions of a text have the same tests in them."""
    return _texts(path, text) == _texts(path, other)


def holds_of(file: FileChange, *, in_use: bool = False) -> Holds:
    """What a file is that a run of tests names: code where its tests are known by their marks, and
    it is `in_use`, or they ask what stands beside them. Where that leads to code elsewhere it may
    be the tests' own as well."""
    text, rest, cases = _cut(file)
    if rest == text:
        return "tests"
    if in_use:
        return "code"
    if _ending(file.path) in _PYTHON and _OF_PYTHON.search(rest):
        return "tests"
    if cases and _defined(file.path, rest).isdisjoint(_NAME.findall(cases)):
        return "tests"
    return "unclear" if cases and _reaches(file.path, rest) else "code"


def tests_itself(file: FileChange) -> bool:
    """Whether a file is code with tests of it that might as well be a file of their own."""
    return bool(_cut(file)[2]) and (file.holds or holds_of(file)) in ("code", "unclear")


def helpers_changed(files: Sequence[FileChange]) -> Iterator[FileChange]:
    """The files in which what a patch changes may be code as well as a helper of tests in them."""
    for file in with_moves(files) if any(file.holds == "unclear" for file in files) else ():
        texts = (without_tests(file.path, text or "") for text in (file.old, file.new))
        if file.holds == "unclear" and len({*texts}) > 1:
            yield file


def _cut(file: FileChange) -> tuple[str, str, str]:
    """A file's text, what is no test in it, and the tests that could stand alone."""
    text = (file.old if existed(file) else file.new) or ""
    begins = _STANDS_ALONE.get(_ending(file.path))
    pieces = (text[piece.start : piece.end] for piece in _pieces(file.path, text))
    cases = "\n".join(piece for piece in pieces if begins and begins.match(piece))
    return text, without_tests(file.path, text), cases


def _reaches(path: str, code: str) -> bool:
    """Whether something of another module of the project can reach the tests through it."""
    if _ending(path) not in _PYTHON:
        return _RELATIVE.search(code) is not None
    names = {name.partition(".")[0] for name in _IMPORTED.findall(code)}
    return not names <= sys.stdlib_module_names


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
    is_named = _ending(path) in (*_BLOCKS, *_SCRIPTS) and _NAME.search(body)
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
    typed = _ending(path) in _TYPES_FIRST
    return {*_DEFINES.findall(text), *(_TYPED.findall(text) if typed else ())}


def _texts(path: str, text: str) -> Counter[str]:
    return Counter(text[piece.start : piece.end] for piece in _pieces(path, text))


def _ending(path: str) -> str:
    return path.rpartition(".")[2].lower()


_PYTHON = ("py", "pyi", "pyx")
_SCRIPTS = ("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx")
_TYPES_FIRST = ("c", "cc", "cpp", "cxx", "h", "hh", "hpp", "d")

_OF_PYTHON = re.compile(r"^[ \t]*(?:assert\b|(?:import|from) (?:unittest|pytest)\b)", re.M)
_IMPORTED = re.compile(r"^[ \t]*(?:import|from)[ \t]+([\w.]+)", re.M)
_RELATIVE = re.compile(r"(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*[\"'`][./]")
_STANDS_ALONE = {
    **dict.fromkeys(_PYTHON, re.compile(r"(?:@|class\b|async\b|def\b)")),
    **dict.fromkeys(_SCRIPTS, re.compile(r"(?!\s*if\b)")),
}
"""By ending, what begins tests that may as well be a file of tests of their own."""

_BLOCKS: dict[str, re.Pattern[str]] = {
    "zig": re.compile(r"^[ \t]*test\b[^{;]{0,500}\{", re.M),
    "d": re.compile(r"^[ \t]*(?:@?\w+[ \t]+)*unittest\s*\{", re.M),
    **dict.fromkeys(
        _TYPES_FIRST[:-1],
        re.compile(r"^[ \t]*(?:DOCTEST_)?TEST_CASE(?:_\w+)?\s*\([^{;]{0,500}\)\s*\{", re.M),
    ),
}
"""By ending, of languages without a grammar here: what a block of tests begins with."""

_TELLING = {
    **dict.fromkeys(_PYTHON, re.compile(r">>>|TestCase\b|^(?:async )?def test_|^class Test", re.M)),
    **dict.fromkeys(("ex", "exs"), re.compile(r"\biex")),
    "rs": re.compile(r"#!?\[|```"),
    **dict.fromkeys(
        _SCRIPTS,
        re.compile(r"^\s*(?:test|it|describe|suite|Deno\.test)\b|import\.meta\.vitest", re.M),
    ),
    **_BLOCKS,
}
"""By ending, what a text has that has tests in it."""

_SMALL = 32 * 1024
"""Characters in all: they are parsed in the time in which a process begins."""


def read_together(files: Iterable[FileChange]) -> None:
    """Reads at once what will be asked of these files: each reading is a process of its own. Where
    they are small that is all of them."""
    texts = [(file.path, text) for file in files for text in (file.old, file.new) if text]
    if sum(len(text) for _, text in texts) > _SMALL:
        texts = [item for item in texts if not is_support(item[0])]
        texts = [item for item in texts if _ending(item[0]) not in _BLOCKS and _tells(*item)]
    read_syntax(texts)


def has_blocks(file: FileChange) -> bool:
    """Whether a file may have tests in it that a grammar knows; no examples."""
    if not language_of(file.path):
        return False
    texts = (_EXAMPLES.sub("", text or "") for text in (file.old, file.new))
    return any(_tells(file.path, text) for text in texts)


_EXAMPLES = re.compile(r">>>|```")


def _tells(path: str, text: str) -> bool:
    telling = _TELLING.get(_ending(path))
    return telling is not None and telling.search(text) is not None and not too_much(text)


@lru_cache(maxsize=256)
def _pieces(path: str, text: str) -> tuple[InlineTest, ...]:
    """In their order, none in another; those of one key are numbered."""
    if not _tells(path, text):
        return ()
    ending = _ending(path)
    pieces: Iterable[InlineTest] = ()
    if ending in _PYTHON:
        pieces = (*_in_lines(path, text), *_joined(text, _examples(text), _QUOTES))
    elif ending in ("ex", "exs"):
        pieces = _joined(text, _before(text, _ELIXIR, _DEF), _QUOTES)
    elif ending == "rs":
        examples = _joined(text, _before(text, _FENCED, _ITEM), _NO_COMMENT)
        pieces = (*_in_lines(path, text), *examples)
    elif ending in _BLOCKS:
        pieces = _blocks(text, ending)
    else:
        pieces = _in_lines(path, text)
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


def _blocks(text: str, ending: str) -> Iterator[InlineTest]:
    code = bare(ending, text) or ""
    end = 0
    for match in _BLOCKS[ending].finditer(code):
        if match.start() >= end:
            end = _closed(code, match.end())
            yield _piece(text, match.start(), end, text[match.start() : match.end()])


def _closed(code: str, at: int) -> int:
    """Where the brace that was opened before `at` is closed."""
    depth = 1
    for match in _BRACE.finditer(code, at):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.end()
    return len(code)


_BRACE = re.compile(r"[{}]")
_LEADING = re.compile(r"\s*(?:#!?\[[^\]]*\]\s*|@[^\n]*\n\s*)*")
_PYTHON_NAME = re.compile(r"(?:class|(?:async\s+)?def)\s+(\w+)")


def _in_lines(path: str, text: str) -> Iterator[InlineTest]:
    """What the grammar knows as tests, with all that leads it."""
    (syntax,) = read_syntax([(path, text)])
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for first, last in syntax.tests if syntax else ():
        start, end = starts[first - 1], starts[last] - 1
        code = syntax.code[start:end] if syntax else ""
        if code.lstrip().startswith("#!["):
            yield InlineTest("", start, end)
            continue
        head = _LEADING.sub("", code, count=1).partition("{")[0]
        name = _PYTHON_NAME.match(head) if _ending(path) in _PYTHON else None
        yield _piece(text, start, end, name[1] if name else head.partition("\n")[0])


def _piece(text: str, start: int, end: int, head: str) -> InlineTest:
    key = " ".join(head.partition("{")[0].split())
    loose = not text[start].isspace() and text[start - 1 : start] in ("", "\n")
    return InlineTest(key, start, min(end, len(text)), loose)
