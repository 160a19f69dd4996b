"""pi as data. Seen in 0.73.1, and in 0.87.1 of its successor by the same program name."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    Probe,
    Sessions,
    TokenFields,
)
from hydra.adapters.pi_family import AZURE, CLOUD_SECRETS, CLOUDS, KEYS
from hydra.model import Capability, CapabilitySet, Effort, Permission, Tier

OWN_KEYS = (
    *KEYS,
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "MINIMAX_CN_API_KEY",
    "MOONSHOT_API_KEY",
    "KIMI_API_KEY",
    "HF_TOKEN",
    "CLOUDFLARE_API_KEY",
    "XIAOMI_API_KEY",
    "XIAOMI_TOKEN_PLAN_*",
)

MODES: Mapping[Permission, str] = {
    Permission.PLAN: "read,grep,find,ls",
    Permission.EDIT: "read,edit,write,grep,find,ls",
    Permission.FULL_AUTO: "its own tools",
    Permission.UNRESTRICTED: "its own tools",
    Permission.DEFAULT: "its own tools",
}
"""pi asks for nothing: what it may do is which tools it has. Its own: read, bash, edit, write."""

SETTINGS = ".pi/settings.json"
"""The repository's, which 0.73.1 reads whatever it is told."""

DESCRIPTOR = Descriptor(
    key="pi",
    label="pi",
    homepage="https://pi.dev",
    tier=Tier.EXPERIMENTAL,
    binaries=("pi",),
    stream_format="json-lines",
    sandbox="soft",
    tagline="a small coding agent for any provider's models",
    install_hint="npm install -g @mariozechner/pi-coding-agent",
    installs=(
        Install("all", "npm", "npm install -g @mariozechner/pi-coding-agent"),
        Install("all", "npm", "npm install -g @earendil-works/pi-coding-agent"),
    ),
    sign_in_hint="run `pi` once and sign in with /login, or set your provider's key",
    exit_codes={
        0: "it ended by itself, also where the key was refused: the stream tells which",
        1: "a bad command line, no key, no such session",
        143: "stopped by SIGTERM",
    },
    minimum_version="0.73.1",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="--mode json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="it never asks"),
        approval_controls=Capability(True, note="by which tools it has"),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="of each answer; Hydra adds them up"),
    ),
    environment=(
        *OWN_KEYS,
        *AZURE,
        "CLOUDFLARE_ACCOUNT_ID",
        "CLOUDFLARE_GATEWAY_ID",
        "PI_CODING_AGENT_DIR",
    ),
    environment_if=CLOUDS,
    secret_environment=(*OWN_KEYS, *CLOUD_SECRETS),
    sign_in_environment=tuple(name for name in (*OWN_KEYS, *CLOUDS) if not name.endswith("*")),
    config=ConfigFolder(
        variable="PI_CODING_AGENT_DIR",
        default=".pi/agent",
        credentials=("auth.json",),
        # As 0.73.1 wrote it; it goes by the clock alone. Not github-copilot: of that access token
        # pi takes the service's address.
        renewals=(
            TokenFields(
                file="auth.json",
                entries=("anthropic", "openai-codex"),
                kind="oauth",
                access="access",
                refresh="refresh",
                expiries=("expires",),
                account=("accountId",),
            ),
        ),
        copied=(
            "settings.json",
            "models.json",
            "AGENTS.md",
            "CLAUDE.md",
            "SYSTEM.md",
            "APPEND_SYSTEM.md",
            "skills",
            "prompts",
            "extensions",
        ),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=20, stderr=True),
        Probe(
            name="help",
            args=("--help", "--offline", "--no-extensions", "--no-session"),
            timeout=20,
            stderr=True,
        ),
    ),
    instructions=(SETTINGS,),
    modes=MODES,
    efforts={
        Effort.LOW: "low",
        Effort.MEDIUM: "medium",
        Effort.HIGH: "high",
        Effort.MAX: "xhigh",
    },
    own_preface=True,
    local_models=True,
    sessions=Sessions(".pi/agent/sessions", "jsonl", resume=True, fork=True),
    extensions=Extensions(
        formats=("npm-package", "extension", "skill-directory", "prompt-template"),
        registry="npm, by the keyword pi-package",
        mcp="none of its own",
    ),
    platforms={
        "linux": "",
        "macos": "not tried by Hydra",
        "windows": "needs a bash; not tried by Hydra",
    },
)
