"""Recordings of the real CLIs: scrubbing fresh ones, and what they are expected to parse to.

    python -m tests.adapter_recordings scrub FOLDER AGENT VERSION WORKTREES   # raw -> fixtures/
    python -m tests.adapter_recordings expect                                # review the diff!

FOLDER holds `NAME.out`, `NAME.err` and `exits.json` ({NAME: exit code}); each was run in
WORKTREES/NAME. An expectation is generated and then read line by line by a person.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hydra.adapters import registry
from hydra.conformance.scrub import WORKTREE, scrub
from hydra.events import AgentEvent
from hydra.model import ExitStatus

FIXTURES = Path(__file__).parent.parent / "fixtures" / "adapters"


def recordings() -> list[Path]:
    """Every recorded stream."""
    return sorted(FIXTURES.glob("*/*/stream.*.jsonl"))


def parse(path: Path) -> list[AgentEvent]:
    """The events of one recording, its exit and stderr included."""
    parser = registry.get(path.parent.parent.name).parser()
    name = path.name.removeprefix("stream.").removesuffix(".jsonl")
    events: list[AgentEvent] = []
    for line in path.read_bytes().split(b"\n"):
        events += parser.parse_line(line)
    stderr = path.with_name(f"stream.{name}.stderr.txt")
    files = {"stderr": stderr.read_bytes()} if stderr.exists() else {}
    code = json.loads((path.parent / "exits.json").read_text())[name]
    ended = ExitStatus(code=code) if code >= 0 else ExitStatus(signal=-code)
    return events + parser.end(ended, files)


def as_data(events: list[AgentEvent]) -> list[object]:
    """Events as the expectation files hold them."""
    return [{"kind": e.kind, "sub": e.sub, "data": dict(e.data)} for e in events]


def expectation(path: Path) -> Path:
    """Where the expected events of a recording stand."""
    return path.with_suffix(".expected.json")


def _expect() -> None:
    for path in recordings():
        lines = ",\n".join(json.dumps(event) for event in as_data(parse(path)))
        expectation(path).write_text(f"[\n{lines}\n]\n")


def _scrub(source: Path, agent: str, version: str, worktrees: str) -> None:
    target = FIXTURES / agent / version
    target.mkdir(parents=True, exist_ok=True)
    exits = json.loads((source / "exits.json").read_text())
    (target / "exits.json").write_text(json.dumps(exits, indent=1, sort_keys=True) + "\n")
    for name in exits:
        for suffix, ending in ((".out", "jsonl"), (".err", "stderr.txt")):
            text = scrub(
                (source / f"{name}{suffix}").read_text(), {f"{worktrees}/{name}": WORKTREE}
            )
            if text or ending == "jsonl":
                (target / f"stream.{name}.{ending}").write_text(text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["expect"]:
        _expect()
    else:
        _scrub(Path(sys.argv[2]), *sys.argv[3:6])
