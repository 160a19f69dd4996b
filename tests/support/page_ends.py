"""A run whose lanes ended badly, or left what no person reads first: for the first screen."""

from __future__ import annotations

from pathlib import Path

from tests.support.landings import Shelf
from tests.support.pages import (
    Files,
    PageRun,
    check,
    commit_files,
    lane,
    patch,
    reason,
    usage,
    verdict,
    write_events,
)

PARTS = 30


def ends(repo: Path, scratch: Path) -> PageRun:
    """One with very many files, one with generated and binary ones, and one that failed; an agent
    was asked for tests that tell them apart."""
    pager = {"src/pager.py": "def pages(n, size):\n    return -(-n // size)\n"}
    with_assets: Files = {"a.min.js": "var a=1;\n", "b.png": b"\x89PNG\0\1\2", **pager}
    files: Files = {
        **pager,
        "src/names.py": "".join(f"ROW_{n} = {n}\n" for n in range(500)),
        **{f"src/part{n:02}.py": "x = 1\n" for n in range(PARTS)},
    }
    shelf = Shelf.of(repo, scratch)
    commit_files(shelf, "claude", files)
    commit_files(shelf, "claude-2", with_assets)
    commit_files(shelf, "codex", {})
    proved = lane(
        "claude",
        1,
        reason="fixes the failing test, breaks nothing (4 passed)",
        patch=patch(len(files), 530, 1),
        usage=usage(100, 10, 0.02),
        checks=[check("passed", "4 passed")],
    )
    second = lane(
        "claude-2",
        2,
        reason="fixes the failing test, breaks nothing (4 passed)",
        patch=patch(len(with_assets), 2, 1),
        files=[{"path": "a.min.js", "generated": True}, {"path": "b.png", "binary": True}],
    )
    failed = lane(
        "codex",
        None,
        mergeable=False,
        state="held_back",
        status="failed",
        reason="failed: API Error",
        patch={**patch(0, 0, 0), "empty": True},
        gates=[reason("gate", "failed: API Error")],
    )
    shared = [{"path": "src/pager.py", "name": "pages", "lanes": ["claude", "claude-2"]}]
    separated = {
        "agent": "codex",
        "tests": [
            {"id": "test_apart.test_zero", "counts": True, "why": ""},
            {"id": "test_apart.test_rest", "counts": False, "why": "it passes on every patch"},
        ],
        "shown": [
            {
                "id": "test_apart.test_zero",
                "source": "def test_zero():\n    assert pages(0, 2) == 0",
                "gives": {"claude": "passed", "claude-2": "assert 1 == 0"},
            }
        ],
        "warnings": ["its file conftest.py is not tried: it is no test by its name and place"],
    }
    write_events(shelf, [])
    lanes = [proved, second, failed]
    return PageRun(shelf, verdict(shelf, lanes, shared=shared, separated=separated))
