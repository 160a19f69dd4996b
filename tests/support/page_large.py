"""Runs of a page with many files, long diffs, and patches that meet each other in every way."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import commit, write
from tests.support import verdicts
from tests.support.landings import Shelf
from tests.support.pages import PageRun, commit_files, lane, steps, verdict, write_events
from tests.support.verdicts import check, cross, reason

LISTS = (
    *("fixed", "broken", "still_failing", "new", "new_failing", "vanished", "flaky", "skipped"),
    "unknown",
)
"""Of a check's comparison with the base."""


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
    documents: list[verdicts.Document] = []
    for number in range(lanes):
        name = f"codex-{number + 1}" if number else "codex"
        changed = {path: _changed(text, number) for path, text in base.items()}
        commit_files(shelf, name, changed)
        cases = [f"tests/test_part{n // 50:02}.py::test_case_{n:04}" for n in range(tests)]
        differ = cases[number : max(1, tests // 10)]
        lists: dict[str, list[str]] = {key: [] for key in LISTS}
        lists |= {"fixed": differ[:100], "new": [f"{case}[{name}]" for case in differ[:50]]}
        counts = {key: len(cases) for key, cases in lists.items()}
        named = {"source": "junit", "passed": tests, "failed": 0, "skipped": 0, "failing": []}
        compared: verdicts.Document = {"tests": named, "comparison": {**lists, "counts": counts}}
        said = reason("base", f"fixes {len(differ)} tests", f"checks/1/{name}/pytest.json")
        row = lane(
            name,
            number + 1,
            mergeable=number % 3 != 2,
            why=f"fixes {len(differ)} failures in {files} files",
            reasons=[said] * 5,
            checks=[check("pytest", f"{tests} passed", **compared)] if tests else [],
        )
        whole = verdicts.lane(name)
        counted = {"files": files, "insertions": files * lines, "deletions": files * lines}
        (changed_file,) = whole["files"]
        changed_file |= {"added": lines, "deleted": lines, "lanes": []}
        row["patch"] = whole["patch"] | counted
        row["files"] = [
            {**changed_file, "path": path, "generated": n % 40 == 0} for n, path in enumerate(names)
        ]
        documents.append(row)
    cells = {row["lane"]: "passed" for row in documents if row["lane"] != "codex"}
    rows = [cross(f"tests/test_new.py::test_{n}", "codex", cells) for n in range(tests // 10)]
    write_events(shelf, steps([row["lane"] for row in documents]))
    return PageRun(shelf, verdict(shelf, documents, cross=rows))


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
