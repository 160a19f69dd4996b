"""Files of data that the base's tests or scripts name, and that a patch has changed.

Nothing but the names is read: whether code has its own use of such a file is not known, so that
it is not put back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hydra.judge.evidence import FileChange
from hydra.judge.finding import Finding
from hydra.judge.tampering import languages
from hydra.judge.tampering.commands import is_script, sources
from hydra.judge.tampering.manifests import manifest_of
from hydra.judge.tampering.places import is_configuration, is_support, is_tests
from hydra.remarks.places import kind_of

_QUOTED = re.compile(r"[\"'`]([^\"'`\n]{1,200})[\"'`]")


def naming(files: Sequence[FileChange], untouched: Mapping[str, str]) -> Iterator[Finding]:
    """One sentence for each file of which lines are gone that tests or scripts may go by."""
    before = {file.path: file.old for file in files if file.old is not None}
    texts = {**before, **untouched}
    named = {path: _names(text) for path, text in texts.items() if is_tests(path)}
    read = {path: sources(text) for path, text in texts.items() if is_script(path)}
    for file in files:
        if clause := _clause(file, named, read) if _changed(file) else "":
            text = f"changes {file.path}, {clause}"
            yield Finding(kind="hard_coded", weight="remark", text=text, path=file.path)


_Names = Mapping[str, frozenset[str]]


def _clause(file: FileChange, named: _Names, read: _Names) -> str:
    """Who names it, or the folder that it lies in."""
    *folders, name = file.path.split("/")
    for verb, part, texts in (
        ("which {} names", name, named),
        ("which {} reads", name, read),
        ("in a folder that {} names", folders[-1] if folders else "", named),
    ):
        if path := next((path for path, names in texts.items() if part in names), ""):
            return verb.format(path)
    return ""


def _changed(file: FileChange) -> bool:
    """Whether it is data, was there, and has lost a line: what is added changes no old answer."""
    if file.old is None or file.new is None or is_support(file.path):
        return False
    steers = is_configuration(file.path) or manifest_of(file.path) is not None
    place = kind_of(file.path.encode("utf-8", "surrogateescape"))
    if steers or place in ("lock_file", "ci") or languages.is_code(file.path):
        return False
    return not {*file.old.splitlines()} <= {*file.new.splitlines()}


def _names(text: str) -> frozenset[str]:
    """Every part of a path that stands in quotes."""
    return frozenset(part for found in _QUOTED.findall(text) for part in found.split("/"))
