"""Cline as data. Seen in 3.0.65."""

from __future__ import annotations

from hydra.adapters.contract import ConfigFolder, Descriptor, Extensions, Install, Probe, Sessions
from hydra.model import Capability, CapabilitySet, Effort, Permission, Tier

PROVIDER_KEYS = (
    "CLINE_API_KEY",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "GROQ_API_KEY",
    "CEREBRAS_API_KEY",
    "TOGETHER_API_KEY",
    "MOONSHOT_API_KEY",
    "MINIMAX_API_KEY",
    "ZHIPU_API_KEY",
    "DASHSCOPE_API_KEY",
    "AI_GATEWAY_API_KEY",
    "OLLAMA_API_KEY",
    "LMSTUDIO_API_KEY",
)
"""The keys of the services that it is most used with; it knows some hundred more."""

DESCRIPTOR = Descriptor(
    key="cline",
    label="Cline",
    homepage="https://docs.cline.bot/cline-cli/overview",
    tier=Tier.EXPERIMENTAL,
    binaries=("cline",),
    protocol="stdin",
    stdin_pipe=True,
    stream_format="json-lines",
    # Its list of tools holds; but what a repository brings along runs within it.
    sandbox="soft",
    install_hint="npm install -g cline (node 22 or newer)",
    sign_in_hint="run `cline auth`, or set a provider's key, for example CLINE_API_KEY",
    exit_codes={
        0: "done, or broken off by a signal or after mistakes: the stream tells which",
        1: "an error of the service, no key, or a bad command line",
    },
    minimum_version="3.0.65",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="--json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="--auto-approve true, which is its default"),
        sandbox_controls=Capability(True, note="a list of tools that are off, in its settings"),
        approval_controls=Capability(True, note="--plan, and that list; --auto-approve is for all"),
        emits_usage=Capability(True, note="tokens, and the list price where it knows the model"),
    ),
    environment=("CLINE_DIR", *PROVIDER_KEYS),
    secret_environment=PROVIDER_KEYS,
    sign_in_environment=PROVIDER_KEYS,
    config=ConfigFolder(
        variable="CLINE_DIR",
        default=".cline",
        # Each run writes its model into the first of these, and it names the service: so it is no
        # credentials file, which would be given back.
        copied=(
            "data/settings/providers.json",
            "data/settings/global-settings.json",
            "data/settings/cline_mcp_settings.json",
            "rules",
            "skills",
            "workflows",
            "agents",
            "hooks",
            "plugins",
        ),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=30),
        Probe(name="help", args=("--help",), timeout=30),
    ),
    modes={
        Permission.PLAN: "plan, without its shell",
        Permission.EDIT: "act, without its shell",
        Permission.FULL_AUTO: "act",
        Permission.UNRESTRICTED: "act",
        Permission.DEFAULT: "act",
        Permission.CONFIG: "as its settings say",
    },
    efforts={
        Effort.LOW: "low",
        Effort.MEDIUM: "medium",
        Effort.HIGH: "high",
        Effort.MAX: "xhigh",
    },
    budgets=("seconds",),
    local_models=True,
    tagline="the agent of the Cline editor extension, in a terminal",
    installs=(Install("all", "npm", "npm install -g cline"),),
    # `--id` opens its terminal UI: with --json it is refused (3.0.65).
    sessions=Sessions(".cline/data/sessions", "json"),
    masked=(".cline/hooks", ".clinerules/hooks", ".cline/plugins"),
    extensions=Extensions(
        formats=("mcp-server", "skill-directory", "plugin", "hook", "rule"),
        registry="https://skills.sh",
        mcp="~/.cline/data/settings/cline_mcp_settings.json; of a repository it reads none",
    ),
    platforms={"linux": "", "macos": "not tried by Hydra", "windows": "not tried by Hydra"},
)
