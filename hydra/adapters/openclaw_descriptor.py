"""OpenClaw as data. Seen in 2026.9.6."""

from __future__ import annotations

from hydra.adapters.contract import ConfigFolder, Descriptor, Extensions, Install, Probe, Sessions
from hydra.model import Capability, CapabilitySet, Effort, Permission, Tier

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
    local_models=True,
    tagline="a personal assistant; here its headless coding run alone",
    installs=(Install("all", "npm", "npm install -g openclaw"),),
    # Its state is a folder of its own for each run, which it deletes at the end.
    sessions=Sessions(".openclaw/state", "sqlite"),
    extensions=Extensions(
        formats=("npm-package", "skill-directory", "channel-plugin", "mcp-server"),
        registry="https://clawhub.ai",
        mcp="mcp.servers in openclaw.json; of a repository it reads none",
    ),
    platforms={"linux": "", "macos": "not tried by Hydra", "windows": "not tried by Hydra"},
)
