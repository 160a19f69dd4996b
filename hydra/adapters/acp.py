"""Agents that speak the Agent Client Protocol: one adapter, a row for Hermes, and one for whatever
the user names (`[agents.acp] path, args`: `gemini --acp`, `opencode acp`, ...).

What they are asked and told is in `protocols/acp.py`; here is how they are started. The protocol's
own words (session, mode, model) are chosen while it is spoken, from what the agent offers.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, Pairs, required
from hydra.adapters.contract import (
    ConfigFolder,
    Conversation,
    Descriptor,
    Parser,
    Probe,
    common_probes,
    names,
)
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.prompts import as_session
from hydra.adapters.protocols.acp_session import AcpDialect
from hydra.records.agent import BuiltCommand, Capability, CapabilitySet, DetectResult, SpawnRequest
from hydra.records.request import Effort, Permission

FULL, OPEN = Permission.FULL_AUTO, Permission.UNRESTRICTED
EXITS = {
    0: "it ended by itself, or with its stdin: the stream tells how",
    1: "a bad command line, or no sign-in",
    130: "stopped by SIGINT",
    143: "stopped by SIGTERM",
}
CAPABILITIES = CapabilitySet(
    json_stream=Capability(True, note="JSON-RPC, Agent Client Protocol 1"),
    force_edit_mode=Capability(True, note="by its session mode, and by Hydra's answers"),
    approval_controls=Capability(True, note="it asks, and Hydra answers from the permission"),
    session_resume=Capability(True, note="session/resume, else session/load"),
    emits_usage=Capability(True),
)
"""What the protocol gives, whatever the agent."""


class AcpAgent(CliAdapter):
    """The adapter of one agent: the program and its words; what else is wanted goes into the
    conversation, and whether it is signed in is found out there."""

    dialect: AcpDialect
    args: tuple[str, ...] = ()
    """The words that come first on its line."""
    environment: Pairs = ()
    table: tuple[Flag, ...] = ()
    """Options of its help text that are on no line: without them it is not what was tried."""

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """The program's line, and in `session_params` what is wanted of the session."""
        resume = request.resume and as_session(request.resume, adapter=self.key())
        values = {
            "permission": str(request.permission),
            "model": request.model or "",
            "effort": str(request.effort or ""),
            "resume": resume,
            "fork": "yes" if request.fork else "",
            "masked": "yes" if request.masked else "",
        }
        params = tuple((name, value) for name, value in values.items() if value)
        return replace(super().build_command(request, result), session_params=params)

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation for one attempt."""
        from hydra.adapters.protocols.acp import AcpConversation
        from hydra.adapters.protocols.acp_session import AcpRequest

        prompt = (command.stdin or b"").decode("utf-8", "replace")
        params = {"root": str(command.cwd), "prompt": prompt, **dict(command.session_params)}
        return AcpConversation(self.dialect, convert(params, AcpRequest))

    def parser(self) -> Parser:
        """Reads a recorded stream: the agent's side of a conversation."""
        from hydra.adapters.protocols.acp import AcpConversation

        return AcpConversation(self.dialect)

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.args.extend(self.args)
        line.env += self.environment
        # Of several words for a permission any will do: then no other is a difference.
        modes = self.dialect.modes.get(request.permission, ())
        line.expected += [("permission", mode) for mode in modes if len(modes) == 1]
        if request.effort is not None:
            line.expected.append(("effort", str(request.effort)))


def _descriptor(dialect: AcpDialect, **more: Any) -> Descriptor:
    """What is the same in all that speak the protocol."""
    return Descriptor(
        label=dialect.label,
        protocol="acp",
        stream_format="json-rpc",
        interactive=True,
        exit_codes=EXITS,
        capabilities=CAPABILITIES,
        forks=True,
        modes={permission: terms[0] for permission, terms in dialect.modes.items()},
        **more,
    )


_HERMES_KEYS = names(
    "OPENROUTER_API_KEY OPENAI_API_KEY ANTHROPIC_API_KEY ANTHROPIC_TOKEN GEMINI_API_KEY"
    " GOOGLE_API_KEY NOUS_API_KEY GLM_API_KEY KIMI_API_KEY MINIMAX_API_KEY DEEPSEEK_API_KEY"
    " XAI_API_KEY"
)


class Hermes(AcpAgent):
    """It asks before an edit and never before a command: edit and plan would promise too much."""

    dialect = AcpDialect(
        label="Hermes Agent", modes={FULL: ("dont_ask",), OPEN: ("dont_ask",)}, forgets=True
    )
    descriptor = _descriptor(
        dialect,
        key="hermes",
        tagline="An assistant with files, a terminal, skills and a memory",
        homepage="https://hermes-agent.nousresearch.com",
        binaries=("hermes",),
        install_hint='python -m pip install "hermes-agent[acp]"',
        sign_in_hint="run `hermes setup`, or set a provider's key (OPENROUTER_API_KEY, ...)",
        minimum_version="0.19.0",
        environment=(
            *_HERMES_KEYS,
            *names(
                "HERMES_HOME HERMES_INFERENCE_MODEL HERMES_INFERENCE_PROVIDER OPENAI_BASE_URL"
                " ANTHROPIC_BASE_URL OPENROUTER_BASE_URL"
            ),
        ),
        secret_environment=_HERMES_KEYS,
        sign_in_environment=_HERMES_KEYS,
        config=ConfigFolder(
            variable="HERMES_HOME",
            default=".hermes",
            credentials=("auth.json", ".env"),
            copied=("config.yaml", "SOUL.md", "skills", "memories", "models_dev_cache.json"),
        ),
        probes=(
            Probe(name="version", args=("--version",), timeout=45),
            Probe(name="help", args=("acp", "--help"), timeout=45, stderr=True),
        ),
    )
    identity = AgentIdentity(
        re.compile(r"(?m)^Hermes Agent v(\d+\.\d+\.\d+\S*) "), re.compile(r"(?m)^usage: hermes acp")
    )
    args = ("acp",)
    environment = (("PYTHONUNBUFFERED", "1"),)
    table = (required("--check", "to be talked to", "json_stream", "emits_usage"),)


_ANY = ("bypassPermissions", "yolo", "full-access", "dont_ask")


class AnyAgent(AcpAgent):
    """Whatever the user names."""

    dialect = AcpDialect(label="ACP agent", modes={FULL: _ANY, OPEN: _ANY})
    descriptor = _descriptor(
        dialect,
        key="acp",
        tagline="any other agent that speaks the Agent Client Protocol",
        homepage="https://agentclientprotocol.com",
        binaries=("acp-agent",),
        install_hint="set `path` (the program) and `args` (the words that make it speak ACP, as"
        ' ["acp"]) in [agents.acp] of ~/.config/hydra/hydra.toml (`hydra init --user` writes one)',
        sign_in_hint="sign in with the agent's own program",
        efforts={effort: effort.value for effort in Effort},
        probes=common_probes(timeout=45, stderr=True),
    )
    identity = AgentIdentity(re.compile(r"(\d+\.\d+\S*)"), re.compile(""))


ADAPTERS: tuple[AcpAgent, ...] = (Hermes(), AnyAgent())
"""In the order in which they are listed."""
