"""What git writes into a file that two sides changed, left there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange


def conflict_markers(files: Sequence[FileChange]) -> Iterator[Finding]:
    """A gate for each file that has more conflicts with the patch than without it."""
    for file in files:
        lines = _conflicts(file.new or "")
        if len(lines) > len(_conflicts(file.old or "")):
            yield Finding(
                kind="conflict_markers",
                weight="gate",
                text=f"leaves conflict markers in {file.path}",
                path=file.path,
                line=lines[0],
            )


def _conflicts(text: str) -> list[int]:
    """The line of each `<<<<<<<` that is followed by its `=======` and its `>>>>>>>`."""
    begins: list[int] = []
    begun, parted = 0, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("<<<<<<< "):
            begun, parted = number, False
        elif begun and line == "=======":
            parted = True
        elif parted and line.startswith(">>>>>>> "):
            begins.append(begun)
            begun, parted = 0, False
    return begins
