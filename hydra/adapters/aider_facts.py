"""Aider as data: what its documentation, its help text and runs of 0.86.2 say of it."""

from __future__ import annotations

from hydra.adapters.aider_line import EVENTS_FILE, SETTINGS
from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    Probe,
    Sessions,
)
from hydra.model import Capability, CapabilitySet, Effort, Permission, Tier

_KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "MISTRAL_API_KEY",
    "FIREWORKS_API_KEY",
    "AZURE_API_KEY",
    "AIDER_OPENAI_API_KEY",
    "AIDER_ANTHROPIC_API_KEY",
)
OWN_SETTINGS = (".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json")
"""Of the repository's: they are read, and no switch passes them over."""

DESCRIPTOR = Descriptor(
    key="aider",
    label="Aider",
    homepage="https://aider.chat",
    tier=Tier.EXPERIMENTAL,
    tagline="Edits the files that the task or the model names, by text alone; runs no command",
    binaries=("aider",),
    protocol="file",
    stream_format="text",
    sandbox="soft",
    install_hint="python -m pip install aider-install && aider-install",
    installs=(
        Install("all", "pip", "python -m pip install aider-install && aider-install"),
        Install("all", "uv", "uv tool install --python python3.12 aider-chat@latest"),
        Install("all", "pipx", "pipx install aider-chat"),
    ),
    sign_in_hint="set the key of your model's provider (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...)",
    exit_codes={
        0: "it ended by itself: also where its key was refused",
        1: "it did not begin: no model, an option or a file that it could not use",
        2: "it did not understand its command line",
    },
    minimum_version="0.86.2",
    side_files=(EVENTS_FILE,),
    capabilities=CapabilitySet(
        plain_text=Capability(True, note="--message-file"),
        force_edit_mode=Capability(True, note="--yes-always"),
        approval_controls=Capability(True, note="--yes-always, --chat-mode ask"),
        emits_usage=Capability(True, note="in the file of --analytics-log"),
    ),
    environment=(
        *_KEYS,
        "AIDER_*",
        "OPENAI_API_BASE",
        "OPENAI_ORGANIZATION",
        "ANTHROPIC_API_BASE",
        "AZURE_API_BASE",
        "AZURE_API_VERSION",
        "OLLAMA_API_BASE",
        "OLLAMA_API_KEY",
        "LM_STUDIO_API_BASE",
        "LM_STUDIO_API_KEY",
    ),
    secret_environment=(*_KEYS, "AIDER_API_KEY", "OLLAMA_API_KEY", "LM_STUDIO_API_KEY"),
    sign_in_environment=_KEYS,
    # No variable moves its folder: the copy is laid over it where something confines.
    config=ConfigFolder(
        variable="AIDER_HOME",
        default=".aider",
        copied=("caches", "analytics.json", "installs.json"),
        beside=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=30),
        Probe(name="help", args=("--help",), timeout=30),
        Probe(name="settings", args=SETTINGS, timeout=45),
    ),
    litter=(".aider.tags.cache.v4", ".aider.chat.history.md", ".aider.input.history"),
    instructions=("AGENTS.md", "CONVENTIONS.md", *OWN_SETTINGS),
    masked=OWN_SETTINGS,
    modes={
        Permission.PLAN: "ask",
        Permission.EDIT: "yes-always",
        Permission.FULL_AUTO: "yes-always",
        Permission.UNRESTRICTED: "yes-always",
    },
    efforts={Effort.LOW: "low", Effort.MEDIUM: "medium", Effort.HIGH: "high"},
    local_models=True,
    sessions=Sessions(place=".aider.chat.history.md", format="markdown"),
    extensions=Extensions(mcp="it has none"),
    platforms={"linux": "", "macos": "", "windows": ""},
)
