"""A check says nothing of a patch that it could not see, or whose packages are not installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hydra.analysis.notices.requirements import asks_for_others, is_requirement
from hydra.checks.requirements import changed_requirements
from hydra.text import of_run
from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra

DONE = fakes.finish("done")
BREAK = fakes.edit("src/shelf/__init__.py", "raise SystemExit(1)\n")
CHANGE = fakes.edit("requirements.txt", "left-pad==2\n")


def make_project(hydra: Hydra) -> None:
    package = hydra.repo / "src" / "shelf"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def load():\n    return 1\n")
    (hydra.repo / "requirements.txt").write_text("left-pad==1\n")
    (hydra.repo / ".gitignore").write_text(".venv/\n")
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "Shelf")


def check_of(race: object, lane: str) -> dict[str, object]:
    return race.lane(lane)["checks"][0]  # type: ignore[attr-defined,no-any-return]


@pytest.mark.slow
def test_what_fails_with_other_dependencies_is_untested(hydra: Hydra) -> None:
    make_project(hydra)
    hydra.agent("claude", [CHANGE, BREAK, DONE])
    hydra.agent("codex", [BREAK, DONE])
    line = f"unit=PYTHONPATH=src {sys.executable} -c 'import shelf'"
    terms = ("-a", "claude", "-a", "codex", "--check", line)
    race = hydra.race(*terms)
    check = f"hydra check{of_run(race.document['run'])}"
    assert {lane: check_of(race, lane)["untested"] for lane in ("claude", "codex")} == {
        "claude": "its dependencies changed (requirements.txt) and were not installed: "
        f"{check} --setup 'pip install -r requirements.txt' tests it with them",
        "codex": "",
    }
    assert all(race.lane(lane)["held_back"] for lane in ("claude", "codex"))
    race = hydra.race(*terms, "--setup", "true")
    assert [check_of(race, lane)["untested"] for lane in ("claude", "codex")] == ["", ""]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stands", "line"),
    [
        pytest.param("", "cd 'a b' && pip install -r requirements.txt", marks=pytest.mark.full),
        pytest.param("a b", "pip install -r requirements.txt", marks=pytest.mark.full),
        ("src", "cd '../a b' && pip install -r requirements.txt"),
    ],
)
def test_the_set_up_is_offered_for_the_folder_where_one_stands(
    hydra: Hydra, stands: str, line: str
) -> None:
    make_project(hydra)
    (hydra.repo / "a b").mkdir()
    git(hydra.repo, "mv", "requirements.txt", "a b/requirements.txt")
    git(hydra.repo, "commit", "-qm", "Moved")
    hydra.agent("claude", [fakes.edit("a b/requirements.txt", "left-pad==2\n"), BREAK, DONE])
    top = hydra.repo
    hydra.repo = top / stands
    race = hydra.race("-a", "claude", "--check", f"cd {top} && grep -q load src/shelf/__init__.py")
    run = race.document["run"]
    setup = f'"{line}"' if "'" in line else f"'{line}'"
    cure = f"hydra check{of_run(run)} --setup {setup} tests it with them"
    assert str(check_of(race, "claude")["untested"]).endswith(f": {cure}"), race


def copied(top: Path) -> Path:
    """An environment that holds a copy of the package, as `pip install .` leaves it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", top / ".venv"], check=True)
    packages = next(top.glob(".venv/lib/python*/site-packages"))
    (packages / "shelf").mkdir()
    (packages / "shelf" / "__init__.py").write_text("def load():\n    return 1\n")
    record = packages / "shelf-1.0.dist-info"
    record.mkdir()
    (record / "direct_url.json").write_text(f'{{"url": "file://{top}", "dir_info": {{}}}}')
    (record / "RECORD").write_text("shelf/__init__.py,,\nshelf-1.0.dist-info/RECORD,,\n")
    return packages


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "set_up", "stale"),
    [
        ("unit=.venv/bin/python -c 'import shelf'", "", True),
        ("unit=PYTHONPATH=src .venv/bin/python -c 'import shelf'", "", False),
        pytest.param(
            "unit=.venv/bin/python -c 'import shelf'",
            "cp src/shelf/* .venv/lib/python*/site-packages/shelf",
            False,
            marks=pytest.mark.full,
        ),
    ],
    ids=["copy", "tree", "set-up"],
)
def test_tests_of_an_installed_copy_are_untested(
    hydra: Hydra, check: str, set_up: str, stale: bool
) -> None:
    make_project(hydra)
    packages = copied(hydra.repo)
    hydra.agent("claude", [BREAK, DONE])
    value = ("--setup", set_up) if set_up else ()
    race = hydra.race("-a", "claude", "--check", check, *value)
    says = (
        "tests import the installed copy of shelf, not the patch: "
        "--setup '.venv/bin/python -m pip install .' installs it anew"
    )
    result = check_of(race, "claude")
    assert result["untested"] == (says if stale else ""), race.document["warnings"]
    assert race.lane("claude")["held_back"]
    warned = [line for line in race.document["baseline"] if line["untested"]]
    assert bool(warned) == stale
    assert (packages / "shelf" / "__init__.py").read_text() == "def load():\n    return 1\n"
    if stale:
        again = hydra.run("check", "claude", "--json")
        (lane,) = json.loads(again.stdout)["lanes"]
        assert lane["held_back"] == [f"unit: {says}"]


