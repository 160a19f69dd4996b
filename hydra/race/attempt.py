"""One attempt's life: open its ground, run its agent, take its patch, say how it ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import trio
from msgspec.structs import replace

from hydra.adapters.contract import Talker
from hydra.errors import STDERR_EXCERPT, Failure, HydraError
from hydra.git.snapshot_state import WorktreeLost
from hydra.log import get_logger
from hydra.process.control import FINISHED
from hydra.process.fence import SIGNALS
from hydra.process.records import CannotStart, End, Notice, ProcessSpec
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.process.stdin_queue import StdinQueue
from hydra.process.supervisor import supervise
from hydra.race.agent_events import AgentEventHandler
from hydra.race.context import AttemptContext, AttemptControl, Emit
from hydra.race.conversation import ConversationDriver, SentLog
from hydra.race.maintenance import (
    maintain,
    notice_data,
    notice_text,
    side_files,
    sync_credentials_back,
)
from hydra.race.outcome import EARLY, AttemptEvidence, classify, not_started
from hydra.race.output import OutputReader, ending
from hydra.records.events import clip
from hydra.records.outcome import Outcome, Patch
from hydra.shortage import WAITS, is_passing, shortage
from hydra.workspace.renewal import Renewal

_log = get_logger(__name__)


async def attempt(context: AttemptContext, control: AttemptControl, emit: Emit) -> Outcome:
    """Runs one attempt to its one outcome. Only cancellation gets out of here."""
    started = trio.current_time()
    try:
        failure = await _prepare(context, control, emit)
        if failure is not None:
            _log.info("its agent is not started", why=failure.reason, message=failure.message)
            return _not_started(context, failure, started)
        return await _run(context, control, emit, started)
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(context.close)


async def _prepare(context: AttemptContext, control: AttemptControl, emit: Emit) -> Failure | None:
    emit("lane_opening")
    began = trio.current_time()
    try:
        await trio.to_thread.run_sync(context.workspace.open, abandon_on_cancel=True)
    except (HydraError, OSError) as error:
        hint = error.hint if isinstance(error, HydraError) else ""
        message = f"its worktree was not opened: {error}"
        return context.failure("SpawnFailed", "ground", message, hint)
    seconds = round(trio.current_time() - began, 3)
    _log.info(
        "its ground is opened", seconds=seconds, more={"worktree": context.workspace.worktree}
    )
    emit("lane_opened", data={"worktree": str(context.workspace.worktree), "seconds": seconds})
    for warning in context.warnings:
        emit("lane_warning", data={"text": warning})
    with control.setting_up:
        for command in context.setup:
            failure = await _set_up(context, command, emit)
            if failure is not None:
                return failure
        if context.setup:
            await trio.to_thread.run_sync(context.workspace.leave_out_set_up)
    if control.stop_reason:
        why = EARLY.get(control.stop_reason, EARLY["interrupt"])
        return context.failure("Interrupted", control.stop_reason, why)
    return None


async def _set_up(context: AttemptContext, command: str, emit: Emit) -> Failure | None:
    shown = context.redactor.text(command)
    emit("setup_started", data={"command": shown})
    _log.info("set-up", command=shown, confinement=context.confinement.kind)
    argv = ("/bin/sh", "-c")
    try:
        ran = await run(
            (*argv, command),
            env=context.setup_environment,
            cwd=context.workspace.worktree,
            timeout=context.limits.setup,
            wrap=lambda argv: confine(context.confinement, context.sandbox_policy, argv),
        )
    except CannotStart as error:
        return _cannot_start(context, error)
    output, _ = context.redactor.redact(ran.stdout + ran.stderr)
    _log.info("set-up ended", code=ran.exit_code, timed_out=ran.timed_out, seconds=ran.seconds)
    ended = {"command": shown, "exit_code": ran.exit_code, "seconds": round(ran.seconds, 3)}
    tail = output.decode("utf-8", "replace")[-STDERR_EXCERPT:]
    emit("setup_ended", data=ended if ran.exit_code == 0 else {**ended, "text": tail})
    if ran.exit_code == 0:
        return None
    how = "timed out" if ran.timed_out else f"exited with {ran.exit_code}"
    failure = context.failure("SpawnFailed", "setup", f"the set-up `{clip(shown, 80)}` {how}")
    hint = "mend the set-up command, or leave it out"
    return replace(failure, command=(*argv, shown), stderr=tail, hint=hint)


async def _run(
    context: AttemptContext, control: AttemptControl, emit: Emit, started: float
) -> Outcome:
    handler = AgentEventHandler(context.command, control.process_control, emit)
    for text in context.hidden():
        handler.warn(text)
    driver = _conversation_driver(context, control, handler.warn)
    reader = _reader(context, handler, driver)
    try:
        end = await _supervise(context, control, reader, handler, driver)
    except CannotStart as error:
        _log.info("its agent cannot be started", why=str(error), more={"stderr": error.stderr})
        return _not_started(context, _cannot_start(context, error), started)
    finally:
        reader.close()
    await _finalize_stream(context, reader, handler, end)
    emit("agent_exited", data=_exit_data(end))
    _log.info("its agent has ended", **_exit_data(end), more={"output": vars(reader.counts)})
    snapshot_result = await snapshot_patch(context, control, emit)
    if owed := await sync_credentials_back(
        context.workspace, handler.transcript, _teller(context, handler)
    ):
        handler.warn(owed)
    warnings = (*context.warnings, *handler.warnings)
    outcome = classify(
        AttemptEvidence(
            run=context.run,
            lane=context.lane_plan.id,
            attempt=context.attempt,
            descriptor=context.adapter.descriptor,
            command=context.shown,
            transcript=handler.transcript,
            end=end._replace(
                stopped=_why_stopped(end, control, driver, snapshot_result.patch),
                seconds=trio.current_time() - started,
            ),
            wall=control.process_control.last_wall,
            patch=snapshot_result.patch,
            patch_reason=snapshot_result.reason,
            patch_error=snapshot_result.error,
            stderr=reader.stderr_tail.decode("utf-8", "replace"),
            counts=reader.counts,
            limits=context.limits,
            budget=context.lane_plan.budget,
            rates=context.lane_plan.rates,
            warnings=warnings,
        )
    )
    for warning in outcome.warnings[len(warnings) :]:
        emit("lane_warning", data={"text": warning})
    why = outcome.failure.reason if outcome.failure else None
    _log.info("outcome", status=outcome.status.value, why=why, seconds=outcome.seconds)
    return outcome


def _teller(context: AttemptContext, handler: AgentEventHandler) -> Callable[[Renewal], None]:
    """What says what came of the lane's renewed sign-in."""
    hint = context.adapter.descriptor.sign_in_hint
    return lambda notice: handler.warn(notice_text(notice, hint), sign_in=notice_data(notice))


