"""A check whose program is nowhere is an error of the check: it says nothing of any patch."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from hydra.race.check_hints import refusal
from hydra.records.request import Check
from tests.conftest import commit, git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.tables import table_rows
from tests.support.trials import RIGHT, UNITTEST, with_tests
from tests.support.verdict_races import PLAIN

DONE = fakes.finish("done")


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    hydra = Hydra(scratch, with_tests(repo))
    (repo / "package.json").write_text('{"scripts": {"test": "true"}}')
    (repo / "Makefile").write_text("test:\n\t@true\n")
    commit(repo, "More")
    return hydra


def _check(command: str) -> Check:
    return Check("x", command)


MISSING = (
    ("no-such-program -q", "no-such-program: not found on PATH"),
    ("npm run nope", "npm has no script nope"),
    ("make nope", "make has no rule for nope"),
    ("python3 -m nope", "nope"),
)


RECIPES = """
ignored:
	-no-such-linter
	@true
piped:
	no-such-linter || true
"""


@pytest.mark.slow
def test_where_one_stands_below_the_top_a_line_that_says_the_folder_runs_there_once(
    hydra: Hydra,
) -> None:
    top, api = hydra.repo, hydra.repo / "services" / "api"
    (top / "services" / "web").mkdir(parents=True)
    (top / "services" / "web" / "a.txt").write_text("")
    with_tests(top, {"services/api/pyproject.toml": "pytest", "services/api/Makefile": RECIPES})
    hydra.agent("claude", [DONE])
    hydra.repo = api
    # A line that says the folder itself, as Hydra's own do, runs there once.
    for command in ("make ignored", "make piped", "cd ../web && true", "cd services/api && true"):
        race = hydra.race("-a", "claude", "--check", command)
        assert (race.code, bool(race.document["baseline"])) == (1, True), race


def test_the_guess_is_told_as_one_types_it_where_one_stands(scratch: Path) -> None:
    top = scratch / "top"
    for name in ("api/pyproject.toml", "web/package.json", "web/package-lock.json"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text('{"scripts": {"test": "jest"}}' if ".json" in name else "pytest")
    typed = {
        "": "cd api && python3 -m pytest -q",
        "api": "python3 -m pytest -q",
        "web/src": "cd ../../api && python3 -m pytest -q",
    }
    for folder, command in typed.items():
        hint = refusal("nope: not found", _check("cd api && nope"), top, folder=folder).hint
        assert f"--check {shlex.quote(command)} is Hydra's own guess" in hint
    hint = refusal("jest: not found", _check("cd web && npm test"), top, folder="api").hint
    line = "cd ../web && npm ci"
    assert hint.startswith(f"{line}, then race again; or --setup '{line}'; --")
    # Where nothing confines, lanes have no environments of the checkout.
    alone = refusal("jest: not found", _check("cd web && npm test"), top, shown=False).hint
    assert alone.startswith("--setup 'cd web && npm ci'; --")
    (top / "api/test_a.py").write_text("import pytest\n")
    check = _check("cd api && python3 -m pytest -q")
    later = refusal("python has no module pytest", check, top, folder="api", racing=False)
    assert later.hint == ("python3 -m venv .venv && .venv/bin/pip install pytest, then check again")


@pytest.mark.full
def test_one_named_later_ends_with_an_error_and_changes_no_verdict(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    race = hydra.race("-a", "claude", "--check", UNITTEST)
    before = hydra.run("compare", "--json")
    assert before.returncode == 0, before.stdout
    for command, line in MISSING:
        done = hydra.run("check", "--check", command)
        assert done.returncode == 3, done.stdout + done.stderr
        assert "error: your tests cannot run here: " in done.stderr
        assert line in done.stderr
        assert done.stdout == ""
    again = hydra.run("compare", "--json")
    assert json.loads(again.stdout)["lanes"] == json.loads(before.stdout)["lanes"]
    assert [path.name for path in Path(race.document["folder"], "checks").iterdir()] == ["1"]
    assert hydra.run("check", "--check", "npm test").returncode == 0


@pytest.mark.full
def test_one_that_a_patch_brings_is_no_error(hydra: Hydra) -> None:
    scripts = '{"scripts": {"test": "true", "lint": "true"}}'
    hydra.agent("claude", [fakes.edit("package.json", scripts), DONE])
    hydra.race("-a", "claude", "--check", UNITTEST)
    done = hydra.run("check", "--check", "npm run lint", "--json")
    (lane,) = json.loads(done.stdout)["lanes"]
    assert [row["status"] for row in lane["checks"]] == ["passed"], done.stderr


GROUP = """\
[project]
name = "shop"
[dependency-groups]
dev = ["tox"]
testing = ["pytest"]
"""


@pytest.mark.parametrize(
    ("line", "files", "says", "hint"),
    table_rows("hints", "the_hint_fits_why_it_cannot_run"),
)
def test_the_hint_fits_why_it_cannot_run(
    scratch: Path, line: str, files: tuple[str, ...], says: str, hint: str
) -> None:
    for name in files:
        (scratch / "top" / name).parent.mkdir(parents=True, exist_ok=True)
        text = "import unittest\n" if "test_" in name else ""
        (scratch / "top" / name).write_text(GROUP if name == "pyproject.toml" else text)
    error = refusal(line, _check("x"), scratch / "top")
    assert (error.message, error.hint) == (f"your tests cannot run here: {says}", hint)


@pytest.mark.full
def test_a_bare_program_is_the_project_s_own_and_said(hydra: Hydra) -> None:
    programs = hydra.repo / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs.parent / "pyvenv.cfg").write_text("")
    (programs / "probe").write_text("#!/bin/sh\nexit 0\n")
    (programs / "make").write_text("#!/bin/sh\necho own; exit 0\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    (hydra.repo / ".gitignore").write_text(".venv/\n")
    commit(hydra.repo, "Ignores")
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    race = hydra.race("-a", "claude", "--check", "probe -q", "--check", "A=1 make nope")
    commands = [row["command"] for row in race.lane("claude")["checks"]]
    assert commands == [".venv/bin/probe -q", "A=1 .venv/bin/make nope"]
    assert [row for row in race.document["warnings"] if row.startswith("check ")] == [
        "check probe: probe is the project's .venv/bin/probe (none is on PATH)",
        "check make-nope: make is the project's .venv/bin/make (not /usr/bin/make)",
    ]
    done = hydra.run("check", "--check", "probe", "--json")
    assert json.loads(done.stdout)["lanes"][0]["checks"][0]["status"] == "passed", done.stderr
    hydra.extra["VIRTUAL_ENV"] = "/somewhere"
    assert hydra.run("race", "Do it", "-a", "claude", "--check", "probe").returncode == 3


@pytest.mark.slow
def test_where_pytest_loads_no_tests_no_patch_is_called_broken(hydra: Hydra) -> None:
    tests = hydra.repo / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "test_a.py").write_text("def test_a():\n    assert 1\n")
    (tests / "test_b.py").write_text("import not_made_yet\n\ndef test_b():\n    assert 1\n")
    commit(hydra.repo, "Tests")
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    hydra.agent("codex", [fakes.edit("not_made_yet.py", ""), DONE])
    command = f"{PLAIN} -m pytest -q tests"
    race = hydra.race("-a", "claude", "-a", "codex", "--check", command)
    assert race.document["baseline"][0]["says"] == "no test ran"
    lanes = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    assert {
        lane["lane"]: (lane["state"], lane["reason"].partition(", breaks")[0]) for lane in lanes
    } == {
        "claude": (
            "untested",
            "pytest stops at tests/test_b.py, which cannot be imported: "
            "ModuleNotFoundError: No module named 'not_made_yet'",
        ),
        "codex": ("proved", "fixes the failing test"),
    }


FAILING_HOOK = """
def pytest_runtest_logreport(report):
    if "test_docs" in report.nodeid and report.when == "call":
        raise RuntimeError("generator raised StopIteration")
