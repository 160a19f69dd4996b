"""A lane whose agent runs elsewhere, as an attempt sees it: another command, a parser that knows.

The command is the carrier's; the parser is the agent's own, and at the end reads what the carrier
said where it could not do its work.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from hydra.adapters.contract import Adapter, Conversation, Descriptor, Parser, Talker
from hydra.adapters.remote.spec import RemoteSpec, folder_of
from hydra.config.schema import Remote
from hydra.records.agent import BuiltCommand
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

FAILED = 97
"""The carrier's exit code where it could not do its work."""

FAILURE_MARK = "hydra.remote:"
"""How its line on stderr then begins, that says a reason in one word and why."""

_KINDS = {
    "unreachable": "SpawnFailed",
    "folder": "SpawnFailed",
    "upload": "SpawnFailed",
    "carrier": "SpawnFailed",
    "missing": "BinaryMissing",
    "lost": "AgentFailed",
    "fetch": "AgentFailed",
    "stopped": "Interrupted",
}
_REASONS = {"unreachable": "unreachable", "lost": "line_lost"}


def on_its_way(
    command: BuiltCommand,
    *,
    remote: Remote,
    run: str,
    lane: str,
    attempt: int,
    worktree: Path,
    home: Path,
    scratch: Path,
    names: Sequence[str],
    descriptor: Descriptor,
    most: int,
) -> BuiltCommand:
    """The carrier's command for an agent's `command`, which is made of paths there.

    `worktree` and `home` are the lane's here, `scratch` is for what comes back. A further attempt
    has a folder of its own there, which takes the first one's place in it.
    """
    planned, folder = folder_of(remote, run, lane), folder_of(remote, run, lane, attempt)

    def at_attempt(text: str) -> str:
        return text.replace(f"{planned}/", f"{folder}/")

    spec = RemoteSpec(
        remote=remote,
        folder=folder,
        worktree=str(worktree),
        home=str(home),
        scratch=str(scratch),
        name=command.cwd.name,
        argv=tuple(map(at_attempt, command.argv)),
        env={name: at_attempt(value) for name, value in command.env},
        # Latin-1 is every byte as one character.
        files=tuple(
            (at_attempt(str(path)), data.decode("latin-1")) for path, data in command.files
        ),
        names=tuple(names),
        live=descriptor.interactive,
        pipe=descriptor.stdin_pipe,
        most=most,
    )
    place = home / "remote.json"
    return replace(
        command,
        program=sys.executable,
        args=("-I", str(Path(__file__).with_name("carrier.py")), str(place)),
        env=(),
        cwd=worktree,
        files=((place, spec.dumps()),),
    )


class RemoteAdapter:
    """The adapter of a lane whose agent runs elsewhere: the agent's own, but for how its output
    ends. `command` is the agent's own."""

    def __init__(self, inner: Adapter, command: BuiltCommand) -> None:
        self.inner = inner
        self.command = command

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def parser(self) -> Parser:
        """The agent's, which at the end hears the carrier out."""
        return cast("Parser", _RemoteStream(self.inner.parser()))

    def conversation(self, command: BuiltCommand) -> Conversation:
        """The agent's, on the command as it is there."""
        built_command = replace(self.command, session_params=command.session_params)
        inner = cast(Talker, self.inner).conversation(built_command)
        return cast("Conversation", _RemoteStream(inner))


class _RemoteStream:
    """A parser, or a conversation, whose end is what the carrier says where that failed."""

    def __init__(self, inner: Parser) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The agent's; a failure of the carrier's stands over what it makes of the end."""
        events = self._inner.end(exit, files)
        failed = carriers_failure(files.get("stderr", b"")) if exit.code == FAILED else None
        if failed is None:
            return events
        return [*(event for event in events if event.kind not in ("completed", "failed")), failed]


def carriers_failure(stderr: bytes) -> AgentEvent | None:
    """What the carrier said last, as the event that ends the attempt."""
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines or not lines[-1].startswith(FAILURE_MARK):
        return None
    reason, _, message = lines[-1].removeprefix(FAILURE_MARK).strip().partition(": ")
    data = {
        "terminal": True,
        "error": _KINDS.get(reason, "AgentFailed"),
        "reason": _REASONS.get(reason, "remote"),
        "message": message,
    }
    return AgentEvent("failed", "", data)
