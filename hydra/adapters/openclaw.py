"""OpenClaw's headless `agent exec`: its descriptor and its line. Seen in 2026.9.6.

It prints one JSON document at its end and nothing before. It needs no terminal. What it may do is
its own configuration's business: no flag narrows it.
"""

from __future__ import annotations

import re

from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag
from hydra.adapters.openclaw_descriptor import DESCRIPTOR
from hydra.adapters.prompts import as_stdin, prefaced
from hydra.model import BuiltCommand, DetectResult, Permission, SpawnRequest

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


class OpenClaw(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^OpenClaw (\d{4}\.\d+\.\d+\S*)", re.MULTILINE),
        help=re.compile(r"openclaw agent exec"),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`openclaw agent exec --json --cwd WORKTREE ... --message-file -`, the prompt on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, for a session to go on with, where
        the network is to be off, and for a permission that none of its flags is.
        """
        self._check(request)
        line = self.line(found)
        line.warnings.append(SILENT)
        line.args += ("agent", "exec")
        line.add(JSON)
        line.add(CWD, CWD.name, str(request.worktree))
        line.add(TIMEOUT, TIMEOUT.name, str(max(1, round(request.budget.seconds or NO_LIMIT))))
        if request.permission is Permission.DEFAULT:
            line.need(ISOLATED)
        if request.model:
            line.need(MODEL, request.model)
        effort = request.effort and self.descriptor.efforts[request.effort]
        if effort:
            line.need(THINKING, effort)
        line.add(PROMPT, PROMPT.name, "-")
        prompt = prefaced(request.preface, request.prompt)
        return line.command(
            request,
            found,
            env=ENVIRONMENT,
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.openclaw_document import OpenClawDocument

        return OpenClawDocument()

    def _check(self, request: SpawnRequest) -> None:
        self.check_network(request)
        if request.resume:
            raise self.cannot(
                "OpenClaw's `agent exec` cannot go on with a session", "begin a new session for it"
            )
        if request.permission not in self.descriptor.modes:
            raise self.cannot(
                f"OpenClaw has no flag for permission {request.permission}",
                "race it with --permission full-auto",
            )


ADAPTER = OpenClaw()
