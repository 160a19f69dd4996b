"""Where nothing confines, no check runs the checkout's code in a patch's place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from hydra.race.installs import find_installs, python_path
from hydra.records.plan import RacePlan
from hydra.workspace.installs import installs
from hydra.workspace.interpreters import interpreters
from tests.conftest import commit
from tests.support import fakes
from tests.support.command import Hydra

DONE = fakes.finish("done")
FIX = fakes.edit("src/shelf/__init__.py", "def load():\n    return 2\n")
BREAK = fakes.edit("src/shelf/__init__.py", "raise SystemExit(1)\n")
TEST = "import shelf\nprint('shelf of', shelf.__file__)\nassert shelf.load() in (1, 2)\n"

FINDER = """from __future__ import annotations
MAPPING: dict[str, str] = {{'shelf': '{place}'}}
NAMESPACES: dict[str, list[str]] = {{}}
def install():
    import importlib.util, sys
    class Finder:
        def find_spec(self, name, path=None, target=None):
            place = MAPPING.get(name)
            if place:
                return importlib.util.spec_from_file_location(name, place + "/__init__.py")
    sys.meta_path.insert({position}, Finder())
"""


@pytest.fixture
def project(hydra: Hydra) -> Hydra:
    """A project in a checkout with an environment of its own, active; nothing confines it."""
    hydra.refused_bwrap("setting up uid map: Permission denied")
    package = hydra.repo / "src" / "shelf"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def load():\n    return 1\n")
    (hydra.repo / "check.py").write_text(TEST)
    (hydra.repo / ".gitignore").write_text(".venv/\n")
    commit(hydra.repo, "Shelf")
    environment(hydra.repo / ".venv")
    hydra.extra["VIRTUAL_ENV"] = str(hydra.repo / ".venv")
    hydra.path.insert(0, hydra.repo / ".venv" / "bin")
    return hydra


def environment(place: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    return place


def packages(top: Path) -> Path:
    return next(top.glob(".venv/lib/python*/site-packages"))


def path_file(project: Hydra, text: str, name: str = "shelf.pth") -> None:
    (packages(project.repo) / name).write_text(text)


def by_finder(project: Hydra, position: str) -> None:
    path_file(project, "import _finder; _finder.install()\n")
    text = FINDER.format(place=project.repo / "src" / "shelf", position=position)
    path_file(project, text, "_finder.py")


def statuses(project: Hydra, check: str, *args: str) -> list[str]:
    project.agent("claude", [FIX, DONE])
    project.agent("codex", [BREAK, DONE])
    race = project.race("-a", "claude", "-a", "codex", "--check", check, *args)
    return [race.lane(lane)["checks"][0]["status"] for lane in ("claude", "codex")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "check"), [("path", "{python} check.py"), ("finder", "python check.py")]
)
def test_a_check_runs_the_patch(project: Hydra, how: str, check: str) -> None:
    if how == "path":
        path_file(project, f"{project.repo}/src\n")
    else:
        by_finder(project, "99")
    line = check.format(python=project.repo / ".venv" / "bin" / "python")
    assert statuses(project, line) == ["passed", "failed"]


SAYS = (
    "tests import your checkout's code, not the patch: install bubblewrap, or have a set-up make "
    'an environment in each lane (--setup "python3 -m venv .venv && .venv/bin/pip install -e ." '
    '--check ".venv/bin/pytest")'
)


@pytest.mark.parametrize("how", ["isolated", "finder"])
@pytest.mark.slow
def test_a_check_that_imports_the_checkout_proves_nothing(project: Hydra, how: str) -> None:
    if how == "finder":
        by_finder(project, "0")
    else:
        path_file(project, f"{project.repo}/src\n")
    check = "python check.py" if how == "finder" else "python -I check.py"
    project.agent("claude", [FIX, DONE])
    race = project.race("-a", "claude", "--check", f"unit={check}")
    assert race.lane("claude")["held_back"] == [f"unit: {SAYS}"]
    assert race.document["baseline"][0]["untested"] == SAYS
    again = project.run("check", "claude", "--json")
    assert json.loads(again.stdout)["lanes"][0]["held_back"] == [f"unit: {SAYS}"]


def test_a_program_of_the_checkout_alone_stops_the_race_before_an_agent_starts(
    project: Hydra,
) -> None:
    path_file(project, f"{project.repo}/src\n")
    calls = fakes.Calls(project.scratch)
    project.agent("claude", [FIX, DONE], record=calls.path)
    done = project.run("race", "x", "-a", "claude", "--check", ".venv/bin/python check.py")
    assert done.returncode == 3, done
    assert "your tests cannot run here: .venv/bin/python: not found" in done.stderr
    assert [call for call in calls.so_far() if call["stdin"] is not None] == []
    calls.close()
    assert list(project.state.glob("*/runs/*")) == []
    assert list(project.state.glob("g/*")) == []


@pytest.mark.slow
def test_a_set_up_proves_it(project: Hydra) -> None:
    by_finder(project, "0")
    set_up = (
        f"{sys.executable} -m venv --without-pip .venv && "
        "echo $PWD/src > $(echo .venv/lib/python*/site-packages)/shelf.pth"
    )
    check = ".venv/bin/python check.py"
    assert statuses(project, check, "--setup", set_up) == ["passed", "failed"]


@pytest.mark.slow
def test_set_up_has_the_lanes_path_and_an_agent_of_pythons_own_has_not(project: Hydra) -> None:
    path_file(project, f"{project.repo}/src\n")
    seen = project.scratch / "seen"
    step = fakes.shell("sh", "-c", f'echo "agent $PYTHONPATH" >> {seen}')
    project.agent("codex", [step, DONE])
    program = project.agent("claude", [step, FIX, DONE])
    behind = program.rename(program.with_name("behind"))
    start = f"import os, sys; os.execv('{behind}', ['claude', *sys.argv[1:]])"
    program.write_text(f"#!{sys.executable}\n{start}\n")
    program.chmod(0o755)
    line = f'echo "set-up $PYTHONPATH" >> {seen}'
    terms = ("--setup", line, "--unsafe-full-access", "--json")
    for lane in ("claude", "codex"):
        project.run("race", "x", "-a", lane, *terms)
    roots = [line.partition("/")[0] for line in seen.read_text().splitlines()]
    assert roots == ["set-up ", "agent ", "set-up ", "agent "]
    ends = [line.endswith("/src") for line in seen.read_text().splitlines()]
    assert ends == [True, False, True, True]


@pytest.mark.slow
def test_nothing_is_turned_where_nothing_leads_into_the_checkout(project: Hydra) -> None:
    path_file(project, "/usr/share\n./inner\n# a comment\n\n")
    seen = project.scratch / "seen"
    project.agent("claude", [FIX, DONE])
    check = f'echo "check $PYTHONPATH" >> {seen}'
    assert project.race("-a", "claude", "--check", check).code == 1  # as on the base: untested
    # On the base and on the patch: no look runs it where it may leave something half done.
    assert seen.read_text().splitlines() == ["check ", "check "]


async def test_no_module_of_the_repositorys_runs_for_the_look(
    project: Hydra, monkeypatch: pytest.MonkeyPatch
) -> None:
    path_file(project, f"{project.repo}/src\n")
    for name in ("json", "site"):
        (project.repo / f"{name}.py").write_text("raise SystemExit('run')\n")
    monkeypatch.chdir(project.repo)
    plan = cast(RacePlan, SimpleNamespace(confined=False, checks=()))
    answer = await find_installs(plan, project.repo, project.environ)
    assert python_path(answer) == ("src",)


def test_the_interpreter_of_a_command(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    heads = {
        "python3": "#!/bin/false\n",
        "pytest": f"#!{tools}/python3\nimport x\n",
        "long": f"#!/bin/sh\n'''exec' \"{tmp_path}/a b/python\" \"$0\" \"$@\"\n' '''\n",
        "by-env": "#!/usr/bin/env -S python3 -E\n",
        "make": "#!/bin/sh\n",
    }
    for name, head in heads.items():
        (tools / name).write_text(head)
        (tools / name).chmod(0o755)
    python = f"{tools}/python3"
    expected = {
        "pytest -q": [(python,)],
        "X=1 env A=b pytest | tee out": [(python,)],
        "cd src && python3 -I -m pytest -x": [(python,)],
        "long": [(f"{tmp_path}/a b/python",)],
        "by-env": [(python, "-E")],
        "make test; nothing": [(python,)],
        "bin/pytest": [(python,)],
        "'unclosed": [],
    }
    search = os.pathsep.join((str(tools), "/nonexistent"))
    assert {line: [*interpreters(line, tmp_path, search)] for line in expected} == expected


def test_what_build_backends_leave_behind(tmp_path: Path) -> None:
    top = tmp_path / "project"
    folder = top / ".venv" / "lib" / "python3" / "site-packages"
    folder.mkdir(parents=True)
    (top / ".venv" / "pyvenv.cfg").touch()
    for name in ("a", "b", "c", "d/pkg", "e", "f/copied", "g/one"):
        (top / name).mkdir(parents=True)
    strict = top / "build" / "__editable__.x"
    (strict / "one").mkdir(parents=True)
    (top / "g/one/mod.py").touch()
    (strict / "one" / "mod.py").symlink_to(top / "g/one/mod.py")
    files = {
        "a.pth": f"{top}/a\n",
        "b.pth": f"import sys; sys.path.insert(0, '{top}/b')\n",
        "c.egg-link": f"{top}/c\n.\n",
        "d.pth": "import finder_of_d; finder_of_d.install()\n",
        "finder_of_d.py": f"MAPPING = {{'pkg': '{top}/d/pkg'}}\nOTHER = 1\n",
        "strict.pth": f"{strict}\n",
        "own.pth": f"{folder}/vendored\n/usr/lib\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    record = folder / "copied-1.dist-info"
    record.mkdir()
    (record / "direct_url.json").write_text(f'{{"url": "file://{top}/f", "dir_info": {{}}}}')
    (record / "RECORD").write_text("copied/__init__.py,sha256=x,1\n../../bin/copied,,\n")
    editable = folder / "e-1.dist-info"
    editable.mkdir()
    text = f'{{"url": "file://{top}/e", "dir_info": {{"editable": true}}}}'
    (editable / "direct_url.json").write_text(text)
    answer = installs([folder], top)
    assert {(each.record.name, each.folder, each.copy) for each in answer} == {
        ("a.pth", "a", False),
        ("b.pth", "b", False),
        ("c.egg-link", "c", False),
        ("d.pth", "d", False),
        ("strict.pth", "g", False),
        ("copied-1.dist-info", "f", True),
    }
    assert [each.modules for each in answer if each.copy] == [("copied",)]


@pytest.mark.parametrize("text", ["", "MAPPING = {", "MAPPING = {'a': f()}", "\0", "[" * 9000])
def test_a_finder_that_cannot_be_read_is_of_the_whole_checkout(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.pth").write_text("import x_finder\n")
    (tmp_path / "x_finder.py").write_text(f"# {tmp_path}\n{text}")
    assert [each.folder for each in installs([tmp_path], tmp_path)] == [""]
