"""Holds what was seen against what was expected: each difference is a sentence.

Pure: the same sentences come of a race and of a test's own data.
"""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec.structs import asdict

from hydra.conformance.live.agent_settings import Reach
from hydra.conformance.live.expectation import Expectation, ExpectedEvent, brief
from hydra.conformance.live.observation import LiveRun
from hydra.records.events import Event

_TEXT_LIMIT = 300


def differences(expected: Expectation, seen: LiveRun, reach: Reach) -> tuple[str, ...]:
    """Every difference, the most telling first; empty where all is as expected."""
    if seen.trouble:
        return (f"race: {seen.trouble}",)
    if not seen.lane:
        return tuple(_refused(expected, seen))
    return tuple(sentence for find in _ALWAYS for sentence in find(expected, seen, reach))


def _refused(expected: Expectation, seen: LiveRun) -> Iterator[str]:
    if not expected.refused:
        yield f"race: none was started, hydra ended with {seen.hydra}: {_line(seen.stderr)}"
        return
    if expected.refused not in seen.stderr:
        yield f"race: refused with {brief(_line(seen.stderr))}, expected {brief(expected.refused)}"
    if seen.hydra != expected.exit:
        yield f"exit: hydra ended with {seen.hydra}, expected {expected.exit}"


def _outcome(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
    status, error = seen.status, seen.error
    if expected.refused:
        yield "race: it was started, expected it to be refused"
    elif status != expected.status:
        yield f"outcome: status is {status}, expected {expected.status}"
    if error is None and expected.error:
        yield f"error: none, expected {expected.error}"
    elif error and not expected.error:
        yield f"error: kind is {error.kind} ({_line(error.message)}), expected none"
    elif error:
        for key, value in zip(("kind", "reason"), expected.error.split("/"), strict=False):
            if (term := getattr(error, key)) != value:
                text = f" ({_line(error.message)})" if key == "kind" else ""
                yield f"error: {key} is {term}{text}, expected {value}"
    for name, wished in expected.numbers.items():
        figure = reach.idle if wished == "idle" else float(wished)
        document = error.numbers.get(name) if error else figure
        if document != figure:
            text = "missing" if document is None else f"{document:g}"
            yield f"error: numbers.{name} is {text}, expected {figure:g}"
    if status != expected.status and (line := _last(error.stderr if error else "")):
        yield f"stderr: {line}"
    if seen.hydra != expected.exit:
        yield f"exit: hydra ended with {seen.hydra}, expected {expected.exit}"


def _unknown(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
    met = Counter(str(event.data.get("type", "")) for event in seen.of("progress", "unknown"))
    for name, count in met.items():
        yield f'unknown event type "{name}" {_times(count)}'
    malformed = len(seen.of("progress", "malformed"))
    if malformed != expected.malformed:
        line = seen.first_line("progress", "malformed")
        many = "1 line is" if malformed == 1 else f"{malformed} lines are"
        text = f"stream: {many} no JSON, expected {expected.malformed}"
        yield f"{text}: {brief(line)}" if line else text


def _session(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
    """Told in one event or in several: Codex tells its sandbox at the end only."""
    document: dict[str, object] = {}
    for event in seen.of("progress", "session"):
        document |= event.data
    for name in reach.session if expected.session is None else expected.session:
        if not document.get(name):
            yield f"events: progress/session.{name} is missing"
    version = seen.lane.version if seen.lane else ""
    if document.get("version") and document["version"] != version:
        yield f"events: progress/session.version is {document['version']}, --version says {version}"


def _events(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
    at, before = 0, ""
    for event in expected.events:
        place, wrong = _find(event, seen.events[at:])
        if place is None:
            yield f"events: {wrong or f'no {event}'}{before}"
            continue
        at, before = at + place + 1, f", after {event}"
    for unwanted in expected.never:
        if met := [e for e in seen.events if unwanted.same_name(e) and not unwanted.wrong(e)]:
            yield f"events: {unwanted} {_times(len(met))}, expected none"


def _again(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
    """What is said twice in a row. An answer that a fault cut off may be told again."""
    if any(request.answer.startswith("fault") for request in seen.requests):
        return
    events = [e for e in seen.events if e.kind in ("message", "tool_call", "tool_result")]
    for before, event in pairwise(events):
        text = event.data.get("text")
        if event.kind == before.kind == "message" and text == before.data.get("text"):
            yield f"events: message (text={brief(text)}) comes twice"


def _find(expected_event: ExpectedEvent, events: Sequence[Event]) -> tuple[int | None, str]:
    """Where the event comes next; else None, and what is wrong with the nearest of its name."""
    wrong = ""
    for place, event in enumerate(events):
        if expected_event.same_name(event):
            text = expected_event.wrong(event)
            if not text:
                return place, ""
            wrong = wrong or text
    return None, wrong


def _usage(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
    usage = asdict(seen.lane.usage) if seen.lane else {}
    for name, value in expected.usage.items():
        document = usage.get(name)
        if value is False:
            if document is not None:
                yield f"usage: {name} is {document}, expected unknown"
        elif document is None:
            yield f"usage: {name} is missing"
        elif value is True and not document:
            yield f"usage: {name} is {document}, expected more"
        elif value is not True and document != value:
            yield f"usage: {name} is {document}, expected {value}"


def _patch(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
    for path, letter in expected.patch.items():
        if seen.patch.get(path) != letter:
            line = seen.patch.get(path)
            yield f"patch: {letter} {path} expected, {line or 'nothing'} changed"
    for path, letter in seen.patch.items():
        if path not in expected.patch:
            yield f"patch: {letter} {path} is not expected"
    for path, text in expected.content.items():
        if path in seen.patch and (line := seen.content(path)) != text:
            yield f"patch: {path} holds {brief(line)}, expected {brief(text)}"


def _expected(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
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


def _stated(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
    warnings = list(seen.lane.warnings if seen.lane else ())
    for pattern in expected.warnings:
        met = [text for text in warnings if re.search(pattern, text)]
        if not met:
            yield f"warning: none says {brief(pattern)}"
        warnings = [text for text in warnings if text not in met]
    for text in warnings:
        if not any(re.search(pattern, text) for pattern in (*reach.may_warn, *expected.may_warn)):
            yield f"warning: {_line(text)}"


def _remaining(expected: Expectation, seen: LiveRun, reach: Reach) -> Iterator[str]:
    yield from seen.wrong
    # Nearly every CLI ends by itself when it is told to, in every situation.
    ended = seen.lane.exit if seen.lane else None
    if ended and ended.signal == signal.SIGKILL and not expected.may_be_killed:
        yield "process: it did not end when it was told to, and was killed (SIGKILL)"
    for process in seen.orphans:
        yield f"process: still running: {_line(process)}"


_ALWAYS = (
    _outcome,
    _unknown,
    _session,
    _events,
    _again,
    _usage,
    _patch,
    _expected,
    _stated,
    _remaining,
)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _line(text: object) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= _TEXT_LIMIT else f"{line[:_TEXT_LIMIT]}…"


def _last(stderr: str) -> str:
    """The line of stderr that says what was wrong: the one that begins so, else the last."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return _line((errors or lines or [""])[-1])
