"""Files of data that the base's tests or scripts name, and that a patch has changed.

Nothing but the names is read: whether code has its own use of such a file is not known, so that
it is not put back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from hydra.analysis.finding import Finding
from hydra.analysis.notices.places import kind_of
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.bending import ENDINGS
from hydra.analysis.tampering.commands import is_script, sources
from hydra.analysis.tampering.manifests import is_manifest
from hydra.analysis.tampering.test_files import (
    is_code,
    is_configuration,
    is_tests,
    name_of,
    supports_tests,
)

_QUOTED = re.compile(r"[\"'`]([^\"'`\n]{1,200})[\"'`]")

_IMPORTED = re.compile(r"^[ \t]*(?:from|import)[ \t]([^\n#;]+)", re.M)
_WORKS = re.compile(r"\w\(|=>|\bdef\b|\bclass\b|\bfunction\b")


def naming(
    files: Sequence[FileChange], untouched: Mapping[str, str], base: Collection[str]
) -> Iterator[Finding]:
    """One sentence for each file of which lines are gone that tests or scripts may go by."""
    changed = [file for file in files if _changed(file) and _is_data(file, base)]
    if not changed:
        return
    before = {file.path: file.old for file in files if file.old is not None}
    texts = {**before, **untouched}
    named = {path: _names(text) for path, text in texts.items() if _asks(path)}
    read = {path: sources(text) for path, text in texts.items() if is_script(path)}
    for file in changed:
        if clause := _clause(file, named, read, base):
            text = f"changes {file.path}, {clause}"
            yield Finding(kind="hard_coded", weight="remark", text=text, path=file.path)


_Names = Mapping[str, frozenset[str]]


def _asks(path: str) -> bool:
    """Whether a file is one of tests, or has their fixtures."""
    return is_tests(path) or name_of(path) == "conftest.py"


def _clause(file: FileChange, named: _Names, read: _Names, base: Collection[str]) -> str:
    """Who names it, or the folder that it lies in where that has no code."""
    *folders, name = file.path.split("/")
    folder = folders[-1] if folders and not _code_beside(file, base) else ""
    stem = name.partition(".")[0] if name.endswith(ENDINGS["javascript"]) else ""
    for verb, part, texts in (
        ("which {} names", name, named),
        ("which {} names", stem, named),
        ("which {} reads", name, read),
        ("in a folder that {} names", folder, named),
    ):
        if path := next((path for path, names in texts.items() if part and part in names), ""):
            return verb.format(path)
    return ""


def _changed(file: FileChange) -> bool:
    """Whether it was there, steers nothing, and has lost a line: more lines change no answer."""
    if file.old is None or file.new is None or supports_tests(file):
        return False
    steers = is_configuration(file.path) or is_manifest(file.path)
    place = kind_of(file.path.encode("utf-8", "surrogateescape"))
    if steers or place in ("lock_file", "ci"):
        return False
    return not {*file.old.splitlines()} <= {*file.new.splitlines()}


def _is_data(file: FileChange, base: Collection[str]) -> bool:
    """Whether it is no code, or values alone in a folder that has no other code."""
    if not is_code(file.path):
        return True
    alone = "/" in file.path and not _code_beside(file, base)
    return alone and not _WORKS.search(f"{file.old}\n{file.new}")


def _code_beside(file: FileChange, base: Collection[str]) -> bool:
    folder = file.path.rpartition("/")[0]
    beside = (path for path in base if path.rpartition("/")[0] == folder and path != file.path)
    return any(is_code(path) and not path.endswith("/__init__.py") for path in beside)


def _names(text: str) -> frozenset[str]:
    """Every part of a path that stands in quotes, and every module that is imported."""
    quoted = (part for path in _QUOTED.findall(text) for part in path.split("/"))
    documents = (
        document for line in _IMPORTED.findall(text) for document in re.findall(r"\w+", line)
    )
    return frozenset((*quoted, *(f"{document}.py" for document in documents)))
