"""A session that is gone on with: two calls of the CLI itself, in one scratch HOME.

A race gives each lane a HOME of its own and does not go on with a session yet, so the two lines
are run here as the adapter builds them, without a race around them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import trio

from hydra.adapters.config_dirs import places
from hydra.adapters.contract import Adapter, Talker
from hydra.adapters.probe.context import ProbeContext
from hydra.adapters.probe.detect import detect_all
from hydra.conformance.live.conversed import conversed
from hydra.conformance.live.observation import LiveRun
from hydra.conformance.live.orphans import orphans
from hydra.conformance.race_run import ScratchPlace
from hydra.conformance.server import ModelServer
from hydra.process.sandbox.trial import judge
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Permission
from hydra.records.transcript import AgentTranscript

LONGEST = 60.0
"""Seconds for one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectCall:
    """One call that has ended."""

    events: list[AgentEvent]
    exit: ExitStatus
    stdout: Path
    stderr: Path
    warnings: tuple[str, ...]

    @property
    def transcript(self) -> AgentTranscript:
        """Its events, folded as a race folds them."""
        transcript = AgentTranscript()
        for event in self.events:
            transcript.add(event)
        return transcript


def resumed(
    adapter: Adapter,
    program: Path,
    place: ScratchPlace,
    server: ModelServer,
    environ: Mapping[str, str],
    prompts: tuple[str, str],
) -> LiveRun:
    """The second call as it was seen; the first has to name its session and complete."""
    result = _detected(adapter, program, place, environ)
    if result.error is not None:
        return LiveRun(lane={}, trouble=f"{result.error.kind}: {result.error.message}")
    script = server.script
    server.script = script.of_session(1)
    first = _call(adapter, result, place, environ, SpawnRequest(prompt=prompts[0], **_how(place)))
    session = first.transcript.session
    if not session or first.transcript.completed is None:
        text = first.stderr.read_text(errors="replace").strip()[-300:]
        return LiveRun(
            lane={}, trouble=f"the first call did not complete, or named no session: {text}"
        )
    number, server.script = len(server.requests), script.of_session(2)
    request = SpawnRequest(prompt=prompts[1], resume=session, **_how(place))
    second = _call(adapter, result, place, environ, request)
    return LiveRun(
        lane=_lane(adapter.key(), result, second),
        events=[{"kind": e.kind, "sub": e.sub, "data": dict(e.data)} for e in second.events],
        patch=_patch(place),
        content=lambda path: _content(place.repo / path),
        requests=server.requests[number:],
        orphans=orphans(place.root),
        wrong=_same(session, second),
        raw=second.stdout,
        raw_stderr=second.stderr,
    )


def _how(place: ScratchPlace) -> dict[str, Any]:
    # Permission edit: nothing confines these calls, and both CLIs edit with it as root as well.
    return {
        "worktree": place.repo,
        "permission": Permission.EDIT,
        "confined": False,
        "as_root": os.geteuid() == 0,
    }


def _detected(
    adapter: Adapter, program: Path, place: ScratchPlace, environ: Mapping[str, str]
) -> DetectResult:
    around = ProbeContext(
        environ=environ,
        home=place.home,
        confinement=judge("", 127, ""),
        state=place.state,
        paths={adapter.key(): str(program)},
        extra_names={},
        preflight=False,
    )
    return trio.run(detect_all, [adapter], around)[adapter.key()]


def _call(
    adapter: Adapter,
    result: DetectResult,
    place: ScratchPlace,
    environ: Mapping[str, str],
    request: SpawnRequest,
) -> DirectCall:
    command = adapter.build_command(request, result)
    for path, data in command.files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    name = "second" if request.resume else "first"
    stdout, stderr = place.root / f"{name}.jsonl", place.root / f"{name}.stderr.txt"
    if adapter.descriptor.interactive:
        talker = cast(Talker, adapter)
        events, ended = conversed(talker, command, environ, stdout, stderr, LONGEST)
        return DirectCall(
            events=events, exit=ended, stdout=stdout, stderr=stderr, warnings=command.warnings
        )
    with stdout.open("wb") as out, stderr.open("wb") as err:
        try:
            code = subprocess.run(
                command.argv,
                cwd=command.cwd,
                env={**environ, **dict(command.env)},
                input=command.stdin,
                stdout=out,
                stderr=err,
                timeout=LONGEST,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            code = -9
    exit = ExitStatus(code=code) if code >= 0 else ExitStatus(signal=-code)
    return DirectCall(
        events=_events(adapter, place, environ, exit, stdout, stderr),
        exit=exit,
        stdout=stdout,
        stderr=stderr,
        warnings=command.warnings,
    )


def _events(
    adapter: Adapter,
    place: ScratchPlace,
    environ: Mapping[str, str],
    exit: ExitStatus,
    stdout: Path,
    stderr: Path,
) -> list[AgentEvent]:
    parser = adapter.parser()
    events: list[AgentEvent] = []
    for line in stdout.read_bytes().split(b"\n"):
        events += parser.parse_line(line) if line else []
    files = {"stderr": stderr.read_bytes()}
    folders = places(adapter.descriptor, environ, place.home)
    for pattern in adapter.descriptor.side_files:
        paths = (path for folder in folders for path in folder.glob(pattern))
        newest = max(paths, key=lambda path: path.stat().st_mtime, default=None)
        if newest is not None:
            files[pattern] = newest.read_bytes()
    return [*events, *parser.end(exit, files)]


def _lane(key: str, result: DetectResult, call: DirectCall) -> dict[str, Any]:
    """The lane's part of a result, as far as two calls without a race have one."""
    transcript = call.transcript
    failed = transcript.failed.data if transcript.failed else None
    error = failed and {
        "kind": failed["error"],
        **{name: failed[name] for name in ("reason", "message", "numbers")},
        "stderr": call.stderr.read_text(errors="replace"),
    }
    return {
        "lane": key,
        "version": result.version,
        "status": "completed" if transcript.completed else "failed",
        "error": error,
        "usage": {
            name: getattr(transcript.usage, name) for name in type(transcript.usage).__slots__
        },
        "session": transcript.session,
        "exit": {"code": call.exit.code, "signal": call.exit.signal},
        "warnings": [*result.warnings, *call.warnings],
    }


def _same(session: str, second: DirectCall) -> list[str]:
    named = second.transcript.session
    if named == session:
        return []
    return [f"events: progress/session.session is {named}, the first call's was {session}"]


def _patch(place: ScratchPlace) -> dict[str, str]:
    place.git("add", "-A")
    listed = place.git("-c", "core.quotePath=off", "diff", "--cached", "--name-status", "HEAD")
    rows = (line.split("\t") for line in listed.splitlines())
    return {path: letter for letter, path in rows}


def _content(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
