"""Functions and classes that a patch renames everywhere: its tests ask the same by a new name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.bending import ENDINGS
from hydra.analysis.tampering.languages.braces import source
from hydra.analysis.tampering.model import too_much
from hydra.analysis.tampering.test_files import supports_tests

_DEFINED = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?:async[ \t]+)?(?:def|class|function)[ \t]+(?P<name>\w+)"
    r"(?P<rest>[^\n]*)",
    re.M,
)
_MOST = 20


def with_new_names(files: Sequence[FileChange]) -> Sequence[FileChange]:
    """The same files, what lies beside tests as if the base had had the new names already.

    A name counts that the patch's code defines no more, where a new one has the same parameters,
    and that stands in none of its files any longer.
    """
    names = {old: new for file in files for old, new in _renamed(file)}
    if not 0 < len(names) <= _MOST:
        return files
    name = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    if any(name.search(_bare(file.path, file.new)) for file in files):
        return files
    return [
        replace(file, old=_with(file.path, file.old, name, names))
        if file.old is not None and supports_tests(file)
        else file
        for file in files
    ]


def _renamed(file: FileChange) -> Iterator[tuple[str, str]]:
    """Old and new names of one file of code, by what follows them."""
    if supports_tests(file) or file.old is None or file.new is None:
        return
    old, new = (dict(_DEFINED.findall(_bare(file.path, text))) for text in (file.old, file.new))
    rests = Counter(rest for side in (old, new) for rest in side.values())
    came = {rest: name for name, rest in new.items() if name not in old}
    for name, rest in old.items():
        if name not in new and rest in came and rests[rest] == 2:
            yield name, came[rest]


def _with(path: str, text: str, name: re.Pattern[str], names: Mapping[str, str]) -> str:
    """A text with the new names, but for what its strings say."""
    at, parts = 0, []
    for match in name.finditer(_bare(path, text)):
        parts += [text[at : match.start()], names[match[0]]]
        at = match.end()
    return "".join((*parts, text[at:]))


def _bare(path: str, text: str | None) -> str:
    """Code without comments and strings; nothing of other languages than these two."""
    python = path.endswith(".py")
    if not text or too_much(text) or not (python or path.endswith(ENDINGS["javascript"])):
        return ""
    return source(text, "python" if python else "javascript").bare
