"""Everything that a person or a page would see of a stream, and what must not stand there."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

from hydra.records.codec import as_json, dump
from hydra.records.events import Event
from hydra.records.outcome import Outcome, RaceResult
from hydra.report.compare import compare_text
from hydra.report.document import result_document
from hydra.report.html.build import build
from hydra.report.html.harmless import whole
from hydra.report.html.patches import PagePatch
from hydra.report.html.timeline import timelines
from hydra.report.live import LiveTable
from hydra.report.markdown import comment
from hydra.report.stream import PlainLines
from hydra.report.summary import summary
from tests.support.sample_race import PLAN, RUN
from tests.support.stream_bytes import SECRETS
from tests.support.stream_seen import Seen

_PAINTING = re.compile(r"\x1b\[(?:\?7[hl]|[0-9]*A|[KJ]|(?:0|1|2|31|32|33|36)m)|\r")
"""All that the live table itself sends."""
_PAGES = 500
"""Of so many streams one is put into a whole page."""


@cache
def forbidden() -> re.Pattern[str]:
    """Control, format, surrogate, private and unassigned characters, and other ends of lines.

    Younger emoji than this Python knows are left out, as the cleaning leaves them.
    """
    bad = (*("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"),)
    codes = [
        code
        for code in range(sys.maxunicode + 1)
        if code != 0x0A
        and unicodedata.category(chr(code)) in bad
        and not (0x1F000 <= code <= 0x1FAFF and unicodedata.category(chr(code)) == "Cn")
    ]
    return re.compile("[" + "".join(_ranges(codes)) + "]")


def _ranges(codes: list[int]) -> Iterator[str]:
    start = last = codes[0]
    for code in [*codes[1:], -1]:
        if code != last + 1:
            yield f"\\U{start:08x}-\\U{last:08x}"
            start = code
        last = code


_ASCII = re.compile("[\x00-\x09\x0b-\x1f\x7f]")


def harmful(text: str) -> str:
    """Where in `text` a forbidden character or a secret stands; "" where none does."""
    match = (_ASCII if text.isascii() else forbidden()).search(text)
    if match:
        return f"{match[0]!r} in {text[max(match.start() - 40, 0) : match.end() + 40]!r}"
    for secret in SECRETS:
        if secret in text:
            return f"a secret in {text[max(text.index(secret) - 40, 0) :][:120]!r}"
    return ""


def texts(value: Any) -> Iterator[str]:
    """Every text in a document, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, row in value.items():
            yield from texts(key)
            yield from texts(row)
    elif isinstance(value, list | tuple):
        for row in value:
            yield from texts(row)


def faults(seen: Seen, number: int) -> Iterator[str]:
    """What is wrong with what is shown of `seen`, and what it tells that it must not."""
    if seen.outcome is None:
        return
    for event in seen.events:
        for text in texts(event.data):
            if any(secret in text for secret in SECRETS):
                yield f"a secret in the event {event.kind}: {text[:200]!r}"
    for where, text in _shown(seen, seen.outcome, number):
        if line := harmful(text):
            yield f"{where}: {line}"


def _shown(seen: Seen, outcome: Outcome, number: int) -> Iterator[tuple[str, str]]:
    width, events = seen.case.width, [*_framed(seen, outcome)]
    yield "plain lines", "".join(_plain(events))
    yield "live table", "".join(_live(events, width))
    document = result_document(PLAN, RaceResult(run=RUN, seconds=61.5, outcomes=(outcome,)))
    dumped = dump(document)
    yield "document", dumped if dumped.isascii() else "\x00"
    read = json.loads(dumped)
    yield "summary", summary(read, width=width if number % 3 else None)
    verdict = _verdict(read)
    yield "comparison", compare_text(verdict, width=width if number % 3 else None)
    yield "comment", comment(verdict)
    yield "page", "\n".join(texts([whole(verdict), timelines(events)]))
    if number % _PAGES == 0:
        page = build(verdict, [PagePatch(lane=read["lanes"][0]["lane"])], events).decode()
        text = _data_of(page)
        yield "whole page", "\n".join(texts(json.loads(text)))


def _data_of(page: str) -> str:
    start = page.index('<script type="application/json" id="data">') + 42
    return page[start : page.index("</script>", start)]


def _framed(seen: Seen, outcome: Outcome) -> Iterator[Event]:
    """The stream's events between those of Hydra that stand around them."""
    first, last = seen.events[0], seen.events[-1]
    yield first._replace(
        kind="run_started", sub="", source="hydra", lane="", raw=None, data={"lanes": ["codex"]}
    )
    for kind in ("lane_opening", "agent_started"):
        yield first._replace(kind=kind, sub="", source="hydra", raw=None, data={})
    yield from seen.events
    event = last._replace(sub="", source="hydra", raw=None)
    for warning in outcome.warnings:
        yield event._replace(kind="lane_warning", data={"text": warning})
    yield event._replace(
        kind="agent_exited",
        data={
            "code": outcome.exit.code if outcome.exit else None,
            "survivors": list(outcome.exit.survivors) if outcome.exit else [],
        },
    )
    error = as_json(outcome.failure)
    yield event._replace(
        kind="lane_ended", data={"status": outcome.status.value, "error": error, "seconds": 61.5}
    )


def _plain(events: list[Event]) -> list[str]:
    written: list[str] = []
    plain = PlainLines(written.append)
    for event in events:
        plain.event(event)
    return written


def _live(events: list[Event], width: int) -> list[str]:
    written: list[str] = []
    live = LiveTable(written.append, lambda: (width, 12), color=True)
    for event in events:
        live.event(event)
    live.tick(1e6)
    live.close()
    return [_PAINTING.sub("", text) for text in written]


def _verdict(document: dict[str, Any]) -> dict[str, Any]:
    """A verdict's document around the lane: its agent's words in every place for words."""
    (lane,) = document["lanes"]
    data = lane["message"] or (lane["error"] or {}).get("message", "")
    gates = [{"kind": "ending", "text": warning, "path": data[:60]} for warning in lane["warnings"]]
    return {
        "run": RUN,
        "title": data,
        "says": data,
        "base": PLAN.base,
        "folder": "/var/lib/hydra",
        "warnings": lane["warnings"],
        "lanes": [{**lane, "rank": 1, "why": data, "gates": gates}],
    }
