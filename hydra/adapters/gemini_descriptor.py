"""Gemini CLI as data: what it is, where its settings are, how it signs in. Seen in 0.61.0."""

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
    Permission.EDIT: "auto_edit",
    Permission.FULL_AUTO: "yolo",
    Permission.UNRESTRICTED: "yolo",
    Permission.DEFAULT: "default",
    Permission.CONFIG: "as its settings say",
}

DOTENV = (".gemini/.env", ".env")
"""The repository's files of variables, of which it reads the first that it finds."""

DESCRIPTOR = Descriptor(
    key="gemini",
    label="Gemini CLI",
    homepage="https://geminicli.com/docs",
    tier=Tier.EXPERIMENTAL,
    binaries=("gemini",),
    protocol="stdin",
    stream_format="stream-json",
    sandbox="soft",
    install_hint="npm install -g @google/gemini-cli",
    sign_in_hint="run `gemini` once and sign in, or set GEMINI_API_KEY",
    exit_codes={
        0: "done, denied, or stopped by a signal: the stream tells which",
        1: "a bad command line, or the service does not know the model",
        41: "no sign-in",
        42: "no prompt, or no session of that id",
        144: "the service refused the request (HTTP 400: the exit code is the status, less 256)",
        145: "the service refused its key (HTTP 401)",
        147: "the service refused its key (HTTP 403)",
        244: "the service failed (HTTP 500)",
    },
    minimum_version="0.61.0",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="stream-json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="auto_edit, yolo"),
        sandbox_controls=Capability(
            True, note="by approval mode; its own sandbox needs a container"
        ),
        approval_controls=Capability(True, note="--approval-mode"),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="tokens, no cost"),
    ),
    environment=(
        "GEMINI_CLI_HOME",
        "GEMINI_API_KEY",
        "GEMINI_API_KEY_AUTH_MECHANISM",
        "GEMINI_CLI_CUSTOM_HEADERS",
        "GEMINI_MODEL",
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_API_VERSION",
        "GOOGLE_GENAI_USE_GCA",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
    ),
    # A cloud's keys open far more than a model: only for who reaches Gemini through that cloud.
    environment_if={
        "GOOGLE_GENAI_USE_VERTEXAI": (
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_VERTEX_BASE_URL",
            "CLOUDSDK_CONFIG",
        ),
    },
    secret_environment=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_CLI_CUSTOM_HEADERS"),
    sign_in_environment=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"),
    config=ConfigFolder(
        variable="GEMINI_CLI_HOME",
        default=".gemini",
        parent=True,
        credentials=("oauth_creds.json", "gemini-credentials.json", ".env"),
        # As 0.61.0 wrote it: its refresh token stays. gemini-credentials.json is sealed.
        renewals=(
            TokenFields(
                file="oauth_creds.json",
                access="access_token",
                tokens=("id_token",),
                expiries=("expiry_date",),
            ),
        ),
        copied=(
            "settings.json",
            "google_accounts.json",
            "GEMINI.md",
            "commands",
            "skills",
            "agents",
            "policies",
            "extensions",
            "installation_id",
        ),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=45),
        Probe(name="help", args=("--help",), timeout=45),
    ),
    modes=MODES,
    families=("gemini",),
    local_models=True,
    tagline="Google's coding agent",
    installs=(
        Install("all", "npm", "npm install -g @google/gemini-cli"),
        Install("macos", "brew", "brew install gemini-cli"),
    ),
    sessions=Sessions(".gemini/tmp", "jsonl", resume=True),
    extensions=Extensions(
        formats=("extension", "mcp-server", "skill-directory", "command"),
        registry="https://geminicli.com/extensions",
        mcp="settings.json of the user; a repository's own is not read (--skip-trust)",
    ),
    platforms={"linux": "", "macos": "not tried by Hydra", "windows": "not tried by Hydra"},
    # Not for its line: where the repository has one, the lane is told what it does.
    instructions=DOTENV,
)
