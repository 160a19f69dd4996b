"""What an agent writes on its way into the record: bounded, without secrets, and never raising."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from hydra.adapters import registry
from hydra.adapters.claude import ClaudeStream
from hydra.adapters.codex import ROLLOUT
from hydra.adapters.contract import Parser
from hydra.process.sink import RawSink
from hydra.race import output
from hydra.race.output import OutputReader, ending
from hydra.records.events import AgentEvent, Raw
from hydra.records.outcome import ExitStatus
from hydra.redaction import Redactor

SECRET = "made-up-secret-value-1"


class Lane:
    """A reader over real sinks, and all it told."""

    def __init__(self, folder: Path, parser: Parser | None = None, line_limit: int = 4096) -> None:
        self.rows: list[tuple[AgentEvent, Raw | None, bool]] = []
        self.raw, self.err = folder / "raw.jsonl", folder / "stderr.txt"
        self.reader = OutputReader(
            parser=parser or ClaudeStream(),
            sink=RawSink(self.raw, 1 << 20),
            stderr_sink=RawSink(self.err, 1 << 20),
            redactor=Redactor([SECRET]),
            emit=lambda event, place, recorded: self.rows.append((event, place, recorded)),
            line_limit=line_limit,
        )

    def close(self) -> bytes:
        """Everything that was kept of both streams."""
        self.reader.close()
        self.reader.sink.close()
        self.reader.stderr_sink.close()
        return self.raw.read_bytes() + self.err.read_bytes()

    def texts(self) -> list[str]:
        return [str(e.data["text"]) for e, _, _ in self.rows if e.kind == "message"]


def said(text: str, **more: object) -> bytes:
    block = {"type": "text", "text": text}
    return json.dumps({"type": "assistant", "message": {"content": [block]}, **more}).encode()


def test_every_event_points_at_its_own_line(scratch: Path) -> None:
    lane = Lane(scratch)
    lines = [said("one") + b"\n", b"\n", said("two") + b"\r\n", said("three")]
    lane.reader.stdout(b"".join(lines)[:100])
    lane.reader.stdout(b"".join(lines)[100:])
    content = lane.close()
    assert content == b"".join(lines)
    pieces = [content[p.offset : p.offset + p.length] for _, p, _ in lane.rows if p is not None]
    assert pieces == [lines[0], lines[2], lines[3]]


@pytest.mark.parametrize("cut", range(0, len(SECRET), 3))
def test_a_secret_cut_anywhere_in_an_endless_line_is_redacted(scratch: Path, cut: int) -> None:
    lane = Lane(scratch)
    for take in (lane.reader.stdout, lane.reader.stderr):
        take(b"x" * 200_000 + SECRET[:cut].encode())
        take(SECRET[cut:].encode() + b"y" * 200_000 + b"\n")
    content = lane.close()
    assert SECRET.encode() not in content
    assert content.count(b"[redacted]") == 2
    assert content.count(b"x") == content.count(b"y") == 400_000
    assert lane.reader.counts.redacted == 2


def test_a_secret_spelled_in_escapes_is_not_in_the_event(scratch: Path) -> None:
    lane = Lane(scratch)
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in SECRET)
    lane.reader.stdout(said("KEY").replace(b"KEY", escaped.encode()) + b"\n")
    lane.close()
    assert lane.texts() == ["[redacted]"]


def test_after_repeated_failures_text_is_told_and_json_still_understood(scratch: Path) -> None:
    lane = Lane(scratch)
    lane.reader.stdout(b"log line\n" * 30 + b'{"broken\n' + said("back") + b"\nbye\n")
    lane.close()
    assert lane.reader.raw_mode
    assert lane.texts() == ["log line\n" * 9 + "log line", '{"broken', "back", "bye"]
    assert lane.reader.counts.malformed == output.PARSE_FAILURES


def test_the_record_of_a_flood_is_bounded_and_its_end_is_recorded(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "EVENT_BYTES", 10_000)
    lane = Lane(scratch)
    lane.reader.stdout((said("x" * 100) + b"\n") * 100)
    lane.close()
    recorded = [event for event, _, recorded in lane.rows if recorded]
    assert len(lane.rows) == 100
    assert 10 < len(recorded) < 40
    assert lane.reader.counts.unrecorded == 100 - len(recorded)


def test_no_field_that_an_agent_fills_is_long(scratch: Path) -> None:
    lane = Lane(scratch, line_limit=1 << 22)
    huge = "A" * 1_000_000
    call = {"type": "tool_use", "id": huge, "name": huge, "input": {"command": huge}}
    line = json.dumps({"type": "assistant", "message": {"content": [call]}}).encode()
    lane.reader.stdout(line + b"\n")
    lane.close()
    (event, _, _) = lane.rows[0]
    assert event.kind == "tool_call"
    assert max(len(str(value)) for value in event.data.values()) <= 2000


class Broken:
    """An adapter with a mistake in each of its functions."""

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        raise KeyError("oh")

    def parse_raw(self, chunk: bytes) -> list[AgentEvent]:
        raise TypeError("no")

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        raise RecursionError("deep")


def test_an_adapters_mistake_costs_lines_and_never_the_lane(scratch: Path) -> None:
    lane = Lane(scratch, parser=Broken())
    lane.reader.stdout(b"{}\n" * 30)
    assert lane.close() == b"{}\n" * 30
    assert {event.sub for event, _, _ in lane.rows} == {"malformed"}
    (last,) = ending(Broken(), ExitStatus(code=0), {}, Redactor([]))
    assert "RecursionError" in str(last.data["text"])


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


@pytest.mark.parametrize(
    ("agent", "line"),
    [
        ("claude", {"type": "result", "num_turns": 1, "result": "KEY"}),
        ("claude", {"type": "result", "permission_denials": [{"tool_name": "KEY"}]}),
        ("claude", {"type": "result", "is_error": True, "result": "KEY"}),
        ("codex", {"type": "error", "message": "KEY"}),
        ("codex", {"type": "turn.failed", "error": {"message": "KEY"}}),
    ],
)
def test_a_secret_spelled_in_escapes_is_not_in_what_the_end_tells(
    scratch: Path, agent: str, line: dict[str, object]
) -> None:
    lane = Lane(scratch, parser=(parser := registry.get(agent).parser()))
    lane.reader.stdout(json.dumps(line).replace("KEY", escaped(SECRET)).encode() + b"\n")
    lane.close()
    events = ending(parser, ExitStatus(code=0), {}, Redactor([SECRET]))
    assert "[redacted]" in str(events[-1].data)
    assert SECRET not in str(events)


def test_a_secret_in_a_record_of_the_agents_own_is_not_in_the_event(scratch: Path) -> None:
    lane = Lane(scratch, parser=(parser := registry.get("codex").parser()))
    lane.reader.stdout(b'{"type":"thread.started","thread_id":"t-1"}\n')
    context = {"type": "turn_context", "payload": {"model": SECRET, "thread": "t-1"}}
    files = {ROLLOUT: json.dumps(context).encode()}
    lane.close()
    (session, _) = ending(parser, ExitStatus(code=0), files, Redactor([SECRET]))
    assert session.data["model"] == "[redacted]"


def test_a_secret_that_comes_in_pieces_is_not_in_the_message_they_make(scratch: Path) -> None:
    lane = Lane(scratch, parser=registry.get("cursor-agent").parser())
    for piece in (SECRET[:7], SECRET[7:]):
        line = {"type": "thinking", "subtype": "delta", "text": piece}
        lane.reader.stdout(json.dumps(line).encode() + b"\n")
    blocks = [{"type": "text", "text": text} for text in (SECRET[:9], SECRET[9:])]
    lane.reader.stdout(b'{"type":"thinking","subtype":"completed"}\n')
    lane.reader.stdout(json.dumps({"type": "assistant", "message": {"content": blocks}}).encode())
    lane.close()
    assert lane.texts() == ["[redacted]", "[redacted]"]
