"""A race by each way in which a prompt may reach a CLI: it comes whole by that way and no other.

What is said in a conversation: tests/test_talking.py."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from hydra.conformance.contract import suite
from tests.conftest import git
from tests.support.command import Hydra

MARK = "-made-up-prompt-0a1b2c"
"""The prompt begins like an option."""
POSES = """\
import json, os, sys
from pathlib import Path
argv = sys.argv[2:]
for answer in json.loads(Path(sys.argv[1]).read_text()):
    if answer["args"] == argv:
        sys.stdout.write(answer["stdout"])
        sys.stderr.write(answer["stderr"])
        sys.exit(answer["exit"])
words = [term[term.find("=") + 1 :] if term.startswith("-") else term for term in argv]
paths = [Path(word) for word in words if word.startswith("/") and len(word) < 4000]
files = [path for path in paths if path.is_file()]
note = {
    "argv": argv,
    "environ": sorted(os.environ),
    "stdin": sys.stdin.buffer.read().decode(),
    "files": [[path.stat().st_mode & 0o777, path.read_text(errors="replace")] for path in files],
}
Path("note.json").write_text(json.dumps(note))
"""
"""Answers probes as was recorded; else it notes what it was started with, and how it was asked."""


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["stdin", "file"])
def test_a_prompt_arrives_whole_by_the_way_that_the_descriptor_names(
    protocol: str, hydra: Hydra
) -> None:
    subjects = (each for each in suite.built_in() if each.versions())
    subject = next(each for each in subjects if each.adapter.descriptor.protocol == protocol)
    descriptor = subject.adapter.descriptor
    folder = hydra.scratch / "agents"
    folder.mkdir()
    script, data, program = (folder / name for name in ("poses.py", "answers", subject.key))
    script.write_text(POSES)
    answers = [
        {"args": a.argv[1:], "stdout": a.stdout, "stderr": a.stderr, "exit": a.exit_code}
        for a in subject.versions()[-1].probes(descriptor.probes).values()
    ]
    data.write_text(json.dumps(answers))
    terms = [os.path.realpath(sys.executable), "-I", "-S", str(script), str(data)]
    program.write_text(f'#!/bin/sh\nexec {shlex.join(terms)} "$@"\n')
    program.chmod(0o755)
    settings = f"[agents.{subject.key}]\npath = {json.dumps(str(program))}\n"
    (hydra.home / "hydra.toml").write_text(settings)
    name = next(iter(descriptor.sign_in_environment), "NO_SUCH_NAME")
    hydra.extra[name] = secret = "sk-made-up-0123456789abcdef"
    prompt = f"{MARK}\n--version\n" + "x" * 200_000

    line = ("race", "-", "--json", "--no-check", "-a", subject.key)
    ran = hydra.run(*line, "--allow-experimental-adapters", stdin=prompt)

    document = json.loads(ran.stdout)
    (lane,) = document["lanes"]
    assert lane["patch"], lane["error"]
    patches = Path(document["folder"], "patches.git")
    note = json.loads(git(patches, "show", f"{lane['lane']}:note.json"))
    by_file = [0o600] * (protocol == "file")
    assert [mode for mode, text in note["files"] if text == prompt] == by_file
    assert note["stdin"] == (prompt if protocol == "stdin" else "")
    assert [term for term in note["argv"] if MARK in term or secret in term] == []
    assert name == "NO_SUCH_NAME" or name in note["environ"]
