"""OpenClaw's headless `agent exec`: its descriptor and its line. Seen in 2026.9.6.

It prints one JSON document at its end and nothing before. It needs no terminal. What it may do is
its own configuration's business: no flag narrows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters import event_builders as build
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.contract import ConfigFolder, Descriptor, common_probes, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.failures import failure
from hydra.adapters.json_fields import (
    MalformedLine,
    Object,
    decode,
    integer,
    mapping,
    number,
    objects,
    string,
)
from hydra.adapters.json_stream import JsonStream, tokens
from hydra.records.agent import Capability, CapabilitySet, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- OpenClaw as data. Seen in 2026.9.6.

PROVIDER_KEYS = names(
    "ANTHROPIC_API_KEY OPENAI_API_KEY OPENROUTER_API_KEY GEMINI_API_KEY GROQ_API_KEY"
    " MISTRAL_API_KEY XAI_API_KEY DEEPSEEK_API_KEY MOONSHOT_API_KEY MINIMAX_API_KEY ZAI_API_KEY"
    " CEREBRAS_API_KEY AI_GATEWAY_API_KEY"
)

DESCRIPTOR = Descriptor(
    key="openclaw",
    label="OpenClaw",
    homepage="https://docs.openclaw.ai/cli/agent",
    binaries=("openclaw",),
    stream_format="json",
    install_hint="npm install -g openclaw (node 24.16 or newer)",
    sign_in_hint="run `openclaw configure`, or set a provider's key, for example OPENAI_API_KEY",
    exit_codes={
        0: "done",
        1: "an error of the service or of its own, or a bad command line",
        2: "its own time limit",
        130: "stopped by SIGINT",
        143: "stopped by SIGTERM",
    },
    minimum_version="2026.9.6",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="one document at the end, and nothing before"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="agent exec never asks"),
        emits_usage=Capability(True, note="tokens, and the cost where it knows the price"),
    ),
    environment=("OPENCLAW_STATE_DIR", *PROVIDER_KEYS),
    secret_environment=PROVIDER_KEYS,
    sign_in_environment=PROVIDER_KEYS,
    config=ConfigFolder(
        variable="OPENCLAW_STATE_DIR",
        default=".openclaw",
        # Nothing is given back: what holds its logins holds its configuration or state too.
        copied=names(
            "openclaw.json agents/main/agent/openclaw-agent.sqlite credentials .env skills"
            " extensions"
        ),
    ),
    probes=common_probes("agent", "exec", "--help", timeout=30),
    modes={
        Permission.FULL_AUTO: "its exec defaults, under its configuration",
        Permission.UNRESTRICTED: "its exec defaults, under its configuration",
        Permission.DEFAULT: "its exec defaults alone (--isolated)",
        Permission.CONFIG: "its exec defaults, under its configuration",
    },
    efforts={effort: effort.value for effort in Effort},
    budgets=("seconds",),
    tagline="a personal assistant; here its headless coding run alone",
)

JSON = required("--json", "to read what it did", "json_stream", "emits_usage")
PROMPT = required("--message-file", "to keep the task off its command line", "plain_text")
CWD = required("--cwd", "to keep it in its worktree", "force_edit_mode")
TIMEOUT = Flag(
    "--timeout",
    "to keep the budget, and not its own limit of 600 s",
    loss="it ends by itself after 600 s",
)
ISOLATED = Flag("--isolated", "for --permission default")
MODEL = Flag("--model", "to choose a model")
THINKING = Flag("--thinking", "to say how hard it thinks")

ENVIRONMENT = (("OPENCLAW_NO_AUTO_UPDATE", "1"), ("DO_NOT_TRACK", "1"))

NO_LIMIT = 86_400
"""Seconds for its own limit, where Hydra's are the ones to be kept."""

SILENT = (
    "OpenClaw says nothing before its end: until then only its worktree shows whether it is at work"
)

# ---- The one JSON document that `openclaw agent exec --json` ends with. Seen in 2026.9.6.

_EDITS = frozenset({"edit", "write", "apply_patch"})
_TOOLS_NAMED = 20


class OpenClawDocument(JsonStream):
    """One attempt's document, which comes in several lines: nothing is told before its end."""

    label = "OpenClaw"

    LARGEST = 4_000_000
    """Bytes of it that are held; a longer one is no document of OpenClaw's."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[bytes] = []
        self._count = 0

    def take(self, line: Object) -> list[AgentEvent]:
        """The whole document."""
        events = [build.session(session=string(line, "sessionId"), model=string(line, "model"))]
        if "status" not in line and "ok" not in line:
            return []
        self.understood += 1
        tools = mapping(line, "toolSummary")
        events += _tools(tools)
        final = string(line, "final")
        events += build.message(final)
        events += _usage(line)
        status = string(line, "status")
        if status == "timeout":
            return [*events, build.failed("AgentFailed", "budget", "its own time limit ended it")]
        if status != "ok" or line.get("ok") is not True:
            return [*events, failure(_why(line))]
        self._tools.failed_edits = int(
            string(mapping(tools, "unresolvedError"), "toolName") in _EDITS
        )
        return [*events, *self._done(final, turns=integer(line, "assistantTurns"))]

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line of it, kept until the end."""
        if self._count <= self.LARGEST:
            self._lines.append(line)
            self._count += len(line) + 1
        return []

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """All of what it says, where that is one whole document."""
        if self._count > self.LARGEST:
            return []
        try:
            document = decode(b" ".join(line.strip(b"\r") for line in self._lines))
        except MalformedLine:
            return []
        return [] if document is None else self.take(document)


def _tools(tools: Object) -> list[AgentEvent]:
    calls = integer(tools, "calls")
    names = tools.get("tools")
    if not calls:
        return []
    lines = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    text = f"{calls} calls of tools: {', '.join(lines[:_TOOLS_NAMED])}"
    return build.notice("tools", text)


def _usage(document: Object) -> list[AgentEvent]:
    """Its `input` has no cache reads and writes in it."""
    usage = mapping(document, "usage")
    cost = number(document, "costUsd") or number(mapping(usage, "cost"), "total")
    caches = ("cacheRead", "cacheWrite")
    return tokens(usage, "input", "output", caches[0], beside=caches, cost=cost)


def _why(document: Object) -> str:
    text = string(mapping(document, "error"), "message")
    lines = [string(part, "text") for part in objects(document, "payloads")]
    return text or "\n".join(filter(None, lines)) or string(document, "status")


class OpenClaw(CliAdapter):
    """`openclaw agent exec --json --cwd WORKTREE ... --message-file -`, the prompt on stdin."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^OpenClaw (\d{4}\.\d+\.\d+\S*)"), re.compile(r"openclaw agent exec")
    )
    table = named_flags(globals())
    stream = OpenClawDocument

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.env += ENVIRONMENT
        line.warnings.append(SILENT)
        line.args += ("agent", "exec")
        line.add(JSON)
        line.add(CWD, CWD.name, str(request.worktree))
        line.add(TIMEOUT, TIMEOUT.name, str(max(1, round(request.budget.seconds or NO_LIMIT))))
        if request.permission is Permission.DEFAULT:
            line.need(ISOLATED)
        line.need(MODEL, request.model)
        line.need(THINKING, request.effort)
        line.add(PROMPT, PROMPT.name, "-")


ADAPTER = OpenClaw()
