"""Places a program that poses as an agent in a folder, and says what it will write."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from hydra.conformance.contract.sound import endings, files_of, read
from hydra.conformance.contract.subject import ContractSubject, Form, NotCheckable
from hydra.conformance.recorded import Recording, Stream

_DRIVER = Path(__file__).with_name("replay.py")
TOUCHED = "what-it-was-told.json"
"""The file that it leaves in its worktree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedPart:
    """What of a recorded run is played back, and whether the program then hangs."""

    recording: Recording
    stream: Stream
    lines: list[bytes]
    hangs: bool


def whole(subject: ContractSubject) -> PlayedPart:
    """A run that was done, from its first line to its exit. Raises `NotCheckable`."""
    recording, stream = _done(subject)
    return PlayedPart(recording=recording, stream=stream, lines=stream.lines, hangs=False)


def first_half(subject: ContractSubject) -> PlayedPart:
    """The longest beginning of it, at most its half, in which something was said and no tool is
    open (a tool has a limit of its own); of one document the half. Raises `NotCheckable`."""
    recording, stream = _done(subject)
    if subject.form is Form.DOCUMENT:
        document = b"\n".join(stream.lines)
        half = document[: len(document) // 2].split(b"\n")
        return PlayedPart(recording=recording, stream=stream, lines=half, hangs=True)
    parser = subject.adapter.parser()
    open_tools: set[object] = set()
    best, is_stated = 0, False
    for number, line in enumerate(stream.lines[: max(1, len(stream.lines) // 2)], 1):
        for event in parser.parse_line(line):
            if event.closes:
                break
            if event.kind == "tool_call":
                open_tools.add(event.data.get("id"))
            if event.kind == "tool_result":
                open_tools.discard(event.data.get("id"))
            is_stated = is_stated or event.is_progress
        if is_stated and not open_tools:
            best = number
    if not best:
        raise NotCheckable("no recorded run that says something before its first tool")
    return PlayedPart(recording=recording, stream=stream, lines=stream.lines[:best], hangs=True)


def _done(subject: ContractSubject) -> tuple[Recording, Stream]:
    """The newest recorded run that was done; one with an edit in its name before others."""
    if subject.adapter.descriptor.protocol == "http":
        raise NotCheckable("it is asked over HTTP, and no program poses as such a server")
    for recording in reversed(subject.versions()):
        streams = []
        for stream in recording.streams():
            seen = read(subject, stream.lines, stream.exit, files_of(subject, stream))
            if [event.kind for event in endings(seen)] == ["completed"] and not stream.synthetic:
                streams.append(stream)
        if streams:
            return recording, min(streams, key=lambda stream: "edit" not in stream.name)
    raise NotCheckable("no recorded run that was done" if subject.versions() else "no recordings")


def _sides(subject: ContractSubject, part: PlayedPart) -> list[tuple[str, str]]:
    """Side files by their pattern, as the run left them; none of one that hangs."""
    names = subject.adapter.descriptor.side_files
    value = () if part.hangs else part.stream.files.items()
    return [(names[n], data.decode("utf-8", "replace")) for n, data in value if n < len(names)]


def _waits(part: PlayedPart) -> list[object]:
    """For each line that is written, the id of the request that has to be heard before: that of
    the next answer, this line or a later one. None for lines behind the last answer."""
    waits: list[object] = []
    coming: object = None
    for line in reversed([line for line in part.stream.lines if line]):
        coming = _answers(line, coming)
        waits.insert(0, coming)
        if _at_once(line):
            coming = None
    return waits


def _at_once(line: bytes) -> bool:
    """Whether it answers before what it is asked for happens (pi's): nothing before it waits."""
    try:
        document = json.loads(line)
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("type") == "response"


def _answers(line: bytes, otherwise: object) -> object:
    try:
        document = json.loads(line)
    except ValueError:
        return otherwise
    if not isinstance(document, dict) or document.get("id") is None:
        return otherwise
    answer = document.get("type") == "response" or bool({"result", "error"} & set(document))
    return document["id"] if answer else otherwise


def place(folder: Path, subject: ContractSubject, part: PlayedPart) -> Path:
    """Makes the executable in FOLDER/bin; its path."""
    answers = part.recording.probes(subject.adapter.descriptor.probes).values()
    script = {
        "answers": [
            {
                "args": list(answer.argv[1:]),
                "stdout": answer.stdout,
                "stderr": answer.stderr,
                "exit": answer.exit_code,
            }
            for answer in answers
        ],
        "stdout": [line.decode("utf-8", "surrogateescape") for line in part.lines if line],
        "sides": _sides(subject, part),
        "converses": subject.adapter.descriptor.interactive,
        "waits": _waits(part) if subject.adapter.descriptor.interactive else [],
        "stderr": part.stream.stderr.decode("utf-8", "replace"),
        "exit": part.stream.exit.code
        if part.stream.exit.signal is None
        else -part.stream.exit.signal,
        "hangs": part.hangs,
        "touch": "" if part.hangs else TOUCHED,
    }
    programs = folder / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    program = programs / subject.adapter.descriptor.binaries[0]
    # Beside `bin`, and by its name: confined, an agent sees what of its prefix is its own.
    data = folder / "share" / f"{program.name}.json"
    data.parent.mkdir(exist_ok=True)
    data.write_text(json.dumps(script))
    # The interpreter itself, not a virtual environment's link to it: -S and -I want no site.
    terms = [os.path.realpath(sys.executable), "-I", "-S", str(_DRIVER), str(data)]
    program.write_text(f'#!/bin/sh\nexec {shlex.join(terms)} "$@"\n')
    program.chmod(0o755)
    return program
