"""Whether a patch changes a line of code, or what is there to be read alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hydra.analysis.equivalence.groups import same
from hydra.analysis.generated import generated, vendored
from hydra.analysis.normal_form import OBEYED
from hydra.analysis.notices.places import is_test, kind_of
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.inline_tests import without_tests
from hydra.analysis.tampering.named_data import is_document
from hydra.analysis.tampering.test_files import is_configuration, supports_tests


def changes_code(files: Iterable[FileChange]) -> bool:
    """Whether it changes a line of code: none of a test or of what lies beside tests, of a
    document, of a lock file, none that is generated or vendored, nor form alone."""
    return any(_is_code(file) and not _is_form(file) for file in files)


def _is_code(file: FileChange) -> bool:
    path = file.path.encode("utf-8", "backslashreplace")
    kind = kind_of(path)
    if supports_tests(file) or is_configuration(file.path) or is_test(path):
        return False
    if not (file.insertions or file.deletions) or kind == "lock_file":
        return False
    if is_document(file.path) and kind != "build":  # CMakeLists.txt
        return False
    return not (vendored(file.path) or generated(file.path, file.new))


def _is_form(file: FileChange) -> bool:
    old, new = file.old, file.new
    if old is None or new is None or old == new:
        return False
    bare = without_tests(file.path, old), without_tests(file.path, new)
    return _is_same(file.path, old, new) or _is_same(file.path, *bare)


def _is_same(path: str, old: str, new: str) -> bool:
    mark = _MARKS.get(path.rpartition("/")[2].lower().rpartition(".")[2])
    if mark is None:
        return same(path, old, new)
    return old == new or _without(mark, old) == _without(mark, new)


_MARKS = {
    ending: mark
    for mark, endings in (
        ("#", "sh bash zsh ksh mk mak makefile gnumakefile justfile yaml yml toml ex exs"),
        ("//", "c cc cpp cxx h hh hpp cs swift scala php dart"),
        ("--", "lua"),
    )
    for ending in endings.split()
}
"""What begins a line of comment, by ending, in languages that have no grammar here."""

_OVER_LINES = re.compile(
    r"\"\"\"|'''|`|<<|\[=*\[|R\"|[@$]\"|\\$|[|>][-+\d]{0,2}$|^\s*define\b", re.M
)
"""What may begin a text that runs over lines, in which such a line is no comment."""


def _without(mark: str, text: str) -> list[str]:
    """The lines that are neither empty nor surely a comment."""
    doubtful = _OVER_LINES.search(text) is not None
    return [
        line
        for line in text.split("\n")
        if line.strip()
        and (doubtful or not line.lstrip().startswith(mark) or OBEYED.search(line) is not None)
    ]
