"""What runs with a page are made of: patches without a race, a verdict document, events.

The repositories and patches are real, so that the lines the page gives can be run. The verdict
documents are written by hand to the contract of docs/reference/json.md.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.commands.html_page import page
from hydra.records.events import AGENT_KINDS, Event, encode
from hydra.records.store.reader import RunRecord
from tests.support import verdicts
from tests.support.landings import RUN, Shelf
from tests.support.rendering import as_verdict

Document = dict[str, Any]


Files = Mapping[str, str | bytes | None]


@dataclass
class PageRun:
    """A run with a verdict document; `bytes()` is its page, `file()` writes it beside the run."""

    shelf: Shelf
    document: Document
    extra: list[Event] = field(default_factory=list)

    @property
    def record(self) -> RunRecord:
        return RunRecord(self.shelf.race.patches.parent)

    def bytes(self) -> bytes:
        return page(self.record, as_verdict(self.document))

    def file(self, folder: Path) -> Path:
        path = folder / "page.html"
        path.write_bytes(self.bytes())
        return path


def write_events(shelf: Shelf, events: Sequence[Event]) -> None:
    """The run's events.jsonl."""
    folder = shelf.race.patches.parent
    (folder / "events.jsonl").write_bytes(b"".join(map(encode, events)))


def document(name: str, words: Mapping[str, str] | None = None) -> Document:
    """A verdict's document of tests/data, with these words for its marks."""
    text = (Path(__file__).parents[1] / "data" / f"{name}.json").read_text()
    for mark, word in (words or {}).items():
        text = text.replace(mark, json.dumps(word)[1:-1])
    data: Document = json.loads(text)
    return data


def lane(name: str, rank: int | None, *, mergeable: bool = True, **more: Any) -> Document:
    """One lane of a verdict document, of which nothing is known but this."""
    state, why = "proved" if mergeable else "broken", more.get("why", "")
    bare: Document = {
        **{"rank": rank, "state": state, "reason": why, "why": why, "label": name.title()},
        **{"reasons": [], "chance": None, "checks": [], "patch": None, "files": []},
        **{"usage": {}, "seconds": 61.0, "message": ""},
    }
    return verdicts.lane(name, **{**bare, **more})


def verdict(shelf: Shelf, lanes: list[Document], **more: Any) -> Document:
    """A verdict document over these lanes; what the contract asks for is there."""
    bare: Document = {
        **{"run": RUN, "base": shelf.race.base, "title": "Fix the pager", "lanes": lanes},
        **{"repository": str(shelf.repo), "folder": str(shelf.race.patches.parent)},
        **{"top": lanes[0]["lane"] if lanes else None, "says": "one is ahead"},
        **{"confidence": {"word": "unknown", "share": None, "why": ""}, "baseline": []},
        **{"cross": [], "groups": [], "shared": [], "not_tried": []},
    }
    return verdicts.verdict(**{**bare, **more})


def event(seq: int, mono: float, kind: str, lane: str = "", **data: Any) -> Event:
    """One event; `sub` may be among the data."""
    sub = str(data.pop("sub", ""))
    return Event(
        seq=seq,
        wall=1_700_000_000 + mono,
        mono=mono,
        run=RUN,
        kind=kind,
        sub=sub,
        source="agent" if kind in AGENT_KINDS else "hydra",
        lane=lane,
        attempt=int(bool(lane)),
        data=data,
    )


def steps(lanes: Sequence[str]) -> list[Event]:
    """A race's events: the base's check, and each lane at a pace of its own."""
    text = (Path(__file__).parents[1] / "data" / "page_steps.jsonl").read_text()
    said = [json.loads(line) for line in text.splitlines()]
    begun: Document = {"check": "pytest", "command": "pytest -q"}
    base = {"check": "pytest", "status": "failed", "says": "3 failed", "seconds": 3.1}
    passed = {"check": "pytest", "status": "passed", "says": "4 passed", "seconds": 4.0}
    rows: list[tuple[float, str, str, Document]] = [
        (0.0, "run_started", "", {"lanes": list(lanes)}),
        (0.1, "check_started", "", begun),
        (3.2, "check_ended", "", base),
    ]
    for place, name in enumerate(lanes):
        pace, began = (1.5, 1.2, 2.2, 0.6)[place % 4], 0.6 + place * 0.3
        ended = began + 42 * pace
        rows.append((began, "agent_started", name, {"pid": 1}))
        rows += [(began + at * pace, kind, name, data) for at, kind, data in said]
        left: Document = {"code": 0, "signal": None, "survivors": [], "seconds": ended}
        rows += [
            (ended, "agent_exited", name, left),
            (ended + 0.2, "patch_taken", name, {"files": 2, "insertions": 5, "deletions": 2}),
            (ended + 0.5, "check_started", name, begun),
            (ended + 4.5, "check_ended", name, passed),
            (ended + 4.6, "lane_ended", name, {"status": "completed", "usable": True}),
        ]
        rows[-1][3]["seconds"] = ended
    rows.sort(key=lambda row: row[0])
    return [event(n, at, kind, who, **{**data}) for n, (at, kind, who, data) in enumerate(rows, 1)]


def commit_files(
    shelf: Shelf, lane: str, files: Files, modes: Mapping[str, str] | None = None
) -> None:
    """A lane's patch without a worktree: these files on the base, straight into patches.git."""
    who = b"committer Ada <ada@example.com> 1700000000 +0000"
    base = shelf.race.base.encode()
    parts = [b"commit refs/heads/%s\n%s\ndata 5\npatch\nfrom %s\n" % (lane.encode(), who, base)]
    for path, content in files.items():
        # fast-import quotes as C does; every byte may be written as octal.
        name = (
            b'"'
            + b"".join(b"\\%03o" % byte for byte in path.encode("utf-8", "surrogateescape"))
            + b'"'
        )
        if content is None:
            parts.append(b"D %s\n" % name)
            continue
        data = content if isinstance(content, bytes) else content.encode()
        mode = (modes or {}).get(path, "100644").encode()
        parts.append(b"M %s inline %s\ndata %d\n%s\n" % (mode, name, len(data), data))
    subprocess.run(
        ["git", f"--git-dir={shelf.race.patches}", "fast-import", "--quiet"],
        input=b"".join(parts),
        check=True,
        capture_output=True,
    )
    shelf.lanes.append(lane)
    shelf._record()
