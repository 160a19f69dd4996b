"""The line that tells what is hidden, where something fails for lack of it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from hydra.checks.lacks import lacks
from hydra.process.sandbox.editable import hidden_modules
from hydra.process.sandbox.hidden_output import missing_places
from hydra.process.sandbox.view import ShownPlace, View
from hydra.workspace.surplus import Surplus
from tests.conftest import commit
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import namespaces_work

needs_bwrap = pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here")


@pytest.fixture
def home(scratch: Path) -> Path:
    """A HOME with data, sources, a tool that is shown, and keys."""
    folders = ("nltk_data/corpora", "src/lib", "dep/src", ".pyenv/versions/3.12", ".ssh/keys")
    for name in (*folders, ".cache/huggingface/hub", ".local/share/app", ".config/app", ".codex"):
        (scratch / "home" / name).mkdir(parents=True)
    (scratch / "home" / "dep" / "src" / "lib.rs").touch()
    return scratch / "home"


def found_in(text: str, home: Path) -> list[str]:
    """What is proposed, from HOME."""

    def is_visible(path: Path) -> bool:
        return path.is_relative_to(home / ".pyenv") or path.is_relative_to("/usr")

    own = (home.parent / "shop", home.parent / "state")
    places = missing_places(text.replace("HOME", str(home)), home, is_visible, own)
    return [str(place).replace(str(home), "~") for place in places]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'HOME/dep/src/lib.rs'", "~/dep"),
        (
            "LookupError: not found\n  Searched in:\n    - 'HOME/nltk_data'\n - '/usr/x'",
            "~/nltk_data",
        ),
        ("npm error enoent ENOENT: no such file or directory, open 'HOME/src/lib'", "~/src/lib"),
        ("error: failed to load source for dependency: unable to read HOME/src/lib/", "~/src/lib"),
        (
            "OSError: HOME/.cache/huggingface/hub does not appear to have a file",
            "~/.cache/huggingface",
        ),
        ("cat: ~/.config/app: No such file or directory", "~/.config/app"),
        ("sh: 1: cannot open HOME/.local/share/app: No such file", "~/.local/share/app"),
    ],
)
def test_what_is_hidden_and_missed_is_found(text: str, places: str, home: Path) -> None:
    assert found_in(text, home) == [places]


@pytest.mark.parametrize(
    "text",
    [
        "AssertionError: assert 1 == 2\n  File 'HOME/dep/src/lib.rs', line 3",
        "FileNotFoundError: No such file: '/tmp/pytest-of-root/x'; /var/tmp/y; /run/z",
        "FileNotFoundError: No such file: 'HOME/../shop/.venv/lib/x.py'",
        "FileNotFoundError: No such file: 'HOME/../state/g/12/claude/shop/x'",
        "ModuleNotFoundError: No module named 'x'\nHOME/.pyenv/versions/3.12 not found",
        "cannot open HOME/nowhere/at/all: No such file or directory",
        "not found: https://example.org/home/HOME/nltk_data",
        "Permission denied (publickey): cannot read HOME/.ssh/keys; not found HOME/.codex",
        "not found: HOME; not found: /; not found: /home; missing /root",
        "no such file: relative/nltk_data and ./nltk_data",
        "1 failed, 3 passed in HOME/nltk_data",
        "HOME/nltk_data is fine\n" + "line\n" * 20 + "error: not found",
    ],
)
def test_an_ordinary_failure_gives_no_line(text: str, home: Path) -> None:
    for folder in ("shop/.venv/lib", "state/g/12/claude/shop"):
        (home.parent / folder).mkdir(parents=True)
    assert found_in(text, home) == []


def test_a_long_output_costs_little(home: Path) -> None:
    line = f"not found: {home}/dep/src " + " ".join(f"/a{n}/b" for n in range(40)) + "\n"
    assert found_in("x" * 10_000_000 + "\n" + line * 3000, home) == ["~/dep"]


@pytest.mark.slow
@needs_bwrap
def test_a_hidden_virtual_environment_whose_python_leads_to_a_shown_one_is_told(
    hydra: Hydra,
) -> None:
    place = hydra.home / "envs" / "p" / "bin" / "python"
    place.parent.mkdir(parents=True)
    place.symlink_to("/usr/bin/env")
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("done")])
    # By a variable: what a check names itself is shown.
    done = hydra.run("race", "x", "-a", "claude", "--check", f"pytest=P={place}; $P -m pytest")
    assert done.returncode == 3, done.stderr
    assert "hidden from the agents: ~/envs (a check" in " ".join(done.stderr.split())


@pytest.mark.slow
@needs_bwrap
def test_a_race_says_once_what_would_have_to_be_shown(hydra: Hydra) -> None:
    for name in ("nltk_data", "models", "fixtures"):
        (hydra.home / name).mkdir()
    looks = {name: f"ls {shlex.quote(str(hydra.home / name))}" for name in ("models", "fixtures")}
    steps = [fakes.shell("sh", "-c", looks["models"], show="ls"), fakes.edit("a.txt", "a\n")]
    hydra.agent("claude", [*steps, fakes.finish("done")])
    check = f"echo 'Searched in:'; echo '  - {hydra.home}/nltk_data'; exit 1"
    race = hydra.race("-a", "claude", "--check", f"a={check}", "--check", f"b={check}")
    lines = [line for line in race.document["warnings"] if line.startswith("hidden from")]
    config = hydra.environ["HYDRA_CONFIG"]
    assert lines == [
        f"hidden from the agents: ~/{name} ({who} speaks of it); "
        f'to show it: [confine] show = ["~/{name}"] in {config}'
        for name, who in (("models", "a command of an agent"), ("nltk_data", "a check"))
    ]
    events = Path(race.document["folder"], "events.jsonl").read_text().splitlines()
    notices = [json.loads(line) for line in events if '"hidden_place"' in line]
    assert [event["data"]["text"] for event in notices] == lines
    assert events[-1].count("run_ended") == 1
    done = hydra.run("check")
    assert f'[confine] show = ["~/nltk_data"] in {config}' in done.stderr + done.stdout


@pytest.mark.slow
@needs_bwrap
def test_a_set_up_that_misses_something_says_so(hydra: Hydra) -> None:
    (hydra.home / "fixtures").mkdir()
    hydra.agent("claude", [fakes.finish("done")])
    race = hydra.race("-a", "claude", "--setup", f"cat {hydra.home}/fixtures")
    assert [line for line in race.document["warnings"] if "~/fixtures (the set-up" in line]


def installed_editable(home: Path, project: Path, name: str = "shelf") -> Path:
    """A virtual environment in HOME that takes a distribution from `project`; its programs."""
    top = home / "envs" / "p"
    record = top / "lib" / "python3.11" / "site-packages" / f"{name}-1.dist-info"
    record.mkdir(parents=True)
    (top / "pyvenv.cfg").write_text("home = /usr/bin\n")
    origin = {"url": project.as_uri(), "dir_info": {"editable": True}}
    (record / "direct_url.json").write_text(json.dumps(origin))
    (top / "bin").mkdir()
    (top / "bin" / "python").symlink_to("/usr/bin/python3")
    return top / "bin"


@pytest.mark.slow
@needs_bwrap
@pytest.mark.parametrize(("project", "layout"), [("", ""), ("packages/shelf of pages", "src")])
def test_a_module_of_the_checkout_that_a_lane_misses_is_told(
    hydra: Hydra, project: str, layout: str
) -> None:
    (hydra.repo / project / layout / "shelf").mkdir(parents=True)
    hydra.path.append(installed_editable(hydra.home, hydra.repo / project))
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("done")])
    fails = "echo \"ModuleNotFoundError: No module named 'shelf.pages'\"; exit 1"
    race = hydra.race("-a", "claude", "--check", f"a={fails}", "--check", f"b={fails}")
    way = Path(project, layout, "shelf")
    assert [line for line in race.document["warnings"] if "shelf" in line] == [
        f"a check misses the module shelf, which your checkout has in {way}: "
        "what git ignores there, or you have not committed, comes by --copy"
    ]


PYTEST = """#!/bin/sh
test -e parse/_info.py && exec echo '1 passed in 0.1s'
echo "E   ModuleNotFoundError: No module named 'parse._info'"
echo "ERROR test_parse.py"
echo "!!!!!! Interrupted: 1 error during collection !!!!!!"
exit 2
"""


@pytest.mark.slow
def test_an_ignored_module_that_tests_miss_is_told_before_the_agents(hydra: Hydra) -> None:
    api, path = hydra.repo / "services/api", "services/api/parse/_info.py"
    (api / ".venv/bin").mkdir(parents=True)
    (api / ".venv/lib/python3.12/site-packages/pytest").mkdir(parents=True)
    (api / ".venv/lib/python3.12/site-packages/pytest/__init__.py").touch()
    (api / ".venv/pyvenv.cfg").touch()
    (api / ".venv/bin/python").write_text(PYTEST)
    (api / ".venv/bin/python").chmod(0o755)
    (api / "parse").mkdir()
    (api / "parse" / "__init__.py").write_text("from parse._info import A\n")
    (api / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (hydra.repo / ".gitignore").write_text("_info.py\n.venv/\n")
    commit(hydra.repo, "Parse")
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("done")])
    hydra.repo = api
    way = "--copy parse/_info.py"  # as one types it there
    told = f"a check misses {path}, which your checkout has and git ignores: {way} brings it"
    # It may be the task to write it: nothing stops for it, and of what nobody has nothing is told.
    race = hydra.race("-a", "claude")
    assert told not in race.document["warnings"]
    (hydra.repo.parents[1] / path).write_text("A = 1\n")
    race = hydra.race("-a", "claude")
    assert race.document["warnings"].count(told) == 1
    kinds = [(row["kind"], row["data"].get("text")) for row in hydra.events()]
    assert kinds.index(("run_warning", told)) < [kind for kind, _ in kinds].index("agent_started")
    race = hydra.race("-a", "claude", *way.split())
    assert race.lane("claude")["checks"][0]["status"] == "passed", race


def test_a_module_that_is_missing_for_another_reason_gives_no_line(home: Path) -> None:
    project = home / "src" / "lib"
    (project / "shelf").mkdir(parents=True)
    (project / "seen.py").touch()
    environment = installed_editable(home, project).parent
    shown = (ShownPlace(environment, "PATH"), ShownPlace(project / "seen.py", "[confine] show"))
    view = View(home=home, shown=shown)
    (module,) = hidden_modules("No module named 'shelf'", view)
    assert module.place == project / "shelf"
    assert list(hidden_modules("No module named 'pager'", view)) == []
    assert list(hidden_modules("No module named 'seen'", view)) == []
    assert list(hidden_modules("shelf: assert 1 == 2", view)) == []
    for record in environment.rglob("direct_url.json"):
        for text in (
            "",
            "[]",
            "{}",
            '{"dir_info": 1}',
            '{"url": 1, "dir_info": {"editable": true}}',
        ):
            record.write_text(text)
            assert list(hidden_modules("No module named 'shelf'", view)) == []


@pytest.mark.slow
@needs_bwrap
def test_a_program_that_misses_its_libraries_is_told_with_its_folder(hydra: Hydra) -> None:
    tool = hydra.home / "opt" / "tool" / "bin" / "tool"
    tool.parent.mkdir(parents=True)
    says = "error while loading shared libraries: libpart.so: cannot open shared object file"
    tool.write_text(
        f"#!/bin/sh\ntest -e {tool.parents[1]}/lib && exit\necho tool: {says}; exit 127\n"
    )
    tool.chmod(0o755)
    (tool.parents[1] / "lib").mkdir()
    hydra.path.append(tool.parent)
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--check", "tool")
    (line,) = [line for line in race.document["warnings"] if "opt" in line]
    assert "~/opt/tool (a check misses libraries of the program tool)" in line
    assert 'show = ["~/opt/tool"]' in line


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["a", "ab/", "aB9+/"])
def test_a_word_without_end_costs_little(scratch: Path, piece: str) -> None:
    (scratch / "node_modules").mkdir()
    endless = "\n".join([piece * 60_000, f"Error: Cannot find module '{piece * 300}'"] * 3)
    assert lacks(endless, Surplus(top=scratch, shown=("node_modules",))) == ()
