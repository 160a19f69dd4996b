"""The run's folder: written while a race runs, read back by every other command.

Layout (docs/architecture.md, "A run on disk"): `manifest.json`, `plan.json`, `events.jsonl`,
`result.json`, `lock`, and `lanes/<lane>/` with the raw output. Folders are 0700, files 0600.
JSON documents are replaced atomically; `events.jsonl` only ever grows, so a torn last line is
the worst that a crash leaves.
"""

from hydra.records.store.files import (
    GONE,
    LOCK,
    UNBORN,
    alone,
    disk_usage,
    read_object,
    shared,
    take_lock,
    write_json,
    write_whole,
)
from hydra.records.store.reader import RunRecord, find_run, runs, unfinished
from hydra.records.store.sink import RawSink
from hydra.records.store.writer import RunStore, new_run_id

__all__ = [
    "GONE",
    "LOCK",
    "UNBORN",
    "RawSink",
    "RunRecord",
    "RunStore",
    "alone",
    "disk_usage",
    "find_run",
    "new_run_id",
    "read_object",
    "runs",
    "shared",
    "take_lock",
    "unfinished",
    "write_json",
    "write_whole",
]