def _conversation_driver(
    context: AttemptContext, control: AttemptControl, warn: Callable[[str], None]
) -> ConversationDriver | None:
    if not context.adapter.descriptor.interactive:
        return None
    assert context.sent is not None
    return ConversationDriver(
        cast(Talker, context.adapter).conversation(context.command),
        control=control.process_control,
        limits=context.limits,
        sent=SentLog(context.sent, context.redactor),
        warn=warn,
    )


def _reader(
    context: AttemptContext, handler: AgentEventHandler, driver: ConversationDriver | None
) -> OutputReader:
    return OutputReader(
        parser=context.adapter.parser() if driver is None else driver.conversation,
        sink=context.stdout,
        stderr_sink=context.stderr,
        redactor=context.redactor,
        emit=handler.handle,
        line_limit=context.limits.line_bytes,
        batch=context.batch,
        on_fallback=lambda failures: handler.emit("parse_fallback", data={"failures": failures}),
    )


async def _finalize_stream(
    context: AttemptContext, reader: OutputReader, handler: AgentEventHandler, end: End
) -> None:
    """Its last words: what its parser makes of how it ended, and of the files that it left."""
    patterns = context.adapter.descriptor.side_files
    files = {"stderr": reader.stderr_tail, **await side_files(context.workspace, patterns)}
    for event in ending(reader.parser, end.exit, files, context.redactor):
        # An agent that Hydra ended before its closing line has no closing event to miss.
        if event.kind != "failed" or end.stopped in ("", FINISHED) or end.closed:
            handler.handle(event, None)


