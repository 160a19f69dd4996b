"""What `hydra runs rm` says: what would be lost, and what went."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hydra.records.codec import as_json
from hydra.report.runs import age
from hydra.report.text import clean, size
from hydra.text import plural


class Loss(Struct, frozen=True, kw_only=True):
    """One run that would go: `patches` and `worktrees` are lanes; `age` in seconds."""

    run: str
    patches: tuple[str, ...]
    worktrees: tuple[str, ...]
    uncommitted: bool
    age: float
    size: int


def losses_text(losses: Sequence[Loss]) -> str:
    """A line a run, and a line for all where there are several; ends with a newline."""
    lines = [_line(loss) for loss in losses]
    if len(losses) > 1:
        count = sum(1 for loss in losses if loss.patches or loss.worktrees or loss.uncommitted)
        work = f"; {count} of them with work in them" if count else ""
        lines.append(f"{plural(len(losses), 'run')}, {_total(losses)}{work}")
    return "".join(f"{clean(line)}\n" for line in lines)


def gone_text(losses: Sequence[Loss]) -> str:
    """That they went."""
    return f"removed {plural(len(losses), 'run')}, {_total(losses)}\n"


def removal_document(
    losses: Sequence[Loss], removed: Sequence[str], *, dry_run: bool
) -> dict[str, object]:
    """The document of `--json`."""
    return {
        "schema": 1,
        "kind": "removal",
        "dry_run": dry_run,
        "runs": [
            {**as_json(loss), "age": round(loss.age, 1), "removed": loss.run in removed}
            for loss in losses
        ],
    }


def _line(loss: Loss) -> str:
    names = [f"patches of {', '.join(loss.patches)}"] if loss.patches else ["no patch"]
    if loss.worktrees:
        names.append(f"worktrees of {', '.join(loss.worktrees)}")
    if loss.uncommitted:
        names.append("your uncommitted changes as the race began")
    return f"{loss.run}: {'; '.join(names)}; {age(loss.age)}, {size(loss.size)}"


def _total(losses: Sequence[Loss]) -> str:
    return size(sum(loss.size for loss in losses))
