"""Which checks a project has by its files, and that a race runs those that start on its base."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hydra.config.load import load
from hydra.race.check_selection import with_checks
from hydra.race.guesses.commands import guess_checks
from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.trials import RIGHT, with_tests

DONE = fakes.finish("done")
UNITTEST = "import unittest\n"
DJANGO = "from django.test import TestCase\n"
CALLED = "coverage run -m django test --settings=tests.settings"
MODULE = "node_modules/.bin/"
VITEST = f"{MODULE}vitest run --reporter=verbose"


def write(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)


def environment(name: str) -> dict[str, str]:
    site = f"{name}/lib/python3.12/site-packages/pytest/__init__.py"
    return {f"{name}/pyvenv.cfg": "", site: ""}


PYPROJECT = {"pyproject.toml": "[tool.pytest.ini_options]\n"}
SCRIPT = '{"scripts": {"test": "%s"}}'


@pytest.mark.parametrize(
    ("files", "folder", "expected"),
    [
        ({"README": ""}, "", ()),
        ({**PYPROJECT, **environment(".venv")}, "", (".venv/bin/python -m pytest -q",)),
        ({**PYPROJECT, "venv/pyvenv.cfg": ""}, "", ("python3 -m pytest -q",)),
        ({**PYPROJECT, "uv.lock": ""}, "", ("uv run pytest -q",)),
        ({**PYPROJECT, "poetry.lock": ""}, "", ("poetry run pytest -q",)),
        ({"pyproject.toml": "[tool.hatch.envs.x]\n'pytest'"}, "", ("hatch run pytest -q",)),
        ({"tests/test_a.py": UNITTEST}, "", ("python3 -m unittest discover -v -s tests",)),
        (
            {"tests/test_a.py": UNITTEST, "tests/__init__.py": ""},
            "",
            ("python3 -m unittest -v",),
        ),
        (
            {"tests/test_a.py": DJANGO, "manage.py": "", "tests/__init__.py": ""},
            "",
            ("python3 manage.py test -v 2",),
        ),
        (
            {
                "tests/test_a.py": DJANGO,
                "tox.ini": f"[testenv]\ncommands =\n  {CALLED} {{posargs}}\n",
            },
            "",
            ("python3 -m django test --settings=tests.settings -v 2",),
        ),
        ({"tests/test_a.py": "def test_a(): pass\n"}, "", ("python3 -m pytest -q",)),
        (
            {"setup.py": "", "shop/tests/test_a.py": "def test_a(): pass\n"},
            "",
            ("python3 -m pytest -q",),
        ),
        ({"package.json": SCRIPT % "jest"}, "", ("npm test",)),
        ({"package.json": SCRIPT % "jest", "pnpm-lock.yaml": ""}, "", ("pnpm test",)),
        ({"package.json": SCRIPT % "vitest", f"{MODULE}vitest": ""}, "", (VITEST,)),
        (
            {"package.json": SCRIPT % "tsc && vitest run", f"{MODULE}vitest": ""},
            "",
            ("npm test -- --reporter=verbose",),
        ),
        (
            {"package.json": SCRIPT % "vitest run -c a.ts", "yarn.lock": ""},
            "",
            ("yarn test --reporter=verbose",),
        ),
        # It takes the option for its own.
        ({"package.json": SCRIPT % "vitest run", "pnpm-lock.yaml": ""}, "", ("pnpm test",)),
        ({"package.json": SCRIPT % "vitest run --reporter=dot"}, "", ("npm test",)),
        ({"package.json": SCRIPT % "vitest run && tsc"}, "", ("npm test",)),
        (
            {"package.json": '{"devDependencies": {"jest": "1"}}', f"{MODULE}jest": ""},
            "",
            (f"{MODULE}jest",),
        ),
        ({"package.json": "{}", "test/a.test.js": ""}, "", ("node --test",)),
        (
            {"package.json": '{"workspaces": ["packages/*"]}'},
            "",
            ("npm test --workspaces --if-present",),
        ),
        (
            {"package.json": "{}", "pnpm-workspace.yaml": "", "pnpm-lock.yaml": ""},
            "",
            ("pnpm -r test",),
        ),
        ({"gradlew": "", "build.gradle": ""}, "", ("./gradlew test",)),
        ({"pom.xml": ""}, "", ("mvn -q test",)),
        ({"justfile": "test:\n\tpytest\n"}, "", ("just test",)),
        (
            {"packages/api/pyproject.toml": "pytest", **environment(".venv")},
            "packages/api",
            ("cd packages/api && ../../.venv/bin/python -m pytest -q",),
        ),
        ({"packages/api/a.txt": "", "go.mod": ""}, "packages/api", ("go test ./...",)),
        (
            {"api/pyproject.toml": "pytest", "web/package.json": SCRIPT % "jest"},
            "",
            ("cd api && python3 -m pytest -q", "cd web && npm test"),
        ),
        ({f"p{n}/pyproject.toml": "pytest" for n in range(4)}, "", ()),
    ],
)
def test_what_a_project_is_tested_by(
    scratch: Path, files: dict[str, str], folder: str, expected: tuple[str, ...]
) -> None:
    write(scratch / "top", files)
    assert guess_checks(scratch / "top", folder) == expected


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    return Hydra(scratch, with_tests(repo))


def commit(top: Path) -> None:
    git(top, "add", "-A")
    git(top, "commit", "-qm", "More")


@pytest.mark.slow
def test_a_race_without_checks_runs_the_guess_and_shows_it(hydra: Hydra) -> None:
    (hydra.repo / "Makefile").write_text("test:\n\tsh -c 'exit 1'\n")
    (hydra.repo / "Makefile").write_text("test:\n\t@python3 -m unittest -v\n")
    commit(hydra.repo)
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


@pytest.mark.slow
def test_a_guess_that_cannot_run_stops_for_missing_packages_else_it_is_not_used(
    scratch: Path, repo: Path
) -> None:
    hydra = Hydra(scratch, repo)
    scripts = {"test": "npm run lint && npm run unit", "lint": "no-such-runner --all"}
    (repo / "package.json").write_text(json.dumps({"scripts": scripts}))
    (repo / "package-lock.json").write_text("{}")
    commit(repo)
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    done = hydra.run("race", "Do it", "-a", "claude")
    assert done.returncode == 3, done.stderr
    text = " ".join(done.stderr.split())
    assert "not found on PATH (`npm test`, guessed) " in text
    assert "--setup 'npm ci', or --share" in text
    assert "; --check COMMAND names another; --no-check races without" in text
    (repo / "node_modules").mkdir()
    (repo / ".git/info/exclude").write_text("node_modules/\n")
    race = hydra.race("-a", "claude")
    (text,) = [row for row in race.document["warnings"] if "guess" in row]
    assert text.startswith("the guess `npm test` is not used: it cannot run here (")
    assert text.endswith("not found); to install what it needs: --setup 'npm ci'")
    assert race.lane("claude")["checks"] == []
    plan = json.loads(Path(race.document["folder"], "plan.json").read_text())
    assert plan["checks"]["commands"] == []


@pytest.mark.slow
def test_a_named_check_that_cannot_start_stops_the_race_before_an_agent(hydra: Hydra) -> None:
    hydra.agent("claude", [DONE])
    for command in (".venv/bin/pytest -q", "python3 -m no_such_module", "npx-no-such jest"):
        done = hydra.run("race", "Do it", "-a", "claude", "--check", command)
        assert done.returncode == 3, done.stderr
        assert "tests cannot run here: " in done.stderr
        assert "--no-check" in done.stderr
    assert "agent started" not in done.stderr
    assert hydra.run("runs").stdout.count("claude") == 0
    assert [*hydra.state.glob("g/*")] == []
    assert git(hydra.repo, "for-each-ref", "refs/hydra") == ""


@pytest.mark.slow
def test_what_stands_on_the_base_may_fail_and_the_race_goes_on(hydra: Hydra) -> None:
    (hydra.repo / "tests").mkdir(exist_ok=True)
    (hydra.repo / "tests" / "test_new.py").write_text("import not_made_yet\n")
    commit(hydra.repo)
    hydra.agent("claude", [fakes.edit("not_made_yet.py", "x = 1\n"), DONE])
    race = hydra.race("-a", "claude", "--check", "python3 -m unittest discover -v -s tests")
    assert race.lane("claude")["checks"][0]["check"] == "unittest"


@pytest.mark.slow
def test_checks_and_set_up_run_where_one_stands(scratch: Path, repo: Path) -> None:
    (repo / "packages" / "api").mkdir(parents=True)
    (repo / "packages" / "api" / "here.txt").write_text("1\n")
    commit(repo)
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
    # An older Hydra's name for it: what was recorded on the base is read all the same.
    for file in Path(race.document["folder"], "checks/1/_base").glob("packages-api-test-*"):
        file.rename(file.with_name(f"packages-api-test.{file.name.partition('.')[2]}"))
    again = hydra.run("check", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["baseline_recorded"]


def test_a_check_that_names_the_folder_one_stands_in_is_not_put_into_it_again(
    scratch: Path,
) -> None:
    folder = "packages/api"
    config = load(flags={"race.check": (f"cd {folder} && pytest -q", "pytest -x")})
    commands = with_checks(config, scratch, folder).checks.checks
    assert [check.command for check in commands] == [
        f"cd {folder} && pytest -q",
        f"cd {folder} && pytest -x",
    ]
    assert commands[0].name == f"{folder}: pytest"
    (scratch / folder / folder).mkdir(parents=True)
    commands = with_checks(config, scratch, folder).checks.checks
    assert commands[0].command.startswith(f"cd {folder} && {{ cd {folder}")


@pytest.mark.slow
def test_a_guess_whose_tests_load_for_nobody_is_not_used(scratch: Path, repo: Path) -> None:
    """As Django's without settings: an installed package refuses every module of tests."""
    hydra = Hydra(scratch, repo)
    site = repo / "vendor" / "site-packages" / "django"
    write(repo, {"tests/__init__.py": "", "tests/test_b.py": UNITTEST})
    write(site, {"__init__.py": "raise RuntimeError('no settings')\n"})
    text = f"{UNITTEST}import sys\nsys.path.insert(0, {str(site.parent)!r})\nimport django\n"
    write(repo, {f"tests/test_{name}.py": text for name in "acd"})
    commit(repo)
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    race = hydra.race("-a", "claude")
    (document,) = [row for row in race.document["warnings"] if "guess" in row]
    assert document.endswith(
        "-m unittest -v` is not used: it cannot run here (RuntimeError: no settings)"
    )
    (repo / "tests" / "test_c.py").write_text(UNITTEST)
    (repo / "tests" / "test_d.py").write_text(f"{UNITTEST}import not_made_yet\n")
    commit(repo)
    named = hydra.race("-a", "claude")
    assert named.lane("claude")["checks"][0]["check"] == "unittest"
