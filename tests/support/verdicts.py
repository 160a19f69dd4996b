"""Verdict documents as `hydra compare --json` prints them, for the reporters' tests."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]

RUN = "20261121t203415-k3f"
FOLDER = f"/var/lib/hydra/shop-00/runs/{RUN}"


def check(name: str, says: str, status: str = "passed", **more: Any) -> Document:
    """A check's document, as result.json has it; here and below without what is not said."""
    files = {"output": f"checks/1/{name}.txt", "details": f"checks/1/{name}.json"}
    ended = {"status": status, "says": says, "exit_code": 0, "seconds": 3.1}
    return {"check": name, "command": f"{name} -q", **ended, **files, **more}


def reason(kind: str, text: str, file: str = "", path: str = "", line: int | None = None) -> Any:
    """A gate or a reason."""
    return {"kind": kind, "text": text, "file": file or None, "path": path or None, "line": line}


def lane(name: str, **more: Any) -> Document:
    """One lane of a verdict, mergeable and first unless it is said otherwise."""
    patch = {
        "commit": "c" * 40,
        "base": "4be1c02" + "0" * 33,
        "files": 1,
        "insertions": 6,
        "deletions": 2,
    }
    return {
        "lane": name,
        "adapter": name.partition("-")[0],
        "label": {"claude": "Claude Code"}.get(name, "Codex"),
        "rank": 1,
        "tied": [],
        "state": "proved",
        "reason": "fixes both failing tests, breaks nothing (43 passed)",
        "status": "completed",
        "why": "fixes both failures; smallest change",
        "gates": [],
        "reasons": [reason("base", "fixes both failures", f"checks/1/{name}/pytest.json")],
        "chance": 0.82,
        "checks": [check("pytest", "43 passed")],
        "patch": patch,
        "files": [{"path": "src/pager.py", "added": 6, "deleted": 2, "lanes": ["claude", "codex"]}],
        "usage": {"input_tokens": 17_000, "output_tokens": 1_200},
        "seconds": 72.0,
        "message": "Both tests pass now.",
        **more,
    }


def verdict(**more: Any) -> Document:
    """The race of commands.md: codex first, claude second, codex-2 timed out."""
    codex = lane("codex")
    codex["reasons"].append(
        reason("cross", "its new test passes on claude's patch too", "checks/1/trials.json")
    )
    claude = lane(
        "claude",
        rank=2,
        why="fixes both failures; touches 2 files no other lane touched",
        reasons=[
            reason("base", "fixes both failures", "checks/1/claude/pytest.json"),
            reason("scope", "touches 2 files that no other lane touched", path="src/util.py"),
        ],
        usage={"input_tokens": 1, "output_tokens": 2, "cost_usd": 0.14},
        seconds=58.2,
    )
    claude["patch"] |= {"insertions": 18, "deletions": 4, "files": 3}
    late = lane(
        "codex-2",
        rank=None,
        state="held_back",
        reason="idle for 10:00; it left no patch",
        status="timed_out",
        why="idle for 10:00; it left no patch",
        gates=[reason("gate", "idle for 10:00; it left no patch")],
        reasons=[],
        chance=None,
        checks=[],
        patch=None,
        files=[],
        seconds=600.4,
    )
    document = {
        "schema": 1,
        "kind": "verdict",
        "run": RUN,
        "base": "4be1c02" + "0" * 33,
        "base_name": "main",
        "title": "Fix the off-by-one in pager.py",
        "repository": "/home/ada/shop",
        "round": 1,
        "top": "codex",
        "says": "codex: fixes both failures; smallest change",
        "checked": True,
        "confidence": {"word": "fair", "share": 0.55, "why": "3 lanes, 2 tests that tell apart"},
        "lanes": [codex, claude, late],
        "baseline": [check("pytest", "41 passed, 2 failed", "failed")],
        "cross": [
            cross("tests/test_pager.py::test_empty", "codex", {"claude": "passed"}),
            cross(
                "tests/test_pager.py::test_last",
                "claude",
                {"codex": "passed"},
                weighs=False,
                says="passes on the base",
                base="passed",
            ),
        ],
        "groups": [{"kind": "alike", "lanes": ["claude", "codex"]}],
        "shared": [{"path": "src/pager.py", "name": "pages", "lanes": ["claude", "codex"]}],
        "not_tried": ["the base's tests on codex-2: it left no patch"],
        "folder": FOLDER,
        "exit_code": 0,
        "warnings": [],
    }
    return {**document, **more}


def passes_gates(lane: Document) -> bool:
    """Whether a lane has a patch and nothing speaks against it."""
    return lane["rank"] is not None and not lane["gates"]


def cross(id: str, author: str, cells: dict[str, str], **more: Any) -> Document:
    """One row of the matrix; failed on the base."""
    return {
        "id": id,
        "author": author,
        "check": "pytest",
        "base": "failed",
        "cells": {author: "own", **cells},
        "weighs": True,
        "says": "",
        "files": {author: f"checks/1/{author}/pytest.json"},
        **more,
    }


def tie() -> Document:
    """Claude and codex, and nothing that tells them apart."""
    document = verdict(top=None, says="codex and claude are tied: no test tells them apart")
    for name, other in (("codex", "claude"), ("claude", "codex")):
        data = next(lane for lane in document["lanes"] if lane["lane"] == name)
        data |= {"rank": 1, "tied": [other]}
    return document


WEAKENED = "changes what test_full_page expects; the base's version still fails with it"


def none_passing() -> Document:
    """One patch, and it weakens a test."""
    says = "codex is held back: changes what test_full_page expects"
    document = verdict(top=None, says=says)
    codex = document["lanes"][0]
    gate = reason("gate", WEAKENED, "checks/1/trials/codex.json", "tests/test_pager.py", 9)
    codex |= {"gates": [gate], "why": WEAKENED}
    codex |= {"state": "held_back", "reason": "changes what test_full_page expects"}
    return {**document, "lanes": [codex, document["lanes"][2]], "exit_code": 1}


def with_texts(document: Document, change: Callable[[str], str]) -> Document:
    """The document with every text in it changed, the lanes' names alike wherever they stand."""
    names = ("kind", "status", "word", "check_kind", "state")
    ends = ("passed", "failed", "own")

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            named = key in ("cells", "files")
            return {change(k) if named else k: walk(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(row) for row in value]
        is_text = isinstance(value, str) and key not in names and value not in ends
        return change(value) if is_text else value

    changed: Document = walk(copy.deepcopy(document))
    return changed


def ranked(run: str, commits: dict[str, str], **more: Any) -> Document:
    """A verdict on real patches: these lanes in this order, the first of them the top."""
    lanes = []
    for rank, (name, commit) in enumerate(commits.items(), 1):
        row = lane(name, rank=rank, checks=[])
        row["patch"]["commit"] = commit
        lanes.append(row)
    document: Document = {
        "run": run,
        "round": None,
        "top": next(iter(commits), None),
        "lanes": lanes,
        "cross": [],
    }
    return verdict(**{**document, **more})


def held(document: Document, name: str, *gates: str) -> Document:
    """The same with one lane not mergeable, for these reasons."""
    data = next(row for row in document["lanes"] if row["lane"] == name)
    data |= {"gates": [reason("gate", text) for text in gates]}
    data |= {"why": gates[0], "state": "held_back", "reason": gates[0]}
    return document
