"""What agents were asked of a run's patches: answers read back, and what a killed Hydra left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from hydra.process.identity import ProcessIdentity
from hydra.race.recovery import history, processes
from hydra.ranking.evidence import Note, ReviewTest
from hydra.records.codec import shaped
from hydra.records.store.files import alone, read_known, read_object
from hydra.workspace import tree
from hydra.workspace.grounds import give_back_standing

FOLDER = "consult"
"""In a run's folder: what agents were asked of its patches, each in a folder of its own."""

REVIEW, SEPARATED = DOCUMENTS = ("answer.json", "separated.json")
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
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        give_back_standing(folder, lane)
    tree.remove(path)
    if not any((folder / name).exists() for name in DOCUMENTS):
        tree.remove(folder)


# ---- What they answered. Damage is left out, nothing raised.

_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError)
_LARGEST = 16 * 1024**2


class _Head(Struct):
    """What every answer begins with, as far as it is gone by here."""

    agent: str
    model: str | None = None


def documents(run_folder: Path, name: str) -> Iterator[Mapping[str, Any]]:
    """Every document of that name that agents' answers came to, the newest first. What is damaged,
    or from a newer Hydra, is left out."""
    try:
        numbered = [path for path in (run_folder / FOLDER).iterdir() if path.name.isdecimal()]
    except OSError:
        return
    for folder in sorted(numbered, key=lambda path: int(path.name), reverse=True):
        try:
            if (folder / name).stat().st_size > _LARGEST:
                continue
            document = read_known(folder / name)
            shaped(document, _Head)
        except _DAMAGE:
            continue
        yield {**document, "file": str((folder / name).relative_to(run_folder))}


def notes(run_folder: Path) -> tuple[Note, ...]:
    """Each reviewer's newest review."""
    texts: dict[tuple[object, object], Note] = {}
    for document in documents(run_folder, REVIEW):
        who, text = (document.get("agent"), document.get("model")), document.get("text")
        if who not in texts and not document.get("error") and isinstance(text, str) and text:
            texts[who] = Note(str(document["agent"]), text)
    return tuple(texts.values())


def separated(run_folder: Path) -> Mapping[str, Any] | None:
    """What the newest tests that were asked for came to, as recorded; None without any."""
    for document in documents(run_folder, SEPARATED):
        if isinstance(document.get("tests"), list) and isinstance(document.get("shown"), list):
            return document
    return None


def telling_tests(run_folder: Path) -> tuple[ReviewTest, ...]:
    """The tests among them that tell patches apart, as the judge reads them."""
    document = separated(run_folder) or {}
    tests: list[ReviewTest] = []
    for row in document.get("tests", ()):
        try:
            if row["counts"] is True:
                tests.append(_telling(document, row))
        except _DAMAGE:
            continue
    return tuple(tests)


def _telling(document: Mapping[str, Any], row: Mapping[str, Any]) -> ReviewTest:
    values = {"passed": True, "failed": False}
    return ReviewTest(
        id=str(row["id"]),
        agent=str(document["agent"]),
        ends={str(lane): values[end] for lane, end in row["cells"].items() if end in values},
        on_base=values.get(str(row.get("base"))),
        check=str(row.get("check") or ""),
        file=str(document["file"]),
    )


def newest(run_folder: Path) -> int | None:
    """The number of the newest question that was answered; None without any."""
    datas = (*documents(run_folder, REVIEW), *documents(run_folder, SEPARATED))
    return max((int(Path(str(row["file"])).parent.name) for row in datas), default=None)
