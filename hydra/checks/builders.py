"""Which script of a project makes a folder that git ignores, and what loads a package."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from hydra.checks.project import Project, read
from hydra.config.check_specs import in_folder
from hydra.redaction import texts

COMPILED = re.compile(r"dist|build|lib|out|esm|cjs|es|types|\.next")
"""What folders are called that are made of a package's own code."""
_GENERATED = re.compile(r"\.?generated|gen|__generated__|\.svelte-kit")
"""And those that a `build` makes as well, of whatever; of others a script has to say so."""
_MAKES = re.compile(
    r"build|gen|compil|proto|schema|types|bundle|prepare|setup|seed|fetch|download", re.IGNORECASE
)
_NO_BUILD = re.compile(
    r"clean|test|lint|format|start|serve|watch|dev|deploy|publish", re.IGNORECASE
)
"""Words in the names of scripts that make files, and of those that do more, or something else."""
_TARGET = re.compile(r"^(\w[\w.-]*)\s*:(?!=)([^\n]*(?:\n\t[^\n]*)*)", re.MULTILINE)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


def builder_of(path: str, entry: str, top: Path) -> str:
    """The command, from the top, that makes what git lists as `entry`, which is `path` or holds
    it; "" where nothing of the project says that it does."""
    name = entry.rstrip("/").rpartition("/")[2]
    above = [at for at in (top / path).parents if at.is_relative_to(top)]
    named = [(at, command) for at in above for command in _naming(at, name, top)]
    is_named_so = COMPILED.fullmatch(name) or _GENERATED.fullmatch(name)
    is_made = entry.endswith("/") and is_named_so and not _is_python(top / path)
    builds = [
        (at, f"{_manager(at, top)} run build")
        for at in above
        if is_made and "build" in _scripts(at)
    ]
    # What builds a whole workspace knows what its packages need of each other.
    in_package = _is_workspace(top) and any((at / "package.json").is_file() for at in above[:-1])
    whole = builds[-1:] if in_package and builds and builds[-1][0] == top else []
    for at, command in (*whole, *named, *builds):
        return in_folder(command, "" if at == top else str(at.relative_to(top)))
    return ""


def _naming(at: Path, name: str, top: Path) -> Iterator[str]:
    """Scripts and recipes in a folder that speak of what is called so."""
    pattern = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    for script, text in _scripts(at).items():
        if pattern.search(text) and _is_maker(script):
            yield f"{_manager(at, top)} run {shlex.quote(script)}"
    for file in (at / makefile for makefile in _MAKEFILES):
        for target, recipe in _TARGET.findall(read(file)):
            if target == name or (pattern.search(recipe) and _is_maker(target)):
                yield f"make {target}"


def _is_maker(name: str) -> bool:
    return bool(_MAKES.search(name)) and not _NO_BUILD.search(name)


def _is_python(path: Path) -> bool:
    """Which no `build` of package.json makes."""
    return path.suffix == ".py" or any(path.glob("*.py"))


def _is_workspace(at: Path) -> bool:
    return Project(at, at).is_workspace


def _manager(at: Path, top: Path) -> str:
    return Project(at, top).manager


def _scripts(at: Path) -> Mapping[str, str]:
    return Project(at, at).table("scripts")


def entry_files(package: Path) -> Iterator[str]:
    """What the package.json in a folder says is loaded for it, from that folder."""
    manifest = Project(package, package).package
    values = [manifest.get(key) for key in ("main", "module", "types", "exports")]
    yield from dict.fromkeys(texts(values))
