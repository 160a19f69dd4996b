"""What a check misses and the checkout has is named with what brings it; that works when pasted."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from hydra.checks.lack import Lack, joined
from hydra.checks.lacks import lacks
from hydra.text import of_run
from hydra.workspace.surplus import Surplus
from tests.conftest import commit, git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import namespaces_work
from tests.support.tables import table_rows
from tests.support.verdict_races import Judged

needs_bwrap = pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here")

IGNORED = (
    ".env",
    "api/.env.test",
    "b/local.cfg",
    "c/local.cfg",
    "web/gen/",
    "generated/",
    "helper.py",
    "tests/local.py",
    "shop/client.py",
    "node_modules/",
    "core/dist/",
    "static/",
    "maps/tiles/",
    "linked",
    "seeds/",
)
FILES = (
    *(".env", "api/.env.test", "b/local.cfg", "c/local.cfg", "web/gen/x.ts", "web/gen/x.js"),
    *("generated/__init__.py", "helper.py", "tests/local.py", "shop/client.py", "new/a.json"),
    *("core/dist/index.js", "core/src/index.js", "static/app.css", "seeds/a.sql", "app/.env"),
    "maps/tiles/0.png",
)
MANIFESTS = {
    "package.json": {"workspaces": ["core"], "scripts": {"build": "tsc -b", "seed": "cat seeds/*"}},
    "maps/package.json": {"scripts": {"fetch all $5": "curl -o tiles"}},
    "gone/package.json": {"name": "@shop/gone", "main": "./lib/main.js"},
    "core/package.json": {"name": "@shop/core", "exports": {".": {"default": "./dist/index.js"}}},
}


@pytest.fixture
def top(scratch: Path) -> Path:
    """A checkout with all of these; what it has beside them is in the base."""
    top = scratch / "shop"
    for name in FILES:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).touch()
    for name, manifest in MANIFESTS.items():
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text(json.dumps(manifest))
    (top / "node_modules/@shop").mkdir(parents=True)
    (top / "node_modules/@shop/core").symlink_to("../../core")
    (top / "node_modules/@shop/gone").symlink_to("../../gone")
    (scratch / "elsewhere").mkdir()
    (scratch / "elsewhere/rows.csv").touch()
    (top / "linked").symlink_to("../elsewhere")
    return top


def surplus_of(top: Path, **values: Any) -> Surplus:
    return Surplus(
        top=top,
        ignored=IGNORED,
        untracked=("new/",),
        shown=("node_modules",),
        variables=frozenset({"SHOP_KEY", "DISPLAY"}),
        defined={"DATABASE_URL": (".env",), "REDIS_URL": (".env", "api/.env.test")},
        **values,
    )


def ways(lacks: Iterable[Lack], folder: str = "") -> list[str]:
    """What each says to type, with its verb."""
    return [lack.told_of("a check", folder).partition(": ")[2] for lack in lacks]


@pytest.mark.parametrize(
    ("text", "name", "way"),
    table_rows("lacks", "what_an_output_misses_is_named_with_the_option"),
)
def test_what_an_output_misses_is_named_with_the_option(
    top: Path, text: str, name: str, way: str
) -> None:
    found = lacks(text.replace("TOP", str(top)), surplus_of(top))
    assert [lack.name for lack in found] == [name] * bool(name), found
    assert all(line.startswith(way) for line in ways(found)), found


GENERATED = "src/main/java/com/shop/gen/"
LOADED = ("lib/rates.rb", "native/libfx.a", "app/Gen/Client.php", "parser.c", "lib/Shop/Local.pm")


@pytest.mark.parametrize(
    ("text", "name", "way"),
    table_rows("missing_loads", "what_a_tool_cannot_load_is_named_with_the_option"),
)
def test_what_a_tool_cannot_load_is_named_with_the_option(
    scratch: Path, text: str, name: str, way: str
) -> None:
    for path in (*LOADED, f"{GENERATED}Api.java"):
        (scratch / path).parent.mkdir(parents=True, exist_ok=True)
        (scratch / path).touch()
    missing = lacks(text, Surplus(top=scratch, ignored=(*LOADED, GENERATED)))
    assert [(lack.name, lack.option) for lack in missing] == [(name, way)] * bool(name)


def test_at_most_two_are_told_and_one_option_once(top: Path) -> None:
    text = "\n".join(f"No such file or directory: '{name}'" for name in FILES)
    assert ways(lacks(text, surplus_of(top))) == [
        "--copy .env brings it",
        "--copy api/.env.test brings it",
    ]
    both = "No such file or directory: 'static/app.css'; static/b not found\n" * 9
    assert len(lacks(both, surplus_of(top))) == 1


def test_options_are_as_one_types_them_where_one_stands(top: Path) -> None:
    text = f"Cannot find module '{top}/core/dist/index.js'; no such file '.env'"
    assert ways(lacks(text, surplus_of(top)), "app") == [
        "--setup 'cd .. && npm run build' builds it",
        "--copy ../.env brings it",
    ]


def test_nothing_is_shared_where_nothing_confines(top: Path) -> None:
    found = lacks("no such file 'static/app.css'", surplus_of(top, shares=False))
    assert ways(found) == ["--copy static/app.css brings it"]


@pytest.mark.parametrize(
    ("text", "command", "way"),
    table_rows("lacks", "of_files_with_one_name_the_one_that_is_meant_is_offered_or_all"),
)
def test_of_files_with_one_name_the_one_that_is_meant_is_offered_or_all(
    top: Path, text: str, command: str, way: str
) -> None:
    surplus = surplus_of(top)
    surplus = dataclasses.replace(surplus, ignored=(*surplus.ignored, "app/.env"))
    assert ways(lacks(text.replace("TOP", str(top)), surplus, command=command)) == [way]


def test_one_line_passes_on_all_variables(top: Path) -> None:
    surplus = dataclasses.replace(surplus_of(top), passed=("KEPT_*",))
    surplus = dataclasses.replace(surplus, variables=frozenset(("KEY_A", "KEY_B", "KEY_C")))
    (both,) = lacks("KEY_A is not set\nKEY_B is not set", surplus)
    (more,) = lacks("KEY_C is not set\nKEY_B is not set", surplus)
    line = "export HYDRA_CHECKS_ENVIRONMENT='KEPT_*,KEY_A,KEY_B"
    assert both.told_of("a check", "") == (
        "a check misses KEY_A and KEY_B, variables of your shell that checks are not given: "
        f"{line}' passes them on"
    )
    assert ways(joined((both, more))) == [f"{line},KEY_C' passes them on"]
    assert lacks("KEY_A is not set", surplus, shell=False) == ()


UNIT = """import unittest

