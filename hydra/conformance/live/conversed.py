"""One call of a CLI that is talked to, without a race around it: its conversation over pipes."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from threading import Timer

from hydra.adapters.contract import CloseInput, Finish, Talker, Write
from hydra.records.agent import BuiltCommand
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

OWN_END = 5.0
"""Seconds for it to end by itself, once its work is done."""


def conversed(
    adapter: Talker,
    command: BuiltCommand,
    environ: Mapping[str, str],
    stdout: Path,
    stderr: Path,
    longest: float,
) -> tuple[list[AgentEvent], ExitStatus]:
    """Runs `command` and talks to it; what it wrote lies in the two files. It is killed after
    `longest` seconds."""
    conversation = adapter.conversation(command)
    events: list[AgentEvent] = []
    with stdout.open("wb") as out, stderr.open("wb") as err:
        process = subprocess.Popen(
            command.argv,
            cwd=command.cwd,
            env={**environ, **dict(command.env)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=err,
            bufsize=0,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        clocks = [Timer(longest, process.kill)]
        clocks[0].start()
        try:
            _act(conversation.acts(), process, clocks)
            for line in process.stdout:
                out.write(line)
                events += conversation.parse_line(line.rstrip(b"\n"))
                _act(conversation.acts(), process, clocks)
            code = process.wait()
        finally:
            for clock in clocks:
                clock.cancel()
    exit = ExitStatus(code=code) if code >= 0 else ExitStatus(signal=-code)
    return [*events, *conversation.end(exit, {"stderr": stderr.read_bytes()})], exit


def _act(acts: object, process: subprocess.Popen[bytes], clocks: list[Timer]) -> None:
    assert process.stdin is not None
    assert isinstance(acts, list | tuple)
    for act in acts:
        if isinstance(act, Write) and not process.stdin.closed:
            process.stdin.write(act.data)
        elif isinstance(act, CloseInput):
            process.stdin.close()
        elif isinstance(act, Finish):
            clocks.append(Timer(OWN_END, process.terminate))
            clocks[-1].start()
