"""A check says nothing of a patch that it could not see, or whose packages are not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hydra.analysis.notices.requirements import asks_for_others, is_requirement
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
