"""omp (oh-my-pi): its line, and how its answers are read. Seen in 18.2.3."""

from __future__ import annotations

import re

from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import ConfigFolder, Descriptor, common_probes, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.pi_family import CLOUD_SECRETS, CLOUDS, KEYS, PiStream
from hydra.records.agent import Capability, CapabilitySet, SpawnRequest
from hydra.records.request import Effort, Permission

# ---- omp (oh-my-pi) as data. Seen in 18.2.3.

OWN_KEYS = (
    *KEYS,
    *names(
        "ANTHROPIC_FOUNDRY_API_KEY KILO_API_KEY CURSOR_ACCESS_TOKEN CLINE_API_KEY"
        " UMANS_AI_CODING_PLAN_API_KEY WAFER_SERVERLESS_API_KEY"
    ),
)

MODES = {
    Permission.PLAN: "always-ask",
    Permission.EDIT: "write",
    Permission.FULL_AUTO: "yolo",
    Permission.UNRESTRICTED: "yolo",
    Permission.DEFAULT: "yolo",
    Permission.CONFIG: "as its settings say",
}
"""Words of `--approval-mode`. Without a terminal what would be asked is refused; `yolo` is what it
does by itself."""

DESCRIPTOR = Descriptor(
    key="omp",
    label="omp",
    homepage="https://omp.sh",
    binaries=("omp",),
    tagline="a pi with more tools, approvals and subagents; it needs bun",
    install_hint="npm install -g bun @oh-my-pi/pi-coding-agent",
    sign_in_hint="run `omp` once and sign in with /login, or set your provider's key",
    exit_codes={
        0: "it ended by itself, tools refused or not: the stream tells",
        1: "the service failed or refused the key, or nothing is signed in",
        2: "a bad command line",
        130: "stopped by SIGINT",
        143: "stopped by SIGTERM",
    },
    minimum_version="18.2.3",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="--mode json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="--approval-mode yolo"),
        approval_controls=Capability(True, note="--approval-mode, by a tool's tier"),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="of each answer; Hydra adds them up"),
    ),
    environment=(
        *OWN_KEYS,
        *names(
            "CLAUDE_CODE_USE_FOUNDRY FOUNDRY_BASE_URL PI_CODING_AGENT_DIR PI_SMOL_MODEL"
            " PI_SLOW_MODEL PI_PLAN_MODEL"
        ),
    ),
    environment_if=CLOUDS,
    secret_environment=(*OWN_KEYS, *CLOUD_SECRETS),
    sign_in_environment=(*OWN_KEYS, *CLOUDS),
    config=ConfigFolder(
        variable="PI_CODING_AGENT_DIR",
        default=".omp/agent",
        # Its logins stand in a database, which is no file to be put back over the user's own.
        copied=names(
            "agent.db config.yml models.yml models.yaml AGENTS.md SYSTEM.md RULES.md rules skills"
            " commands agents"
        ),
    ),
    probes=common_probes(timeout=20),
    modes=MODES,
    efforts={effort: effort.value for effort in Effort},
)

PRINT = required("--print", "to run without a terminal", "plain_text")
MODE = required("--mode", "to read what it does", "json_stream", "emits_usage")
CONFIG = required(
    "--config", "to keep the repository's own hooks, tools and MCP commands from running"
)
NO_EXTENSIONS = required("--no-extensions", "to keep the repository's own extensions from running")
NO_LSP = required("--no-lsp", "to keep the repository's own language servers from running")
NO_TITLE = Flag("--no-title", "to ask a model for the task alone")
NO_PTY = Flag("--no-pty", "to run commands without a terminal")
APPROVAL = Flag(
    "--approval-mode", "to say what it may do", drops=("approval_controls", "force_edit_mode")
)
MODEL = Flag("--model", "to choose a model")
THINKING = Flag("--thinking", "to say how hard it thinks")
PREFACE = Flag("--append-system-prompt", "for the preface")
RESUME = Flag("--resume", "to go on later", drops=("session_resume",))

ENVIRONMENT = (("PI_NO_PTY", "1"),)

OVERLAY = b"""\
# Written by Hydra for this lane: what a repository may not do to it.
mcp:
  enableProjectConfig: false
disabledProviders:
  - native
  - claude
  - claude-plugins
  - codex
  - cursor
  - gemini
  - opencode
  - vscode
  - windsurf
  - cline
  - mcp-json
  - agent-plugins
  - omp-plugins
  - ssh
startup:
  checkUpdate: false
marketplace:
  autoUpdate: "off"
dev:
  autoqa: false
bash:
  direnv: "off"
"""
"""Laid over the user's settings and the repository's: without it hooks, tools and MCP commands of
eight formats run from the repository (18.2.3). AGENTS.md is read all the same."""


class OmpOutput(PiStream):
    """One attempt's `--mode json`."""

    label = "omp"


class Omp(CliAdapter):
    """`omp --print --mode json --config OVERLAY ...`, the prompt on stdin."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^omp/(\d+\.\d+\.\d+\S*)\s*$"), re.compile(r"^omp v\d|Oh My Pi")
    )
    table = named_flags(globals())
    stream = OmpOutput

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        # Its logs and sockets lie beside its settings, where a lane may not write; where this
        # folder has one called omp they lie in there.
        state = lane_home(request) / "state"
        overlay = state / "omp" / "lane.yml"
        line.env += (*ENVIRONMENT, ("XDG_STATE_HOME", str(state)))
        line.files.append((overlay, OVERLAY))
        line.add(PRINT)
        line.add(MODE, MODE.name, "json")
        line.add(CONFIG, CONFIG.name, str(overlay))
        for flag in (NO_EXTENSIONS, NO_LSP, NO_TITLE, NO_PTY):
            line.add(flag)
        if request.permission is not Permission.CONFIG:
            line.need(APPROVAL, MODES[request.permission])
        line.need(MODEL, request.model)
        line.need(THINKING, request.effort)
        line.add_preface(PREFACE, request)
        line.add_session(RESUME, request.resume)

    def _prompt(self, request: SpawnRequest) -> str:
        return request.prompt


ADAPTER = Omp()
