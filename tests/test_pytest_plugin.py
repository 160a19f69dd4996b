"""`pytest --hydra-adapter`: the contract suite as items of somebody's own test run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.command import completed
from tests.support.thirdparties import EXAMPLE, broken

PLUGIN = "hydra.conformance.pytest_plugin"


def run(
    folder: Path, *args: str, path: tuple[Path, ...] = (EXAMPLE,)
) -> subprocess.CompletedProcess[str]:
    """pytest in a folder of a stranger's, with every warning an error."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    environ["PYTHONPATH"] = os.pathsep.join(map(str, path))
    environ["PYTHONDONTWRITEBYTECODE"] = "1"
    # By its module and not as installed: an entry point is there only after an installation.
    terms = ("-p", "no:hydra-conformance", "-p", PLUGIN, "-p", "no:cacheprovider", "-W", "error")
    return completed(
        [sys.executable, "-m", "pytest", "--rootdir", str(folder), *terms, *args],
        cwd=folder,
        env=environ,
        timeout=120,
    )


def test_it_is_what_the_package_names_as_its_plugin() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    named = project["project"]["entry-points"]["pytest11"]
    assert named == {"hydra-conformance": PLUGIN}
    assert hasattr(import_module(PLUGIN), "pytest_addoption")


@pytest.mark.slow
def test_one_item_a_case_with_reasons_for_what_is_skipped(scratch: Path) -> None:
    done = run(scratch, "--hydra-adapter", "toy_adapter:ADAPTER", "-rs", "-v", "-k", "not limits")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hydra::toy[lines.each_permission] PASSED" in done.stdout
    assert re.search(r"collected (\d+) items / 1 deselected / \d+ selected", done.stdout)
    nothing = scratch / "nothing" / "toy"
    nothing.mkdir(parents=True)
    terms = ("--hydra-adapter", "toy_adapter:ADAPTER", f"--hydra-fixtures={nothing.parent}")
    done = run(scratch, *terms, "-rs", "-k", "streams")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no recordings" in done.stdout


@pytest.mark.slow
def test_a_difference_is_the_text_of_the_failure_and_k_chooses(scratch: Path) -> None:
    broken(
        scratch,
        "bad",
        "toy",
        methods="    def build_command(self, request, found):\n        return 1 // 0",
    )
    fixtures = (f"--hydra-fixtures={EXAMPLE / 'toy_adapter' / 'fixtures'}",)
    terms = (
        "--hydra-adapter",
        "bad:ADAPTER",
        *fixtures,
        "-k",
        "each_permission or detect.recorded",
    )
    done = run(scratch, *terms)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "1.0.0: it raises ZeroDivisionError" in done.stdout
    assert "Traceback" not in done.stdout
