"""What may be offered to land as one stands: not what has landed, and not what would be refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydra.app import runs
from hydra.errors import HydraError
from hydra.git.runner import run as git
from hydra.store import RunRecord

Document = Mapping[str, Any]


def offered(document: Document, root: Path, record: RunRecord | None = None) -> dict[str, Any]:
    """A result or a verdict with what the lines to type depend on: for a person's eyes, never
    recorded. Of a race that has just ended (no `record`) nothing can have landed."""
    facts: dict[str, Any] = {"detached": is_detached(root)}
    if record is not None:
        facts["landed"] = _landed_lanes(record, root)
    verdict = document.get("verdict")
    inner = {"verdict": {**verdict, **facts}} if isinstance(verdict, Mapping) else {}
    return {**document, **facts, **inner}


def is_detached(root: Path) -> bool:
    """Whether HEAD is on no branch, so that a landing needs one."""
    try:
        return git("symbolic-ref", "-q", "HEAD", cwd=root, check=False).code != 0
    except (HydraError, OSError):  # the repository has gone since
        return False


def _landed_lanes(record: RunRecord, root: Path) -> list[str]:
    """Lanes that stand as a whole where they were landed."""
    landings = [landing for landing in runs.landings(record) if _is_in_place(landing, root)]
    return [str(lane) for landing in landings for lane in _lanes(landing)]


def _lanes(landing: Mapping[str, Any]) -> list[str]:
    picks, lanes = landing.get("picks") or (), landing.get("lanes") or ()
    whole = not picks or all(str(pick).endswith(":") for pick in picks)
    return list(lanes) if whole else []


def _is_in_place(landing: Mapping[str, Any], root: Path) -> bool:
    if landing.get("undone") is not None:
        return False
    commit, ref = str(landing.get("commit") or ""), str(landing.get("ref") or "HEAD")
    question = ("merge-base", "--is-ancestor", commit, ref)
    return not commit or git(*question, cwd=root, check=False).code == 0