KEY = open(".env").read()


class T(unittest.TestCase):
    def test_key(self):
        self.assertTrue(KEY)
"""
MAKEFILE = "proto:\n\tmkdir -p web/stubs && echo VALUE = 1 > web/stubs/__init__.py\n"
LINES = {
    "env": "import os; assert os.environ['SHOP_KEY']",
    "data": "open('fixtures/rows.csv')",
    "stubs": "import sys; sys.path.insert(0, 'web'); open('web/stubs/__init__.py')",
    "new": "open('new/a.json')",
    "linked": "open('linked/rows.csv')",
}


def options(sentences: list[str]) -> tuple[list[str], dict[str, str], list[str]]:
    """What these sentences say to type: options, variables, and places of `[confine] show`."""
    typed: list[str] = []
    variables: dict[str, str] = {}
    places: list[str] = []
    for sentence in sentences:
        way = re.sub(
            r" (?:brings?|builds|passes) (?:it|them)(?: on)?$", "", sentence.partition(": ")[2]
        )
        if shown := re.search(r" and \[confine\] show = (\[.*\]) in \S+$", way):
            places, way = json.loads(shown[1]), way[: shown.start()]
        if way.startswith("export "):
            name, _, value = way.removeprefix("export ").partition("=")
            variables[name] = value
        else:
            typed += shlex.split(way)
    return typed, variables, places


@pytest.mark.slow
@needs_bwrap
def test_what_the_base_misses_is_told_and_each_line_works_when_pasted(
    scratch: Path, repo: Path
) -> None:
    hydra = Hydra(scratch, repo, extra={"SHOP_KEY": "made-up"})
    for name, text in {
        "test_env.py": UNIT,
        "Makefile": MAKEFILE,
        ".gitignore": ".env\n/fixtures/\nstubs/\n/linked\n",
    }.items():
        (repo / name).write_text(text)
    commit(repo, "Tests")
    for name in (".env", "fixtures/rows.csv", "web/stubs/__init__.py", "new/a.json"):
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text("A=1\n")
    (hydra.home / "rows").mkdir()
    (hydra.home / "rows/rows.csv").touch()
    (repo / "linked").symlink_to(hydra.home / "rows")
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("done")])
    lines = [("--check", f"{name}=python3 -Bc {shlex.quote(line)}") for name, line in LINES.items()]
    checks = ["--check", "unit=python3 -m unittest -v", *(term for line in lines for term in line)]
    done = hydra.run("race", "Do it", "-a", "claude", *checks)
    compared = json.loads(hydra.run("compare", "--json").stdout)
    said = [line for line in compared["warnings"] if line.startswith("a check misses ")]
    assert sorted(line.split()[3].rstrip(",") for line in said) == [
        ".env",
        "SHOP_KEY",
        "fixtures/rows.csv",
        "linked/rows.csv",
        "new/a.json",
        "web/stubs/__init__.py",
    ], said
    assert "made-up" not in json.dumps(compared)
    for line in said:
        assert f"note: {line}" in done.stdout
        assert line in hydra.run("compare").stdout.replace("\n    ", " ")
    kinds = [(row["kind"], row["data"].get("text", "")) for row in hydra.events()]
    env = next(line for line in said if ".env" in line)
    assert kinds.count(("run_warning", env)) == 1
    at = [kind for kind, _ in kinds].index("agent_started")
    assert ("run_warning", env) in kinds[:at], "told before an agent costs"
    assert {("run_warning", line) for line in said} <= {*kinds}

    typed, variables, places = options(said)
    assert places == [str(hydra.home / "rows")]
    hydra.extra.update(variables, HYDRA_SHOW=os.pathsep.join((*map(str, hydra.shown), *places)))
    race = hydra.race("-a", "claude", *checks, *typed)
    ends = {row["check"]: row["status"] for row in race.lane("claude")["checks"]}
    assert ends == dict.fromkeys(("unit", *LINES), "passed"), race


def build_shop(repo: Path, script: str = "build") -> None:
    """A workspace whose tests load what its `build` makes of `core/src`, built and installed."""
    build = "require('fs').cpSync('core/src', 'core/dist', {recursive: true})"
    files = {
        ".gitignore": "dist\nnode_modules\n",
        "package.json": json.dumps(
            {
                "private": True,
                "workspaces": ["core", "app"],
                "scripts": {script: f'node -e "{build}"', "test": "node app/test.js"},
            }
        ),
        "core/package.json": json.dumps({"name": "@shop/core", "main": "dist/index.js"}),
        "core/src/index.js": "exports.round = Math.ceil;\n",
        "app/test.js": "require('assert')(require('@shop/core').round(1.5) === 2);\n",
    }
    for name, text in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    commit(repo, "Shop")
    (repo / "node_modules/@shop").mkdir(parents=True)
    (repo / "node_modules/@shop/core").symlink_to("../../core")
    shutil.copytree(repo / "core/src", repo / "core/dist")


needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not here")


@pytest.mark.slow
@needs_bwrap
@needs_npm
def test_a_workspace_s_build_is_offered_and_pasted(scratch: Path, repo: Path) -> None:
    hydra = Hydra(scratch, repo)
    build_shop(repo)
    shutil.rmtree(repo / "core/dist")
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("done")])
    done = hydra.run("race", "Do it", "-a", "claude:a", "-a", "claude:b")
    assert done.stdout.startswith("Nothing was tested: there is no first.\n")
    compared = json.loads(hydra.run("compare", "--json").stdout)
    (lack,) = compared["baseline"][0]["missing"]
    assert (lack["names"], lack["option"]) == (["core/dist/index.js"], "--setup")
    (said,) = [line for line in compared["warnings"] if "misses" in line]
    assert said.endswith(": --setup 'npm run build' builds it")
    assert f"note: {said}" in done.stdout
    assert {(lane["state"], lane["reason"]) for lane in compared["lanes"]} == {
        ("untested", "its tests do not run in a lane: core/dist/index.js is missing")
    }
    line = re.search(r"test them now: hydra (check .*)", done.stdout)
    assert line is not None
    assert shlex.split(line[1]) == ["check", "-r", compared["run"][-4:], "--setup", "npm run build"]
    again = json.loads(hydra.run(*shlex.split(line[1]), "--json").stdout)
    assert {row["status"] for lane in again["lanes"] for row in lane["checks"]} == {"passed"}
    warnings = json.loads(hydra.run("compare", "--json").stdout)["warnings"]
    assert not [line for line in warnings if "misses" in line]


@pytest.mark.slow
@needs_bwrap
@needs_npm
def test_a_shared_folder_that_is_built_from_what_a_patch_touches_is_stale(
    scratch: Path, repo: Path
) -> None:
    hydra = Hydra(scratch, repo)
    build_shop(repo, "build in $HOME")
    lanes = {
        "core": {"core/src/index.js": "exports.round = () => 2;\n"},
        "notes": {"core/README.md": "# Core\n"},
        "worse": {"core/src/index.js": "", "app/index.js": "", "app/test.js": "throw 1;\n"},
    }
    race = Judged(hydra, lanes).run("--share", "core/dist", checks=())
    untested = {does: race.of(does)["checks"][0]["untested"] for does in lanes}
    build = shlex.quote("npm run 'build in $HOME'")
    cure = f"hydra check{of_run(race.document['run'])} --setup {build}"
    assert untested == {
        "core": f"core/dist is your checkout's, built without this patch: {cure} builds it anew",
        "notes": "",
        "worse": "",
    }
    assert race.of("worse")["checks"][0]["remarks"] == [untested["core"]]
    done = hydra.run(*shlex.split(cure)[1:], "--share", "core/dist", "--json")
    rows = [row for lane in json.loads(done.stdout)["lanes"] for row in lane["checks"]]
    ends = [(row["status"], row["untested"], row["remarks"]) for row in rows]
    assert ends == [("passed", "", [])] * 2 + [("failed", "", [])], done.stderr


@pytest.mark.slow
@needs_bwrap
def test_a_link_of_a_dependency_s_name_is_followed(scratch: Path, repo: Path) -> None:
    hydra = Hydra(scratch, repo)
    place = hydra.home / "install"
    (place / "node_modules/left").mkdir(parents=True)
    (place / "node_modules/left/index.js").write_text("1\n")
    (place / "venv/bin").mkdir(parents=True)
    (place / "venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    (place / "venv/bin/tool").write_text(f"#!{place}/venv/bin/sh\nexit 0\n")
    (place / "venv/bin/tool").chmod(0o755)
    (place / "venv/bin/sh").symlink_to("/bin/sh")
    (repo / "node_modules").symlink_to(place / "node_modules")
    (repo / ".venv").symlink_to(os.path.relpath(place / "venv", repo))
    (repo / ".git/info/exclude").write_text("node_modules/\n.venv/\n")
    write = "echo 2 > node_modules/left/index.js; echo 2 > .venv/new"
    steps = [fakes.shell("sh", "-c", write), fakes.edit("a.txt", "a\n"), fakes.finish("done")]
    hydra.agent("claude", steps)
    check = "grep 1 node_modules/left/index.js && .venv/bin/tool"
    race = hydra.race("-a", "claude", "--check", f"test={check}")
    assert [row["status"] for row in race.lane("claude")["checks"]] == ["passed"], race
    assert race.lane("claude")["patch"]["files"] == 1, race
    assert (place / "node_modules/left/index.js").read_text() == "1\n"
    assert not (place / "venv/new").exists()


@pytest.mark.slow
@needs_bwrap
def test_no_link_leads_a_lane_to_what_is_no_environment(scratch: Path, repo: Path) -> None:
    hydra = Hydra(scratch, repo)
    keys = hydra.home / "keys"
    (keys / "__editable__.keys").mkdir(parents=True)
    (keys / "key").write_text("made-up\n")
    (repo / "vendor").mkdir()
    (repo / "vendor/a.txt").write_text("")
    (repo / "src/a.py").write_text("")
    (repo / "own").mkdir()
    (repo / "own/key").write_text("own\n")
    git(repo, "add", "vendor", "src")
    git(repo, "commit", "-qm", "Folders")
    links = {
        **dict.fromkeys(("env", "build", "vendor/deps", "x.egg-info"), keys),
        "src/_version.py": keys / "key",
        "target": repo / ".git",
        "_build": repo,
        "deps": repo / "own",
    }
    for name, place in links.items():
        (repo / name).symlink_to(place)
    (repo / ".git/info/exclude").write_text("\n".join((*links, "own")))
    paths = "env/key build/key vendor/deps/key x.egg-info/key src/_version.py"
    inner = "target/config _build/.git/config deps/key"
    read = f"for path in {paths} {inner}; do cat $path && echo $path; done > read.txt"
    hydra.agent("claude", [fakes.shell("sh", "-c", f"{read}; true"), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--no-check")
    text = git(Path(race.document["folder"], "patches.git"), "show", "claude:read.txt")
    assert text.splitlines() == ["own", "deps/key"]


@pytest.mark.slow
@needs_bwrap
def test_a_program_that_is_hidden_is_said_to_be_and_the_line_shows_it(
    scratch: Path, repo: Path
) -> None:
    hydra = Hydra(scratch, repo)
    for name, place in (("inner", hydra.home / "src/inner"), ("own", repo / "bin")):
        place.mkdir(parents=True)
        (place / name).write_text("#!/bin/sh\nexit 0\n")
        (place / name).chmod(0o755)
    wrapper = hydra.home / "bin" / "outer"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {hydra.home}/src/inner/inner "$@"\n')
    wrapper.chmod(0o755)
    (repo / ".git/info/exclude").write_text("/bin/\n")
    hydra.path += [wrapper.parent, repo / "bin"]
    hydra.agent("claude", [fakes.edit("a.txt", "a\n"), fakes.finish("done")])
    refused = hydra.run("race", "Do it", "-a", "claude", "--check", "own")
    assert refused.returncode == 3
    line = "a check misses bin/own, which your checkout has and git ignores: --share bin brings it"
    assert line in " ".join(refused.stderr.split())
    race = hydra.race("-a", "claude", "--check", "own", "--share", "bin")
    assert race.lane("claude")["checks"][0]["status"] == "passed", race

    done = hydra.run("race", "Do it", "-a", "claude", "--check", "outer")
    said = re.search(
        r"note: hidden from the agents: (\S+) .*: \[confine\] show = (\S+) in", done.stdout
    )
    assert said is not None, done.stdout
    assert said[1] == "~/src/inner"
    shown = os.pathsep.join((*map(str, hydra.shown), *json.loads(said[2])))
    hydra.extra["HYDRA_SHOW"] = shown
    race = hydra.race("-a", "claude", "--check", "outer")
    assert race.lane("claude")["checks"][0]["status"] == "passed", race
