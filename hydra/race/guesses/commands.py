"""Which checks a repository is likely to have, by the files that lie in it; nothing is run.

A folder is tested as its own files say; where they say nothing, as those of the folder above do.
Where the top says nothing either, it is the packages below it that are tested, if they are few.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from hydra.checks.project import Project, folders_in
from hydra.config.check_specs import in_folder
from hydra.race.guesses import python

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
    names = [*_of_node(project), *python.commands(project)]
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


# ---- How a project with a package.json is tested: by its own script, or its test tool.

_NAMES = "--reporter=verbose"
"""vitest names the tests that pass with it alone, and no variable asks for it."""
_TOOLS = (
    ("vitest", f"vitest run {_NAMES}"),
    ("jest", "jest"),
    ("mocha", "mocha"),
    ("ava", "ava"),
)
_PASSES_ON = {"npm": f" -- {_NAMES}", "yarn": f" {_NAMES}"}
"""How arguments reach a script; pnpm takes `--reporter` for its own."""
_VITEST = re.compile(r"(?:.*(?:&&|;))? *(?:npx +)?vitest +(?:run|--run)\b[^|&;]*")
_NO_TEST = "no test specified"
"""What `npm init` writes for a script that only fails."""
_TESTS = r".*[._-]test\.[cm]?js|test\.[cm]?js|test-.*\.[cm]?js"
_WATCHES = re.compile(r"--watch(?!=false)|(?:^|[ &])vitest\s*(?:$|&|--)|vitest (?:watch|dev)")
_IN_ALL = {"npm": "npm test --workspaces --if-present", "pnpm": "pnpm -r --no-bail test"}
_RECURSIVE = re.compile(r"(pnpm\b[^|&;]* (?:-r|--recursive|recursive))\b([^|&;]*)")
"""A script that is pnpm's own run of all packages."""


def _of_node(project: Project) -> Iterator[str]:
    """The one that tests it, if any."""
    if "package.json" not in project.names:
        return
    manager, test = project.manager, project.table("scripts").get("test", "")
    tool = _tool(project, test)
    if test and _NO_TEST not in test:
        watches = _WATCHES.search(test) and tool
        scripts = project.table("scripts")
        yield tool if watches else _in_all(scripts) or _script(manager, test)
    elif manager in _IN_ALL and project.is_workspace:
        yield _IN_ALL[manager]
    elif tool:
        yield tool
    elif any(project.tests(place, _TESTS) for place in ("test", "tests", "")):
        yield "node --test"


def _in_all(scripts: dict[str, str]) -> str:
    """pnpm's run of all packages, to its end though one fails: else which tests ran differs from
    run to run. By the option alone: with `bail=false` as a setting `pnpm test` ends with 0
    whatever its script ends with."""
    line = _RECURSIVE.fullmatch(scripts["test"])
    if line is None or "bail" in scripts["test"]:
        return ""
    around = {name: f"pnpm run {name}" for name in ("pretest", "posttest") if name in scripts}
    every = (around.get("pretest"), f"{line[1]} --no-bail{line[2]}", around.get("posttest"))
    return " && ".join(filter(None, every))


def _script(manager: str, test: str) -> str:
    line = f"{manager} run test" if manager == "bun" else f"{manager} test"
    plain = _VITEST.fullmatch(test) and "reporter" not in test
    return f"{line}{_PASSES_ON.get(manager, '')}" if plain else line


def _tool(project: Project, script: str) -> str:
    """Its test tool, run once, by the program that is installed for it, or will be: yarn alone may
    install none."""
    values = project.table("devDependencies") | project.table("dependencies")
    for name, line in _TOOLS:
        for folder in project.above:
            program = folder / "node_modules" / ".bin" / name
            if (name in values or name in script) and program.exists():
                path = os.path.relpath(program, project.folder)
                return f"{path}{line.removeprefix(name)}"
    lines = (f"node_modules/.bin/{line}" for name, line in _TOOLS if name in values)
    return "" if project.manager == "yarn" else next(lines, "")
