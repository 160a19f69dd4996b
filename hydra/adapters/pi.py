"""pi: its line, and how its answers are read. Seen in 0.73.1, and in 0.87.1 of its successor."""

from __future__ import annotations

import re

from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag, Line
from hydra.adapters.pi_descriptor import DESCRIPTOR, MODES, SETTINGS
from hydra.adapters.pi_family import split_model
from hydra.adapters.pi_stream import PiStream
from hydra.adapters.prompts import Files, as_stdin
from hydra.model import BuiltCommand, DetectResult, Permission, SpawnRequest

PRINT = Flag(
    name="--print", purpose="to run without a terminal", required=True, drops=("plain_text",)
)
MODE = Flag(
    name="--mode",
    purpose="to read what it does",
    required=True,
    drops=("json_stream", "emits_usage"),
)
NO_EXTENSIONS = Flag(
    name="--no-extensions",
    purpose="to keep the repository's own extensions from running",
    required=True,
)
NO_TEMPLATES = Flag(
    name="--no-prompt-templates",
    purpose="to keep a task that begins with a slash as it is",
    loss="a task that begins with / may be taken for one of its templates",
)
NO_APPROVE = Flag(name="--no-approve", purpose="to keep the repository's settings out")
TOOLS = Flag(name="--tools", purpose="to say what it may do", drops=("approval_controls",))
PROVIDER = Flag(name="--provider", purpose="to choose a provider")
MODEL = Flag(name="--model", purpose="to choose a model")
THINKING = Flag(name="--thinking", purpose="to say how hard it thinks")
PREFACE = Flag(name="--append-system-prompt", purpose="for the preface")
SESSION = Flag(name="--session", purpose="to go on later", drops=("session_resume",))
FORK = Flag(name="--fork", purpose="to go on with a copy of a session")

TABLE = (
    PRINT,
    MODE,
    NO_EXTENSIONS,
    NO_TEMPLATES,
    TOOLS,
    PROVIDER,
    MODEL,
    THINKING,
    PREFACE,
    SESSION,
    FORK,
)

ENVIRONMENT = (("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0"), ("PI_SKIP_VERSION_CHECK", "1"))
"""No update check, no package of the repository's installed at its start, no ping."""

PROMPT_BYTES = 10_000_000

REPOSITORY = (
    f"the repository has {SETTINGS}: this pi reads it, and a shellPath or shellCommandPrefix in it"
    " runs with every command of the agent's"
)


class Pi(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"^pi - AI coding assistant", re.MULTILINE),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`pi --print --mode json --no-extensions --no-prompt-templates ...`, prompt on stdin.

        Raises `UnsupportedFlag` where a flag that was asked for is gone, for `config`, and where
        the network is to be off.
        """
        self._check(request)
        line = self.line(found)
        line.add(PRINT)
        line.add(MODE, MODE.name, "json")
        line.add(NO_EXTENSIONS)
        line.add(NO_TEMPLATES)
        if NO_APPROVE.name in line.found:
            line.add(NO_APPROVE)
        elif SETTINGS in request.instructions:
            line.warnings.append(REPOSITORY)
        if request.permission in (Permission.PLAN, Permission.EDIT):
            line.need(TOOLS, MODES[request.permission])
        files = self._further(line, request)
        return line.command(
            request,
            found,
            env=ENVIRONMENT,
            stdin=as_stdin(request.prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=files,
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        return PiStream(self.descriptor.label)

    def _check(self, request: SpawnRequest) -> None:
        self.check_network(request)
        if request.permission not in MODES:
            raise self.cannot(
                f"pi has nothing that would be --permission {request.permission.value}",
                "its settings know no permissions: take plan, edit or full-auto",
            )

    def _further(self, line: Line, request: SpawnRequest) -> Files:
        """Model, effort, preface and session; gives the files that the line names."""
        if request.model:
            provider, model = split_model(request.model)
            if provider and line.add(PROVIDER, PROVIDER.name, provider):
                line.need(MODEL, model)
            else:
                line.need(MODEL, request.model)
        if request.effort:
            line.need(THINKING, self.descriptor.efforts[request.effort])
        files = line.add_preface(PREFACE, request)
        if request.resume:
            line.add_session(FORK if request.fork else SESSION, request.resume)
        return files


ADAPTER = Pi()
