"""The test files that a model answered with, and which of them may be tried."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from hydra.analysis.tampering.test_files import is_configuration, is_tests, name_of

FILES = 5
"""Files of one answer that are tried."""

KIB = 32
"""KiB of one of them at most."""

LONGEST = 1_000_000
"""Characters of an answer that are looked at."""

_PATH = 200
_EXAMPLES = 5
_FENCE = re.compile(r"^[ \t>]{0,8}(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_NAMED = re.compile(r"^[\s>*_`#/-]*(?:path|file)\s*[:=]\s*[*_`\"']*([^\s`\"'*]+)", re.I)
_PYTHON = re.compile(r"test_.*\.py|.*_tests?\.py", re.I)
_LETTERS = re.compile(r"[\w.@+-]+(/[\w.@+-]+)*", re.ASCII)


class Places(Struct, frozen=True):
    """What stands in any of several trees; a path may be a file in one and a folder in another."""

    files: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def of(cls, trees: Iterable[Collection[str]]) -> Places:
        """`trees` are all paths of each, folders too."""
        files: set[str] = set()
        folders: set[str] = set()
        for tree in trees:
            above = {parent for path in tree for parent in _above(path)}
            folders |= above
            files |= set(tree) - above
        return cls(frozenset(files), frozenset(folders))


class FencedBlock(Struct, frozen=True):
    """One fenced block: the line before it (not blank), what stands on the fence, and its text."""

    before: str
    info: str
    text: str


def blocks(answer: str) -> Iterator[FencedBlock]:
    """The fenced blocks of an answer, as Markdown has them; one that nobody closes ends with it."""
    before, fence, info = "", "", ""
    names: list[str] = []
    for line in answer[:LONGEST].split("\n"):
        match = _FENCE.match(line.rstrip("\r"))
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                yield FencedBlock(before, info, "\n".join(names) + "\n" if names else "")
                before, fence, names = "", "", []
            else:
                names.append(line.rstrip("\r"))
        elif match:
            fence, info = match[1], match[2].strip()
        elif line.strip():
            before = line.strip()
    if fence and names:
        yield FencedBlock(before, info, "\n".join(names) + "\n")


def read(
    answers: Sequence[str], places: Places, base: Collection[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The files of the first of `answers` (the last words first) that has any: their paths from the
    top, and their whole texts; and a sentence on each that may not be tried.

    `places` is what stands in the base or in any patch, `base` every path of the base.
    """
    for answer in answers:
        tests = list(_files(answer))
        if tests:
            return _accepted(tests, places, base)
    return {}, ("what it answered has no test files",)


def _files(answer: str) -> Iterator[tuple[str, str]]:
    for block in blocks(answer):
        path, text = _place(block)
        if path and text.strip():
            yield path.removeprefix("./"), text


def _place(block: FencedBlock) -> tuple[str, str]:
    """A path is on the line before the block, on the fence, or in the block's own first line."""
    for line in (block.before, re.sub(r"^\S+\s+(?=\S)", "", block.info), block.info):
        if match := _NAMED.match(line):
            return match[1], block.text
    first = block.text.split("\n", 1)[0]
    match = _NAMED.match(first)
    return (match[1], block.text) if match else ("", "")


def _accepted(
    tests: Sequence[tuple[str, str]], places: Places, base: Collection[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    new_tests: dict[str, str] = {}
    lines = []
    for path, text in tests:
        why = refused(path, text, places, base)
        if not why and path in new_tests:
            why = "it comes twice"
        if not why and len(new_tests) >= FILES:
            why = f"there are more than {FILES}"
        if why:
            lines.append(f"its file {path[:_PATH]} is not tried: {why}")
        else:
            new_tests[path] = text
    return new_tests, tuple(lines)


def refused(path: str, text: str, places: Places, base: Collection[str]) -> str:
    """Why a file may not be tried, in a clause; "" where it may."""
    if len(path) > _PATH or not _LETTERS.fullmatch(path):
        return "that is no plain path from the repository's top"
    *folders, name = path.split("/")
    if any(part in (".", "..") or part.lower().startswith(".git") for part in (*folders, name)):
        return "that is no place for a test"
    if is_configuration(path) or not is_tests(path) or name == "__init__.py":
        return "it is no test by its name and place"
    if path.endswith(".py") and not _PYTHON.fullmatch(name):
        return "it is no test by its name and place"
    if path in places.files | places.folders or not places.files.isdisjoint(_above(path)):
        return "something stands there already"
    if len(text.encode("utf-8", "surrogatepass")) > KIB * 1024:
        return f"it is over {KIB} KiB"
    if any(mark in text for mark in ("\0", "\ufffd")) or _half(text):
        return "it is no plain text"
    return _out_of_place(path, base)


def _half(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _above(path: str) -> Iterator[str]:
    at = path.find("/")
    while at > 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _out_of_place(path: str, base: Collection[str]) -> str:
    """Where the base has tests, a new one stands in a folder of theirs, or below one."""
    folders = {name.rpartition("/")[0] for name in base if is_tests(name)}
    if not folders or {path.rpartition("/")[0], *_above(path)} & folders:
        return ""
    return "it is beside no test of the repository's"


def examples(base: Collection[str]) -> tuple[str, ...]:
    """Some tests of the base, one of each folder: where a new one may stand."""
    values: dict[str, str] = {}
    for path in sorted(base):
        if is_tests(path) and "." in name_of(path) and name_of(path) != "__init__.py":
            values.setdefault(path.rpartition("/")[0], path)
    return tuple(values.values())[:_EXAMPLES]
