"""Whether a patch's code could change what runs its tests, which its text need not show."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering import monkeypatches, scripts
from hydra.analysis.tampering.test_files import exists, is_configuration, supports_tests

MOST_CHARACTERS = 12 * 1024 * 1024
"""Of all files of one patch together; those that come later are taken for capable."""

_UNREAD = "exec; eval()"


def capable(files: Sequence[FileChange]) -> tuple[str, ...]:
    """The languages ("python", "javascript") in which code that is no test has come by a means of
    it: a module looked up by name, an exit, a hook of the interpreter."""
    languages: set[str] = set()
    spent = 0
    for file in files:
        code = not supports_tests(file) and not is_configuration(file.path)
        if code and exists(file) and file.new:
            spent += len(file.new)
            languages |= {_language(file, read=spent <= MOST_CHARACTERS)} - {""}
    return tuple(sorted(languages, reverse=True))


def _language(file: FileChange, *, read: bool) -> str:
    """What is not read may hold anything."""
    old, new = (file.old or "", file.new or "") if read else ("", _UNREAD)
    if file.path.endswith(".py"):
        return "python" if monkeypatches.capable(old, new) else ""
    if file.path.endswith(scripts.ENDINGS):
        return "javascript" if scripts.capable(old, new) else ""
    return ""
