"""The finder of leftover processes finds those that hide; it needs no CLI."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.leftovers import end, look


@pytest.mark.parametrize(
    ("inside", "variables", "names_it", "why"),
    [
        (True, {}, False, "cwd"),
        (False, {"HIDING": "{scratch}"}, False, "environ"),
        (False, {}, True, "cmdline"),
    ],
)
def test_a_process_is_found_by_whatever_still_names_the_folder(
    scratch: Path, inside: bool, variables: Mapping[str, str], names_it: bool, why: str
) -> None:
    code = "import sys; print('up', flush=True); sys.stdin.read()"
    argv = [sys.executable, "-c", code, *([str(scratch)] if names_it else [])]
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=scratch if inside else "/",
        env={name: value.replace("{scratch}", str(scratch)) for name, value in variables.items()},
        start_new_session=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        leftovers = look(scratch)
        assert [(leftover.pid, leftover.why) for leftover in leftovers] == [(process.pid, why)]
        end(leftovers)
    assert process.returncode == -9
    assert look(scratch) == []


def test_a_fingerprint_sees_content_mode_and_names(repo: Path) -> None:
    before = fingerprint(repo)
    assert ".git/HEAD" in before
    (repo / "README.md").write_text("# Shoq\n")
    (repo / ".gitignore").chmod(0o600)
    (repo / ".git/refs/hydra/run").mkdir(parents=True)
    (repo / ".git/refs/hydra/run/base").write_text("0")
    changed = changes(before, fingerprint(repo))
    assert set(apart_from_pins(changed)) == {"README.md", ".gitignore"}
