"""GitHub Copilot CLI as data: what it is, where it keeps things, what it takes. Seen in 1.0.102."""

from __future__ import annotations

from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    PathTrust,
    Probe,
    Sessions,
)
from hydra.model import Capability, CapabilitySet, Effort, Permission, Tier

USAGE = "copilot-usage.json"
"""What it writes at its end, in the lane's home: the only place that tells tokens."""

SECRETS = (
    "COPILOT_GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_PROVIDER_BEARER_TOKEN",
    "COPILOT_PROVIDER_HEADERS",
)

DESCRIPTOR = Descriptor(
    key="copilot",
    label="GitHub Copilot CLI",
    tagline="GitHub's agent, with its own models or a provider of yours",
    homepage="https://docs.github.com/copilot/how-tos/copilot-cli",
    tier=Tier.EXPERIMENTAL,
    binaries=("copilot",),
    protocol="stdin",
    stream_format="json-lines",
    sandbox="soft",
    install_hint="npm install -g @github/copilot",
    installs=(Install("all", "npm", "npm install -g @github/copilot"),),
    sign_in_hint="set COPILOT_GITHUB_TOKEN, or COPILOT_PROVIDER_BASE_URL and its key; or run"
    " `copilot login`",
    exit_codes={
        0: "done, denied, or stopped by SIGTERM: the stream tells which",
        1: "an error, no sign-in, or a bad command line",
    },
    minimum_version="1.0.102",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="dotted types; tokens in a file of their own"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="--allow-tool=write, --allow-all"),
        sandbox_controls=Capability(True, note="by rules for tools and paths"),
        approval_controls=Capability(True, note="what would be asked about is denied"),
        session_resume=Capability(True, note="--resume"),
        emits_usage=Capability(True, note="tokens at the end; premium requests, no price"),
    ),
    environment=(
        *SECRETS,
        "COPILOT_HOME",
        "COPILOT_GH_HOST",
        "GH_HOST",
        "COPILOT_MODEL",
        "COPILOT_OFFLINE",
        "COPILOT_PROVIDER_*",
        "COPILOT_CLI_DIST_DIR",
    ),
    secret_environment=SECRETS,
    sign_in_environment=(
        "COPILOT_GITHUB_TOKEN",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "COPILOT_PROVIDER_BASE_URL",
    ),
    config=ConfigFolder(
        variable="COPILOT_HOME",
        default=".copilot",
        # From memory: no run has shown it.
        trust=(PathTrust("config.json", "trusted_folders"),),
        # config.json holds the sign-in beside settings, so a lane's never goes back.
        copied=(
            "config.json",
            "settings.json",
            "mcp-config.json",
            "lsp-config.json",
            "copilot-instructions.md",
            "instructions",
            "agents",
            "skills",
        ),
    ),
    # It unpacks 235 MB into a cache that a lane has of its own; from here it is run as it lies.
    own_places={
        "COPILOT_CLI_DIST_DIR": (
            ".cache/copilot/pkg/linux-x64/{version}",
            ".cache/copilot/pkg/linux-arm64/{version}",
        )
    },
    side_files=(USAGE,),
    probes=(
        Probe(name="version", args=("--version",), timeout=30),
        Probe(name="help", args=("--help",), timeout=30),
    ),
    modes={
        Permission.PLAN: "--plan, no writing and no commands",
        Permission.EDIT: "--allow-tool=write --deny-tool=shell",
        Permission.FULL_AUTO: "--allow-all",
        Permission.UNRESTRICTED: "--allow-all",
    },
    efforts={effort: effort.value for effort in Effort},
    local_models=True,
    sessions=Sessions(".copilot/session-state", "jsonl", resume=True),
    extensions=Extensions(
        formats=("mcp-server", "skill-directory", "plugin"),
        mcp="~/.copilot/mcp-config.json; a repository's own starts only in a trusted folder",
    ),
    platforms={"linux": "", "macos": "not tried", "windows": "not tried"},
)
