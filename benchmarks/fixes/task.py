"""One upstream fix as a task: which commit, of which project, and what was seen of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("tasks.jsonl")
"""The fixes that were mined: names of commits, and nothing of the projects themselves."""

GATING = LIST.with_name("gating.jsonl")
"""Those that need no clone, and are raced by `.ci/run`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """`repository` is its owner and name, `commit` the fix, whose parent is the base.

    `telling` are upstream's tests that pass on the fix and not on the base, `contradicted` tests
    of the base that the fix's code fails; `seconds` what the whole suite took.
    """

    repository: str
    commit: str
    telling: tuple[str, ...]
    contradicted: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """What no other task is called; a folder's name."""
        return f"{self.repository.split('/')[1]}-{self.commit[:10]}"

    @property
    def half(self) -> str:
        """Rules are made on the one half, and confirmed on the other."""
        return ("design", "confirm")[self.draw("half") % 2]

    def draw(self, *what: str) -> int:
        """A number that follows from the task and from what it is for, and from nothing else."""
        text = "\0".join((self.repository, self.commit, *what))
        return int.from_bytes(sha256(text.encode()).digest()[:4], "big")


def read(path: Path = LIST) -> list[Task]:
    """The list, in its order. Raises `OSError`, `ValueError`."""
    return [_task(line) for line in path.read_text().splitlines()]


def write(tasks: Iterable[Task], path: Path = LIST) -> None:
    """The list, a line each, sorted."""
    ordered = sorted(tasks, key=lambda task: (task.repository, task.commit))
    path.write_text("".join(f"{line}\n" for line in map(_line, ordered)))


def _line(task: Task) -> str:
    return json.dumps({**asdict(task), "half": task.half})


def _task(line: str) -> Task:
    item: dict[str, Any] = json.loads(line)
    del item["half"]
    item |= {key: tuple(item[key]) for key in ("telling", "contradicted")}
    return Task(**item)


def of_half(tasks: Iterable[Task], half: str) -> Iterator[Task]:
    """Those of one half; all for ""."""
    return (task for task in tasks if half in ("", task.half))
