"""What git writes into a file that two sides changed, left there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hydra.analysis.notices.places import is_test
from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.syntax import read_syntax, too_much
from hydra.analysis.tampering.cues import bare

_MARKDOWN = (".md", ".mdx", ".markdown")
_FIXTURE = re.compile(r"(?:^|/)(?:tests?|specs?|testdata|fixtures?)/|\.(?:patch|diff)$", re.I)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_REMNANT = re.compile(r"^(?:={7}|(?:<{7}|>{7}|\|{7})(?: [^\r\n]*)?)\r?$", re.M)
_WITH_DOCUMENTS = ("sh", "bash", "zsh", "yml", "yaml", "php")
_HEREDOC = re.compile(r"<<[-~<]?[ \t]*[\"']?([A-Za-z_]\w*)")


def conflict_markers(files: Sequence[FileChange]) -> Iterator[Finding]:
    """A gate for each file that has more conflicts with the patch than without it, whole or half
    resolved.

    No conflict is what another file had before, an example in a fence of Markdown, or one of a test
    or a diff that told of conflicts before.
    """
    before = {file.path: _conflicts(file.path, file.old or "") for file in files}
    old = {text for conflicts in before.values() for text, _ in conflicts}
    for file in files:
        conflicts = _conflicts(file.path, file.new or "")
        new = [line for text, line in conflicts if text not in old]
        had = before[file.path]
        if new and len(conflicts) > len(had) and not (had and _tells(file.path)):
            yield Finding(
                kind="conflict_markers",
                weight="gate",
                text=f"leaves conflict markers in {file.path}",
                path=file.path,
                line=new[0],
            )
        elif not conflicts and (line := _half_resolved(file)):
            yield Finding(
                kind="conflict_markers",
                weight="gate",
                text=f"leaves a conflict marker in {file.path}",
                path=file.path,
                line=line,
            )


def _half_resolved(file: FileChange) -> int:
    """The line of a marker that stands in code and did not; 0 where none does."""
    remnants = _remnants(file.path, file.new or "")
    had = len(_remnants(file.path, file.old or "")) if remnants else 0
    return remnants[0] if len(remnants) > had else 0


def _remnants(path: str, text: str) -> list[int]:
    """The lines of markers in code: an underline or a quotation stands in a comment, in a string,
    or in a text up to a word of its own (`<<EOF`)."""
    if too_much(text) or not _REMNANT.search(text):
        return []
    ending = path.rpartition(".")[2].lower()
    (syntax,) = read_syntax([(path, text)])
    code = syntax.bare if syntax else bare(ending, text)
    if code is None:
        return []
    lines: list[int] = []
    ends = ""
    for number, (line, written) in enumerate(
        zip(code.split("\n"), text.split("\n"), strict=True), 1
    ):
        if ends:
            ends = "" if written.strip(" \t\r;)") == ends else ends
        elif _REMNANT.fullmatch(line):
            lines.append(number)
        elif ending in _WITH_DOCUMENTS and "<<" in line and (match := _HEREDOC.search(written)):
            ends = match[1]
    return lines


def _tells(path: str) -> bool:
    return bool(_FIXTURE.search(path)) or is_test(path.encode())


def _conflicts(path: str, text: str) -> list[tuple[str, int]]:
    """Each conflict, and the line of its `<<<<<<<` that a `=======` and a `>>>>>>>` follow."""
    if "<<<<<<< " not in text or ">>>>>>> " not in text:
        return []
    conflicts: list[tuple[str, int]] = []
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    fences = _fences(lines) if path.lower().endswith(_MARKDOWN) else []
    begun, parted = 0, False
    for number, line in enumerate(lines, 1):
        if line.startswith("<<<<<<< "):
            begun, parted = number, False
        elif begun and line == "=======":
            parted = True
        elif parted and line.startswith(">>>>>>> "):
            if not any(first < begun and number < last for first, last in fences):
                conflicts.append(("\n".join(lines[begun - 1 : number]), begun))
            begun, parted = 0, False
    return conflicts


def _fences(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The lines that open and close a block of code; one that is left open is none."""
    fences, begun, opening = [], 0, ""
    for number, line in enumerate(lines, 1):
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        fence, more = match.groups()
        if not begun and not (fence[0] == "`" and "`" in more):
            begun, opening = number, fence
        elif begun and fence.startswith(opening) and not more.strip():
            fences.append((begun, number))
            begun = 0
    return fences
