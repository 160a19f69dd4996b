"""Runs of a page with many files, long diffs, and patches that meet each other in every way."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import commit
from tests.support.landings import Shelf
from tests.support.pages import (
    PageRun,
    check,
    commit_files,
    comparison,
    lane,
    patch,
    reason,
    steps,
    tested,
    usage,
    verdict,
    write,
    write_events,
)


def large(
    repo: Path, scratch: Path, *, lanes: int, files: int, lines: int, tests: int = 0
) -> PageRun:
    """`lanes` patches that each change `lines` lines in all of `files` files, each a little apart.

    `tests` is how many each check knows; a tenth of them differ from the base.
    """
    names = [f"src/part{n // 20:03}/module{n:04}.py" for n in range(files)]
    base = {name: _module(n, lines) for n, name in enumerate(names)}
    write(repo, base)
    commit(repo, "Many files")
    shelf = Shelf.of(repo, scratch)
    documents = []
    for number in range(lanes):
        name = f"codex-{number + 1}" if number else "codex"
        changed = {path: _changed(text, number) for path, text in base.items()}
        commit_files(shelf, name, changed)
        cases = [f"tests/test_part{n // 50:02}.py::test_case_{n:04}" for n in range(tests)]
        differ = cases[number : max(1, tests // 10)]
        outcome = check(
            "passed",
            f"{tests} passed",
            details=f"checks/1/{name}/pytest.json",
            tests=tested(tests, 0),
            comparison=comparison(fixed=differ, new=[f"{case}[{name}]" for case in differ[:50]]),
        )
        documents.append(
            lane(
                name,
                number + 1,
                mergeable=number % 3 != 2,
                why=f"fixes {len(differ)} failures in {files} files",
                reasons=[
                    reason("base", f"fixes {len(differ)} tests", f"checks/1/{name}/pytest.json")
                ]
                * 5,
                checks=[outcome] if tests else [],
                patch=patch(files, files * lines, files * lines),
                files=[
                    {
                        "path": path,
                        "added": lines,
                        "deleted": lines,
                        "status": "modified",
                        "binary": False,
                        "lanes": [],
                        "generated": n % 40 == 0,
                        "vendored": False,
                    }
                    for n, path in enumerate(names)
                ],
                usage=usage(20_000 + number, 900),
            )
        )
    cells = {row["lane"]: "passed" for row in documents}
    cross = [
        {
            "id": f"tests/test_new.py::test_{n}",
            "author": "codex",
            "check": "pytest",
            "base": "failed",
            "cells": {**cells, "codex": "own"},
            "weighs": True,
            "says": "",
            "files": {},
        }
        for n in range(tests // 10)
    ]
    write_events(shelf, steps([row["lane"] for row in documents]))
    return PageRun(shelf, verdict(shelf, documents, cross=cross))


def _module(number: int, lines: int) -> str:
    body = [
        f"def function_{number}_{n}(value, other=None):\n"
        f"    return value + {n} if other is None else other\n\n"
        for n in range(lines * 2)
    ]
    return "".join(body)


def _changed(text: str, number: int) -> str:
    """Every second function changed; a third of the changes are the same in all lanes."""
    pieces = text.split("\n\n")
    for at in range(0, len(pieces) - 1, 2):
        who = "all" if at % 3 == 0 else f"lane{number}"
        pieces[at] = pieces[at].replace("return value", f"return {who}(value)")
    return "\n\n".join(pieces)


def one_diff(repo: Path, scratch: Path, lines: int = 20_000) -> PageRun:
    """One file whose diff has about `lines` lines, in two lanes."""
    blocks = lines // 8
    text = "".join(
        f"def f{n}(a):\n    x = a + {n}\n    y = x * 2\n    z = y\n    return z\n\n\n"
        for n in range(blocks)
    )
    write(repo, {"src/long.py": text})
    commit(repo, "A long file")
    shelf = Shelf.of(repo, scratch)
    commit_files(shelf, "codex", {"src/long.py": text.replace("x * 2", 'x * 2 + len("two")')})
    commit_files(
        shelf, "claude", {"src/long.py": text.replace("z = y\n", "z = y or None  # zero\n")}
    )
    return PageRun(shelf, verdict(shelf, [lane("codex", 1), lane("claude", 2)]))
