"""Hermes Agent as data: what its help text, its source and runs of 0.19.0 say of it."""

from __future__ import annotations

from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    Probe,
    Sessions,
)
from hydra.model import Capability, CapabilitySet, Permission, Tier

USAGE_FILE = "hermes-usage.json"

_KEYS = (
    "OPENROUTER_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_TOKEN",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "NOUS_API_KEY",
    "GLM_API_KEY",
    "KIMI_API_KEY",
    "MINIMAX_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
)

DESCRIPTOR = Descriptor(
    key="hermes",
    label="Hermes Agent",
    homepage="https://hermes-agent.nousresearch.com",
    tier=Tier.EXPERIMENTAL,
    tagline="An assistant with files, a terminal, skills and a memory; asked once here",
    binaries=("hermes",),
    protocol="argv",
    stream_format="text",
    sandbox="soft",
    install_hint="python -m pip install hermes-agent",
    installs=(
        Install("all", "pip", "python -m pip install hermes-agent"),
        Install("all", "uv", "uv tool install hermes-agent"),
    ),
    sign_in_hint="run `hermes setup`, or set the key of a provider (OPENROUTER_API_KEY, ...)",
    exit_codes={
        0: "it ended by itself: also where its key was refused",
        1: "it gave no answer; stderr says why",
        2: "it did not understand its command line, or failed without a word",
    },
    minimum_version="0.19.0",
    side_files=(USAGE_FILE,),
    capabilities=CapabilitySet(
        plain_text=Capability(True, note="--oneshot"),
        force_edit_mode=Capability(True, note="one shot approves everything"),
        approval_controls=Capability(True, note="--toolsets"),
        emits_usage=Capability(True, note="--usage-file"),
    ),
    environment=(
        *_KEYS,
        "HERMES_HOME",
        "HERMES_INFERENCE_MODEL",
        "HERMES_INFERENCE_PROVIDER",
        "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL",
        "OPENROUTER_BASE_URL",
    ),
    secret_environment=_KEYS,
    sign_in_environment=_KEYS,
    config=ConfigFolder(
        variable="HERMES_HOME",
        default=".hermes",
        credentials=("auth.json", ".env"),
        copied=("config.yaml", "SOUL.md", "skills", "memories", "models_dev_cache.json"),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=45),
        Probe(name="help", args=("--help",), timeout=45),
    ),
    # No mode of its own reads and never writes: plan is refused.
    modes={
        Permission.EDIT: "file",
        Permission.FULL_AUTO: "file,terminal,todo",
        Permission.UNRESTRICTED: "coding",
        Permission.CONFIG: "",
    },
    local_models=True,
    sessions=Sessions(place=".hermes/state.db", format="sqlite"),
    extensions=Extensions(
        formats=("mcp-server", "skill-directory"),
        mcp="mcp_servers in its own config.yaml; a repository has none",
    ),
    platforms={"linux": "", "macos": "", "windows": ""},
)
