"""The prompt as bytes for stdin: never in argv, where every user of the machine can read it."""

from __future__ import annotations

import re
from pathlib import Path

from hydra.adapters.config_dirs import lane_home
from hydra.errors import AgentError
from hydra.records.agent import SpawnRequest

Files = tuple[tuple[Path, bytes], ...]
"""What is written for the CLI alone before it starts: where, and its bytes."""

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


def as_stdin(prompt: str, *, adapter: str, limit: int, unit: str) -> bytes:
    """`prompt` in UTF-8. Raises `AgentError` where the CLI would refuse it for its length.

    `limit` counts `bytes` or `characters`, whichever the CLI counts.
    """
    data = prompt.encode("utf-8", "surrogateescape")
    length = len(data) if unit == "bytes" else len(prompt)
    if length > limit:
        raise AgentError(
            f"the task has {length} {unit}; {adapter} takes at most {limit}",
            adapter=adapter,
            hint="put the long part into a file of the repository and name it in the task",
            reason="prompt_too_large",
            numbers={"limit": limit, "length": length},
        )
    return data


def prefaced(preface: str, prompt: str) -> str:
    """The prompt with the preface at its head: for CLIs that have no option for one, or one by
    which every user of the machine could read it."""
    return f"{preface.strip()}\n\n{prompt}" if preface.strip() else prompt


def preface_file(request: SpawnRequest) -> Files:
    """The preface as a file in the lane's home: on the line every user of the machine could read
    it. Nothing where there is none."""
    if not request.preface.strip():
        return ()
    data = f"{request.preface.strip()}\n".encode("utf-8", "surrogateescape")
    return ((lane_home(request) / "preface.md", data),)


def no_command(prompt: str) -> str:
    """The prompt, for CLIs that read one with a slash at its head as a command of their own
    ("/clear": success, no turn) or of the repository's, with a shell line in it: behind a newline
    it is text."""
    return f"\n{prompt}" if prompt.startswith("/") else prompt


def as_session(session: str, *, adapter: str) -> str:
    """A session's id as one word of a line. Raises `AgentError` for what could be an option."""
    if not _SESSION.fullmatch(session):
        raise AgentError(
            f"{session!r} is no session's id",
            adapter=adapter,
            hint="`hydra runs show` has the id that the agent gave its session",
            reason="session",
        )
    return session