def _why_stopped(
    end: End, control: AttemptControl, driver: ConversationDriver | None, patch: Patch | None
) -> str:
    stopped = end.stopped or (FINISHED if driver is not None and driver.finished else "")
    # One that had ended by itself is judged by what it did, unless its work is left.
    lane_reason = control.stop_reason if patch is None and stopped in ("", FINISHED) else ""
    return lane_reason or stopped


async def _supervise(
    context: AttemptContext,
    control: AttemptControl,
    reader: OutputReader,
    handler: AgentEventHandler,
    driver: ConversationDriver | None,
) -> End:
    _write_prompt(context)
    queue = _stdin_queue(context, driver)

    async def changed_since(when: float) -> float | None:
        return await trio.to_thread.run_sync(
            context.workspace.changed_since, when, abandon_on_cancel=True
        )

    ended: End | CannotStart
    async with trio.open_nursery() as nursery:
        nursery.start_soon(
            maintain, context.workspace, handler.transcript, _teller(context, handler)
        )
        if driver is not None:
            driver.begin(nursery, reader)
        try:
            ended = await supervise(
                _spec(context, queue),
                control=control.process_control,
                limits=context.limits,
                on_stdout=reader.stdout,
                on_stderr=reader.stderr,
                changed_since=changed_since,
                on_notice=partial(_on_supervisor_event, context, handler.emit, driver),
                queue=queue,
            )
        except CannotStart as error:
            # Raised below: a nursery would wrap it into an exception group.
            ended = error
        if driver is not None:
            await driver.drain()
        nursery.cancel_scope.cancel()
    if isinstance(ended, CannotStart):
        raise ended
    return ended


def _write_prompt(context: AttemptContext) -> None:
    try:
        context.prompt_file.touch(mode=0o600)
        context.prompt_file.write_bytes(context.redactor.redact(context.command.stdin or b"")[0])
        for path, data in context.command.files:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_once(path, data)
    except OSError as error:
        raise CannotStart(f"its prompt could not be written: {error}") from error


def _write_once(path: Path, data: bytes) -> None:
    """Makes a file of the lane's home: a set-up command has been there, so no link is followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)


def _on_supervisor_event(
    context: AttemptContext, emit: Emit, driver: ConversationDriver | None, note: Notice
) -> None:
    """The supervisor's word on the agent, as an event."""
    if note.kind == "signal" and driver is not None:
        driver.close()
    event_kinds = {
        "started": "agent_started",
        "half": "limit_warning",
        "waiting": "limit_warning",
        "signal": "stopping",
    }
    data = dict(note.data)
    if note.kind == "started":
        data["argv"] = list(context.shown)
        _log.info(
            "its agent is started",
            program=context.command.program,
            pid=data["pid"],
            confinement=context.confinement.kind,
            more={"argv": context.shown, "environment": sorted(context.environment)},
        )
    emit(event_kinds[note.kind], note.kind if note.kind == "waiting" else "", data)


def _stdin_queue(context: AttemptContext, driver: ConversationDriver | None) -> StdinQueue | None:
    """What says to the agent what its stdin is while it runs, where that is no sealed file."""
    if driver is not None:
        return driver.queue
    if not context.adapter.descriptor.stdin_pipe:
        return None
    queue = StdinQueue()
    queue.write(context.command.stdin or b"")
    queue.close()
    return queue


