"""Cursor's agent CLI, experimental: closed, in no registry, read about and never run here.

Everything below comes from its documentation and from issues of its users, so no claim is
better than `observed`. It has no `minimum_version`, so its flags are warned of (`flag_proof`).
"""

from __future__ import annotations

import re

from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    Parser,
    Probe,
    Sessions,
)
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag
from hydra.adapters.prompts import as_stdin, prefaced
from hydra.model import (
    BuiltCommand,
    Capability,
    CapabilitySet,
    Confidence,
    DetectResult,
    Permission,
    SpawnRequest,
    Tier,
)

_DOCUMENTED = "documentation, 2026"


def _read(note: str = "", *, sure: bool = True) -> Capability:
    confidence = Confidence.OBSERVED if sure else Confidence.UNKNOWN
    return Capability(True, confidence, _DOCUMENTED, note)


DESCRIPTOR = Descriptor(
    key="cursor-agent",
    label="Cursor Agent",
    homepage="https://docs.cursor.com/en/cli/headless",
    tier=Tier.EXPERIMENTAL,
    binaries=("cursor-agent",),
    # `cursor` is the editor's launcher on most machines; `agent` may be anything.
    generic_binaries=("cursor", "agent"),
    protocol="stdin",
    stream_format="stream-json",
    sandbox="soft",
    install_hint="curl https://cursor.com/install -fsS | bash",
    sign_in_hint="run `cursor-agent login`, or set CURSOR_API_KEY",
    exit_codes={0: "it ended by itself: the stream tells how", 1: "it failed; stderr says why"},
    capabilities=CapabilitySet(
        json_stream=_read(),
        plain_text=_read(),
        force_edit_mode=_read("--force"),
        sandbox_controls=_read("--sandbox enabled or disabled", sure=False),
        approval_controls=_read("--force, or its own configuration", sure=False),
        session_resume=_read("an unknown id starts a new chat, exit 0"),
        emits_usage=_read("in builds of 2026", sure=False),
    ),
    environment=("CURSOR_API_KEY", "CURSOR_CONFIG_DIR"),
    secret_environment=("CURSOR_API_KEY",),
    sign_in_environment=("CURSOR_API_KEY",),
    config=ConfigFolder(
        variable="CURSOR_CONFIG_DIR",
        default=".cursor",
        credentials=("auth.json",),
        copied=("cli-config.json", "rules"),
    ),
    probes=(
        Probe(name="version", args=("--version",)),
        Probe(name="help", args=("--help",)),
        Probe(name="sign_in", args=("status",)),
    ),
    modes={
        Permission.PLAN: "plan",
        Permission.EDIT: "--force",
        Permission.FULL_AUTO: "--force",
        Permission.UNRESTRICTED: "--force",
        Permission.DEFAULT: "without --force: it proposes",
        Permission.CONFIG: "without --force: as its settings allow",
    },
    tagline="the agent of the Cursor editor, in a terminal",
    installs=(
        Install("linux", "script", "curl https://cursor.com/install -fsS | bash"),
        Install("macos", "script", "curl https://cursor.com/install -fsS | bash"),
    ),
    sessions=Sessions(".cursor/chats", "sqlite", resume=True),
    extensions=Extensions(
        formats=("mcp-server", "rule"),
        mcp="~/.cursor/mcp.json; it has no flag for another file, nor against a repository's own",
    ),
    platforms={"linux": "read about", "macos": "read about", "windows": "read about"},
)

PRINT = Flag(
    name="--print", purpose="to run without a terminal", required=True, drops=("plain_text",)
)
FORMAT = Flag(
    name="--output-format",
    purpose="to read what it does",
    required=True,
    drops=("json_stream", "emits_usage"),
)
TRUST = Flag(
    name="--trust",
    purpose="for a folder that nobody has approved yet",
    loss="it may refuse to work in a folder that was never approved",
)
FORCE = Flag(
    name="--force",
    purpose="to change files without asking",
    drops=("force_edit_mode", "approval_controls"),
    loss="it may propose changes and make none",
)
WORKSPACE = Flag(name="--workspace", purpose="to name the worktree, where it is started anyway")
MODEL = Flag(name="--model", purpose="to choose a model")
RESUME = Flag(name="--resume", purpose="to go on later", drops=("session_resume",))
MODE = Flag(name="--mode", purpose="for --permission plan")

TABLE = (PRINT, FORMAT, TRUST, FORCE, WORKSPACE, MODEL, RESUME, MODE)

MAY_STAY = "at times it does not exit when it is done: the idle limit ends it then"

NEW_CHAT = "Cursor Agent begins a new chat without a word where it does not know the session"

PROMPT_BYTES = 1_000_000


class Cursor(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(20\d\d\.\d\d\.\d\d-[0-9a-f]{6,})\s*$", re.MULTILINE),
        help=re.compile(r"Cursor Agent|cursor-agent", re.IGNORECASE),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`cursor-agent --print --output-format stream-json --trust --force`, prompt on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, for `plan` without `--mode`, and
        where the network is to be off.
        """
        if request.network is False:
            raise self.cannot(
                "Cursor Agent has no known switch that keeps its tools off the network",
                "race it without --no-network",
            )
        if request.fork:
            raise self.cannot(
                "Cursor Agent has no known way to go on with a copy of a session",
                "go on with the session itself, or begin a new one",
            )
        line = self.line(found)
        line.warnings.append(MAY_STAY)
        line.add(PRINT)
        line.add_value(FORMAT, "stream-json")
        line.add(TRUST)
        if request.permission is Permission.PLAN:
            line.need_words(MODE, MODE.name, "plan")
        elif request.permission not in (Permission.DEFAULT, Permission.CONFIG):
            line.add(FORCE)
        line.add(WORKSPACE, WORKSPACE.name, str(request.worktree))
        if request.model:
            line.need(MODEL, request.model)
        if request.resume:
            line.add_session(RESUME, request.resume)
            line.warnings.append(NEW_CHAT)
        prompt = prefaced(request.preface, request.prompt)
        return line.command(
            request,
            found,
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.cursor_stream import CursorStream

        return CursorStream()


ADAPTER = Cursor()
