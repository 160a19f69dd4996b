"""What real build backends leave of an editable install, by pip and by uv, is seen and turned.

Packages come from the registry that pip is configured with; where there is none, nothing is run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from hydra.race.installs import python_path
from hydra.workspace.installs import installs, package_folders
from tests.support.builds import SHAPES
from tests.support.command import completed

BACKENDS = (
    *("setuptools>=64", "wheel", "hatchling", "flit-core", "poetry-core", "pdm-backend"),
    *("uv-build", "editables"),
)
WHERE = "import shelf; print(shelf.__file__)"

pytestmark = pytest.mark.slow


class Tools(NamedTuple):
    """An environment with uv and every backend, and the variables by which others use these."""

    bin: Path
    environ: Mapping[str, str]

    def run(self, *argv: str | Path) -> subprocess.CompletedProcess[str]:
        return completed(argv, env=self.environ, cwd="/")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    top = tmp_path_factory.mktemp("tools")
    bin_folder = top / "env" / "bin"
    environ = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    tools = Tools(bin_folder, environ)
    tools.run(sys.executable, "-m", "venv", top / "env")
    tools.run(bin_folder / "pip", "install", "-q", "uv")
    done = tools.run(
        bin_folder / "uv", "pip", "install", "-q", "-p", bin_folder / "python", *BACKENDS
    )
    if done.returncode:
        pytest.skip(f"no packages can be had here: {done.stderr[-200:]}")
    environ["PYTHONPATH"] = str(next(top.glob("env/lib/python*/site-packages")))
    return tools


def build(tools: Tools, top: Path, installer: str, *, strict: bool, editable: bool) -> Path:
    """Installs the project of `top` into an environment of its own; its interpreter."""
    environment = top / ".venv"
    tools.run(tools.bin / "uv", "venv", "-q", environment).check_returncode()
    python = environment / "bin" / "python"
    pip = (tools.bin / "pip", "--python", python, "install", "--disable-pip-version-check")
    uv = (tools.bin / "uv", "pip", "install", "--python", python)
    values: list[str | Path] = ["-q", "--no-build-isolation", "--no-deps"]
    values += ["--config-settings", "editable_mode=strict"] if strict else []
    values += ["-e", str(top)] if editable else [str(top)]
    done = tools.run(*(pip if installer == "pip" else uv), *values)
    assert done.returncode == 0, done.stderr
    return python


def imported_from(python: Path, folders: str) -> Path:
    done = completed([python, "-c", WHERE], cwd="/", env={"PYTHONPATH": folders})
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.mark.full
@pytest.mark.parametrize("installer", ["pip", "uv"])
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_an_editable_install(tools: Tools, tmp_path: Path, shape: str, installer: str) -> None:
    top = Path(os.path.realpath(tmp_path)) / "a project é"
    SHAPES[shape].make(top)
    lane = tmp_path / "lane"
    shutil.copytree(top, lane)
    python = build(tools, top, installer, strict=SHAPES[shape].strict, editable=True)
    answer = installs(package_folders(top / ".venv"), top)
    assert [install.copy for install in answer] == [False]
    assert imported_from(python, "").is_relative_to(top)
    folders = os.pathsep.join(str(lane / name) for name in python_path(answer))
    assert imported_from(python, folders).is_relative_to(lane)


@pytest.mark.full
@pytest.mark.parametrize("shape", ["setuptools-src", "hatchling"])
def test_a_copy(tools: Tools, tmp_path: Path, shape: str) -> None:
    top = Path(os.path.realpath(tmp_path)) / "project"
    SHAPES[shape].make(top)
    build(tools, top, "uv", strict=False, editable=False)
    (install,) = installs(package_folders(top / ".venv"), top)
    assert (install.copy, install.folder, install.modules) == (True, "src", ("shelf",))
