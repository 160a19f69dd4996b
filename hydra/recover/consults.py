"""What a Hydra that was killed while it asked an agent has left: a ground, a record, a process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hydra.process.identity import Identity
from hydra.recover import processes, record
from hydra.store import alone, read_object
from hydra.workspace import give_back_standing, tree

FOLDER = "consult"
"""In a run's folder: what agents were asked of its patches, each in a folder of its own."""

DOCUMENTS = ("answer.json", "separated.json")
"""What came of it, written last: without one of these there is nothing to be kept."""

POINTER = "_consult.json"
"""In the folder of its grounds: where the record is. No lane is called so."""


def sweep_consult(grounds: Path) -> bool:
    """Ends and removes what is left; False where `grounds` are no such ones, or in use."""
    try:
        told = read_object(grounds / POINTER)
        folder, lane = Path(told["folder"]), str(told["lane"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if not folder.is_dir():  # its run was removed
        tree.remove(grounds)
        return True
    with alone(folder) as mine:
        if mine:
            _end(folder, lane, grounds)
    return bool(mine)


def _end(folder: Path, lane: str, grounds: Path) -> None:
    known = record.manifest(folder)
    owner = Identity.read(known.get("process") or {})
    agent = record.history(folder / "events.jsonl").lane(lane).agent
    left = processes.left(agent, owner, grounds / lane)
    processes.end_left(str(known.get("owner", "")), [left])
    with suppress(OSError, KeyError, TypeError, AttributeError):
        give_back_standing(folder, lane)
    tree.remove(grounds)
    if not any((folder / name).exists() for name in DOCUMENTS):
        tree.remove(folder)
