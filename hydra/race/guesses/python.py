"""How a Python project is tested: by its environment, its package manager, its test tool."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from hydra.checks.project import Project, read
from hydra.race.guesses.needs import uv_options

ENVIRONMENTS = (".venv", "venv", "env", ".virtualenv")
MANAGERS = (
    ("uv.lock", "uv run"),
    ("poetry.lock", "poetry run"),
    ("pdm.lock", "pdm run"),
    ("Pipfile.lock", "pipenv run"),
)
_MANIFESTS = frozenset(("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"))
_TOOLS = frozenset(("tox.ini", "pytest.ini", "conftest.py", "noxfile.py"))
_PROJECT = _MANIFESTS | _TOOLS | {"requirements-dev.txt", "dev-requirements.txt"}
_TESTS = r"test_.*\.py|.*_test\.py|tests?\.py"
_PYTEST, _UNITTEST = "pytest -q", "unittest -v"
_MANAGE = "manage.py test -v 2"
_DJANGO = re.compile(r"-m (django test(?: -[\w.=-]+| [\w.]+)*)")
"""Django's own runner as tox is asked to call it: only there are the settings named."""


def commands(project: Project) -> Iterator[str]:
    """The one that tests it, if any."""
    tests = _tests(project)
    if not (project.names & _PROJECT or tests):
        return
    tool = _tool(project, tests)
    environment = _environment(project, tool)
    if tool and environment:
        yield _line(environment, tool)
    elif tool and (runner := _runner(project, tool)):
        yield f"{runner} {_PYTEST}" if tool == _PYTEST else _line(f"{runner} python", tool)
    elif installer := _installer(project):
        yield installer
    elif tool:
        yield _line("python3", tool)


def test_tool(project: Project) -> str:
    """The package by which its tests are run; "" where Python has all that they need."""
    return "pytest" if _tool(project, _tests(project)) == _PYTEST else ""


def _line(interpreter: str, tool: str) -> str:
    return f"{interpreter} {tool}" if tool == _MANAGE else f"{interpreter} -m {tool}"


def _tests(project: Project) -> list[Path]:
    places = ["tests", "test", ""]
    if project.names & _MANIFESTS:  # a package may bring its own
        places += [f"{name}/{tests}" for name in project.folders for tests in places[:2]]
    return [path for place in places for path in project.tests(place, _TESTS)]


def _tool(project: Project, tests: list[Path]) -> str:
    if {"pytest.ini", "conftest.py"} & project.names or project.mentions("pytest", _PROJECT):
        return _PYTEST
    texts = [read(path) for path in tests]
    if any("import pytest" in text for text in texts):
        return _PYTEST
    if any("django" in text for text in texts) and (own := _django(project)):
        return own
    plain = bool(texts) and not any(re.search(r"^def test_", text, re.MULTILINE) for text in texts)
    if plain or any("unittest" in text for text in texts):
        return _discovery(project, tests)
    return _PYTEST if tests else ""


def _django(project: Project) -> str:
    """Plain discovery would load no test: it sets no settings up."""
    if "manage.py" in project.names:
        return _MANAGE
    called = _DJANGO.search(project.text("tox.ini"))
    return f"{called[1]} -v 2" if called else ""


def _discovery(project: Project, tests: list[Path]) -> str:
    """It goes into packages only: a plain folder of tests has to be named."""
    folder = tests[0].parent
    if folder == project.folder or (folder / "__init__.py").is_file():
        return _UNITTEST
    return f"unittest discover -v -s {folder.name}"


def _environment(project: Project, tool: str) -> str:
    """The interpreter of the environment that it, or a folder above, holds, and that has the
    tool."""
    for folder in project.above:
        for name in ENVIRONMENTS:
            place = folder / name
            if (place / "pyvenv.cfg").is_file() and (tool != _PYTEST or _has_pytest(place)):
                return os.path.relpath(place / "bin" / "python", project.folder)
    return ""


def _has_pytest(environment: Path) -> bool:
    return any(environment.glob("lib/python*/site-packages/pytest/__init__.py"))


def _runner(project: Project, tool: str) -> str:
    text = next((runner for lock, runner in MANAGERS if project.has(lock)), "")
    if text == "uv run":
        return f"{text}{uv_options(project, 'pytest' if tool == _PYTEST else '')}"
    return text or ("hatch run" if "[tool.hatch.envs" in project.text("pyproject.toml") else "")


def _installer(project: Project) -> str:
    """What makes environments itself, where it is here: that takes its time, and the network."""
    tox = "[testenv" in project.text("tox.ini") or "[tool.tox" in project.text("pyproject.toml")
    if tox and shutil.which("tox"):
        return "tox -q"
    return "nox" if "noxfile.py" in project.names and shutil.which("nox") else ""
