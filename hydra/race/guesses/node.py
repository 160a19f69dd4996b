"""How a project with a package.json is tested: by its own script, or its test tool."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from hydra.checks.project import Project

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


def commands(project: Project) -> Iterator[str]:
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
