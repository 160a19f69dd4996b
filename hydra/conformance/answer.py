"""From a request to what goes out on the wire: pure, so that every situation can be tested."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hydra.conformance.dialect import Dialect, ModelRequest
from hydra.conformance.script import IN_STREAM, ModelFault, ModelTurn, Script
from hydra.conformance.tool_mapping import harmless

_JSON = "application/json"
_EVENTS = "text/event-stream"
_GARBAGE = b"\x00\xff\xfe<html>not an event stream</html>\r\n{{{\n\n\x1b[31m"
_MALFORMED = b'event: message\ndata: {"type": "content_block_delta", "delta": {"te\n\n'
_SIDE = ModelTurn(say="A short title", input_tokens=10, output_tokens=4)


class PlayedAnswer(Struct, frozen=True, kw_only=True):
    """What the server plays back.

    `ending` is `close` (the reply is whole), `cut` (the connection is dropped) or `hold` (it
    stays open in silence until the client goes or the server stops). `status` 0 sends nothing at
    all before the ending. `label` says in the log what this was; `place` is the turn, -1 for none.
    """

    label: str
    status: int = 200
    content_type: str = _JSON
    parts: tuple[bytes, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    ending: str = "close"
    wait: float = 0.0
    place: int = -1


def document(label: str, data: Mapping[str, Any], *, status: int = 200) -> PlayedAnswer:
    """A JSON answer."""
    return PlayedAnswer(label=label, status=status, parts=(json.dumps(data).encode(),))


def answer(
    script: Script,
    dialect: Dialect,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    meetings: Counter[tuple[str, int]],
    agent: str = "",
) -> PlayedAnswer:
    """The script's answer to a request for a model's turn. Counts a fault as met: `meetings` are
    how often each conversation has met the fault at each place.

    `agent` is who asks, where the request's path says so; else it is the dialect's own.
    """
    agent = agent or dialect.agent
    request = dialect.read(body, headers)
    if request.side:
        return _reply("side", dialect, _side(request), request, -1)
    if request.unfinished:
        return _reply(
            "wait", dialect, ModelTurn(tools=(request.unfinished,)), request, request.answered
        )
    conversation = f"{agent} {request.conversation}"
    mine = script.for_agent(agent, {"agent": agent, "cwd": request.cwd})
    past = max(_past(mine, request), default=request.answered)
    place, turn = mine.turn(past, spent=lambda place: meetings[conversation, place])
    if turn.fault is None:
        return _reply("turn", dialect, turn, request, place)
    meetings[conversation, place] += 1
    return _faulty(dialect, turn, turn.fault, request, place)


def _past(script: Script, request: ModelRequest) -> Iterator[int]:
    """The turns that were said, of a conversation without tools: no id tells them."""
    for place, turn in enumerate(script.turns):
        if turn.say.strip() and any(turn.say.strip() in line for line in request.lines):
            yield place


def _side(request: ModelRequest) -> ModelTurn:
    # Who wants JSON asks again and again until it is some.
    return replace(_SIDE, say=json.dumps(harmless(request.wants))) if request.wants else _SIDE


def _reply(
    label: str, dialect: Dialect, turn: ModelTurn, request: ModelRequest, place: int
) -> PlayedAnswer:
    if request.stream:
        parts, kind = tuple(dialect.events(turn, request, place)), _EVENTS
    else:
        parts, kind = (json.dumps(dialect.document(turn, request, place)).encode(),), _JSON
    return PlayedAnswer(label=label, content_type=kind, parts=parts, wait=turn.wait, place=place)


def _faulty(
    dialect: Dialect, turn: ModelTurn, fault: ModelFault, request: ModelRequest, place: int
) -> PlayedAnswer:
    label = f"fault:{fault.kind}"
    if fault.kind in IN_STREAM and not turn.empty:
        return _broken_stream(label, dialect, turn, fault, request, place)
    if fault.kind == "overflow":
        status, parts = dialect.overflow(request)
        kind = _EVENTS if status == 200 else _JSON
        return PlayedAnswer(
            label=label, status=status, content_type=kind, parts=tuple(parts), place=place
        )
    if fault.kind == "status":
        wait = () if fault.retry_after is None else (("retry-after", f"{fault.retry_after:g}"),)
        return PlayedAnswer(
            label=f"{label} {fault.status}",
            status=fault.status,
            parts=(json.dumps(dialect.error(fault)).encode(),),
            headers=wait,
            place=place,
        )
    ending = "hold" if fault.kind == "hang" else "cut"
    return PlayedAnswer(label=label, status=0, ending=ending, wait=turn.wait, place=place)


def _broken_stream(
    label: str,
    dialect: Dialect,
    turn: ModelTurn,
    fault: ModelFault,
    request: ModelRequest,
    place: int,
) -> PlayedAnswer:
    whole = _reply(label, dialect, turn, request, place)
    last = {
        "garbage": (_GARBAGE,),
        "malformed": (_MALFORMED,),
        "error_event": (dialect.error_event(fault),),
    }.get(fault.kind, ())
    if not request.stream and last:
        # Claude Code asks again without streaming: there is no stream to break, and it recovers.
        return whole
    half = whole.parts[: (len(whole.parts) + 1) // 2]
    if not request.stream:
        half = (whole.parts[0][: len(whole.parts[0]) // 2],)
    return PlayedAnswer(
        label=label,
        content_type=whole.content_type,
        parts=half + last,
        ending={"stall": "hold", "drop": "cut"}.get(fault.kind, "close"),
        wait=turn.wait,
        place=place,
    )
