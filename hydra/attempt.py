"""One attempt's life: open its ground, run its agent, take its patch, say how it ended."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, cast

import trio

from hydra.adapters.contract import Adapter, Parser, Talker
from hydra.errors import STDERR_EXCERPT, Failure, HydraError
from hydra.events import AgentEvent, Raw, clip
from hydra.model import BuiltCommand, Confinement, LanePlan, Limits, Outcome, Patch, Status
from hydra.outcome import EARLY, Evidence, Story, conclude
from hydra.process import (
    FINISHED,
    TERM,
    CannotStart,
    Control,
    End,
    Inlet,
    Notice,
    Spec,
    run,
    supervise,
)
from hydra.reading import Counts, Reader, Sink, ending
from hydra.sandbox import Walls, confine
from hydra.secrets import Redactor
from hydra.talking import Sent, Talk
from hydra.tending import give_back, side_files, tend
from hydra.workspace import Ground, WorktreeLost


class Emit(Protocol):
    """Puts one event of this attempt into the race's one order."""

    def __call__(
        self,
        kind: str,
        sub: str = "",
        data: Mapping[str, object] | None = None,
        *,
        source: str = "hydra",
        raw: Raw | None = None,
        recorded: bool = True,
    ) -> None:
        """One event. One that is not recorded counts for the lane's budget all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """All that one attempt works with; put together by the app, used here and nowhere else."""

    plan: LanePlan
    adapter: Adapter
    command: BuiltCommand
    ground: Ground
    confinement: Confinement
    walls: Walls
    limits: Limits
    environment: Mapping[str, str]
    setup_environment: Mapping[str, str]
    """The same without the agent's keys: a set-up is the repository's, or the user's, not its."""
    redactor: Redactor
    stdout: Sink
    stderr: Sink
    prompt_file: Path
    sent: Sink | None = None
    """Of an agent that is talked to: what Hydra says to it."""
    together: Callable[[], AbstractContextManager[None]] = nullcontext
    """Within it the record may hold events back, to write them at once."""
    setup: tuple[str, ...] = ()
    message: str = ""
    attempt: int = 1

    @property
    def shown(self) -> tuple[str, ...]:
        """The agent's own command for eyes and records, without secrets."""
        argv = self.command.argv if self.plan.command is None else self.plan.command.argv
        return tuple(map(self.redactor.text, argv))

    def close(self) -> None:
        """Ends the raw files, which may take a copy of their tails: it blocks."""
        for sink in (self.stdout, self.stderr, self.sent):
            if sink is not None:
                sink.close()


@dataclass
class Handle:
    """The race's hold on one attempt: it can be told to stop before its agent even runs."""

    control: Control = field(default_factory=Control)
    stopped: str = ""
    setting_up: trio.CancelScope = field(default_factory=trio.CancelScope)
    taking_patch: trio.CancelScope = field(default_factory=lambda: trio.CancelScope(shield=True))
    checking: trio.CancelScope = field(default_factory=trio.CancelScope)
    waiting: trio.CancelScope = field(default_factory=trio.CancelScope)
    """Of a lane that will be tried again."""
    patch_grace: float = math.inf
    """Seconds that a patch may take once the lane was told to stop."""

    def stop(self, reason: str, graces: tuple[float, float] | None = None) -> None:
        """Ends the agent by the ladder INT, TERM, KILL, its checks at once; its patch is still
        taken."""
        self.stopped = self.stopped or reason
        self.waiting.cancel()
        self.setting_up.cancel()
        self.checking.cancel()
        self.control.stop(reason, graces=graces)
        self.hurry()

    def stop_agent(self, reason: str) -> None:
        """Ends the agent alone by the ladder: its patch is taken and checked as any other."""
        self.control.stop(reason)

    def hurry(self) -> None:
        """Where the lane was told to stop, its patch has only so long from now."""
        if self.stopped:
            late = trio.current_time() + self.patch_grace
            self.taking_patch.deadline = min(self.taking_patch.deadline, late)

    def kill(self, reason: str) -> None:
        """Ends it at once; its patch is left to recovery."""
        self.stopped = self.stopped or reason
        self.waiting.cancel()
        self.setting_up.cancel()
        self.checking.cancel()
        self.taking_patch.cancel()
        self.control.kill(reason)


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
        return _failure(bench, "SpawnFailed", "ground", message, hint)
    seconds = round(trio.current_time() - began, 3)
    emit("lane_opened", data={"worktree": str(bench.ground.worktree), "seconds": seconds})
    for warning in (*bench.plan.warnings, *bench.command.warnings, *bench.ground.notes):
        emit("lane_warning", data={"text": warning})
    with handle.setting_up:
        for command in bench.setup:
            failure = await _set_up(bench, command, emit)
            if failure is not None:
                return failure
    if handle.stopped:
        why = EARLY.get(handle.stopped, EARLY["interrupt"])
        return _failure(bench, "Interrupted", handle.stopped, why)
    return None


