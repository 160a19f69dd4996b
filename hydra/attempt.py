"""One attempt's life: open its ground, run its agent, take its patch, say how it ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import trio

from hydra.adapters.contract import Talker
from hydra.bench import Bench, Emit, Handle
from hydra.errors import STDERR_EXCERPT, Failure, HydraError
from hydra.events import clip
from hydra.heard import Heard
from hydra.model import Outcome, Patch
from hydra.not_started import not_started
from hydra.outcome import EARLY, Evidence, conclude
from hydra.process import (
    FINISHED,
    SIGNALS,
    TERM,
    CannotStart,
    End,
    Inlet,
    Notice,
    Spec,
    run,
    supervise,
)
from hydra.reading import Reader, ending
from hydra.sandbox import confine
from hydra.taking import take_patch
from hydra.talking import Sent, Talk
from hydra.tending import give_back, notice_data, notice_text, side_files, tend
from hydra.workspace import SignInNotice


async def attempt(bench: Bench, handle: Handle, emit: Emit) -> Outcome:
    """Runs one attempt to its one outcome. Only cancellation gets out of here."""
    started = trio.current_time()
    try:
        failure = await _prepare(bench, handle, emit)
        if failure is not None:
            return _not_started(bench, failure, started)
        return await _run(bench, handle, emit, started)
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(bench.close)


async def _prepare(bench: Bench, handle: Handle, emit: Emit) -> Failure | None:
    emit("lane_opening")
    began = trio.current_time()
    try:
        await trio.to_thread.run_sync(bench.ground.open, abandon_on_cancel=True)
    except (HydraError, OSError) as error:
        hint = error.hint if isinstance(error, HydraError) else ""
        message = f"its worktree was not opened: {error}"
        return bench.failure("SpawnFailed", "ground", message, hint)
    seconds = round(trio.current_time() - began, 3)
    emit("lane_opened", data={"worktree": str(bench.ground.worktree), "seconds": seconds})
    for warning in bench.warnings:
        emit("lane_warning", data={"text": warning})
    with handle.setting_up:
        for command in bench.setup:
            failure = await _set_up(bench, command, emit)
            if failure is not None:
                return failure
    if handle.stopped:
        why = EARLY.get(handle.stopped, EARLY["interrupt"])
        return bench.failure("Interrupted", handle.stopped, why)
    return None


async def _set_up(bench: Bench, command: str, emit: Emit) -> Failure | None:
    emit("setup_started", data={"command": command})
    try:
        ran = await run(
            ("/bin/sh", "-c", command),
            env=bench.setup_environment,
            cwd=bench.ground.worktree,
            timeout=bench.limits.setup,
            wrap=lambda argv: confine(bench.confinement, bench.policy, argv),
        )
    except CannotStart as error:
        return _cannot_start(bench, error)
    output, _ = bench.redactor.redact(ran.stdout + ran.stderr)
    ended = {"command": command, "exit_code": ran.exit_code, "seconds": round(ran.seconds, 3)}
    tail = output.decode("utf-8", "replace")[-STDERR_EXCERPT:]
    emit("setup_ended", data=ended if ran.exit_code == 0 else {**ended, "text": tail})
    if ran.exit_code == 0:
        return None
    how = "timed out" if ran.timed_out else f"exited with {ran.exit_code}"
    failure = bench.failure("SpawnFailed", "setup", f"the set-up `{clip(command, 80)}` {how}")
    return replace(failure, stderr=tail, hint="mend the set-up command, or leave it out")


async def _run(bench: Bench, handle: Handle, emit: Emit, started: float) -> Outcome:
    heard = Heard(bench.command, handle.control, emit)
    for told in bench.hidden():
        heard.warn(told)
    talk = _talk(bench, handle, heard.warn)
    reader = _reader(bench, heard, talk)
    try:
        end = await _supervise(bench, handle, reader, heard, talk)
    except CannotStart as error:
        return _not_started(bench, _cannot_start(bench, error), started)
    finally:
        reader.close()
    await _hear_out(bench, reader, heard, end)
    emit("agent_exited", data=_exit_data(end))
    taken = await take_patch(bench, handle, emit)
    if owed := await give_back(bench.ground, heard.story, _teller(bench, heard)):
        heard.warn(owed)
    warnings = (*bench.warnings, *heard.warnings)
    outcome = conclude(
        Evidence(
            lane=bench.plan.lane.id,
            attempt=bench.attempt,
            descriptor=bench.adapter.descriptor,
            command=bench.shown,
            story=heard.story,
            exit=end.exit,
            stopped=_why_stopped(end, handle, talk, taken.patch),
            seconds=trio.current_time() - started,
            patch=taken.patch,
            patch_reason=taken.reason,
            patch_error=taken.error,
            stderr=reader.stderr_tail.decode("utf-8", "replace"),
            counts=reader.counts,
            limits=bench.limits,
            budget=bench.plan.budget,
            warnings=warnings,
        )
    )
    for warning in outcome.warnings[len(warnings) :]:
        emit("lane_warning", data={"text": warning})
    return outcome


def _teller(bench: Bench, heard: Heard) -> Callable[[SignInNotice], None]:
    """What says what came of the lane's renewed sign-in."""
    hint = bench.adapter.descriptor.sign_in_hint
    return lambda notice: heard.warn(notice_text(notice, hint), sign_in=notice_data(notice))


def _talk(bench: Bench, handle: Handle, warn: Callable[[str], None]) -> Talk | None:
    if not bench.adapter.descriptor.converses:
        return None
    assert bench.sent is not None
    return Talk(
        cast(Talker, bench.adapter).conversation(bench.command),
        control=handle.control,
        limits=bench.limits,
        sent=Sent(bench.sent, bench.redactor),
        warn=warn,
    )


