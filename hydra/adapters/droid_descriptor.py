"""Factory's droid as data. Seen in 0.215.0."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    Probe,
    Sessions,
)
from hydra.model import Capability, CapabilitySet, Effort, Permission, Tier

MODES: Mapping[Permission, str] = {
    Permission.PLAN: "only Read,LS,Grep,Glob",
    Permission.EDIT: "low, without Execute",
    Permission.FULL_AUTO: "high",
    Permission.UNRESTRICTED: "skip-permissions-unsafe",
}
"""Its autonomy levels go by how risky the model itself calls a command, so that none of them is a
barrier: what must not happen is kept from it by taking the tool away."""

DESCRIPTOR = Descriptor(
    key="droid",
    label="droid",
    homepage="https://docs.factory.ai",
    tier=Tier.EXPERIMENTAL,
    binaries=("droid",),
    stream_format="stream-json",
    sandbox="soft",
    tagline="Factory's coding agent",
    install_hint="npm install -g droid",
    installs=(
        Install("all", "npm", "npm install -g droid"),
        Install("linux", "script", "curl -fsSL https://app.factory.ai/cli | sh"),
        Install("macos", "script", "curl -fsSL https://app.factory.ai/cli | sh"),
    ),
    sign_in_hint="run `droid` once and sign in, set FACTORY_API_KEY, or name a model of your own",
    exit_codes={
        0: "it ended by itself, or by SIGTERM: the stream tells which",
        1: "the service failed or refused the key, a command was refused, a bad command line",
    },
    minimum_version="0.215.0",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="stream-json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="--auto"),
        approval_controls=Capability(True, note="--auto goes by the model's own word of the risk"),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="tokens, at the end"),
    ),
    environment=(
        "FACTORY_API_KEY",
        "FACTORY_API_BASE_URL",
        "FACTORY_AIRGAP_ENABLED",
        "FACTORY_HOME_OVERRIDE",
    ),
    secret_environment=("FACTORY_API_KEY",),
    sign_in_environment=("FACTORY_API_KEY",),
    config=ConfigFolder(
        variable="FACTORY_HOME_OVERRIDE",
        default=".factory",
        credentials=("auth.v2.file", "auth.v2.key", "auth.v2.loginkey"),
        copied=("settings.json", "config.json", "AGENTS.md", "skills", "droids", "commands"),
        parent=True,
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=20),
        Probe(name="help", args=("exec", "--help"), timeout=20, own_folder=True),
    ),
    modes=MODES,
    efforts={effort: effort.value for effort in Effort},
    own_preface=True,
    local_models=True,
    sessions=Sessions(".factory/sessions", "jsonl", resume=True, fork=True),
    extensions=Extensions(
        formats=("skill-directory", "mcp-server", "plugin", "hook"),
        registry="its own marketplaces",
        mcp="mcp.json; in a lane no server is started, the user's own neither",
    ),
    platforms={"linux": "", "macos": "not tried by Hydra", "windows": "not tried by Hydra"},
)
