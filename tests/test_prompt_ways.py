"""A race by each way in which a prompt may reach a CLI: it comes whole by that way and no other."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters.contract import PROTOCOLS
from hydra.conformance.contract import suite
from hydra.conformance.contract.prompts import CONVERSED
from hydra.conformance.contract.streams import endings
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.recorded import Recording, Stream, parse
from tests.conftest import git
from tests.support.command import Hydra

DRIVER = Path(__file__).parent / "support" / "posing_program.py"
MARK = "-made-up-prompt-0a1b2c"
"""The prompt begins like an option."""


def done(subject: ContractSubject) -> Iterator[tuple[Recording, Stream]]:
    """Its recorded runs that were done, those with an edit in their name first."""
    for recording in reversed(subject.versions()):
        for stream in sorted(recording.streams(), key=lambda stream: "edit" not in stream.name):
            seen = parse(subject.adapter, stream)
            if [event.kind for event in endings(seen)] == ["completed"] and not stream.synthetic:
                yield recording, stream


def waits(lines: list[bytes]) -> list[object]:
    """For each line the id of the request that has to be read before: that of the next answer,
    this line or a later one. None for lines behind the last answer."""
    ids: list[object] = []
    coming: object = None
    for line in reversed(lines):
        document = json.loads(line)
        is_response = document.get("type") == "response"
        if document.get("id") is not None and (is_response or {"result", "error"} & set(document)):
            coming = document["id"]
        ids.insert(0, coming)
        if is_response:  # pi's comes before what it is asked for happens: nothing before it waits
            coming = None
    return ids


def pose(hydra: Hydra, subject: ContractSubject) -> tuple[list[tuple[str, str]], set[str]]:
    """Places a program that plays a recorded run of it; the events that this run gives, and the
    files that it writes into its home."""
    recording, stream = next(done(subject))
    descriptor = subject.adapter.descriptor
    lines = [line for line in stream.lines if line]
    names = descriptor.side_files
    script = {
        "answers": [
            {"args": a.argv[1:], "stdout": a.stdout, "stderr": a.stderr, "exit": a.exit_code}
            for a in recording.probes(descriptor.probes).values()
        ],
        "stdout": [line.decode("utf-8", "surrogateescape") for line in lines],
        "sides": [(names[n], data.decode()) for n, data in stream.files.items()],
        "waits": waits(lines) if descriptor.interactive else [],
    }
    folder = hydra.scratch / "agents"
    (folder / "share").mkdir(parents=True)
    (folder / "bin").mkdir()
    program = folder / "bin" / descriptor.binaries[0]
    driver = shutil.copy(DRIVER, folder / "share" / f"{program.name}.py")
    data = folder / "share" / f"{program.name}.json"
    data.write_text(json.dumps(script))
    terms = [os.path.realpath(sys.executable), "-I", "-S", str(driver), str(data)]
    program.write_text(f'#!/bin/sh\nexec {shlex.join(terms)} "$@"\n')
    program.chmod(0o755)
    settings = f"[agents.{subject.key}]\npath = {json.dumps(str(program))}\n"
    (hydra.home / "hydra.toml").write_text(settings)
    seen = parse(subject.adapter, stream, lines)
    return [(event.kind, event.sub) for event in seen], {names[n] for n in stream.files}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "http"])
def test_a_prompt_arrives_whole_by_the_way_that_the_descriptor_names(
    protocol: str, hydra: Hydra
) -> None:
    subjects = [s for s in suite.built_in() if s.adapter.descriptor.protocol == protocol]
    subject = next((subject for subject in subjects if next(done(subject), None)), None)
    if subject is None:
        pytest.skip(f"no recorded run of an agent that is asked by {protocol}")
    rows, sides = pose(hydra, subject)
    name = next(iter(subject.adapter.descriptor.sign_in_environment), "NO_SUCH_NAME")
    hydra.extra[name] = secret = "sk-made-up-0123456789abcdef"
    prompt = f"{MARK}\n--version\n" + "x" * (100_000 if protocol == "argv" else 200_000)

    line = ("race", "-", "--json", "--no-check", "--keep", "all", "-a", subject.key)
    ran = hydra.run(*line, "--allow-experimental-adapters", stdin=prompt)

    document: dict[str, Any] = json.loads(ran.stdout)
    (lane,) = document["lanes"]
    assert (ran.returncode, lane["status"]) == (0, "completed"), lane["error"]
    folder = Path(document["folder"])
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    spoken = [event for event in events if event.get("source") == "agent"]
    assert [(event["kind"], event.get("sub", "")) for event in spoken] == rows
    note = json.loads(git(folder / "patches.git", "show", f"{lane['lane']}:note.json"))
    whole = [len(prompt), hashlib.sha256(prompt.encode()).hexdigest()]
    nothing = [0, hashlib.sha256().hexdigest()]
    holding = [term for term in note["argv"] if MARK in term]
    assert [term.endswith(prompt) for term in holding] == [True] * (protocol == "argv")
    by_file = [[0o600, *whole]] if protocol == "file" else []
    assert [row for row in note["files"] if row[1:] == whole] == by_file
    assert (whole in note["requests"]) is (protocol in CONVERSED)
    assert note["stdin"] == (whole if protocol == "stdin" else nothing)
    assert secret not in " ".join(note["argv"])
    if name != "NO_SUCH_NAME":
        assert name in note["environ"]
    # Of its home what tells of the run alone stays, for who records it.
    entries = {path.name for path in Path(lane["worktree"]).parent.joinpath("home").iterdir()}
    assert entries - {".cache"} == sides