def _reader(bench: Bench, heard: Heard, talk: Talk | None) -> Reader:
    return Reader(
        parser=bench.adapter.parser() if talk is None else talk.conversation,
        sink=bench.stdout,
        stderr_sink=bench.stderr,
        redactor=bench.redactor,
        emit=heard.take,
        line_limit=bench.limits.line_bytes,
        together=bench.together,
        on_fallback=lambda failures: heard.emit("parse_fallback", data={"failures": failures}),
        terminal=bench.adapter.descriptor.pty,
    )


async def _hear_out(bench: Bench, reader: Reader, heard: Heard, end: End) -> None:
    """Its last words: what its parser makes of how it ended, and of the files that it left."""
    patterns = bench.adapter.descriptor.side_files
    files = {"stderr": reader.stderr_tail, **await side_files(bench.ground, patterns)}
    for event in ending(reader.parser, end.exit, files, bench.redactor):
        # An agent that Hydra ended has no closing event to miss.
        if event.kind != "failed" or end.stopped in ("", FINISHED):
            heard.take(event, None)


def _why_stopped(end: End, handle: Handle, talk: Talk | None, patch: Patch | None) -> str:
    stopped = end.stopped or (FINISHED if talk is not None and talk.finished else "")
    # One that had ended by itself is judged by what it did, unless its work is left.
    left = handle.stopped if patch is None and stopped in ("", FINISHED) else ""
    return left or stopped


async def _supervise(
    bench: Bench, handle: Handle, reader: Reader, heard: Heard, talk: Talk | None
) -> End:
    _write_prompt(bench)
    inlet = _inlet(bench, talk)

    async def changed_since(when: float) -> float | None:
        return await trio.to_thread.run_sync(
            bench.ground.changed_since, when, abandon_on_cancel=True
        )

    ended: End | CannotStart
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tend, bench.ground, heard.story, _teller(bench, heard))
        if talk is not None:
            talk.begin(nursery, reader)
        try:
            ended = await supervise(
                _spec(bench, inlet),
                control=handle.control,
                limits=bench.limits,
                on_stdout=reader.stdout,
                on_stderr=reader.stderr,
                changed_since=changed_since,
                on_notice=partial(_noticed, bench, heard.emit, talk),
                inlet=inlet,
            )
        except CannotStart as error:
            # Raised below: a nursery would wrap it into an exception group.
            ended = error
        if talk is not None:
            await talk.rest()
        nursery.cancel_scope.cancel()
    if isinstance(ended, CannotStart):
        raise ended
    return ended


def _write_prompt(bench: Bench) -> None:
    try:
        bench.prompt_file.touch(mode=0o600)
        bench.prompt_file.write_bytes(bench.command.stdin or b"")
        for path, data in bench.command.files:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_once(path, data)
    except OSError as error:
        raise CannotStart(f"its prompt could not be written: {error}") from error


def _write_once(path: Path, data: bytes) -> None:
    """Makes a file of the lane's home: a set-up command has been there, so no link is followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)


def _noticed(bench: Bench, emit: Emit, talk: Talk | None, note: Notice) -> None:
    """The supervisor's word on the agent, as an event."""
    if note.kind == "signal" and talk is not None:
        talk.hang_up()
    kind = {"started": "agent_started", "half": "limit_warning", "signal": "stopping"}
    data = dict(note.data)
    if note.kind == "started":
        data["argv"] = list(bench.shown)
    emit(kind[note.kind], data=data)


def _inlet(bench: Bench, talk: Talk | None) -> Inlet | None:
    """What says to the agent what its stdin is while it runs, where that is no sealed file."""
    if talk is not None:
        return talk.inlet
    if not (bench.adapter.descriptor.pty or bench.adapter.descriptor.stdin_pipe):
        return None
    inlet = Inlet()
    inlet.write(bench.command.stdin or b"")
    inlet.close()
    return inlet


def _spec(bench: Bench, inlet: Inlet | None) -> Spec:
    terminal = bench.adapter.descriptor.pty
    kind = {"TERM": TERM, **dict(bench.command.env)}.get("TERM") if terminal else None
    return Spec(
        argv=bench.command.argv,
        env={**bench.environment, **({"TERM": kind} if kind else {}), **_scope(bench)},
        cwd=bench.ground.worktree,
        stdin=bench.prompt_file if inlet is None else None,
        wrap=lambda argv: confine(bench.confinement, bench.policy, argv),
        pid_namespace=bench.confinement.holds,
        terminal=terminal,
    )


def _scope(bench: Bench) -> dict[str, str]:
    # A policy brings its own; with full access nothing is kept from an agent.
    unwalled = not (bench.confinement.holds or bench.policy.unrestricted)
    return SIGNALS if unwalled else {}


def _exit_data(end: End) -> dict[str, object]:
    return {
        "code": end.exit.code,
        "signal": end.exit.signal,
        "survivors": list(end.exit.survivors),
        "stopped": end.stopped,
        "seconds": round(end.seconds, 3),
    }


def _cannot_start(bench: Bench, error: CannotStart) -> Failure:
    failure = bench.failure("SpawnFailed", "exec", f"it could not be started: {error}")
    return replace(failure, stderr=bench.redactor.text(error.stderr)[-STDERR_EXCERPT:])


def _not_started(bench: Bench, failure: Failure, started: float) -> Outcome:
    return not_started(
        bench.plan,
        failure,
        attempt=bench.attempt,
        seconds=trio.current_time() - started,
        warnings=bench.command.warnings,
    )
