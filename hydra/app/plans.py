"""The plan that a lane with permission `plan` ended on, kept whole as its result."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from hydra.app.readonly import answers
from hydra.bench import Bench
from hydra.model import Outcome, Permission, Status
from hydra.store import RunStore

FILE = "plan.md"


def with_plan(store: RunStore, bench: Bench, outcome: Outcome) -> Outcome:
    """`outcome` with the place of its plan, which is what its agent said last; as it is where it
    was asked for none, said nothing, or did not come to its end. Blocks."""
    lane = bench.plan
    ended = outcome.status in (Status.NO_CHANGES, Status.COMPLETED)
    if lane.permission is not Permission.PLAN or not ended:
        return outcome
    folder = store.lane_folder(lane.lane.id)
    told = answers(bench, folder, outcome)
    if not told:
        return outcome
    path = folder / FILE
    with suppress(OSError):  # a full disk: its beginning still stands in the result
        path.touch(mode=0o600)
        path.write_text(told[0].strip() + "\n", encoding="utf-8", errors="backslashreplace")
        return replace(outcome, plan=str(path.relative_to(store.folder)))
    return outcome
