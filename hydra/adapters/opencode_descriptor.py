"""OpenCode as data: what it is, where it keeps things, what it takes. Seen in 1.18.33."""

from __future__ import annotations

from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    Probe,
    Sessions,
    TokenFields,
)
from hydra.model import Capability, CapabilitySet, Effort, Permission, Tier

KEYS = (
    "OPENCODE_API_KEY",
    "OPENCODE_AUTH_CONTENT",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENROUTER_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "GROQ_API_KEY",
    "TOGETHER_API_KEY",
    "CEREBRAS_API_KEY",
)

FOLDERS = (
    # OPENCODE_CONFIG_DIR adds to this folder and does not move it: it is made all the same.
    ConfigFolder(
        variable="XDG_CONFIG_HOME",
        default=".config/opencode",
        parent=True,
        copied=(
            "config.json",
            "opencode.json",
            "opencode.jsonc",
            "AGENTS.md",
            "agent",
            "agents",
            "command",
            "commands",
            "mode",
            "modes",
            "skill",
            "skills",
        ),
    ),
    ConfigFolder(
        variable="XDG_DATA_HOME",
        default=".local/share/opencode",
        parent=True,
        credentials=("auth.json", "mcp-auth.json"),
        # As 1.18.33 wrote both. It renews the first by the clock alone, the second when refused.
        renewals=(
            TokenFields(
                file="auth.json",
                entries=("*",),
                kind="oauth",
                access="access",
                refresh="refresh",
                expiries=("expires",),
                account=("accountId", "enterpriseUrl"),
            ),
            TokenFields(
                file="mcp-auth.json",
                entries=("*",),
                access="tokens.accessToken",
                refresh="tokens.refreshToken",
                expiries=("tokens.expiresAt",),
                seconds=True,
                account=("serverUrl",),
                silent=True,
            ),
        ),
    ),
    ConfigFolder(variable="XDG_STATE_HOME", default=".local/state/opencode", parent=True),
)

DESCRIPTOR = Descriptor(
    key="opencode",
    label="OpenCode",
    tagline="Open-source agent for any provider's models, its own sessions in SQLite",
    homepage="https://opencode.ai/docs/cli",
    tier=Tier.EXPERIMENTAL,
    binaries=("opencode",),
    protocol="stdin",
    stream_format="json-lines",
    sandbox="soft",
    install_hint="npm install -g opencode-ai",
    installs=(
        Install("all", "npm", "npm install -g opencode-ai"),
        Install("linux", "script", "curl -fsSL https://opencode.ai/install | bash"),
        Install("macos", "brew", "brew install anomalyco/tap/opencode"),
    ),
    sign_in_hint="run `opencode auth login`, or set the key of your provider, as ANTHROPIC_API_KEY",
    exit_codes={
        0: "it ended by itself, or a permission was refused: the stream tells which",
        1: "an error, or an overflow that it got over: the stream tells which",
    },
    minimum_version="1.18.33",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="a tool is told when it has ended; no closing event"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="--auto"),
        sandbox_controls=Capability(True, note="rules for tools, by OPENCODE_PERMISSION"),
        approval_controls=Capability(True, note="what is not allowed is refused, never asked"),
        session_resume=Capability(True, note="--session, --fork"),
        emits_usage=Capability(True, note="a step's tokens and list price"),
    ),
    environment=(
        *KEYS,
        "OPENCODE_CONFIG",
        "OPENCODE_MODELS_URL",
        "OPENCODE_MODELS_PATH",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_ENABLE_EXPERIMENTAL_MODELS",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
    ),
    secret_environment=KEYS,
    sign_in_environment=KEYS,
    config=FOLDERS[0],
    folders=FOLDERS[1:],
    probes=(
        # A second each where nothing else runs, and a dozen on a busy machine.
        Probe(name="version", args=("--version",), timeout=30),
        Probe(name="help", args=("run", "--help"), timeout=30, stderr=True),
    ),
    # It takes the first of them itself; with the repository's settings its instructions go, too.
    instructions=("AGENTS.md", "CLAUDE.md", "CONTEXT.md"),
    modes={
        Permission.PLAN: "plan",
        Permission.EDIT: "build, no commands",
        Permission.FULL_AUTO: "--auto",
        Permission.UNRESTRICTED: "--auto",
        Permission.CONFIG: "its own settings",
    },
    efforts={effort: effort.value for effort in Effort},
    own_preface=True,
    local_models=True,
    sessions=Sessions(".local/share/opencode", "sqlite", resume=True, fork=True),
    extensions=Extensions(
        formats=("npm-package", "skill-directory", "mcp-server"),
        mcp="opencode.json, `mcp`; OPENCODE_DISABLE_PROJECT_CONFIG keeps a repository's own out",
    ),
    platforms={"linux": "", "macos": "not tried", "windows": "not tried"},
)