async def _set_up(bench: Bench, command: str, emit: Emit) -> Failure | None:
    emit("setup_started", data={"command": command})
    try:
        ran = await run(
            ("/bin/sh", "-c", command),
            env=bench.setup_environment,
            cwd=bench.ground.worktree,
            timeout=bench.limits.setup,
            wrap=lambda argv: confine(bench.confinement, bench.walls, argv),
        )
    except CannotStart as error:
        return _cannot_start(bench, error)
    emit(
        "setup_ended",
        data={"command": command, "exit_code": ran.exit_code, "seconds": round(ran.seconds, 3)},
    )
    if ran.exit_code == 0:
        return None
    how = "timed out" if ran.timed_out else f"exited with {ran.exit_code}"
    output, _ = bench.redactor.redact(ran.stdout + ran.stderr)
    failure = _failure(bench, "SpawnFailed", "setup", f"the set-up `{clip(command, 80)}` {how}")
    said = output.decode("utf-8", "replace")[-STDERR_EXCERPT:]
    return replace(failure, stderr=said, hint="mend the set-up command, or leave it out")


async def _run(bench: Bench, handle: Handle, emit: Emit, started: float) -> Outcome:
    story, counts = Story(), Counts()
    spotted: list[str] = []

    def warn(text: str) -> None:
        spotted.append(text)
        emit("lane_warning", data={"text": text})

    talk = _talk(bench, handle, warn)
    parser: Parser = bench.adapter.parser() if talk is None else talk.conversation

    def take(event: AgentEvent, raw: Raw | None, recorded: bool = True) -> None:
        story.add(event)
        _feed_clocks(handle.control, event)
        emit(event.kind, event.sub, event.data, source="agent", raw=raw, recorded=recorded)
        for difference in _differences(bench.command, event):
            warn(difference)

    reader = Reader(
        parser=parser,
        sink=bench.stdout,
        stderr_sink=bench.stderr,
        redactor=bench.redactor,
        emit=take,
        line_limit=bench.limits.line_bytes,
        together=bench.together,
        counts=counts,
        on_fallback=lambda failures: emit("parse_fallback", data={"failures": failures}),
        terminal=bench.adapter.descriptor.pty,
    )
    try:
        end = await _supervise(bench, handle, reader, emit, talk)
    except CannotStart as error:
        return _not_started(bench, _cannot_start(bench, error), started)
    finally:
        reader.close()
    stderr = reader.stderr_tail.decode("utf-8", "replace")
    patterns = bench.adapter.descriptor.side_files
    files = {"stderr": reader.stderr_tail, **await side_files(bench.ground, patterns)}
    for event in ending(parser, end.exit, files, bench.redactor):
        # An agent that Hydra ended has no closing event to miss.
        if event.kind != "failed" or end.stopped in ("", FINISHED):
            take(event, None)
    emit("agent_exited", data=_exit_data(end))
    patch, patch_reason, patch_error = await _take_patch(bench, handle, emit)
    await give_back(bench.ground)
    told = (*bench.plan.warnings, *bench.command.warnings, *bench.ground.notes)
    outcome = conclude(
        Evidence(
            lane=bench.plan.lane.id,
            attempt=bench.attempt,
            descriptor=bench.adapter.descriptor,
            command=bench.shown,
            story=story,
            exit=end.exit,
            stopped=_why_stopped(end, handle, talk, patch),
            seconds=trio.current_time() - started,
            patch=patch,
            patch_reason=patch_reason,
            patch_error=patch_error,
            stderr=stderr,
            counts=counts,
            limits=bench.limits,
            budget=bench.plan.budget,
            warnings=(*told, *spotted),
        )
    )
    for warning in outcome.warnings[len(told) + len(spotted) :]:
        emit("lane_warning", data={"text": warning})
    return outcome


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


def _why_stopped(end: End, handle: Handle, talk: Talk | None, patch: Patch | None) -> str:
    stopped = end.stopped or (FINISHED if talk is not None and talk.finished else "")
    # One that had ended by itself is judged by what it did, unless its work is left.
    left = handle.stopped if patch is None and stopped in ("", FINISHED) else ""
    return left or stopped


