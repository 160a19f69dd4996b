"""OpenClaw's headless `agent exec`: its descriptor and its line. Seen in 2026.9.6.

It prints one JSON document at its end and nothing before. It needs no terminal. What it may do is
its own configuration's business: no flag narrows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity, Reading, read
from hydra.adapters.flags import Flag, Line, without_lost
from hydra.adapters.openclaw_descriptor import DESCRIPTOR
from hydra.adapters.prompts import as_stdin, prefaced
from hydra.errors import UnsupportedFlag
from hydra.model import (
    BuiltCommand,
    CapabilitySet,
    DetectResult,
    Permission,
    ProbeOutput,
    SpawnRequest,
)

JSON = Flag(
    name="--json",
    purpose="to read what it did",
    required=True,
    drops=("json_stream", "emits_usage"),
)
PROMPT = Flag(
    name="--message-file",
    purpose="to keep the task off its command line",
    required=True,
    drops=("plain_text",),
)
CWD = Flag(
    name="--cwd",
    purpose="to keep it in its worktree",
    required=True,
    drops=("force_edit_mode",),
)
TIMEOUT = Flag(
    name="--timeout",
    purpose="to keep the budget, and not its own limit of 600 s",
    loss="it ends by itself after 600 s",
)
ISOLATED = Flag(name="--isolated", purpose="for --permission default")
MODEL = Flag(name="--model", purpose="to choose a model")
THINKING = Flag(name="--thinking", purpose="to say how hard it thinks")

TABLE = (JSON, PROMPT, CWD, TIMEOUT, ISOLATED, MODEL, THINKING)

ENVIRONMENT = (("OPENCLAW_NO_AUTO_UPDATE", "1"), ("DO_NOT_TRACK", "1"))

NO_LIMIT = 86_400
"""Seconds for its own limit, where Hydra's are the ones to be kept."""

PROMPT_BYTES = 10_000_000
"""More than any model reads; 200 kB were tried."""

SILENT = (
    "OpenClaw says nothing before its end: until then only its worktree shows whether it is at work"
)


class OpenClaw:
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^OpenClaw (\d{4}\.\d+\.\d+\S*)", re.MULTILINE),
        help=re.compile(r"openclaw agent exec"),
    )

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes `version` and `help`, which is that of `agent exec`."""
        return read(
            Reading(
                descriptor=self.descriptor,
                identity=self.identity,
                table=TABLE,
                binary=binary,
                probes=probes,
            )
        )

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The descriptor's, less those whose flags are gone."""
        return without_lost(self.descriptor.capabilities, TABLE, flags)

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`openclaw agent exec --json --cwd WORKTREE ... --message-file -`, the prompt on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, for a session to go on with, where
        the network is to be off, and for a permission that none of its flags is.
        """
        self._check(request)
        line = Line(
            self.key(), self.descriptor.label, found.flags, hint=self.descriptor.install_hint
        )
        line.args += ("agent", "exec")
        line.add(JSON)
        line.add(CWD, CWD.name, str(request.worktree))
        line.add(TIMEOUT, TIMEOUT.name, str(max(1, round(request.budget.seconds or NO_LIMIT))))
        if request.permission is Permission.DEFAULT and not line.add(ISOLATED):
            raise line.gone(ISOLATED.name, ISOLATED.purpose)
        if request.model and not line.add(MODEL, MODEL.name, request.model):
            raise line.gone(MODEL.name, MODEL.purpose)
        effort = request.effort and self.descriptor.efforts[request.effort]
        if effort and not line.add(THINKING, THINKING.name, effort):
            raise line.gone(THINKING.name, THINKING.purpose)
        line.add(PROMPT, PROMPT.name, "-")
        return BuiltCommand(
            program=str(found.binary),
            args=(*line.args, *request.extra_args),
            env=ENVIRONMENT,
            cwd=request.worktree,
            stdin=as_stdin(
                prefaced(request.preface, request.prompt),
                adapter=self.key(),
                limit=PROMPT_BYTES,
                unit="bytes",
            ),
            dropped=tuple(line.dropped),
            warnings=(SILENT, *line.warnings),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.openclaw_document import OpenClawDocument

        return OpenClawDocument()

    def _check(self, request: SpawnRequest) -> None:
        if request.network is False:
            raise self._refused(
                "OpenClaw has no switch that keeps its tools off the network",
                "race it without --no-network",
            )
        if request.resume:
            raise self._refused(
                "OpenClaw's `agent exec` cannot go on with a session",
                "begin a new session for it",
            )
        if request.permission not in self.descriptor.modes:
            raise self._refused(
                f"OpenClaw has no flag for permission {request.permission}",
                "race it with --permission full-auto",
            )

    def _refused(self, message: str, hint: str) -> UnsupportedFlag:
        return UnsupportedFlag(message, adapter=self.key(), hint=hint, reason="capability")


ADAPTER = OpenClaw()
