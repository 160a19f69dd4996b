"""Qwen Code as data: what it is, where its settings are, how it signs in. Seen in 0.24.4."""

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
from hydra.model import Capability, CapabilitySet, Permission, Tier

MODES: Mapping[Permission, str] = {
    Permission.PLAN: "plan",
    Permission.EDIT: "auto-edit",
    Permission.FULL_AUTO: "yolo",
    Permission.UNRESTRICTED: "yolo",
    Permission.DEFAULT: "default",
    Permission.CONFIG: "as its settings say",
}

OWN_SETTINGS = (".qwen/settings.json", ".qwen/.env", ".env")
"""What it takes from the repository, and no switch keeps out."""

KEYS = (
    "OPENAI_API_KEY",
    "DASHSCOPE_API_KEY",
    "BAILIAN_CODING_PLAN_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
)

DESCRIPTOR = Descriptor(
    key="qwen",
    label="Qwen Code",
    homepage="https://qwenlm.github.io/qwen-code-docs",
    tier=Tier.EXPERIMENTAL,
    binaries=("qwen",),
    protocol="stdin",
    stream_format="stream-json",
    sandbox="soft",
    install_hint="npm install -g @qwen-code/qwen-code (needs Node 22)",
    sign_in_hint="run `qwen` once and sign in with /auth, or set OPENAI_API_KEY",
    exit_codes={
        0: "done, or denied: the stream tells which",
        1: "an API error, no sign-in, or a bad command line",
        53: "its limit of turns was reached",
        55: "its limit of time or of tool calls was reached",
        130: "stopped by SIGINT",
        143: "stopped by SIGTERM",
    },
    minimum_version="0.24.4",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="stream-json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="auto-edit, yolo"),
        sandbox_controls=Capability(True, note="by approval mode and lists of tools"),
        approval_controls=Capability(True, note="--approval-mode"),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="tokens, no cost"),
    ),
    environment=(
        "QWEN_HOME",
        *KEYS,
        "OPENAI_BASE_URL",
        "OPENAI_MODEL",
        "QWEN_MODEL",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "GEMINI_MODEL",
        "QWEN_DEFAULT_AUTH_TYPE",
    ),
    secret_environment=KEYS,
    sign_in_environment=KEYS,
    config=ConfigFolder(
        variable="QWEN_HOME",
        default=".qwen",
        credentials=("oauth_creds.json", ".env"),
        # As 0.24.4 wrote it. resource_url is an address, so it is none of them.
        renewals=(
            TokenFields(
                file="oauth_creds.json",
                access="access_token",
                refresh="refresh_token",
                expiries=("expiry_date",),
                silent=True,
            ),
        ),
        copied=(
            "settings.json",
            "QWEN.md",
            "AGENTS.md",
            "commands",
            "skills",
            "agents",
            "output-language.md",
            "installation_id",
        ),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=20),
        Probe(name="help", args=("--help",), timeout=20),
    ),
    modes=MODES,
    budgets=("turns", "seconds", "tool_calls"),
    local_models=True,
    tagline="Alibaba's coding agent",
    installs=(
        Install("all", "npm", "npm install -g @qwen-code/qwen-code"),
        Install("macos", "brew", "brew install qwen-code"),
    ),
    sessions=Sessions(".qwen/projects", "jsonl", resume=True, fork=True),
    extensions=Extensions(
        formats=("extension", "mcp-server", "skill-directory", "command"),
        mcp="settings.json and .mcp.json; --allowed-mcp-server-names keeps all of them out",
    ),
    platforms={"linux": "", "macos": "not tried by Hydra", "windows": "not tried by Hydra"},
    # Not for its line: where the repository has one, the lane is told what it does.
    instructions=OWN_SETTINGS,
)
