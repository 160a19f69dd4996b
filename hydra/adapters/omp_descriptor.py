"""omp (oh-my-pi) as data. Seen in 18.2.3."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    Probe,
    Sessions,
)
from hydra.adapters.pi_family import CLOUD_SECRETS, CLOUDS, KEYS
from hydra.model import Capability, CapabilitySet, Effort, Permission, Tier

OWN_KEYS = (
    *KEYS,
    "ANTHROPIC_FOUNDRY_API_KEY",
    "KILO_API_KEY",
    "CURSOR_ACCESS_TOKEN",
    "CLINE_API_KEY",
    "UMANS_AI_CODING_PLAN_API_KEY",
    "WAFER_SERVERLESS_API_KEY",
)

MODES: Mapping[Permission, str] = {
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
    tier=Tier.EXPERIMENTAL,
    binaries=("omp",),
    stream_format="json-lines",
    sandbox="soft",
    tagline="a pi with more tools, approvals and subagents; it needs bun",
    install_hint="npm install -g bun @oh-my-pi/pi-coding-agent",
    installs=(Install("all", "npm", "npm install -g bun @oh-my-pi/pi-coding-agent"),),
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
        "CLAUDE_CODE_USE_FOUNDRY",
        "FOUNDRY_BASE_URL",
        "PI_CODING_AGENT_DIR",
        "PI_SMOL_MODEL",
        "PI_SLOW_MODEL",
        "PI_PLAN_MODEL",
    ),
    environment_if=CLOUDS,
    secret_environment=(*OWN_KEYS, *CLOUD_SECRETS),
    sign_in_environment=(*OWN_KEYS, *CLOUDS),
    config=ConfigFolder(
        variable="PI_CODING_AGENT_DIR",
        default=".omp/agent",
        # Its logins stand in a database, which is no file to be put back over the user's own.
        copied=(
            "agent.db",
            "config.yml",
            "models.yml",
            "models.yaml",
            "AGENTS.md",
            "SYSTEM.md",
            "RULES.md",
            "rules",
            "skills",
            "commands",
            "agents",
        ),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=20),
        Probe(name="help", args=("--help",), timeout=20),
    ),
    modes=MODES,
    efforts={effort: effort.value for effort in Effort},
    own_preface=True,
    local_models=True,
    sessions=Sessions(".omp/agent/sessions", "jsonl", resume=True),
    extensions=Extensions(
        formats=("npm-package", "extension", "skill-directory", "mcp-server", "hook"),
        registry="npm, and its own marketplaces",
        mcp="mcp.json of its own and of seven other agents; those of a repository are kept out by"
        " an overlay of its settings",
    ),
    platforms={"linux": "", "macos": "not tried by Hydra", "windows": "not tried by Hydra"},
)
