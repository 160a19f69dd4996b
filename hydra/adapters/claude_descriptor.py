"""Claude Code as data: what it is, where its settings are, how it signs in. Seen in 2.1.330."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    PathTrust,
    Probe,
    Sessions,
    TokenFields,
)
from hydra.model import Capability, CapabilitySet, Effort, Permission, Tier

MODES: Mapping[Permission, str] = {
    Permission.PLAN: "plan",
    Permission.EDIT: "acceptEdits",
    Permission.FULL_AUTO: "bypassPermissions",
    Permission.UNRESTRICTED: "bypassPermissions",
    Permission.DEFAULT: "default",
    Permission.CONFIG: "as its settings say",
}

DESCRIPTOR = Descriptor(
    key="claude",
    label="Claude Code",
    homepage="https://code.claude.com/docs",
    tier=Tier.TIER1,
    binaries=("claude",),
    protocol="stdin",
    stream_format="stream-json",
    sandbox="hard",
    install_hint="npm install -g @anthropic-ai/claude-code",
    sign_in_hint="run `claude` once and sign in with /login, or set ANTHROPIC_API_KEY",
    exit_codes={
        0: "done, denied, or stopped by SIGINT: the stream tells which",
        1: "an API error, a limit of its own, no sign-in, or a bad command line",
        143: "stopped by SIGTERM",
    },
    minimum_version="2.1.197",
    hidden_flags={"--max-turns": ("2.1.197", "2.1.330")},
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="stream-json, with --verbose"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="acceptEdits, bypassPermissions"),
        sandbox_controls=Capability(True, note="by lists of tools; no file system sandbox by flag"),
        approval_controls=Capability(True),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="tokens and list price"),
    ),
    environment=(
        "ANTHROPIC_*",
        "CLAUDE_CODE_*",
        "CLAUDE_CONFIG_DIR",
    ),
    # A cloud's keys open far more than a model: only for who reaches Claude through that cloud.
    environment_if={
        "CLAUDE_CODE_USE_BEDROCK": (
            "AWS_REGION",
            "AWS_PROFILE",
            "AWS_BEARER_TOKEN_BEDROCK",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
        ),
        "CLAUDE_CODE_USE_VERTEX": ("CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"),
    },
    secret_environment=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_FOUNDRY_API_KEY",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "AWS_BEARER_TOKEN_BEDROCK",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
    ),
    sign_in_environment=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_USE_FOUNDRY",
    ),
    config=ConfigFolder(
        variable="CLAUDE_CONFIG_DIR",
        default=".claude",
        credentials=(".credentials.json",),
        # As 2.1.330 wrote it, after an expired token and after one that was refused (401).
        renewals=(
            TokenFields(
                file=".credentials.json",
                entries=("claudeAiOauth",),
                access="accessToken",
                refresh="refreshToken",
                expiries=("expiresAt", "refreshTokenExpiresAt"),
                account=("accountUuid", "organizationUuid"),
            ),
        ),
        copied=(
            "settings.json",
            "CLAUDE.md",
            "rules",
            "skills",
            "commands",
            "agents",
            "plugins",
            "output-styles",
        ),
        beside=(".claude.json",),
        trust=(PathTrust(".claude.json", "projects"),),
    ),
    probes=(
        Probe(name="version", args=("--version",)),
        Probe(name="help", args=("--help",)),
        Probe(name="sign_in", args=("auth", "status")),
    ),
    modes=MODES,
    efforts={effort: effort.value for effort in Effort},
    budgets=("turns", "cost_usd"),
    families=("claude",),
    tagline="Anthropic's coding agent",
    installs=(
        Install("all", "npm", "npm install -g @anthropic-ai/claude-code"),
        Install("macos", "brew", "brew install --cask claude-code"),
    ),
    sessions=Sessions(".claude/projects", "jsonl", resume=True, fork=True),
    extensions=Extensions(
        formats=("skill-directory", "mcp-server", "plugin"),
        mcp="--mcp-config and settings; a repository's own are kept out by --strict-mcp-config",
    ),
    platforms={"linux": "", "macos": "not tried by Hydra", "windows": "not tried by Hydra"},
    # Only one can be sent (the last --append-system-prompt-file wins), so the first that exists.
    instructions=("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"),
)