SEES = {
    "python": (
        "shelf/__init__.py",
        "def load():\n    return 1\n",
        "test_load.py",
        "import unittest\nimport shelf\n\nclass T(unittest.TestCase):\n"
        "    def test_load(self):\n        assert shelf.load()\n",
        f"PYTHONPATH={{}} {sys.executable} -m unittest -v tests/test_load.py",
    ),
    "javascript": (
        "shelf.js",
        "exports.load = () => 1\n",
        "load.test.js",
        "require('node:test')('loads', () => { if (!require('shelf').load()) throw 1 })\n",
        "NODE_PATH={} node --test tests/load.test.js",
    ),
}
"""By language: code, its text, a test of it, and what runs that with code of a folder."""


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "javascript"])
def test_tests_that_see_none_of_the_code_prove_nothing(hydra: Hydra, language: str) -> None:
    """Whatever they test in its place, it is known by the base with its code broken."""
    if language == "javascript" and not shutil.which("node"):
        pytest.skip("node is not here")
    name, text, test, body, line = SEES[language]
    top = hydra.repo
    for place in ("src", "node_modules/copy"):
        (top / place / name).parent.mkdir(parents=True, exist_ok=True)
        (top / place / name).write_text(text)
    (top / "tests").mkdir()
    (top / "tests" / test).write_text(body)
    (top / ".gitignore").write_text("node_modules/\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "Tests")
    code = fakes.edit(f"src/{name}", f"{text}\n")
    data = fakes.edit("src/rows.sql", "1\n")
    cases = [("--model\ncode\n", [code, DONE]), ("--model\ndata\n", [code, data, DONE])]
    hydra.agent("claude", [DONE], cases=cases)
    for place in ("node_modules/copy", "src"):
        check = f"unit={line.format(place)}"
        race = hydra.race("-a", "claude:code", "-a", "claude:data", "--check", check)
        says = "its tests end alike with all code of the base broken: they test none of it"
        warned = says in race.document["baseline"][0]["remarks"]
        assert warned == (place != "src"), race
        assert race.stderr.count(f"warning: unit: {says}") == warned
        result = check_of(race, "claude-code")
        assert (result["says"], result["untested"]) == ("1 passed", says * warned)
        assert result["held_back"] == f"unit: {says}" * warned
        # What tests may read of it was not broken.
        assert check_of(race, "claude-data")["untested"] == ""


@pytest.mark.slow
def test_of_tests_that_import_the_project_from_elsewhere_it_is_said_from_where(
    hydra: Hydra,
) -> None:
    make_project(hydra)
    packages = copied(hydra.repo)
    (packages / "shelf-1.0.dist-info" / "direct_url.json").unlink()  # from an index
    (packages / "shelf-1.0.dist-info" / "METADATA").write_text("Name: Shelf\nVersion: 1.0\n")
    environment = hydra.scratch / "environment"
    (hydra.repo / ".venv").rename(environment)
    (hydra.repo / "tests").mkdir()
    (hydra.repo / "tests" / "test_load.py").write_text(SEES["python"][3])
    (hydra.repo / "pyproject.toml").write_text('[project]\nname = "shelf"\nversion = "1.1"\n')
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "Tests")
    hydra.agent(
        "claude", [fakes.edit("src/shelf/__init__.py", "def load():\n    return 2\n"), DONE]
    )
    hydra.path.insert(0, environment / "bin")
    race = hydra.race("-a", "claude", "--check", "unit=python3 -m unittest -v tests/test_load.py")
    place = environment / packages.relative_to(hydra.repo / ".venv")
    says = (
        "its tests end alike with all code of the base broken: they test none of it "
        f"(shelf is imported from {place}, not from here: a race with --setup 'python3 -m venv "
        ".venv && .venv/bin/pip install -e . -r requirements.txt' tests it)"
    )
    assert check_of(race, "claude")["untested"] == says
    assert race.document["baseline"][0]["remarks"] == [says]


PROJECT = b'[project]\nname = "a"\ndependencies = ["x>=1"]\n'


@pytest.mark.parametrize(
    ("path", "old", "new", "others"),
    [
        (b"uv.lock", b"1", b"2", True),
        (b"sub/requirements-dev.txt", b"a", b"b", True),
        (b"pyproject.toml", PROJECT, PROJECT + b"[tool.pytest]\nx = 1\n", False),
        (b"pyproject.toml", PROJECT, PROJECT.replace(b">=1", b">=2"), True),
        (b"pyproject.toml", PROJECT, b"[broken", True),
        (b"pyproject.toml", PROJECT, b"project = 1", True),
        (b"pyproject.toml", None, PROJECT, True),
        (b"package.json", b'{"scripts": {}}', b'{"scripts": {"a": "b"}}', False),
        (b"package.json", b"{}", b'{"devDependencies": {"a": "1"}}', True),
        (b"package.json", b"{}", b"[]", True),
        (b"Cargo.toml", b"[package]\nversion = '1'\n", b"[package]\nversion = '2'\n", False),
        (b"Cargo.toml", b"", b"[target.x.dev-dependencies]\na = '1'\n", True),
        (b"go.sum", b"a", b"b", True),
    ],
)
def test_what_asks_for_other_packages(
    path: bytes, old: bytes | None, new: bytes, others: bool
) -> None:
    assert is_requirement(path)
    assert asks_for_others(path, old, new) == others


def test_of_no_repository_nothing_is_said(tmp_path: Path) -> None:
    assert changed_requirements(tmp_path, "0" * 40) == ""
