"""Whether each way in which a process can end has its name, whatever was said before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from hydra.conformance.contract.streams import endings, sound
from hydra.conformance.contract.subject import ContractCheck, ContractSubject, Form, NotCheckable
from hydra.conformance.recorded import Recording, Stream, parse
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

_CODES = (0, 1, 2, 64, 100, 125, 126, 127, 128, 130, 134, 137, 139, 143, 255)
_SIGNALS = (1, 2, 3, 6, 9, 11, 13, 15)
_STOPPED = (1, 2, 15)
_KILLED = 9
_DONE = ExitStatus(code=0)


def silent(subject: ContractSubject) -> Iterator[str]:
    """Nothing was said: a signal is named for what it is, and no exit code is ever a success."""
    numbers = {*_CODES, *subject.adapter.descriptor.exit_codes}
    ways = [ExitStatus(code=code) for code in sorted(numbers)]
    ways += [ExitStatus(signal=number) for number in _SIGNALS]
    for exit in (*ways, ExitStatus(), ExitStatus(keeper_lost=True)):
        name = f"signal {exit.signal}" if exit.signal else f"exit {exit.code}"
        seen = subject.adapter.parser().end(exit, {})
        yield from sound(seen, name)
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
            seen = parse(subject.adapter, replace(stream, exit=exit))
            yield from sound(seen, stream.name)
            if endings(seen)[-1].kind != "completed":
                yield f"{stream.name}: done, and {exit} makes it {'/'.join(_ending(seen))}"


def noise_on_stderr(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """stderr is noise once the stream was understood: it turns no success into a failure."""
    noise = b"WARN 429 Too Many Requests\nERROR not logged in\nerror: unknown option '--print'\n"
    for stream in _done(subject, recording):
        seen = parse(subject.adapter, replace(stream, stderr=noise + stream.stderr))
        if endings(seen)[-1].kind != "completed":
            yield f"{stream.name}: done, and noise on stderr makes it {'/'.join(_ending(seen))}"


def cut_before_the_end(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """With exit 0 and without what closes it, no run is done. That is the line of which the parser
    says so; where it says so of none, the last that says or does something. Of text nothing says
    where it ends: the side files do, of which half is left."""
    streams = _done(subject, recording)
    if subject.form is Form.TEXT:
        yield from _half_written(subject, streams)
        return
    for stream in streams:
        lines = [line for line in stream.lines if line.strip()]
        for number in range(_closing(subject, lines)):
            seen = parse(subject.adapter, _alone(stream, lines[:number], _DONE))
            if _is_done(seen):
                yield f"{stream.name}: completed after {number} of {len(lines)} lines"
                break
            is_failed = endings(seen)[-1].kind == "failed"
            if is_failed and _ending(seen)[0] not in ("StreamParseError", "AgentFailed"):
                yield f"{stream.name}: cut after line {number} it ends as {_ending(seen)[0]}"


def stopped(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Ended by Hydra in the middle (a limit, Ctrl-C) it is not done, however it then ends."""
    streams = _done(subject, recording)
    if (
        subject.form is Form.TEXT
    ):  # of it nothing says where it ends but the side files, half of them
        streams = _with_files(streams)
    for stream in streams:
        lines = [line for line in stream.lines if line.strip()]
        half = lines[: min(len(lines) // 2, _closing(subject, lines) - 1)]
        half_run = _halved(stream) if subject.form is Form.TEXT else _alone(stream, half, _DONE)
        ways = [ExitStatus(signal=number) for number in (2, 9, 15)]
        for exit in (*ways, ExitStatus(code=130), ExitStatus(code=143)):
            seen = parse(subject.adapter, replace(half_run, exit=exit), half)
            yield from sound(seen, stream.name)
            if endings(seen)[-1].kind == "completed":
                how = f"signal {exit.signal}" if exit.signal else f"exit {exit.code}"
                yield f"{stream.name}: stopped half way, and {how} makes it completed"


def _closing(subject: ContractSubject, lines: Sequence[bytes]) -> int:
    """The number of the line that closes the stream."""
    if subject.form is Form.DOCUMENT:
        return len(lines)
    parser = subject.adapter.parser()
    events = [parser.parse_line(line) for line in lines]
    closing = [
        number
        for number, many in enumerate(events, 1)
        if any(event.kind == "completed" or event.sub == "closing" for event in many)
    ]
    telling = [
        number
        for number, many in enumerate(events, 1)
        if any(event.kind not in ("progress", "usage") for event in many)
    ]
    return next(iter(closing or reversed(telling)), len(lines))


def _half_written(subject: ContractSubject, streams: Sequence[Stream]) -> Iterator[str]:
    for stream in _with_files(streams):
        if _is_done(parse(subject.adapter, replace(_halved(stream), exit=_DONE))):
            yield f"{stream.name}: completed, and its side files are cut"


def _with_files(streams: Sequence[Stream]) -> list[Stream]:
    with_files = [stream for stream in streams if stream.files]
    if not with_files:
        raise NotCheckable("no recorded side file, and text does not say where it ends")
    return with_files


def _halved(stream: Stream) -> Stream:
    """With half of its side files, and of its stderr."""
    files = {number: data[: len(data) // 2] for number, data in stream.files.items()}
    return replace(stream, files=files, stderr=stream.stderr[: len(stream.stderr) // 2])


def _alone(stream: Stream, lines: list[bytes], exit: ExitStatus) -> Stream:
    """These lines, and nothing beside them."""
    return Stream(name=stream.name, lines=lines, exit=exit)


def _is_done(events: list[AgentEvent]) -> bool:
    """Whether it ended well; one that was refused something may end there (OpenCode's)."""
    ending = endings(events)[-1]
    return ending.kind == "completed" and not ending.data.get("denials")


def _done(subject: ContractSubject, recording: Recording) -> list[Stream]:
    streams = []
    for stream in recording.streams():
        seen = parse(subject.adapter, stream)
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
    ContractCheck("limits.stopped", versioned=stopped),
)
