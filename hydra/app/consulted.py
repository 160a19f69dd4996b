"""What agents have answered on a run's patches, read back. Damage is left out, nothing raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra.judge.evidence import Asked, Note
from hydra.recover.consults import FOLDER
from hydra.store import read_object

SCHEMA = 1
REVIEW, SEPARATED = "answer.json", "separated.json"

_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
_LARGEST = 16 * 1024**2
_LEVELS = ("high", "medium", "low")


def documents(run_folder: Path, name: str) -> Iterator[Mapping[str, Any]]:
    """Every document of that name that agents' answers came to, the newest first. What is damaged,
    or from a newer Hydra, is left out."""
    try:
        numbered = [it for it in (run_folder / FOLDER).iterdir() if it.name.isdecimal()]
    except OSError:
        return
    for folder in sorted(numbered, key=lambda it: int(it.name), reverse=True):
        try:
            if (folder / name).stat().st_size > _LARGEST:
                continue
            told = read_object(folder / name)
        except _DAMAGE:
            continue
        if told.get("schema") in range(1, SCHEMA + 1):
            yield {**told, "file": str((folder / name).relative_to(run_folder))}


def notes(run_folder: Path) -> tuple[Note, ...]:
    """Every remark that is recorded, of each reviewer's newest review; the gravest first."""
    found: list[tuple[int, Note]] = []
    heard: set[tuple[object, object]] = set()
    for told in documents(run_folder, REVIEW):
        who = (told.get("agent"), told.get("model"))
        if who in heard or told.get("error"):
            continue
        heard.add(who)
        listed = told.get("remarks")
        for one in listed if isinstance(listed, list) else ():
            try:
                found.append(_note(str(told["agent"]), one))
            except _DAMAGE:
                continue
    return tuple(note for _, note in sorted(found, key=lambda pair: pair[0]))


def _note(agent: str, told: Mapping[str, Any]) -> tuple[int, Note]:
    level, line = told["severity"], told["line"]
    where = _LEVELS.index(level) if level in _LEVELS else len(_LEVELS)
    text = str(told["text"])
    if isinstance(line, int) and told["path"]:
        text = f"line {line}: {text}"
    return where, Note(str(told["lane"]), agent, text, str(told["path"]))


def separated(run_folder: Path) -> Mapping[str, Any] | None:
    """What the newest tests that were asked for came to, as recorded; None without any."""
    for told in documents(run_folder, SEPARATED):
        if isinstance(told.get("tests"), list) and isinstance(told.get("shown"), list):
            return told
    return None


def asked(run_folder: Path) -> tuple[Asked, ...]:
    """The tests among them that tell patches apart, as the judge reads them."""
    told = separated(run_folder) or {}
    found: list[Asked] = []
    for one in told.get("tests", ()):
        try:
            if one["counts"] is True:
                found.append(_asked(told, one))
        except _DAMAGE:
            continue
    return tuple(found)


def _asked(told: Mapping[str, Any], one: Mapping[str, Any]) -> Asked:
    known = {"passed": True, "failed": False}
    return Asked(
        id=str(one["id"]),
        agent=str(told["agent"]),
        ends={str(lane): known[end] for lane, end in one["cells"].items() if end in known},
        on_base=known.get(str(one.get("base"))),
        check=str(one.get("check") or ""),
        file=str(told["file"]),
    )


def newest(run_folder: Path) -> int | None:
    """The number of the newest question that was answered; None without any."""
    told = (*documents(run_folder, REVIEW), *documents(run_folder, SEPARATED))
    return max((int(Path(str(one["file"])).parent.name) for one in told), default=None)
