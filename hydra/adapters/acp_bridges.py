"""Two programs between the Agent Client Protocol and a CLI: claude-agent-acp 0.101.0, with a Claude
Code of its own, and codex-acp 2.6.0, with a Codex of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from hydra.adapters import claude, claude_descriptor, codex_descriptor
from hydra.adapters.acp_row import EFFORTS, FULL, NUMBER, OPEN, Row, over, spoken
from hydra.adapters.contract import ConfigFolder, Install
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Pairs
from hydra.adapters.protocols.acp_manner import Manner
from hydra.model import Permission, SpawnRequest

PLAN, EDIT = Permission.PLAN, Permission.EDIT


def claude_agent() -> Row:
    """claude-agent-acp."""
    manner = Manner(
        label="Claude Agent (ACP)",
        modes={
            PLAN: ("plan",),
            EDIT: ("acceptEdits",),
            # Not `auto`, its own choice: a model is asked of every command then.
            FULL: ("bypassPermissions", "default"),
            OPEN: ("bypassPermissions", "default"),
        },
    )
    install = "npm install -g @agentclientprotocol/claude-agent-acp"
    return Row(
        descriptor=over(
            claude_descriptor.DESCRIPTOR,
            manner,
            "claude-acp",
            ("--cli", "--help"),
            binaries=("claude-agent-acp",),
            homepage="https://github.com/agentclientprotocol/claude-agent-acp",
            minimum_version="0.101.0",
            install_hint=install,
            installs=(Install("all", "npm", install),),
            efforts=EFFORTS,
            config=_silent(claude_descriptor.DESCRIPTOR.config),
        ),
        identity=Identity(version=NUMBER, help=re.compile(r"Claude Code")),
        manner=manner,
        proof=(spoken("--print"),),
        environment=claude.ENVIRONMENT,
        by_permission=_claude_consent,
        meta=_claude_options,
    )


def _silent(folder: ConfigFolder | None) -> ConfigFolder | None:
    """The protocol has no word for a refusal that the CLI gets over by renewing its token."""
    if folder is None:
        return None
    renewals = (replace(fields, silent=True) for fields in folder.renewals)
    return replace(folder, renewals=tuple(renewals))


def _claude_consent(request: SpawnRequest) -> Pairs:
    """As root it bypasses only where it is told that it stands in a sandbox."""
    asked = request.permission in (FULL, OPEN) and (request.confined or request.permission is OPEN)
    return (("IS_SANDBOX", "1"),) if request.as_root and asked else ()


def _claude_options(request: SpawnRequest) -> Mapping[str, object]:
    """The repository's own settings, hooks and MCP servers stay out; its instructions are sent."""
    options: dict[str, object] = {
        "settingSources": ["user"],
        "strictMcpConfig": True,
        "disallowedTools": claude.TOOLS_DENIED.split(","),
    }
    if request.instructions:
        flag = claude.INSTRUCTIONS.name.removeprefix("--")
        options["extraArgs"] = {flag: request.instructions[0]}
    return {"claudeCode": {"options": options}}


def codex_agent() -> Row:
    """codex-acp."""
    manner = Manner(
        label="Codex (ACP)",
        modes={
            PLAN: ("read-only",),
            EDIT: ("workspace-write",),
            FULL: ("workspace-write",),
            OPEN: ("agent-full-access",),
        },
        sign_in=("api-key",),
        meta="codex",
    )
    install = "npm install -g @agentclientprotocol/codex-acp"
    return Row(
        descriptor=over(
            codex_descriptor.DESCRIPTOR,
            manner,
            "codex-acp",
            ("cli", "--help"),
            binaries=("codex-acp",),
            homepage="https://github.com/agentclientprotocol/codex-acp",
            minimum_version="2.6.0",
            install_hint=install,
            installs=(Install("all", "npm", install),),
            efforts=EFFORTS,
            masked=(".codex",),
            extensions=codex_descriptor.DESCRIPTOR.extensions._replace(
                mcp="config.toml; a repository's own start as well, where .codex is not hidden"
            ),
        ),
        identity=Identity(
            version=re.compile(r"codex-acp (\d+\.\d+\.\d+\S*)"), help=re.compile(r"Codex")
        ),
        manner=manner,
        proof=(spoken("--config"),),
        environment=(("NO_BROWSER", "1"),),
        by_permission=_codex_settings,
        warnings=(
            "codex-acp starts a repository's own MCP servers, confined as its tools are: it has no"
            " switch against it",
        ),
    )


def _codex_settings(request: SpawnRequest) -> Pairs:
    """Told not to trust the worktree, it starts the repository's MCP servers all the same."""
    config = {
        "analytics": {"enabled": False},
        "check_for_update_on_startup": False,
        "features": {"plugins": False},
        "shell_environment_policy": {"ignore_default_excludes": False},
        "sandbox_workspace_write": {"exclude_slash_tmp": True},
        "projects": {str(request.worktree): {"trust_level": "untrusted"}},
    }
    return (("CODEX_CONFIG", json.dumps(config)),)
