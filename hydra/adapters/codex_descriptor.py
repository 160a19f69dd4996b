"""Codex as data: what it is, where its settings are, how it signs in. Seen in 0.169.0."""

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

ROLLOUT = "sessions/*/*/*/rollout-*.jsonl"
"""Codex's own record of the session: the only place that tells the sandbox it applied."""

MODES: Mapping[Permission, str] = {
    Permission.PLAN: "read-only",
    Permission.EDIT: "workspace-write",
    Permission.FULL_AUTO: "workspace-write",
    Permission.UNRESTRICTED: "danger-full-access",
    Permission.DEFAULT: "read-only",
    Permission.CONFIG: "as its settings say",
}

EFFORTS: Mapping[Effort, str] = {
    Effort.LOW: "low",
    Effort.MEDIUM: "medium",
    Effort.HIGH: "high",
    Effort.MAX: "xhigh",
}
"""Sent to the service as they are; which of them a model takes, the service says."""

DESCRIPTOR = Descriptor(
    key="codex",
    label="OpenAI Codex",
    homepage="https://developers.openai.com/codex/cli",
    tier=Tier.TIER1,
    binaries=("codex",),
    protocol="stdin",
    stream_format="json-lines",
    sandbox="soft",
    install_hint="npm install -g @openai/codex",
    sign_in_hint="run `codex login`, or set CODEX_API_KEY",
    exit_codes={
        0: "the turn is over, whatever came of it: the stream tells",
        1: "the turn failed, no sign-in, or stopped by SIGINT",
        2: "a bad command line",
        101: "it crashed (so it does when its output is closed)",
    },
    minimum_version="0.134.0",
    broken_versions={
        "<0.40.1": "`codex exec --json` writes an older format that has no closing event"
        " (seen in 0.40.0)",
        "<0.134.0": "its sandbox cannot be tried before a race: `codex sandbox -- COMMAND` is no"
        " command of it (seen in 0.133.0)",
    },
    confines_itself=True,
    side_files=(ROLLOUT,),
    capabilities=CapabilitySet(
        json_stream=Capability(True),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="workspace-write, approval never"),
        sandbox_controls=Capability(True, note="bundled bubblewrap with seccomp"),
        approval_controls=Capability(True, note="by -c approval_policy; exec has no flag for it"),
        session_resume=Capability(True, note="exec resume"),
        emits_usage=Capability(True, note="tokens, no cost"),
    ),
    environment=("CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY"),
    secret_environment=("CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY"),
    # Not OPENAI_API_KEY: exec does not send it.
    sign_in_environment=("CODEX_API_KEY", "CODEX_ACCESS_TOKEN"),
    config=ConfigFolder(
        variable="CODEX_HOME",
        default=".codex",
        credentials=("auth.json",),
        # As 0.169.0 wrote it. After a 401 it renews at once and prints nothing of it.
        renewals=(
            TokenFields(
                file="auth.json",
                access="tokens.access_token",
                refresh="tokens.refresh_token",
                tokens=("tokens.id_token",),
                stamps=("last_refresh",),
                account=("tokens.account_id",),
                silent=True,
            ),
        ),
        trust=(PathTrust("config.toml", "projects"),),
        copied=(
            "config.toml",
            "AGENTS.md",
            "AGENTS.override.md",
            "rules",
            "prompts",
            "skills",
            "installation_id",
        ),
    ),
    probes=(
        Probe(name="version", args=("--version",)),
        Probe(name="help", args=("--help",)),
        Probe(name="exec_help", args=("exec", "--help")),
        Probe(name="sign_in", args=("login", "status")),
        Probe(name="sandbox", args=("sandbox", "--", "true"), timeout=15, confined=True),
    ),
    modes=MODES,
    efforts=EFFORTS,
    service_tiers={"fast": "fast", "flex": "flex"},
    families=("gpt",),
    local_models=True,
    tagline="OpenAI's coding agent",
    installs=(
        Install("all", "npm", "npm install -g @openai/codex"),
        Install("macos", "brew", "brew install --cask codex"),
    ),
    sessions=Sessions(".codex/sessions", "jsonl", resume=True, fork=True),
    extensions=Extensions(
        formats=("mcp-server", "skill-directory", "plugin"),
        mcp="config.toml; a repository's own start only in a trusted folder (from 0.169.0)",
    ),
    platforms={"linux": "", "macos": "not tried by Hydra", "windows": "not tried by Hydra"},
)
