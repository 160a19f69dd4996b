"""Holds what was seen against what was expected: each difference is a sentence.

Pure: the same sentences come of a race, of a direct call and of a test's own data.
"""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from hydra.conformance.live.expectation import Expectation, Wanted, brief
from hydra.conformance.live.reach import Reach
from hydra.conformance.live.seen import Seen

_TOLD = 300


def differences(expected: Expectation, seen: Seen, reach: Reach) -> tuple[str, ...]:
    """Every difference, the most telling first; empty where all is as expected."""
    if seen.trouble:
        return (f"race: {seen.trouble}",)
    if not seen.lane:
        return tuple(_refused(expected, seen))
    return tuple(sentence for find in _ALWAYS for sentence in find(expected, seen, reach))


def _refused(expected: Expectation, seen: Seen) -> Iterator[str]:
    if not expected.refused:
        yield f"race: none was started, hydra ended with {seen.hydra}: {_line(seen.stderr)}"
        return
    if expected.refused not in seen.stderr:
        yield f"race: refused with {brief(_line(seen.stderr))}, expected {brief(expected.refused)}"
    if seen.hydra != expected.exit:
        yield f"exit: hydra ended with {seen.hydra}, expected {expected.exit}"


def _outcome(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    status, error = str(seen.lane.get("status", "")), seen.error
    if expected.refused:
        yield "race: it was started, expected it to be refused"
    elif status != expected.status:
        yield f"outcome: status is {status}, expected {expected.status}"
    wanted = dict(zip(("kind", "reason"), expected.error.split("/"), strict=False))
    if not expected.error and error:
        yield f"error: kind is {error['kind']} ({_line(error['message'])}), expected none"
    elif wanted.get("kind") and not error:
        yield f"error: none, expected {expected.error}"
    for key, value in wanted.items() if error and expected.error else ():
        if error.get(key) != value:
            told = f" ({_line(error['message'])})" if key == "kind" else ""
            yield f"error: {key} is {error.get(key)}{told}, expected {value}"
    for name, wished in expected.numbers.items() if error else ():
        figure = reach.idle if wished == "idle" else float(wished)
        found = error.get("numbers", {}).get(name)
        if found is None or found != figure:
            told = "missing" if found is None else f"{found:g}"
            yield f"error: numbers.{name} is {told}, expected {figure:g}"
    if status != expected.status and (said := _last(error.get("stderr", ""))):
        yield f"stderr: {said}"
    if seen.hydra != expected.exit:
        yield f"exit: hydra ended with {seen.hydra}, expected {expected.exit}"


def _unknown(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    met = Counter(str(data.get("type", "")) for data in seen.of("progress", "unknown"))
    for name, count in met.items():
        yield f'unknown event type "{name}" {_times(count)}'
    malformed = len(seen.of("progress", "malformed"))
    if malformed != expected.malformed:
        line = seen.first_line("progress", "malformed")
        many = "1 line is" if malformed == 1 else f"{malformed} lines are"
        told = f"stream: {many} no JSON, expected {expected.malformed}"
        yield f"{told}: {brief(line)}" if line else told


def _session(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    """Told in one event or in several: Codex tells its sandbox at the end only."""
    told: dict[str, Any] = {}
    for data in seen.of("progress", "session"):
        told |= data
    for name in reach.session if expected.session is None else expected.session:
        if not told.get(name):
            yield f"events: progress/session.{name} is missing"
    version = seen.lane.get("version", "")
    if told.get("version") and told["version"] != version:
        yield f"events: progress/session.version is {told['version']}, --version says {version}"


def _events(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    at, before = 0, ""
    for wanted in expected.events:
        place, wrong = _find(wanted, seen.events[at:])
        if place is None:
            yield f"events: {wrong or f'no {wanted}'}{before}"
            continue
        at, before = at + place + 1, f", after {wanted}"
    for unwanted in expected.never:
        if met := [e for e in seen.events if unwanted.same_name(e) and not unwanted.wrong(e)]:
            yield f"events: {unwanted} {_times(len(met))}, expected none"


def _again(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    """What is said twice in a row. An answer that a fault cut off may be told again."""
    if any(request.answer.startswith("fault") for request in seen.requests):
        return
    told = [e for e in seen.events if e["kind"] in ("message", "tool_call", "tool_result")]
    for before, event in pairwise(told):
        text = event["data"].get("text")
        if event["kind"] == before["kind"] == "message" and text == before["data"].get("text"):
            yield f"events: message (text={brief(text)}) comes twice"


def _find(wanted: Wanted, events: Sequence[Mapping[str, Any]]) -> tuple[int | None, str]:
    """Where the event comes next; else None, and what is wrong with the nearest of its name."""
    wrong = ""
    for place, event in enumerate(events):
        if wanted.same_name(event):
            found = wanted.wrong(event)
            if not found:
                return place, ""
            wrong = wrong or found
    return None, wrong


def _usage(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    usage = seen.lane.get("usage") or {}
    for name, wanted in expected.usage.items():
        found = usage.get(name)
        if wanted is False:
            if found is not None:
                yield f"usage: {name} is {found}, expected unknown"
        elif found is None:
            yield f"usage: {name} is missing"
        elif wanted is True and not found:
            yield f"usage: {name} is {found}, expected more"
        elif wanted is not True and found != wanted:
            yield f"usage: {name} is {found}, expected {wanted}"


def _patch(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    for path, letter in expected.patch.items():
        if seen.patch.get(path) != letter:
            found = seen.patch.get(path)
            yield f"patch: {letter} {path} expected, {found or 'nothing'} changed"
    for path, letter in seen.patch.items():
        if path not in expected.patch:
            yield f"patch: {letter} {path} is not expected"
    for path, text in expected.content.items():
        if path in seen.patch and (found := seen.content(path)) != text:
            yield f"patch: {path} holds {brief(found)}, expected {brief(text)}"


def _asked(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    requests = [request for request in seen.requests if request.place >= 0]
    bodies = "\n".join(request.body for request in requests)
    for text in expected.sent:
        if text not in bodies:
            yield f"request: the model was not sent {brief(text)}"
    for text in expected.not_sent:
        if text in bodies:
            yield f"request: the model was sent {brief(text)}"
    served, before = iter(request.answer for request in requests), ""
    for label in expected.served:
        if not any(answer == label for answer in served):
            yield f"request: none was answered with {label}{before}"
            break
        before = f", after {label}"
    faults = [n for n, request in enumerate(requests[:-1]) if request.answer.startswith("fault")]
    if expected.waited and faults:
        waited = requests[faults[0] + 1].seconds - requests[faults[0]].seconds
        if waited < expected.waited:
            yield f"request: tried again after {waited:.2f} s, told to wait {expected.waited:g} s"


def _said(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    warnings = list(seen.lane.get("warnings", ()))
    for pattern in expected.warnings:
        met = [text for text in warnings if re.search(pattern, text)]
        if not met:
            yield f"warning: none says {brief(pattern)}"
        warnings = [text for text in warnings if text not in met]
    for text in warnings:
        if not any(re.search(pattern, text) for pattern in (*reach.may_warn, *expected.may_warn)):
            yield f"warning: {_line(text)}"


def _left(expected: Expectation, seen: Seen, reach: Reach) -> Iterator[str]:
    yield from seen.wrong
    # Nearly every CLI ends by itself when it is told to, in every situation.
    killed = (seen.lane.get("exit") or {}).get("signal") == signal.SIGKILL
    if killed and not expected.may_be_killed:
        yield "process: it did not end when it was told to, and was killed (SIGKILL)"
    for process in seen.left:
        yield f"process: still running: {_line(process)}"


_ALWAYS = (
    _outcome,
    _unknown,
    _session,
    _events,
    _again,
    _usage,
    _patch,
    _asked,
    _said,
    _left,
)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _line(text: object) -> str:
    told = " ".join(str(text).split())
    return told if len(told) <= _TOLD else f"{told[:_TOLD]}…"


def _last(stderr: str) -> str:
    """The line of stderr that says what was wrong: the one that begins so, else the last."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return _line((errors or lines or [""])[-1])
