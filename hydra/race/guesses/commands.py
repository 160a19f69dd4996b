"""Which checks a repository is likely to have, by the files that lie in it; nothing is run.

A folder is tested as its own files say; where they say nothing, as those of the folder above do.
Where the top says nothing either, it is the packages below it that are tested, if they are few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hydra.checks.project import Project, folders_in
from hydra.config.check_specs import in_folder
from hydra.race.guesses import node, python

_OTHERS = (
    (("Cargo.toml", "cargo test --no-fail-fast"),),  # else the first red target hides the others
    (("go.mod", "go test -v ./..."),),  # without -v it names its failures alone
    (
        ("gradlew", "./gradlew test"),
        ("build.gradle", "gradle test"),
        ("build.gradle.kts", "gradle test"),
    ),
    (("mvnw", "./mvnw -q test"), ("pom.xml", "mvn -q test")),
    (("mix.exs", "mix test"),),
    ((".rspec", "bundle exec rspec"),),
)
"""Of each the first whose file is there."""
_RECIPES = (
    ("justfile", "just"),
    ("Justfile", "just"),
    ("Makefile", "make"),
    ("makefile", "make"),
    ("GNUmakefile", "make"),
)
_MANIFESTS = frozenset(
    ("package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", *dict(_RECIPES))
)
"""What makes a folder below the top a package; a file of recipes, if it has one for tests."""
_PACKAGES = 3
"""More of them are not tested one by one."""
_DEEP = 2
_PASSED_BY = frozenset(("node_modules", "vendor", "target", "build", "dist", "docs", "examples"))


def guess_checks(top: Path, folder: str = "") -> tuple[str, ...]:
    """As `check` in `[race]` has them, for who stands in `folder` of the repository at `top`."""
    place = top / folder
    for above in (place, *(parent for parent in place.parents if parent.is_relative_to(top))):
        if names := _of(Project(above, top)):
            return _in(top, above, names)
    tested = list(_below(top, top, _DEEP))
    if len(tested) > _PACKAGES:
        return ()
    return tuple(command for below, names in tested for command in _in(top, below, names))


def _in(top: Path, folder: Path, commands: list[str]) -> tuple[str, ...]:
    name = "" if folder == top else str(folder.relative_to(top))
    return tuple(in_folder(command, name) for command in commands)


def _of(project: Project) -> list[str]:
    names = [*node.commands(project), *python.commands(project)]
    for family in _OTHERS:
        names += [command for name, command in family if name in project.names][:1]
    return names or list(_recipes(project))


def _recipes(project: Project) -> Iterator[str]:
    for name, program in _RECIPES:
        text = project.text(name) if name in project.names else ""
        for target in ("test", "check"):
            if re.search(rf"^{target}\b[^:=\n]*:(?!=)", text, re.MULTILINE):
                yield f"{program} {target}"
                return


def _below(top: Path, folder: Path, deep: int) -> Iterator[tuple[Path, list[str]]]:
    """The packages of the repository's own, with what tests each; none lies in another."""
    for name in folders_in(folder):
        place = folder / name
        if name in _PASSED_BY or (place / "pyvenv.cfg").exists():
            continue
        project = Project(place, top)
        if names := _of(project) if project.names & _MANIFESTS else []:
            yield place, names
        elif deep > 1:
            yield from _below(top, place, deep - 1)
