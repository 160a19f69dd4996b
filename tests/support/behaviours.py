"""The numbered behaviours that must not be lost, and which tests fail without each.

    python -m tests.support.behaviours

writes tests/behaviours.md from tests/behaviours/*.tsv. There a row has the number, the behaviour,
and its tests (`file::test`, without folders: a file may move) or `-` and why there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS / "behaviours.md"
TITLES = {
    "race": "A race and its commands",
    "git-and-landing": "git, workspaces, landings, processes, sandbox",
    "verdict": "Checks and the verdict",
    "adapters": "Adapters and probes",
    "conformance": "Conformance and the demo",
    "report": "Reports, the page, help",
}
HEAD = """# Behaviours and their tests

`python -m tests.support.behaviours` writes this page from `tests/behaviours/*.tsv`. Behind each
behaviour stand the tests that fail without it, or why there is none.
"""


def page() -> str:
    """All of tests/behaviours.md; a test that is in no file is named without a folder."""
    places = _places()
    parts = [HEAD]
    for name, title in TITLES.items():
        parts.append(f"\n## {title}\n\n")
        parts += [
            f"- {number}. {behaviour}: {_behind(tests, places)}\n"
            for number, behaviour, tests in _rows(name)
        ]
    return "".join(parts)


def missing() -> list[str]:
    """The tests that are named and in no file, each with its list and number."""
    places = _places()
    return [
        f"{name} {number}: {test}"
        for name in TITLES
        for number, _, tests in _rows(name)
        for test in _named(tests)
        if _plain(test) not in places
    ]


def _rows(name: str) -> Iterator[tuple[str, str, str]]:
    for line in (TESTS / "behaviours" / f"{name}.tsv").read_text().splitlines():
        number, behaviour, tests = line.split("\t")
        yield number, behaviour, tests


def _behind(tests: str, places: dict[str, str]) -> str:
    if tests.startswith("-"):
        return f"no test, {tests[1:].strip()}"
    full = (places.get(_plain(test), _plain(test)) + _case(test) for test in _named(tests))
    return ", ".join(f"`{test}`" for test in full)


def _named(tests: str) -> list[str]:
    return re.findall(r"\S+::\w+(?:\[[^]]*\])?", tests)


def _plain(test: str) -> str:
    return test.removeprefix("tests/").partition("[")[0]


def _case(test: str) -> str:
    _, bracket, case = test.partition("[")
    return bracket + case


def _places() -> dict[str, str]:
    """`file::test`, with as many folders as one likes, to where it is."""
    places = {}
    for path in TESTS.rglob("test_*.py"):
        folders = path.relative_to(TESTS).parts
        for name in re.findall(r"(?m)^(?:async )?def (test_\w+)", path.read_text()):
            for first in range(len(folders)):
                places["/".join(folders[first:]) + f"::{name}"] = (
                    f"tests/{path.relative_to(TESTS)}::{name}"
                )
    return places


if __name__ == "__main__":
    PAGE.write_text(page())
