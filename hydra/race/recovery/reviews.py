"""What a Hydra that was killed while it asked an agent has left: a ground, a record, a process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hydra.process.identity import ProcessIdentity
from hydra.race.recovery import history, processes
from hydra.records.store.files import alone, read_object
from hydra.workspace import tree
from hydra.workspace.grounds import give_back_standing

FOLDER = "consult"
"""In a run's folder: what agents were asked of its patches, each in a folder of its own."""

DOCUMENTS = ("answer.json", "separated.json")
"""What came of it, written last: without one of these there is nothing to be kept."""

POINTER = "_consult.json"
"""In the folder of its grounds: where the record is. No lane is called so."""


def sweep_consult(path: Path) -> bool:
    """Ends and removes what is left; False where `path` are no such ones, or in use."""
    try:
        document = read_object(path / POINTER)
        folder, lane = Path(document["folder"]), str(document["lane"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if not folder.is_dir():  # its run was removed
        tree.remove(path)
        return True
    with alone(folder) as mine:
        if mine:
            _end(folder, lane, path)
    return bool(mine)


def _end(folder: Path, lane: str, path: Path) -> None:
    document = history.manifest(folder)
    owner = ProcessIdentity.read(document.process)
    agent = history.history(folder / "events.jsonl").lane(lane).agent
    lane_processes = processes.lane_processes(agent, owner, path / lane)
    processes.end_left(document.owner, [lane_processes])
    with suppress(OSError, KeyError, TypeError, AttributeError):
        give_back_standing(folder, lane)
    tree.remove(path)
    if not any((folder / name).exists() for name in DOCUMENTS):
        tree.remove(folder)
