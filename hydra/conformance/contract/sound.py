"""What holds for whatever a parser was fed: events of the closed set, and exactly one ending."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.recorded import Stream
from hydra.errors import KINDS
from hydra.records.events import AGENT_KINDS, SESSION_FIELDS, AgentEvent, Event, encode
from hydra.records.outcome import ExitStatus

_SUBS: Mapping[str, tuple[str, ...]] = {
    "message": ("", "thinking"),
    "progress": ("session", "retry", "closing", "notice", "unknown", "malformed"),
}
_FIELDS: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "message": {"text": (str,)},
    "tool_call": {"id": (str,), "name": (str,), "summary": (str,)},
    "tool_result": {"id": (str,), "ok": (bool,), "summary": (str,)},
    "completed": {"denials": (list, tuple), "failed_items": (int,)},
    "failed": {
        "error": (str,),
        "reason": (str,),
        "message": (str,),
        "numbers": (dict,),
        "terminal": (bool,),
    },
}
_TOTALS = frozenset({"input_tokens", "output_tokens", "cached_tokens", "cost_usd"})


def read(
    subject: ContractSubject, lines: Sequence[bytes], exit: ExitStatus, files: Mapping[str, bytes]
) -> list[AgentEvent]:
    """One stream from its first line to its end, by a fresh parser."""
    parser = subject.adapter.parser()
    events = [event for line in lines for event in parser.parse_line(line)]
    return [*events, *parser.end(exit, files)]


def files_of(subject: ContractSubject, stream: Stream) -> dict[str, bytes]:
    """What `Parser.end` is handed at the end of a recorded run: stderr and the side files."""
    names = subject.adapter.descriptor.side_files
    sides = {names[n]: data for n, data in stream.files.items() if n < len(names)}
    return {**sides, "stderr": stream.stderr}


def endings(events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """The closing events among them."""
    return [event for event in events if event.kind in ("completed", "failed")]


def sound(events: Sequence[AgentEvent]) -> Iterator[str]:
    """What is wrong with a whole stream's events."""
    yield from malformed(events)
    lines = [event.kind for event in endings(events)]
    if len(lines) != 1:
        yield f"it has {len(lines)} endings ({', '.join(lines) or 'none'}) and not one"


def malformed(events: Sequence[AgentEvent]) -> Iterator[str]:
    """What is wrong with events by themselves."""
    for number, event in enumerate(events):
        yield from _case(event)
        try:
            encode(
                Event(
                    seq=number,
                    wall=0,
                    mono=0,
                    run="r",
                    kind=event.kind,
                    sub=event.sub,
                    data=event.data,
                )
            )
        except (TypeError, ValueError, RecursionError) as error:
            yield f"event {event.kind} cannot be recorded: {error}"


def _case(event: AgentEvent) -> Iterator[str]:
    if event.kind not in AGENT_KINDS:
        yield f"{event.kind!r} is no kind of event"
        return
    if event.sub not in _SUBS.get(event.kind, ("",)):
        yield f"event {event.kind} has an unknown sub {event.sub!r}"
    for field, kinds in _FIELDS.get(event.kind, {}).items():
        if not isinstance(event.data.get(field), kinds):
            yield f"event {event.kind} has {field} {event.data.get(field)!r}"
    if event.kind == "usage" and not set(event.data) <= _TOTALS:
        yield f"event usage has {', '.join(sorted(set(event.data) - _TOTALS))}"
    if event.sub == "session" and not set(event.data) <= set(SESSION_FIELDS):
        yield f"event session has {', '.join(sorted(set(event.data) - set(SESSION_FIELDS)))}"
    if event.kind == "failed" and event.data.get("error") not in KINDS:
        yield f"event failed has error {event.data.get('error')!r}, which is no kind of error"
    if event.kind == "failed" and event.data.get("terminal") is not True:
        yield "event failed is not said to be terminal"
