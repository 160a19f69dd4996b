"""Recordings of the real CLIs for tests; and those made by hand, scrubbed into fixtures/:

    python -m tests.adapter_recordings FOLDER AGENT VERSION WORKTREES

FOLDER holds `NAME.out`, `NAME.err` and `exits.json` ({NAME: exit code}); each was run in
WORKTREES/NAME. What they parse to is written by `python -m hydra.conformance.contract.snapshot`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hydra.conformance.scrub import WORKTREE, scrub

FIXTURES = Path(__file__).parent.parent / "fixtures" / "adapters"


def recordings() -> list[Path]:
    """Every recorded stream."""
    return sorted(FIXTURES.glob("*/*/stream.*.jsonl"))


def _scrub(source: Path, agent: str, version: str, worktrees: str) -> None:
    target = FIXTURES / agent / version
    target.mkdir(parents=True, exist_ok=True)
    exits = json.loads((source / "exits.json").read_text())
    (target / "exits.json").write_text(json.dumps(exits, indent=1, sort_keys=True) + "\n")
    for name in exits:
        for suffix, ending in ((".out", "jsonl"), (".err", "stderr.txt")):
            text = (source / f"{name}{suffix}").read_text()
            text = scrub(text, {f"{worktrees}/{name}": WORKTREE})
            if text or ending == "jsonl":
                (target / f"stream.{name}.{ending}").write_text(text)


if __name__ == "__main__":
    _scrub(Path(sys.argv[1]), *sys.argv[2:5])
