"""Names that say nothing stay out of the code, and one name means one thing (docs/decisions.md)."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOT_NAMES = frozenset(
    (
        *("told", "said", "found", "held", "known", "made", "given", "wanted", "asked", "heard"),
        *("one", "it", "them", "some", "there", "here", "apart", "left", "kept", "stands", "owes"),
        *("word", "words", "manner", "minds", "earned", "offered"),
    )
)
STORED = {
    ("Journal", "made"),
    ("LandingRecord", "kept"),
    ("LaneVerdict", "made"),
    ("WinnerConfidence", "word"),
    ("VersionChange", "minds"),
}
"""Fields that are keys of stored documents, or of `--json`."""


@cache
def modules() -> list[tuple[Path, ast.Module]]:
    paths = sorted((ROOT / "hydra").rglob("*.py"))
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Each name that is given to something, with its line."""
    stored = {
        (field.target.lineno, field.target.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if (node.name, field.target.id) in STORED
    }
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                if (node.lineno, node.col_offset) not in stored:
                    yield name, node.lineno
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.arg(arg=name):
                yield name, node.lineno


@pytest.mark.slow
def test_no_name_is_one_that_says_nothing() -> None:
    bad = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, tree in modules()
        for name, line in [*names(tree), (path.stem, 1)]
        if name.strip("_").lower() in NOT_NAMES
    ]
    assert bad == []


def test_no_two_public_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in modules():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_package_imports_its_own_modules() -> None:
    """Threads of a race load modules when they are needed. One that loads a package which loads a
    module of its own, beside one that loads that module, can deadlock in Python's import: a patch
    was not taken because of it."""
    eager = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in modules()
        if path.name == "__init__.py"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        if f"{node.module}.".startswith(".".join((*path.relative_to(ROOT).parts[:-1], "")))
    ]
    assert eager == []
