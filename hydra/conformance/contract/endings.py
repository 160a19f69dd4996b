"""Whether each way in which a process can end has its name, whatever was said before."""

from __future__ import annotations

from collections.abc import Iterator

from hydra.conformance.contract.sound import endings, files_of, read, sound
from hydra.conformance.contract.subject import ContractCheck, ContractSubject, NotCheckable
from hydra.conformance.recorded import Recording, Stream
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

_CODES = (0, 1, 2, 64, 100, 125, 126, 127, 128, 130, 134, 137, 139, 143, 255)
_SIGNALS = (1, 2, 3, 6, 9, 11, 13, 15)
_STOPPED = (1, 2, 15)
_KILLED = 9


def silent(subject: ContractSubject) -> Iterator[str]:
    """Nothing was said: a signal is named for what it is, and no exit code is ever a success."""
    numbers = {*_CODES, *subject.adapter.descriptor.exit_codes}
    ways = [ExitStatus(code=code) for code in sorted(numbers)]
    ways += [ExitStatus(signal=number) for number in _SIGNALS]
    for exit in (*ways, ExitStatus(), ExitStatus(keeper_lost=True)):
        name = f"signal {exit.signal}" if exit.signal else f"exit {exit.code}"
        seen = read(subject, [], exit, {})
        yield from (f"{name}: {text}" for text in sound(seen))
        names = _ending(seen)
        if names != _right(exit):
            yield f"{name} without a word ends as {'/'.join(names)}, not {'/'.join(_right(exit))}"


def _right(exit: ExitStatus) -> tuple[str, str]:
    # A shell, and some CLIs themselves, tell a signal as 128 + its number.
    number = exit.signal or max((exit.code or 0) - 128, 0)
    if number in _STOPPED:
        return "Interrupted", "signal"
    if number == _KILLED:
        return "AgentFailed", "killed"
    return "StreamParseError", "no_terminal_event"


def _ending(events: list[AgentEvent]) -> tuple[str, str]:
    agent_events = endings(events)
    if not agent_events or agent_events[-1].kind != "failed":
        return (agent_events[-1].kind if agent_events else "nothing", "")
    return str(agent_events[-1].data.get("error")), str(agent_events[-1].data.get("reason"))


def said_and_ended(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """What the stream itself said outweighs the exit code, which Hydra judges by itself."""
    for stream in _done(subject, recording):
        for exit in (ExitStatus(code=1), ExitStatus(code=143), ExitStatus(signal=9), ExitStatus()):
            seen = read(subject, stream.lines, exit, files_of(subject, stream))
            yield from (f"{stream.name}: {text}" for text in sound(seen))
            if endings(seen)[-1].kind != "completed":
                yield f"{stream.name}: done, and {exit} makes it {'/'.join(_ending(seen))}"


def noise_on_stderr(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """stderr is noise once the stream was understood: it turns no success into a failure."""
    noise = b"WARN 429 Too Many Requests\nERROR not logged in\nerror: unknown option '--print'\n"
    for stream in _done(subject, recording):
        files = {**files_of(subject, stream), "stderr": noise + stream.stderr}
        seen = read(subject, stream.lines, stream.exit, files)
        if endings(seen)[-1].kind != "completed":
            yield f"{stream.name}: done, and noise on stderr makes it {'/'.join(_ending(seen))}"


def cut_before_the_end(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """With exit 0 and without the line that closes it, no run is done."""
    for stream in _done(subject, recording):
        lines = [line for line in stream.lines if line.strip()]
        for number in range(len(lines)):
            seen = read(subject, lines[:number], ExitStatus(code=0), {})
            if endings(seen)[-1].kind == "completed":
                break
            if _ending(seen)[0] not in ("StreamParseError", "AgentFailed"):
                yield f"{stream.name}: cut after line {number} it ends as {_ending(seen)[0]}"
        else:
            continue
        if number == 0:
            yield f"{stream.name}: completed before its first line"


def _done(subject: ContractSubject, recording: Recording) -> list[Stream]:
    streams = []
    for stream in recording.streams():
        seen = read(subject, stream.lines, stream.exit, files_of(subject, stream))
        if [event.kind for event in endings(seen)] == ["completed"]:
            streams.append(stream)
    if not streams:
        raise NotCheckable("no recorded run that was done")
    return streams


CHECKS = (
    ContractCheck("endings.silent", whole=silent),
    ContractCheck("endings.exit_code", versioned=said_and_ended),
    ContractCheck("endings.stderr", versioned=noise_on_stderr),
    ContractCheck("endings.cut", versioned=cut_before_the_end),
)
