"""A run whose lanes ended badly, or left what no person reads first: for the first screen."""

from __future__ import annotations

from pathlib import Path

from tests.support.landings import Shelf
from tests.support.pages import Files, PageRun, commit_files, document, verdict, write_events

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
    for lane, patch in {"claude": files, "claude-2": with_assets, "codex": {}}.items():
        commit_files(shelf, lane, patch)
    write_events(shelf, [])
    return PageRun(shelf, verdict(shelf, **document("page_ends")))
