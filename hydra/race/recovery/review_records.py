"""What agents have answered on a run's patches, read back. Damage is left out, nothing raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra.race.recovery.reviews import FOLDER
from hydra.ranking.evidence import Note, ReviewTest
from hydra.records.store.files import read_object

SCHEMA = 1
REVIEW, SEPARATED = "answer.json", "separated.json"

_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
_LARGEST = 16 * 1024**2


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
            document = read_object(folder / name)
        except _DAMAGE:
            continue
        if document.get("schema") in range(1, SCHEMA + 1):
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