"""


@pytest.mark.slow
def test_where_pytest_itself_fails_it_is_said_with_what_leaves_that_out(hydra: Hydra) -> None:
    (hydra.repo / "conftest.py").write_text(FAILING_HOOK)
    (hydra.repo / "test_a.py").write_text("def test_a():\n    assert 1\n")
    (hydra.repo / "test_docs.py").write_text("def test_docs():\n    assert 0\n")
    commit(hydra.repo, "Tests")
    hydra.agent("claude", [fakes.edit("a.py", "x = 1\n"), DONE])
    race = hydra.race("-a", "claude", "--check", f"{PLAIN} -m pytest -q")
    without = f"--check '{PLAIN} -m pytest -q --ignore=test_docs.py'"
    (lane,) = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    assert (race.document["baseline"][0]["says"], lane["state"], lane["reason"]) == (
        "1 passed, 1 failed",
        "untested",
        "pytest itself fails in test_docs.py: RuntimeError: generator raised StopIteration "
        f"({without} leaves it out)",
    )
    done = hydra.run("check", *shlex.split(without))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_plugin_that_ends_pytest_at_once_stops_the_race(hydra: Hydra) -> None:
    plugin = hydra.scratch / "site-packages" / "worn_plugin.py"
    plugin.parent.mkdir()
    plugin.write_text("def pytest_collection(session):\n    raise KeyError('worn')\n")
    (hydra.repo / "test_a.py").write_text("def test_a():\n    assert 1\n")
    commit(hydra.repo, "Tests")
    hydra.agent("claude", [DONE])
    command = f"PYTHONPATH={plugin.parent} {sys.executable} -m pytest -p worn_plugin"
    done = hydra.run("race", "Do it", "-a", "claude", "--check", command)
    assert (done.returncode, "your tests cannot run here: KeyError: 'worn'" in done.stderr) == (
        3,
        True,
    ), done.stderr


@pytest.mark.slow
def test_settings_below_the_top_are_not_read_and_said(hydra: Hydra) -> None:
    top, folder = hydra.repo, hydra.repo / "packages" / "api"
    folder.mkdir(parents=True)
    (folder / "hydra.toml").write_text('[race]\ncheck = ["no-such-program"]\n')
    hydra.agent("claude", [DONE])
    hydra.repo = folder
    done = hydra.run("race", "Do it", "-a", "claude", "--dry-run")
    assert "packages/api/hydra.toml is not read: only one at the top is" in done.stdout
    (top / "hydra.toml").write_text("[race]\n")
    done = hydra.run("race", "Do it", "-a", "claude", "--dry-run")
    assert "packages/api/hydra.toml is not read: the one at the top is" in done.stdout
    hydra.repo = top
    done = hydra.run("race", "Do it", "-a", "claude", "--dry-run")
    assert "is not read" not in done.stdout


@pytest.mark.slow
def test_tests_that_read_a_submodule_that_was_never_fetched_stop_the_race(
    scratch: Path, repo: Path
) -> None:
    """As a plain `git clone` leaves it."""
    allow = ("-c", "protocol.file.allow=always")
    data = scratch / "data"
    data.mkdir()
    git(data, "init", "-q")
    (data / "rows.txt").write_text("3 2 2\n")
    git(data, "add", "-A")
    git(data, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "Rows")
    reads = (
        "from pathlib import Path\n\nfrom src.pager import pages\n\n"
        "ROWS = Path(__file__).with_name('data').joinpath('rows.txt').read_text()\n\n\n"
        "def test_rows():\n    for line in ROWS.splitlines():\n"
        "        n, size, expected = map(int, line.split())\n"
        "        assert pages(n, size) == expected\n"
    )
    with_tests(repo, {"tests/test_rows.py": reads})
    git(repo, *allow, "submodule", "add", "-q", str(data), "tests/data")
    git(repo, "commit", "-qm", "Rows")
    clone = scratch / "clone"
    git(scratch, "clone", "-q", str(repo), str(clone))
    hydra = Hydra(scratch, clone / "tests")
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), DONE])
    check = f"cd .. && {PLAIN} -B -m pytest -q tests"
    done = hydra.run("race", "Do it", "-a", "claude", "--check", check)
    assert done.returncode == 3, done.stderr
    text = " ".join(done.stderr.split())
    assert "your tests cannot run here: tests/data is a submodule that was never fetched" in text
    line = "git submodule update --init data"
    assert f"hint: {line}, then race again; --no-check races without tests" in text
    goes_on = f"{check} --continue-on-collection-errors"  # it tests what can be tested
    assert hydra.run("race", "Do it", "-a", "claude", "--check", goes_on).returncode != 3
    git(hydra.repo, *allow, *shlex.split(line)[1:])
    race = hydra.race("-a", "claude", "--check", check)
    assert race.lane("claude")["checks"][0]["status"] == "passed", race
