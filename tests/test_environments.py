"""Environments outside of the checkout that belong to it: found by their names and notes on the
disk, shown copy-on-write, and as the user had them in the end."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest

import hydra
from hydra.process.sandbox.confine import by_place, keeper_mounts
from hydra.process.sandbox.layers import Layer, Placement
from hydra.process.sandbox.policy import SandboxPolicy
from hydra.process.sandbox.view import View
from hydra.workspace.environments import environments, variables
from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.trust import Place, by_account, exactly, needs_bwrap, place

__all__ = ["place"]

CHECK = """#!{python}
import sys
sys.path[:0] = ["{checkout}"]  # as an editable install's .pth does
import app
assert open("{environment}/lib/kept").read() == "kept"
sys.exit(app.total([1, 2]) != 3)
"""

MEDDLE = """
exec > said 2>&1; cd $VIRTUAL_ENV
chmod 600 lib/kept; echo more >> lib/kept; rm lib/gone bin/check; mkdir lib/new; cat lib/kept
"""


def digest(project: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(project)).digest()).decode()[:8]


def environment(place: Path) -> Path:
    place.mkdir(parents=True)
    (place / "pyvenv.cfg").write_text("home = /usr/bin\n")
    return place


@pytest.fixture
def checkout(scratch: Path) -> Path:
    """A repository with projects at its top and in a folder of it."""
    for folder in ("shop", "shop/packages/api"):
        (scratch / folder).mkdir(parents=True)
        (scratch / folder / "pyproject.toml").write_text("")
    return scratch / "shop"


def test_each_tools_own_are_known_by_the_path_of_their_project(checkout: Path) -> None:
    home, inner = checkout.parent / "home", checkout / "packages" / "api"
    poetry = home / ".cache" / "pypoetry" / "virtualenvs"
    hatch, pipenv = home / ".local/share/hatch/env", home / ".local/share/virtualenvs"
    own = [
        environment(poetry / f"shop-{digest(checkout)}-py3.11"),
        environment(poetry / f"api-{digest(inner)}-py3.12"),
        environment(hatch / "virtual" / "shop" / digest(checkout) / "hatch-test.py3.11"),
        hatch / ".metadata" / digest(checkout),
        environment(pipenv / "shop-abcdefgh"),
    ]
    own[3].mkdir(parents=True)
    (own[4] / ".project").write_text(f"{checkout}\n")
    elsewhere = environment(pipenv / "other-abcdefgh")
    (elsewhere / ".project").write_text(f"{checkout.parent}\n")
    environment(poetry / f"shop-{digest(checkout.parent)}-py3.11")
    environment(hatch / "virtual" / "shop" / digest(checkout.parent) / "shop")
    (pipenv / f"link-{digest(checkout)}-py3.11").symlink_to(elsewhere)
    assert set(environments(checkout, home, {})) == set(own)
    assert variables(own) == {"POETRY_VIRTUALENVS_PATH": str(poetry)}


def test_they_are_looked_for_where_the_users_settings_say(checkout: Path) -> None:
    home = checkout.parent / "home"
    own = environment(home / "envs" / f"shop-{digest(checkout)}-py3.11")
    settings = home / ".config" / "pypoetry" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('cache-dir = "~/big"\n[virtualenvs]\npath = "~/envs"\n')
    assert environments(checkout, home, {}) == (own,)
    settings.write_text("not = [toml")
    assert environments(checkout, home, {}) == ()
    assert environments(checkout, home, {"POETRY_VIRTUALENVS_PATH": f"{home}/envs"}) == (own,)


def test_an_active_one_counts_unless_it_is_more_than_an_environment(checkout: Path) -> None:
    home = checkout.parent / "home"
    venv = environment(home / "venv")
    for name in ("conda/envs/shop", "conda"):
        (home / name / "conda-meta").mkdir(parents=True)
    (home / "conda" / "condabin").mkdir()
    inside, work = environment(checkout / ".venv"), environment(checkout.parent / "work")
    (work / "thesis").mkdir()

    def active(name: str, path: Path) -> tuple[Path, ...]:
        return environments(checkout, home, {name: str(path)})

    assert active("VIRTUAL_ENV", venv) == (venv,)
    assert active("CONDA_PREFIX", home / "conda/envs/shop") == (home / "conda/envs/shop",)
    for other in (inside, work, checkout, home, Path("/"), Path("venv"), home / "none"):
        assert active("VIRTUAL_ENV", other) == ()
    assert active("CONDA_PREFIX", home / "conda") == ()


@pytest.mark.slow
@by_account
def test_a_lane_has_the_active_one_as_its_own_and_the_user_keeps_theirs(place: Place) -> None:
    needs_bwrap(place.uid)
    top = place.home / ".virtualenvs" / "shop"
    (place.repo / "app.py").write_text("def total(xs):\n    return sum(xs) + 1\n")
    git(place.repo, "add", "-A")
    git(place.repo, "commit", "-qm", "App")
    for folder in ("bin", "lib"):
        (top / folder).mkdir(parents=True)
    python = os.path.realpath(place.python)
    text = CHECK.format(python=python, checkout=place.repo, environment=top)
    for name, content in {"bin/check": text, "lib/kept": "kept", "lib/gone": "gone"}.items():
        (top / name).write_text(content)
    (top / "bin" / "check").chmod(0o755)
    (top / "pyvenv.cfg").write_text("home = /usr/bin\n")
    place.extra["VIRTUAL_ENV"] = str(top)
    done = fakes.finish("done")
    right = fakes.edit("app.py", "def total(xs):\n    return sum(xs)\n")
    place.agent("claude", [right, fakes.shell("sh", "-c", MEDDLE), done])
    place.agent("codex", [fakes.edit("app.py", "raise SystemExit(1)\n"), done])
    place.hand_over()
    before = without_links(top)
    race = place.race("-a", "claude", "-a", "codex", "--check", f"{top}/bin/check")
    checks = {lane: race.lane(lane)["checks"][0]["status"] for lane in ("claude", "codex")}
    assert checks == {"claude": "passed", "codex": "failed"}
    assert place.taken(race.document["folder"], "claude") == "keptmore"
    assert without_links(top) == before
    assert race.document["warnings"] == []


@pytest.mark.slow
def test_poetry_finds_its_own_in_agents_and_set_ups_as_in_checks(scratch: Path, repo: Path) -> None:
    needs_bwrap(os.geteuid())
    hydra = Hydra(scratch, repo)
    (repo / "pyproject.toml").write_text("")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "A project")
    envs = hydra.home / ".cache" / "pypoetry" / "virtualenvs"
    environment(envs / f"shop-{digest(repo)}-py3.11")
    says = 'ls "$POETRY_VIRTUALENVS_PATH"'
    looks = f"{says} > said; cp set-up seen"
    hydra.agent("claude", [fakes.shell("sh", "-c", looks), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--setup", f"{says} > set-up", "--check", f"{says} > now")
    patches = Path(race.document["folder"], "patches.git")
    for name in ("seen", "said"):
        assert git(patches, "show", f"claude:{name}").split() == [f"shop-{digest(repo)}-py3.11"]
    assert race.lane("claude")["checks"][0]["status"] == "passed"


@pytest.mark.slow
def test_a_check_by_an_environment_s_program_runs_as_where_that_is_activated(
    scratch: Path, repo: Path
) -> None:
    needs_bwrap(os.geteuid())
    hydra = Hydra(scratch, repo)
    top = repo / ".venv"
    (top / "bin").mkdir(parents=True)
    (top / "pyvenv.cfg").write_text("home = /usr/bin\n")
    python = '#!/bin/sh\ntest "$(command -v shop)" = "$VIRTUAL_ENV/bin/shop" && shop\n'
    for name, text in {"python": python, "shop": "#!/bin/sh\n"}.items():
        (top / "bin" / name).write_text(text)
        (top / "bin" / name).chmod(0o755)
    (repo / "api").mkdir()
    (repo / "api" / "a.txt").touch()
    (repo / ".gitignore").write_text(".venv/\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "A project")
    hydra.agent("claude", [fakes.edit("a.txt", "new\n"), fakes.finish("done")])
    hydra.extra["VIRTUAL_ENV"] = "/somewhere"
    commands = (".venv/bin/python", "cd api && A=1 ../.venv/bin/python", f"{top}/bin/python -q")
    checks = [word for command in (*commands, "! command -v shop") for word in ("--check", command)]
    race = hydra.race("-a", "claude", *checks)
    assert [row["status"] for row in race.lane("claude")["checks"]] == ["passed"] * 4
    # Of one that the set-up makes in each lane, too.
    (repo / ".venv").rename(scratch / "made")
    hydra.extra["HYDRA_SHOW"] = str(scratch / "made")
    setup = ("--setup", f"cp -r {scratch}/made .venv")
    race = hydra.race("-a", "claude", *setup, "--check", commands[0], "--check", commands[1])
    assert [row["status"] for row in race.lane("claude")["checks"]] == ["passed"] * 2


def without_links(top: Path) -> dict[str, tuple[object, ...]]:
    """Exactly, but for the count of names that a file has."""
    return {name: (*entry[:3], *entry[4:]) for name, entry in exactly(top).items()}


def test_an_agent_may_change_hydras_own_environment_and_not_its_keeper(checkout: Path) -> None:
    package = Path(os.path.realpath(hydra.__file__)).parent
    layer = Layer(lower=checkout, folder=checkout, places={"env": package.parent})
    policy = SandboxPolicy(
        state=checkout,
        view=View(home=checkout),
        cwd=checkout,
        placement=Placement(path=checkout, layer=layer),
    )
    own, agents = f"{package}/process/keeper.py", f"{package}/agent.py"
    line = by_place(policy, ["python", own, "--", agents])
    assert line == ("python", "/run/hydra/package/process/keeper.py", "--", agents)
    assert next(mount.source for mount in keeper_mounts(policy)) == str(package)
