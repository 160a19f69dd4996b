"""What tests may reach, by their folder: read off their syntax, and off what they import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
AGENTS = "hydra.commands.demo."
"""Scripted agents, which play the part of real ones."""

OUTSIDE = {
    **dict.fromkeys(("golden", "attack", "real"), (AGENTS,)),
    "live": (AGENTS, "hydra.conformance."),  # the scripted model, to which real agents talk
}
"""Whose tests know Hydra as a user, git and the kernel do, and what they import of it."""


@cache
def tree_of(module: str) -> ast.Module | None:
    """A module of the tests; None where it is none."""
    if not module.startswith("tests."):
        return None
    path = TESTS.parent.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return ast.parse(file.read_text())
    return None


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reached(module: str) -> dict[str, str]:
    """Each module that it imports, through the tests' own as well, and who imports it first."""
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        tree = tree_of(name)
        for other in imports(tree) if tree else ():
            for part in (other, other.rpartition(".")[0]):
                if part and part not in found:
                    found[part] = name
                    waiting.append(part)
    return found


def modules(folder: Path) -> list[str]:
    paths = [*folder.rglob("test_*.py"), *folder.rglob("conftest.py")]
    return [".".join(path.relative_to(TESTS.parent).with_suffix("").parts) for path in paths]


@pytest.mark.parametrize("folder", OUTSIDE)
def test_tests_from_outside_import_nothing_of_hydra_but_what_plays_a_part(folder: str) -> None:
    inside = {
        f"{who} imports {name}"
        for module in modules(TESTS / folder)
        for name, who in reached(module).items()
        if f"{name}.".startswith("hydra.") and not f"{name}.".startswith(OUTSIDE[folder])
    }
    assert modules(TESTS / folder)
    assert inside == set()


def patched(tree: ast.Module) -> Iterator[str]:
    """What of Hydra's own it sets, by pytest or by hand."""
    own = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if f"{getattr(node, 'module', None) or alias.name}.".startswith("hydra.")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first = node.args[0]
            text = first.value if isinstance(first, ast.Constant) else ""
            if node.func.attr in ("setattr", "setitem", "delattr") and (
                str(text).startswith("hydra.") or root(first) in own
            ):
                yield ast.unparse(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and root(target) in own:
                    yield ast.unparse(node)


def root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def test_nothing_of_hydra_is_patched_but_by_tests_of_units() -> None:
    files = [path for path in TESTS.rglob("*.py") if path.parent != TESTS / "unit"]
    wrong = {str(path): [*patched(ast.parse(path.read_text()))] for path in files}
    assert {path: lines for path, lines in wrong.items() if lines} == {}
