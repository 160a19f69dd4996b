"""A look at the base that passed is not taken again, unless something of it has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.trials import RIGHT, with_tests
from tests.support.trust import needs_bwrap

PYTEST = """#!/bin/sh
test -e {flag} || {{ echo pytest: not found; exit 127; }}
echo 1 test collected
"""
"""Whether it starts hangs on something that no look is remembered by."""


@pytest.mark.full
def test_a_look_that_passed_is_remembered_until_its_environment_changes(
    scratch: Path, repo: Path
) -> None:
    needs_bwrap(os.geteuid())
    hydra = Hydra(scratch, with_tests(repo))
    flag = scratch / "shown" / "flag"
    flag.parent.mkdir()
    program = _environment(hydra.repo, flag)
    hydra.agent("claude", [fakes.edit("src/pager.py", RIGHT), fakes.finish("done")])

    def code() -> int:
        line = ("race", "Do it", "-a", "claude", "--check", ".venv/bin/pytest -q")
        return hydra.run(*line, "--trial-runs", "0").returncode

    refused = 3
    assert code() == refused
    assert code() == refused, "no look that failed is remembered"
    flag.touch()
    assert code() != refused
    flag.unlink()
    assert code() != refused, "the same look is not taken again"
    os.utime(program.parent / "module.py", (1, 1))
    assert code() == refused, "another environment is looked at"
    flag.touch()
    assert code() != refused
    flag.unlink()
    (hydra.repo / "src/pager.py").write_text("# another base\n")
    git(hydra.repo, "commit", "-qam", "More")
    assert code() == refused, "another base is looked at"


def _environment(top: Path, flag: Path) -> Path:
    program = top / ".venv/bin/pytest"
    program.parent.mkdir(parents=True)
    program.write_text(PYTEST.format(flag=flag))
    program.chmod(0o755)
    (program.parent / "module.py").touch()
    (top / ".venv/pyvenv.cfg").touch()
    (top / ".git/info/exclude").write_text(".venv/\n")
    return program
