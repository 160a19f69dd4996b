"""The agents that speak the Agent Client Protocol, a row each: how one is started so that it does,
what it calls a permission, and where it differs. Seen in runs of the versions named here.

What is known of a CLI anyway (keys, folders, sign-in) is its own adapter's.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hydra.adapters import copilot, gemini, hermes, omp, opencode, qwen
from hydra.adapters.acp_bridges import claude_agent, codex_agent
from hydra.adapters.acp_row import (
    EFFORTS,
    FULL,
    NUMBER,
    OPEN,
    SPOKEN,
    Row,
    alone,
    any_agent,
    capabilities,
    over,
    spoken,
)
from hydra.adapters.contract import ConfigFolder, Install, Sessions
from hydra.adapters.copilot_descriptor import SECRETS
from hydra.adapters.detecting import Identity
from hydra.adapters.protocols.acp_manner import Manner
from hydra.model import Capability, Permission

PLAN, EDIT = Permission.PLAN, Permission.EDIT


def _gemini() -> Row:
    manner = Manner(
        label="Gemini CLI (ACP)",
        modes={PLAN: ("plan",), EDIT: ("autoEdit",), FULL: ("yolo",), OPEN: ("yolo",)},
        sign_in=("gemini-api-key", "vertex-ai"),
        usage="quota",
        notice=re.compile(r"^\[MODE_UPDATE\] "),
    )
    return Row(
        descriptor=over(
            gemini.ADAPTER.descriptor,
            manner,
            "gemini-acp",
            ("--help",),
            # `session/load` of a session of its own: "No previous sessions found" (0.61.0).
            capabilities=replace(capabilities(usage=True), session_resume=Capability(False)),
            sessions=Sessions(".gemini/tmp", "jsonl"),
        ),
        identity=gemini.Gemini.identity,
        manner=manner,
        options=alone(SPOKEN, gemini.TRUST),
        environment=gemini.ENVIRONMENT,
    )


def _opencode() -> Row:
    manner = Manner(
        label="OpenCode (ACP)",
        modes={PLAN: ("plan",), EDIT: ("build",), FULL: ("build",), OPEN: ("build",)},
        usage="",  # of its last step alone
    )
    return Row(
        descriptor=over(
            opencode.ADAPTER.descriptor, manner, "opencode-acp", ("acp", "--help"), efforts=EFFORTS
        ),
        identity=Identity(version=NUMBER, help=re.compile(r"^opencode acp", re.MULTILINE)),
        manner=manner,
        words=("acp",),
        options=alone(opencode.PURE),
        proof=(spoken("--cwd"),),
        environment=opencode.ENVIRONMENT,
        # Its build mode runs every command unasked, its plan mode too: rules keep them from it.
        by_permission=opencode.settings,
    )


def _qwen() -> Row:
    manner = Manner(
        label="Qwen Code (ACP)",
        modes={PLAN: ("plan",), EDIT: ("auto-edit",), FULL: ("yolo",), OPEN: ("yolo",)},
        sign_in=("openai",),
        usage="chunks",
    )
    settings = "qwen-settings.json"
    return Row(
        descriptor=over(qwen.ADAPTER.descriptor, manner, "qwen-acp", ("--help",)),
        identity=qwen.Qwen.identity,
        manner=manner,
        options=(
            *alone(SPOKEN),
            (qwen.MCP, (qwen.MCP.name, qwen.NO_SERVER)),
            (qwen.EXCLUDED, (qwen.EXCLUDED.name, qwen.TOOLS_EXCLUDED)),
        ),
        environment=(
            ("QWEN_CODE_SYSTEM_SETTINGS_PATH", f"{{home}}/{settings}"),
            *qwen.ENVIRONMENT,
        ),
        files={settings: qwen.SETTINGS.encode()},
    )


def _copilot() -> Row:
    manner = Manner(
        label="GitHub Copilot CLI (ACP)",
        modes={PLAN: ("plan",), EDIT: ("agent",), FULL: ("agent",), OPEN: ("agent",)},
        trouble=re.compile(r"^Error: "),
        retry=re.compile(r"^Info: Request failed"),
        notice=re.compile(r"^(?:Info|Warning): "),
    )
    told = (copilot.NO_ASK, copilot.NO_UPDATE, copilot.TELEMETRY, copilot.REMOTE, copilot.BUILTIN)
    secret = f"{copilot.SECRET.name}={','.join(SECRETS)}"
    return Row(
        descriptor=over(
            copilot.ADAPTER.descriptor,
            manner,
            "copilot-acp",
            ("--help",),
            masked=(
                ".claude/settings.json",
                ".claude/settings.local.json",
                ".github/hooks",
                ".github/copilot/settings.json",
                ".github/copilot/settings.local.json",
            ),
        ),
        identity=copilot.Copilot.identity,
        manner=manner,
        options=(*alone(SPOKEN, *told), (copilot.SECRET, (secret,))),
        environment=copilot.ENVIRONMENT,
        warnings=(
            "GitHub Copilot CLI over ACP runs a repository's own hooks, confined as its tools are:"
            " only `disableAllHooks` in your ~/.copilot/settings.json keeps them out",
        ),
    )


def _hermes() -> Row:
    manner = Manner(
        label="Hermes Agent (ACP)",
        # It asks before an edit and never before a command: edit and plan would promise too much.
        modes={FULL: ("dont_ask",), OPEN: ("dont_ask",)},
        trouble=re.compile(
            r"^(?:HTTP [45]\d\d: |API call failed|Error: |Context length exceeded \()"
        ),
        forgets=True,
    )
    return Row(
        descriptor=over(
            hermes.ADAPTER.descriptor,
            manner,
            "hermes-acp",
            ("acp", "--help"),
            install_hint='python -m pip install "hermes-agent[acp]"',
            installs=(Install("all", "pip", 'python -m pip install "hermes-agent[acp]"'),),
        ),
        identity=Identity(
            version=hermes.Hermes.identity.version, help=re.compile(r"^usage: hermes acp", re.M)
        ),
        manner=manner,
        words=("acp",),
        proof=(spoken("--check"),),
        environment=hermes.ENVIRONMENT,
    )


def _omp() -> Row:
    manner = Manner(
        label="omp (ACP)",
        modes={PLAN: ("plan",), EDIT: ("default",), FULL: ("default",), OPEN: ("default",)},
        sign_in=("agent",),
        trouble=re.compile(r"^(?:[45]\d\d |Error: |E(?:CONN|PIPE|TIMEDOUT|NOTFOUND)[A-Z]*: )"),
    )
    overlay = "omp.yml"
    return Row(
        descriptor=over(
            omp.ADAPTER.descriptor,
            manner,
            "omp-acp",
            ("--help",),
            efforts=EFFORTS,
            # It notes its processes there, and does not start where it cannot.
            folders=(ConfigFolder(variable="OMP_RUN_DIR", default=".omp/run"),),
        ),
        identity=omp.Omp.identity,
        manner=manner,
        options=(
            (omp.MODE, (omp.MODE.name, "acp")),
            (omp.CONFIG, (omp.CONFIG.name, f"{{home}}/{overlay}")),
            *alone(omp.NO_EXTENSIONS, omp.NO_LSP, omp.NO_TITLE, omp.NO_PTY),
        ),
        environment=omp.ENVIRONMENT,
        files={overlay: omp.OVERLAY},
    )


ROWS = (
    _gemini(),
    _qwen(),
    _opencode(),
    _copilot(),
    _omp(),
    _hermes(),
    claude_agent(),
    codex_agent(),
    any_agent(),
)
"""In the order in which they are listed."""
