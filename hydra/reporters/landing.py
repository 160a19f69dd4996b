"""What was landed, as a person reads it and as `--json` prints it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hydra.reporters.checks import says
from hydra.reporters.fields import number, record, strings, text
from hydra.reporters.remarks import remark_lines
from hydra.reporters.style import paint
from hydra.reporters.text import clean, gist, plural

if TYPE_CHECKING:
    from hydra.git.changes import Change
    from hydra.model import Remark

SHOWN = 20
"""Files that are listed; with more, the others are counted."""


def landed_text(
    document: Mapping[str, Any],
    changes: Sequence[Change],
    *,
    hooks: Sequence[str] = (),
    notes: Sequence[str] = (),
    remarks: Sequence[Remark] = (),
    dry_run: bool = False,
    color: bool = False,
    steps: bool = True,
) -> str:
    """How a landing went, its files, and the next step."""
    lanes = ", ".join(document["lanes"])
    where = document["ref"].removeprefix("refs/heads/")
    commit = document["commit"][:10]
    if dry_run:
        head = f"would land {lanes} on {where}"
    elif commit:
        head = f"landed {lanes} on {where} as {commit}"
    else:
        head = f"landed {lanes} in your tree, staged and not committed"
    lines = [paint(clean(head), "good", color), f"  {clean(document['title'])}"]
    lines += [
        f"  {_letter(change)} {clean(os.fsdecode(change.path))}" for change in changes[:SHOWN]
    ]
    if len(changes) > SHOWN:
        lines.append(f"  and {plural(len(changes) - SHOWN, 'more file')}")
    if document["moved"]:
        lines.append("the branch had moved since the race: merged onto it")
    if document["loose"]:
        lines.append("files that you had changed before the race are not staged")
    lines += _checks(document["checks"])
    if document.get("override"):
        lines.append(f"overriding the verdict: {gist(document['override'])}")
    lines += [paint(clean(note), "warn", color) for note in notes]
    if remarks:
        lines.append(paint("it touches what deserves a look:", "warn", color))
        lines += (f"  {line}" for line in remark_lines([asdict(one) for one in remarks]))
    lines += _salvaged(document, color)
    if hooks:
        lines.append(f"your git hooks did not run: {clean(', '.join(hooks))}")
    if steps and not dry_run:
        lines.append("take it back: hydra merge --undo")
    return "".join(f"{line}\n" for line in lines)


def undone_text(document: Mapping[str, Any], changes: Sequence[Change], *, color: bool) -> str:
    """That a landing was taken back."""
    where = document["ref"].removeprefix("refs/heads/")
    told = f"took back {', '.join(document['lanes'])} from {where}"
    files = plural(len(changes), "file")
    lines = [f"{paint(clean(told), 'good', color)}: {files} as before the landing"]
    lines += _salvaged(document, color)
    return "".join(f"{line}\n" for line in lines)


def landing_document(
    document: Mapping[str, Any],
    *,
    hooks: Sequence[str] = (),
    notes: Sequence[str] = (),
    remarks: Sequence[Remark] = (),
    dry_run: bool = False,
) -> dict[str, Any]:
    """The landing's record, and what was said besides."""
    said = {"hooks": list(hooks), "notes": list(notes), "dry_run": dry_run}
    return {**document, **said, "remarks": [asdict(remark) for remark in remarks]}


def _salvaged(document: Mapping[str, Any], color: bool) -> list[str]:
    """What was displaced and may hold more than was read there, and where it lies."""
    files: Sequence[Mapping[str, str]] = document.get("kept") or ()
    lines = [f"kept: {file['path']}, {file['why']}: {file['file']}" for file in files[:SHOWN]]
    if len(files) > SHOWN:
        folder = os.path.dirname(files[0]["file"])  # noqa: PTH120  a name to be shown
        lines.append(f"kept: {plural(len(files) - SHOWN, 'more file')} in {folder}")
    return [paint(clean(line), "warn", color) for line in lines]


def _checks(told: Mapping[str, Any] | None) -> list[str]:
    if told is None:
        return ["its checks were not run (--no-check)"]
    if not told["checks"]:
        return ["no checks were run: the race had none"]
    when = " in its race" if told.get("recorded") else ""
    said = (f"{clean(str(one['check']))}: {says(one)}" for one in told["checks"])
    return [f"checked{when}: {', '.join(said)}", *_still_failing(told["checks"])]


def _still_failing(checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What fails with it and failed before, a line for each check."""
    for check in checks:
        comparison = record(check, "comparison")
        names = strings(comparison, "still_failing")
        count = int(number(record(comparison, "counts"), "still_failing") or len(names))
        if names:
            more = f" and {count - _NAMED} more" if count > _NAMED else ""
            shown = ", ".join(clean(name) for name in names[:_NAMED])
            verb = "fails" if count == 1 else "fail"
            yield f"{clean(text(check, 'check'))}: {verb} as on the base: {shown}{more}"


_NAMED = 3
"""Tests that such a line names."""


def _letter(change: Change) -> str:
    if change.old is None:
        return "A"
    return "D" if change.new is None else "M"