def _spec(context: AttemptContext, queue: StdinQueue | None) -> ProcessSpec:
    return ProcessSpec(
        argv=context.command.argv,
        env={
            **context.environment,
            **_signal_environment(context),
        },
        cwd=context.workspace.worktree,
        stdin=context.command.stdin or b"" if queue is None else b"",
        wrap=lambda argv: confine(context.confinement, context.sandbox_policy, argv),
        pid_namespace=context.confinement.holds,
    )


def _signal_environment(context: AttemptContext) -> dict[str, str]:
    # A policy brings its own; with full access nothing is kept from an agent.
    unwalled = not (context.confinement.holds or context.sandbox_policy.unrestricted)
    return SIGNALS if unwalled else {}


def _exit_data(end: End) -> dict[str, object]:
    return {
        "code": end.exit.code,
        "signal": end.exit.signal,
        "survivors": list(end.exit.survivors),
        "stopped": end.stopped,
        "seconds": round(end.seconds, 3),
    }


def _cannot_start(context: AttemptContext, error: CannotStart) -> Failure:
    failure = context.failure("SpawnFailed", "exec", f"it could not be started: {error}")
    return replace(failure, stderr=context.redactor.text(error.stderr)[-STDERR_EXCERPT:])


def _not_started(context: AttemptContext, failure: Failure, started: float) -> Outcome:
    return not_started(
        context.lane_plan,
        failure,
        attempt=context.attempt,
        seconds=trio.current_time() - started,
        warnings=context.command.warnings,
    )


# ---- The end of an attempt's agent: its work is taken as a commit, whatever has happened.


class SnapshotResult(NamedTuple):
    """The patch; or None, and why there is none: as a word, and as a sentence."""

    patch: Patch | None
    reason: str = ""
    error: str = ""


async def snapshot_patch(
    context: AttemptContext, control: AttemptControl, emit: Emit
) -> SnapshotResult:
    """The attempt's work as a commit, on every outcome, even while the race is being ended."""
    control.patch_grace = context.limits.grace_patch
    control.hurry()
    with control.taking_patch:
        try:
            patch = await _snapshot(context)
        except WorktreeLost as lost:
            return SnapshotResult(None, lost.reason, str(lost))
        except Exception as error:
            # Whatever it is, a fault of Hydra's own too: the rest of the outcome still stands.
            _log.debug("the snapshot failed", exc_info=True)
            cause = shortage(error) or error
            reason = str(cause) if isinstance(cause, HydraError | OSError) else repr(cause)
            return _lost(f"{reason} (the worktree is kept: {context.workspace.worktree})")
        emit("patch_taken", data=patch.as_event())
        _log.info(
            "patch taken", files=patch.files, incomplete=patch.incomplete, more=patch.as_event()
        )
        return SnapshotResult(patch)
    if trio.current_time() < control.taking_patch.deadline:
        why = "the race was ended at once"
    else:
        why = f"taking it took over {context.limits.grace_patch:g} s"
    return _lost(f"{why} (the worktree is kept: {context.workspace.worktree})")


async def _snapshot(context: AttemptContext) -> Patch:
    for wait in WAITS:
        try:
            return await _try_snapshot(context)
        except Exception as error:
            if not is_passing(error):
                raise
            _log.info("the snapshot is taken anew", after=str(error), wait=wait)
        await trio.sleep(wait)  # a neighbour's agent has taken all processes, say
    return await _try_snapshot(context)


async def _try_snapshot(context: AttemptContext) -> Patch:
    return await trio.to_thread.run_sync(
        lambda: context.workspace.snapshot(
            attempt=context.attempt,
            message=context.commit_message,
            secrets_in=context.redactor.count,
        ),
        abandon_on_cancel=True,
    )


def _lost(why: str) -> SnapshotResult:
    _log.warning("its patch is not taken", why=why)
    return SnapshotResult(None, "patch_lost", why)
