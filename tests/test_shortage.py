"""A machine that has no process, thread or memory to give for a moment costs nobody their work."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from hydra import shortage
from hydra.errors import EXIT_EXHAUSTED, Exhausted
from hydra.git.runner import run
from hydra.race.attempt import snapshot_patch
from hydra.race.context import AttemptContext, AttemptControl
from hydra.records.outcome import Patch
from tests.support.command import Hydra


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("hydra.git.runner", "hydra.race.attempt"):
        monkeypatch.setattr(f"{module}.WAITS", (0.001,) * len(shortage.WAITS))


def refuse(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """The next so many processes cannot be started."""
    popen, refusals = subprocess.Popen, iter(range(times))

    def start(*args: Any, **options: Any) -> Any:
        if next(refusals, None) is not None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return popen(*args, **options)

    monkeypatch.setattr(subprocess, "Popen", start)


def test_a_git_is_started_again_where_no_process_could_be(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, len(shortage.WAITS))
    assert run("version").code == 0
    refuse(monkeypatch, 99)
    with pytest.raises(Exhausted, match="no more processes"):
        run("version")


@pytest.mark.parametrize("times", [1, 99])
async def test_a_patch_is_taken_once_a_thread_is_to_be_had(times: int) -> None:
    """As where a neighbour's agent has forked until nothing more was to be had."""
    patch = Patch(commit="c", base="b")
    refusals = iter(range(times))

    def snapshot(**_: object) -> Patch:
        if next(refusals, None) is not None:
            raise RuntimeError("can't start new thread")
        return patch

    workspace = SimpleNamespace(snapshot=snapshot, worktree=Path("/worktree"))
    limits = SimpleNamespace(grace_patch=30.0)
    redactor = SimpleNamespace(count=None)
    context = SimpleNamespace(
        workspace=workspace, limits=limits, redactor=redactor, attempt=1, commit_message=""
    )
    with trio.fail_after(30):
        taken = await snapshot_patch(
            cast(AttemptContext, context), AttemptControl(), lambda *_, **__: None
        )
    if times == 1:
        assert taken.patch is patch
    else:
        assert taken.error.startswith("no more processes or threads may be started")
        assert "the worktree is kept: /worktree" in taken.error


def test_no_race_is_unconfined_as_bwrap_was_given_no_process(hydra: Hydra) -> None:
    folder = hydra.scratch / "short"
    folder.mkdir()
    bwrap = folder / "bwrap"
    reason = "Creating new namespace failed: Resource temporarily unavailable"
    bwrap.write_text(f"#!/bin/sh\necho 'bwrap: {reason}' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    hydra.path.insert(0, folder)
    done = hydra.run("race", "Do it", "--dry-run", "-a", "claude")
    assert done.returncode == EXIT_EXHAUSTED, done.stderr
    assert reason in done.stderr
    assert "ulimit" in done.stderr