async def _supervise(
    bench: Bench, handle: Handle, reader: Reader, emit: Emit, talk: Talk | None
) -> End:
    try:
        bench.prompt_file.touch(mode=0o600)
        bench.prompt_file.write_bytes(bench.command.stdin or b"")
        for path, data in bench.command.files:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_once(path, data)
    except OSError as error:
        raise CannotStart(f"its prompt could not be written: {error}") from error
    inlet = _inlet(bench, talk)

    def notice(note: Notice) -> None:
        if note.kind == "signal" and talk is not None:
            talk.hang_up()
        kind = {"started": "agent_started", "half": "limit_warning", "signal": "stopping"}
        data = dict(note.data)
        if note.kind == "started":
            data["argv"] = list(bench.shown)
        emit(kind[note.kind], data=data)

    async def changed_since(when: float) -> float | None:
        return await trio.to_thread.run_sync(
            bench.ground.changed_since, when, abandon_on_cancel=True
        )

    ended: End | CannotStart
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tend, bench.ground)
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
                on_notice=notice,
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
        env={**bench.environment, **({"TERM": kind} if kind else {})},
        cwd=bench.command.cwd,
        stdin=bench.prompt_file if inlet is None else None,
        wrap=lambda argv: confine(bench.confinement, bench.walls, argv),
        pid_namespace=bench.confinement.holds,
        terminal=terminal,
    )


def _write_once(path: Path, data: bytes) -> None:
    """Makes a file of the lane's home: a set-up command has been there, so no link is followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)


async def _take_patch(bench: Bench, handle: Handle, emit: Emit) -> tuple[Patch | None, str, str]:
    """The attempt's work as a commit, on every outcome, even while the race is being ended.

    Where there is none: the reason as a word, and as a sentence.
    """
    handle.patch_grace = bench.limits.grace_patch
    handle.hurry()
    with handle.taking_patch:
        try:
            patch = await trio.to_thread.run_sync(
                lambda: bench.ground.snapshot(
                    attempt=bench.attempt, message=bench.message, secrets_in=bench.redactor.count
                ),
                abandon_on_cancel=True,
            )
        except WorktreeLost as lost:
            return None, lost.reason, str(lost)
        except Exception as error:
            # Whatever it is, a fault of Hydra's own too: the rest of the outcome still stands.
            said = str(error) if isinstance(error, HydraError | OSError) else repr(error)
            return None, "patch_lost", f"{said} (the worktree is kept: {bench.ground.worktree})"
        emit(
            "patch_taken",
            data={
                "commit": patch.commit,
                "files": patch.files,
                "insertions": patch.insertions,
                "deletions": patch.deletions,
                "incomplete": patch.incomplete,
            },
        )
        return patch, "", ""
    if trio.current_time() < handle.taking_patch.deadline:
        why = "the race was ended at once"
    else:
        why = f"taking it took over {bench.limits.grace_patch:g} s"
    return None, "patch_lost", f"{why} (the worktree is kept)"


def _feed_clocks(control: Control, event: AgentEvent) -> None:
    if event.is_progress:
        control.progress()
    if event.kind == "tool_call":
        control.tool_opened(str(event.data.get("id", "")))
    elif event.kind == "tool_result":
        control.tool_closed(str(event.data.get("id", "")))


def _differences(command: BuiltCommand, event: AgentEvent) -> list[str]:
    """What the CLI says it really applied, where that is not what was asked for."""
    if event.kind != "progress" or event.sub != "session":
        return []
    return [
        f"asked for {what} {asked}, but the CLI applied {event.data[what]}"
        for what, asked in command.expects
        if event.data.get(what) not in (None, "", asked)
    ]


def _exit_data(end: End) -> dict[str, object]:
    return {
        "code": end.exit.code,
        "signal": end.exit.signal,
        "survivors": list(end.exit.survivors),
        "stopped": end.stopped,
        "seconds": round(end.seconds, 3),
    }


def _cannot_start(bench: Bench, error: CannotStart) -> Failure:
    failure = _failure(bench, "SpawnFailed", "exec", f"it could not be started: {error}")
    return replace(failure, stderr=bench.redactor.text(error.stderr)[-STDERR_EXCERPT:])


def _failure(bench: Bench, kind: str, reason: str, message: str, hint: str = "") -> Failure:
    return Failure(
        kind=kind,
        reason=reason,
        message=message,
        adapter=bench.adapter.descriptor.key,
        command=bench.shown,
        hint=hint or "run `hydra doctor`; the run's folder has what was recorded",
    )


def _not_started(bench: Bench, failure: Failure, started: float) -> Outcome:
    interrupted = failure.kind == "Interrupted"
    return Outcome(
        lane=bench.plan.lane.id,
        attempt=bench.attempt,
        status=Status.INTERRUPTED if interrupted else Status.NOT_STARTED,
        failure=failure,
        seconds=trio.current_time() - started,
        warnings=(*bench.plan.warnings, *bench.command.warnings),
    )
