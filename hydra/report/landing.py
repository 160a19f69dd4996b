"""What was landed, as a person reads it and as `--json` prints it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hydra.analysis.made_folders import folder_of, made_folders
from hydra.checks.record import ChangedTests, CheckDocument
from hydra.git.diff import TreeChange
from hydra.landing.record import LandingRecord
from hydra.records.codec import as_json, shaped
from hydra.records.outcome import Remark
from hydra.report.checks import says
from hydra.report.style import paint
from hydra.report.text import clean, gist
from hydra.text import of_run, plural, quoted

SHOWN = 20
"""Files that are listed; with more, the others are counted."""


class Landing(Struct, frozen=True, kw_only=True):
    """What was landed, or with `dry_run` would be, or was taken back. `hooks` are those of the
    user's that would have run with git, `remarks` what it touches that deserves a look."""

    record: LandingRecord
    files: tuple[TreeChange, ...]
    hooks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False
    remarks: tuple[Remark, ...] = ()

    @property
    def lanes(self) -> tuple[str, ...]:
        """What was landed of."""
        return self.record.lanes

    @property
    def commit(self) -> str:
        """The commit on the user's branch, "" where there is none (any more)."""
        return "" if self.record.undone else self.record.commit

    def document(self) -> dict[str, Any]:
        """The landing's record, and what was said besides."""
        data = {"hooks": list(self.hooks), "notes": list(self.notes), "dry_run": self.dry_run}
        return {**as_json(self.record), **data, "remarks": as_json(self.remarks)}


def landed_text(landing: Landing, *, color: bool = False, steps: bool = True) -> str:
    """How a landing went, its files, and the next step; or that it was taken back."""
    if landing.record.undone is not None:
        return _undone_text(landing, color)
    record, dry_run = landing.record, landing.dry_run
    lanes, where, commit = ", ".join(record.lanes), record.branch_name, record.commit[:10]
    if dry_run:
        head = f"would land {lanes} on {where}"
    elif commit:
        head = f"landed {lanes} on {where} as {commit}"
    else:
        head = f"landed {lanes} in your tree, staged and not committed"
    lines = [paint(clean(head), "good", color), f"  {clean(record.title)}"]
    lines += _files(landing.files)
    if record.moved:
        lines.append("the branch had moved since the race: merged onto it")
    if record.loose:
        lines.append("files that you had changed before the race are not staged")
    lines += _checks(record.checks)
    if record.confirmed:
        lines.append(f"decided by you: {gist('; '.join(record.confirmed), 600)}")
    if record.override:
        lines.append(f"overriding the verdict: {gist(record.override)}")
    lines += [paint(clean(note), "warn", color) for note in landing.notes]
    if landing.remarks:
        lines.append(paint("it touches what deserves a look:", "warn", color))
        lines += (f"  {line}" for line in remark_lines(landing.remarks))
    lines += _salvaged(record, color)
    if landing.hooks:
        lines.append(f"your git hooks did not run: {clean(', '.join(landing.hooks))}")
    if steps and not dry_run:
        lines.append(f"take it back: hydra merge --undo{of_run(record.run)}")
    return "".join(f"{line}\n" for line in lines)


def _undone_text(landing: Landing, color: bool) -> str:
    record = landing.record
    value = f"took back {', '.join(record.lanes)} from {record.branch_name}"
    files = plural(len(landing.files), "file")
    lines = [f"{paint(clean(value), 'good', color)}: {files} as before the landing"]
    lines += _salvaged(record, color)
    return "".join(f"{line}\n" for line in lines)


def _salvaged(record: LandingRecord, color: bool) -> list[str]:
    """What was displaced and may hold more than was read there, and where it lies."""
    files = record.kept
    lines = [f"kept: {file.path}, {file.why}: {file.file}" for file in files[:SHOWN]]
    if len(files) > SHOWN:
        folder = os.path.dirname(files[0].file)  # noqa: PTH120  a name to be shown
        lines.append(f"kept: {plural(len(files) - SHOWN, 'more file')} in {folder}")
    return [paint(clean(line), "warn", color) for line in lines]


def _checks(document: Mapping[str, Any] | None) -> list[str]:
    if document is None:
        return ["its checks were not run (--no-check)"]
    checks = shaped(document["checks"], tuple[CheckDocument, ...])
    if not checks:
        return ["no checks were run: the race had none"]
    when = (" since its race" if document.get("since") else " in its race") * bool(
        document.get("recorded")
    )
    lines = (f"{clean(check.check)}: {says(check)}" for check in checks)
    return [f"checked{when}: {', '.join(lines)}", *_still_failing(checks)]


def _still_failing(checks: Sequence[CheckDocument]) -> Iterator[str]:
    """What fails with it and failed before, a line for each check."""
    for check in checks:
        changed = check.comparison or ChangedTests()
        names = changed.still_failing
        count = changed.counts.get("still_failing", len(names))
        if names:
            more = f" and {count - _NAMED} more" if count > _NAMED else ""
            shown = ", ".join(clean(quoted(name)) for name in names[:_NAMED])
            verb = "fails" if count == 1 else "fail"
            yield f"{clean(check.check)}: {verb} as on the base: {shown}{more}"


_NAMED = 3
"""Tests that such a line names."""


def _files(changes: Sequence[TreeChange]) -> Iterator[str]:
    """What goes first, then what is written by hand, then a build's folders by their count."""
    named = {os.fsdecode(change.path): change for change in changes}
    folders = made_folders({path: change.old is None for path, change in named.items()})
    shown = [path for path in named if not folder_of(path, folders)]
    shown.sort(key=lambda path: named[path].new is not None)
    yield from (f"  {_letter(named[path])} {clean(path)}" for path in shown[:SHOWN])
    if len(shown) > SHOWN:
        yield f"  and {plural(len(shown) - SHOWN, 'more file')}"
    yield from (
        f"  A {clean(folder)} ({plural(count, 'file')})" for folder, count in folders.items()
    )


def _letter(change: TreeChange) -> str:
    if change.old is None:
        return "A"
    return "D" if change.new is None else "M"


# ---- What a patch touches that deserves a look, as lines.

REMARKS_SHOWN = 12
"""Remarks that are listed; with more, the others are counted."""


def remark_lines(remarks: Sequence[Remark]) -> list[str]:
    """One line each: the path, then what is to be said of it."""
    lines = [_line(remark) for remark in remarks[:REMARKS_SHOWN]]
    if len(remarks) > REMARKS_SHOWN:
        lines.append(f"and {len(remarks) - REMARKS_SHOWN} more: --json has them all")
    return lines


def _line(remark: Remark) -> str:
    kind, path = clean(remark.kind).replace("_", " "), clean(remark.path)
    text = clean(remark.text)
    return f"{path}: {text} ({kind})" if path else f"{text} ({kind})"
