"""New files that take the place of a module or a program that the tests load from elsewhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache, partial
from pathlib import PurePosixPath

from msgspec import Struct

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.frameworks import STANDARD, is_javascript_tool
from hydra.analysis.tampering.languages.python.module import FAILURES, syntax_tree
from hydra.analysis.tampering.model import too_much
from hydra.analysis.tampering.test_files import (
    existed,
    exists,
    is_configuration,
    is_support,
    supports_tests,
)

_COMPILED = re.compile(r"(?P<stem>[^/]+?)(?:\.(?:cpython|abi3|pypy)[\w-]*)?\.(?:so|pyd|pyc)")
_SOURCES = ("ts", "tsx", "mts", "cts")
_SCRIPTS = ("js", "cjs", "mjs", "jsx")
_NO_MODULE = frozenset(("conftest", "setup", "__main__", "__init__", "manage", "noxfile"))
_ROOTS = ("", "src", "lib", "python")
"""Folders that modules are looked for in, beside those of tests."""


class Shadow(Struct, frozen=True):
    """One new file, and the clause on whose place it takes."""

    path: str
    clause: str


def shadows(files: Sequence[FileChange], base: Collection[str] = ()) -> tuple[Shadow, ...]:
    """Files of a patch that are found before another that is there, or that the language has.

    `base` are the paths of the base's files. A new module that the patch's own code imports is
    that code's, whatever it is called: it is not among these.
    """
    added = [file for file in files if exists(file) and not existed(file)]
    if not added:
        return ()
    gone = {file.path for file in files if not exists(file)}
    sides = _Sides(
        base=frozenset({*base} - gone),
        patch=frozenset({*base, *(file.path for file in added)} - gone),
        imported=cache(partial(_imported, files)),
    )
    return tuple(shadow for file in added if (shadow := _shadow(file.path, sides)))


class _Sides(Struct, frozen=True):
    """Paths of the base that are still there, all paths after the patch, and what its code has
    come to import."""

    base: frozenset[str]
    patch: frozenset[str]
    imported: Callable[[], frozenset[str]]


def _shadow(path: str, sides: _Sides) -> Shadow | None:
    name = path.rpartition("/")[2]
    if name.endswith(".py"):
        return _module(path, sides)
    if compiled := _COMPILED.fullmatch(name):
        return _compiled(path, compiled["stem"], sides.patch)
    return _package(path) or _mock(path) or _script(path, sides.base)


def _module(path: str, sides: _Sides) -> Shadow | None:
    root, name = place_of(path, sides.patch)
    base = sides.base
    tests = is_support(f"{root}/x.py") if root else False
    if name in _NO_MODULE or is_configuration(path) or not (tests or root in _ROOTS):
        return None
    if not tests and name in sides.imported():
        return None
    if name in STANDARD:
        return Shadow(path, f"takes the name of Python's own module {name}")
    other = _taken(root, name, base, tests=tests)
    return Shadow(path, f"is found before {other} by the name {name}") if other else None


def place_of(path: str, paths: Collection[str]) -> tuple[str, str]:
    """The folder that a Python file is imported from, and the first part of its name there."""
    *folders, file = path.split("/")
    name = file.removesuffix(".py")
    while folders and "/".join((*folders, "__init__.py")) in paths:
        name = folders.pop()
    return "/".join(folders), name


@lru_cache(maxsize=8)
def _by_name(base: frozenset[str]) -> dict[str, list[str]]:
    """Python files by each part of their path that could be a module's name."""
    index: dict[str, list[str]] = {}
    for path in base:
        if path.endswith(".py"):
            for part in path.removesuffix(".py").split("/"):
                index.setdefault(part, []).append(path)
    return index


def _named(name: str, base: frozenset[str]) -> Sequence[str]:
    return _by_name(base).get(name, ())


def _taken(root: str, name: str, base: frozenset[str], *, tests: bool) -> str:
    """The base's module of that name that is found later, "" where there is none."""
    for path in sorted(_named(name, base)):
        place, top = place_of(path, base)
        if top != name or place == root or is_support(path):
            continue
        below = not root or place.startswith(f"{root}/")
        if tests or below:
            return path
    return ""


def _compiled(path: str, stem: str, paths: Collection[str]) -> Shadow | None:
    folder = PurePosixPath(path).parent
    if folder.name == "__pycache__":
        folder = folder.parent
    source = str(folder / f"{stem}.py")
    return Shadow(path, f"is run in place of {source}") if source in paths else None


def _package(path: str) -> Shadow | None:
    """A committed package that is a test tool, or a program that scripts of package.json run."""
    *before, rest = path.split("node_modules/")
    if not before:
        return None
    if rest.startswith(".bin/"):
        return Shadow(path, f"takes the place of the program {rest.removeprefix('.bin/')}")
    parts = rest.split("/")
    name = "/".join(parts[:2]) if rest.startswith("@") else parts[0]
    if is_javascript_tool(name):
        return Shadow(path, f"takes the place of the test tool {name}")
    return None


def _mock(path: str) -> Shadow | None:
    """What jest and vitest load of their own accord in place of a package."""
    before, folder, name = path.rpartition("__mocks__/")
    if not folder or before.rstrip("/") not in _ROOTS or path.endswith(".snap"):
        return None
    return Shadow(path, f"jest loads in place of {name.rpartition('.')[0] or name}")


def _script(path: str, base: frozenset[str]) -> Shadow | None:
    """`pager.js` beside `pager.ts`, and `pager` beside `pager.js`, are found first."""
    stem, _, ending = path.rpartition(".")
    if ending in _SCRIPTS:
        others = [f"{stem}.{other}" for other in _SOURCES]
    elif "." not in path.rpartition("/")[2]:
        others = [f"{path}.{other}" for other in (*_SCRIPTS, *_SOURCES)]
    else:
        return None
    other = next((item for item in others if item in base), "")
    return Shadow(path, f"is found before {other}") if other else None


def _imported(files: Sequence[FileChange]) -> frozenset[str]:
    """Modules from which the patch's own code has come to take names: it does not run without."""
    code = [item for item in files if item.path.endswith(".py") and not supports_tests(item)]
    return frozenset(name for item in code for name in {*_from(item.new)} - {*_from(item.old)})


def _from(text: str | None) -> Iterator[str]:
    if not text or too_much(text):
        return
    try:
        tree = syntax_tree(text)
    except FAILURES:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]
