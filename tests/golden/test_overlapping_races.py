"""Two races in one repository: each line that is offered is of the race that was named, however it
was. Two at once: tests/test_two_races.py."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.command import Hydra, of_run

pytestmark = pytest.mark.slow


def test_every_way_that_a_refusal_names_is_of_the_run_that_was_named(hydra: Hydra) -> None:
    empty = [fakes.edit("more.txt", "more\n"), fakes.finish("done")]
    hydra.agent("claude", [fakes.finish("done")], cases=[("--model\nb\n", empty)])
    first = hydra.race("-a", "claude:a", "-a", "claude:b", "--no-check").document["run"]
    hydra.race("-a", "claude:a", "--no-check")
    folder = Path(hydra.run("runs", "path", first).stdout.strip())
    refusals: list[tuple[str, ...]] = [
        ("merge", "claude-a"),
        ("merge", "--pick", "claude-a:README.md"),
        ("merge", "--hunk", "claude-a:abc"),
        ("diff", "claude-a", "--mbox"),
    ]
    for line in refusals:
        assert_named(hydra.run(*line, "-r", first), first)
    result = folder / "result.json"
    whole = result.read_text()
    document = json.loads(whole)
    document["verdict"] = {"schema": 1}
    result.write_text(json.dumps(document))
    assert_named(hydra.run("compare", "-r", first), first)
    result.write_text("{")
    for line in [("merge",), ("compare",), ("runs", "show")]:
        assert_named(hydra.run(*line, "-r", first), first)
    result.write_text(whole)
    for typed in ("@-1", first[:-1], first[-4:]):  # a place in the row does not stay
        checked = hydra.run("check", "-r", typed, "--check", "true")
        assert f"compare again:  hydra compare{of_run(first)}\n" in checked.stdout


def assert_named(done: subprocess.CompletedProcess[str], run: str) -> None:
    """That a refusal hints at lines to type, each with this run."""
    assert done.returncode, done.stdout
    hints = [line for line in done.stderr.splitlines() if line.startswith("hint: ")]
    lines = re.findall(
        r"hydra (?:merge|diff|compare|check|runs show|runs path)\b[^`;]*", "".join(hints)
    )
    assert lines, done.stderr
    for line in lines:
        assert run in line or of_run(run) in line, done.stderr
