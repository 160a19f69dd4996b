"""OpenClaw's headless `agent exec`: its descriptor and its line. Seen in 2026.9.6.

It prints one JSON document at its end and nothing before. It needs no terminal. What it may do is
its own configuration's business: no flag narrows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters import event_builders
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import Flag, named_flags
from hydra.adapters.contract import ConfigFolder, Descriptor, Parser, Probe
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.failures import failure
from hydra.adapters.json_stream import (
    JsonStream,
    MalformedLine,
    Object,
    decode,
    integer,
    mapping,
    number,
    objects,
    string,
)
from hydra.adapters.prompts import as_stdin, prefaced
from hydra.records.agent import (
    BuiltCommand,
    Capability,
    CapabilitySet,
    DetectResult,
    SpawnRequest,
    Tier,
)
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- OpenClaw as data. Seen in 2026.9.6.

PROVIDER_KEYS = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
    "DEEPSEEK_API_KEY",
    "MOONSHOT_API_KEY",
    "MINIMAX_API_KEY",
    "ZAI_API_KEY",
    "CEREBRAS_API_KEY",
    "AI_GATEWAY_API_KEY",
)

DESCRIPTOR = Descriptor(
    key="openclaw",
    label="OpenClaw",
    homepage="https://docs.openclaw.ai/cli/agent",
    tier=Tier.EXPERIMENTAL,
    binaries=("openclaw",),
    protocol="stdin",
    stream_format="json",
    sandbox="soft",
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
        copied=(
            "openclaw.json",
            "agents/main/agent/openclaw-agent.sqlite",
            "credentials",
            ".env",
            "skills",
            "extensions",
        ),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=30),
        Probe(name="help", args=("agent", "exec", "--help"), timeout=30),
    ),
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
    name="--cwd", purpose="to keep it in its worktree", required=True, drops=("force_edit_mode",)
)
TIMEOUT = Flag(
    name="--timeout",
    purpose="to keep the budget, and not its own limit of 600 s",
    loss="it ends by itself after 600 s",
)
ISOLATED = Flag(name="--isolated", purpose="for --permission default")
MODEL = Flag(name="--model", purpose="to choose a model")
THINKING = Flag(name="--thinking", purpose="to say how hard it thinks")

TABLE = named_flags(globals())

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
    identity = AgentIdentity(
        version=re.compile(r"^OpenClaw (\d{4}\.\d+\.\d+\S*)", re.MULTILINE),
        help=re.compile(r"openclaw agent exec"),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """`openclaw agent exec --json --cwd WORKTREE ... --message-file -`, the prompt on stdin.

        Raises `UnsupportedFlag` where a flag that is needed is gone.
        """
        line = self.line(result)
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
            result,
            env=ENVIRONMENT,
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        return OpenClawDocument()


ADAPTER = OpenClaw()


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
        events = [
            event_builders.session(session=string(line, "sessionId"), model=string(line, "model"))
        ]
        if "status" not in line and "ok" not in line:
            return []
        self.understood += 1
        tools = mapping(line, "toolSummary")
        events += _tools(tools)
        final = string(line, "final")
        events += event_builders.message(final)
        events += _usage(line)
        status = string(line, "status")
        if status == "timeout":
            return [
                *events,
                event_builders.failed("AgentFailed", "budget", "its own time limit ended it"),
            ]
        if status != "ok" or line.get("ok") is not True:
            return [*events, failure(_why(line))]
        edits = string(mapping(tools, "unresolvedError"), "toolName") in _EDITS
        turns = integer(line, "assistantTurns")
        return [
            *events,
            event_builders.completed(final, turns=turns, denials=[], failed_items=int(edits)),
        ]

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
    return [event_builders.progress("notice", type="tools", text=text)]


def _usage(document: Object) -> list[AgentEvent]:
    """Its `input` has no cache reads and writes in it."""
    usage = mapping(document, "usage")
    count, read = integer(usage, "input"), integer(usage, "cacheRead")
    total = None if count is None else count + (read or 0) + (integer(usage, "cacheWrite") or 0)
    cost = number(document, "costUsd") or number(mapping(usage, "cost"), "total")
    return event_builders.usage(
        input_tokens=total,
        output_tokens=integer(usage, "output"),
        cached_tokens=read,
        cost_usd=cost or None,
    )


def _why(document: Object) -> str:
    text = string(mapping(document, "error"), "message")
    lines = [string(part, "text") for part in objects(document, "payloads")]
    return text or "\n".join(filter(None, lines)) or string(document, "status")
