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
_IN_ALL = {"npm": "npm test --workspaces --if-present", "pnpm": "pnpm -r test"}


def commands(project: Project) -> Iterator[str]:
    """The one that tests it, if any."""
    if "package.json" not in project.names:
        return
    manager, test = project.manager, project.table("scripts").get("test", "")
    tool = _tool(project, test)
    if test and _NO_TEST not in test:
        watches = _WATCHES.search(test) and tool
        yield tool if watches else _script(manager, test)
    elif manager in _IN_ALL and project.is_workspace:
        yield _IN_ALL[manager]
    elif tool:
        yield tool
    elif any(project.tests(place, _TESTS) for place in ("test", "tests", "")):
        yield "node --test"


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
