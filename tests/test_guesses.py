"""Which checks a project has by its files, and that a race runs those that start on its base."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra.race.guesses.commands import guess_checks
from tests.conftest import commit, git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.tables import table_rows
from tests.support.trials import RIGHT, with_tests

DONE = fakes.finish("done")
UNITTEST = "import unittest\n"


def write(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
        if text.startswith("#!"):
            (top / name).chmod(0o755)


def environment(name: str) -> dict[str, str]:
    site = f"{name}/lib/python3.12/site-packages/pytest/__init__.py"
    return {f"{name}/pyvenv.cfg": "", site: ""}


@pytest.mark.parametrize(
    ("files", "folder", "expected"),
    table_rows("guesses", "what_a_project_is_tested_by"),
)
def test_what_a_project_is_tested_by(
    scratch: Path, files: dict[str, str], folder: str, expected: tuple[str, ...]
) -> None:
    write(scratch / "top", files)
    assert guess_checks(scratch / "top", folder) == expected


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    return Hydra(scratch, with_tests(repo))


@pytest.mark.slow
def test_a_race_without_checks_runs_the_guess_and_shows_it(hydra: Hydra) -> None:
    (hydra.repo / "Makefile").write_text("test:\n\t@python3 -m unittest -v\n")
    commit(hydra.repo, "More")
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    done = hydra.run("race", "Do it", "-a", "claude")
    assert done.returncode == 0, done.stderr
    assert "(guessed; --no-check to do without)" in done.stderr
    folder = Path(hydra.run("runs", "path").stdout.strip())
    (lane,) = json.loads((folder / "result.json").read_text())["lanes"]
    assert [check["status"] for check in lane["checks"]] == ["passed"]
    without = hydra.race("-a", "claude", "--no-check")
    assert without.lane("claude")["checks"] == []
    both = hydra.run("race", "Do it", "--check", "true", "--no-check")
    assert both.returncode == 2
    assert "--check and --no-check were both given" in both.stderr


REFUSED = tomllib.loads((Path(__file__).parent / "data" / "refused_races.toml").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("row", REFUSED["race"], ids=[row["name"] for row in REFUSED["race"]])
def test_what_cannot_run_stops_the_race_before_an_agent(
    row: Mapping[str, Any], scratch: Path, repo: Path
) -> None:
    hydra = Hydra(scratch, repo)
    row = REFUSED.get(row.get("of", ""), {}) | row
    programs = hydra.agent("claude", [fakes.edit("a.txt", "a\n"), DONE]).parent
    write(repo, row["files"])
    commit(repo, "More")
    write(repo, row.get("untracked", {}))
    write(programs, row.get("programs", {}))
    (repo / ".git/info/exclude").write_text(row.get("exclude", ""))
    subprocess.run(["/bin/sh", "-ec", row.get("sh", "")], cwd=repo, check=True)
    hydra.repo = repo / row.get("at", "")
    race = ("race", "Do it", "-a", "claude", *row.get("args", ()))
    done = hydra.run(*race)
    text = " ".join(done.stderr.split())
    assert done.returncode == 3, done.stderr
    assert [says for says in row["says"] if says not in text] == [], text
    assert [says for says in ("agent started", *row.get("unsaid", ())) if says in text] == []
    assert [*hydra.state.glob("g/*")] == [*hydra.state.glob("*/runs/*")] == []
    assert git(repo, "for-each-ref", "refs/hydra") == ""
    write(repo, row.get("mending", {}))
    write(programs, row.get("mending_programs", {}))
    if row.keys() & {"mending", "mending_programs"}:
        assert "agent started" in hydra.run(*race).stderr


@pytest.mark.slow
def test_a_guess_that_finds_no_tests_is_left_out_and_said(scratch: Path, repo: Path) -> None:
    hydra = Hydra(scratch, repo)
    (repo / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    commit(repo, "More")
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    hydra.path.append(Path(sys.executable).parent)
    race = hydra.race("-a", "claude")
    assert race.lane("claude")["checks"] == []
    note = "the guess `python3 -m pytest -q` is left out: it finds no tests"
    assert note in race.document["warnings"]


@pytest.mark.slow
def test_rules_that_are_not_committed_are_named(scratch: Path, repo: Path) -> None:
    """Lanes are shown what their commit ignores."""
    hydra = Hydra(scratch, repo)
    write(repo, {"pyproject.toml": "pytest", "pkg/a.py": "x = 1\n"})
    commit(repo, "More")
    write(repo, {**environment(".venv"), ".gitignore": ".venv/\n"})
    (repo / ".venv/bin").mkdir()
    (repo / ".venv/bin/python").write_text("#!/bin/sh\necho 1 test collected\n")
    (repo / ".venv/bin/python").chmod(0o755)
    hydra.agent("claude", [fakes.edit("a.py", "x = 1\n"), DONE])
    hydra.repo = repo / "pkg"
    done = hydra.run("race", "Do it", "-a", "claude", "--check", ".venv/bin/python -m pytest")
    assert done.returncode == 3, done.stderr
    assert "hint: git add ../.gitignore && git commit -m " in done.stderr, done.stderr
    assert ", then race again; or --include-dirty: " in done.stderr
    dirty = hydra.run("race", "Do it", "-a", "claude", "--include-dirty")
    assert "base       check pytest: passed" in dirty.stderr
    git(repo, "add", ".gitignore")
    git(repo, "commit", "-qm", "Rules")
    assert "base       check pytest: passed" in hydra.run("race", "Do it", "-a", "claude").stderr


MAKE = """
mkdir -p .venv/bin .venv/lib/python3.11/site-packages/pytest
touch .venv/pyvenv.cfg .venv/lib/python3.11/site-packages/pytest/__init__.py
printf '#!/bin/sh\\necho 1 test collected\\n' > .venv/bin/python
chmod +x .venv/bin/python
"""
"""A set-up of an environment whose Python has pytest, and a pytest that passes."""


@pytest.mark.slow
def test_after_a_set_up_the_guess_is_the_environment_s_that_it_made(
    scratch: Path, repo: Path
) -> None:
    hydra = Hydra(scratch, repo)
    write(repo, {"pyproject.toml": "pytest", "make.sh": MAKE, ".gitignore": ".venv/\n"})
    (repo / "no-pytest").mkdir()
    (repo / "no-pytest/python3").write_text("#!/bin/sh\necho $0: No module named pytest\nexit 1\n")
    (repo / "no-pytest/python3").chmod(0o755)
    commit(repo, "More")
    hydra.path.append(repo / "no-pytest")
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    nothing = hydra.run("race", "Do it", "-a", "claude", "--setup", "true")
    assert nothing.returncode == 3, nothing.stderr
    text = " ".join(nothing.stderr.split())
    assert "python has no module pytest (`python3 -m pytest -q`, guessed, after the set-up)" in text
    assert "agent started" not in text
    race = hydra.race("-a", "claude", "--setup", "sh make.sh")
    (check,) = race.lane("claude")["checks"]
    assert (check["command"], check["status"]) == (".venv/bin/python -m pytest -q", "passed")
    # As for one that was named: what the set-up made is the project's own.
    race = hydra.race("-a", "claude", "--setup", "sh make.sh", "--check", "python -m pytest -x")
    (check,) = race.lane("claude")["checks"]
    assert (check["command"], check["status"]) == (".venv/bin/python -m pytest -x", "passed")


@pytest.mark.slow
def test_what_stands_on_the_base_may_fail_and_the_race_goes_on(hydra: Hydra) -> None:
    (hydra.repo / "tests").mkdir(exist_ok=True)
    (hydra.repo / "tests" / "test_new.py").write_text("import not_made_yet\n")
    commit(hydra.repo, "More")
    hydra.agent("claude", [fakes.edit("not_made_yet.py", "x = 1\n"), DONE])
    race = hydra.race("-a", "claude", "--check", "python3 -m unittest discover -v -s tests")
    assert race.lane("claude")["checks"][0]["check"] == "unittest"


@pytest.mark.slow
def test_checks_and_set_up_run_where_one_stands(scratch: Path, repo: Path) -> None:
    (repo / "packages" / "api").mkdir(parents=True)
    (repo / "packages" / "api" / "here.txt").write_text("1\n")
    commit(repo, "More")
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", [fakes.edit("packages/api/new.txt", "2\n"), DONE])
    hydra.repo = repo / "packages" / "api"
    race = hydra.race(
        "-a", "claude", "--setup", "test -f here.txt", "--check", "test -f here.txt -a -f new.txt"
    )
    (check,) = race.lane("claude")["checks"]
    assert (check["check"], check["status"]) == ("packages/api: test", "passed")
    name = Path(race.document["folder"], check["details"]).name
    assert re.fullmatch(r"packages-api-test-[0-9a-f]{8}\.json", name)
    again = hydra.run("check", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["baseline_recorded"]


@pytest.mark.slow
def test_a_guess_whose_tests_load_for_nobody_stops_the_race(scratch: Path, repo: Path) -> None:
    """As Django's without settings: an installed package refuses every module of tests."""
    hydra = Hydra(scratch, repo)
    site = repo / "vendor" / "site-packages" / "django"
    write(repo, {"tests/__init__.py": "", "tests/test_b.py": UNITTEST})
    write(site, {"__init__.py": "raise RuntimeError('no settings')\n"})
    text = f"{UNITTEST}import sys\nsys.path.insert(0, {str(site.parent)!r})\nimport django\n"
    write(repo, {f"tests/test_{name}.py": text for name in "acd"})
    commit(repo, "More")
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    done = hydra.run("race", "Do it", "-a", "claude")
    assert done.returncode == 3, done.stderr
    assert "error: your tests cannot run here: RuntimeError: no settings (`" in done.stderr
    (repo / "tests" / "test_c.py").write_text(UNITTEST)
    (repo / "tests" / "test_d.py").write_text(f"{UNITTEST}import not_made_yet\n")
    commit(repo, "More")
    named = hydra.race("-a", "claude")
    assert named.lane("claude")["checks"][0]["check"] == "unittest"
