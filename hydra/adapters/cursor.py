"""Cursor's agent CLI, experimental: closed, in no registry, read about and never run here.

Everything below comes from its documentation and from issues of its users, so no claim is
better than `observed`, and every line it builds carries a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Extensions,
    Install,
    Parser,
    Probe,
    Sessions,
)
from hydra.adapters.detecting import Identity, Reading, read
from hydra.adapters.flags import Flag, Line, without_lost
from hydra.adapters.prompts import as_stdin, prefaced
from hydra.errors import UnsupportedFlag
from hydra.model import (
    BuiltCommand,
    Capability,
    CapabilitySet,
    Confidence,
    DetectResult,
    Permission,
    ProbeOutput,
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

INFERRED = (
    "cursor-agent is driven by flags that were read about and never tried: its result may be"
    " incomplete, and it is known not to exit at times (the idle limit ends it then)"
)

NEW_CHAT = "Cursor Agent begins a new chat without a word where it does not know the session"

PROMPT_BYTES = 1_000_000


class Cursor:
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(20\d\d\.\d\d\.\d\d-[0-9a-f]{6,})\s*$", re.MULTILINE),
        help=re.compile(r"Cursor Agent|cursor-agent", re.IGNORECASE),
    )

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes `version`, `help` and `sign_in`."""
        return read(
            Reading(
                descriptor=self.descriptor,
                identity=self.identity,
                table=TABLE,
                binary=binary,
                probes=probes,
            )
        )

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The descriptor's, less those whose flags are gone."""
        return without_lost(self.descriptor.capabilities, TABLE, flags)

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`cursor-agent --print --output-format stream-json --trust --force`, prompt on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, for `plan` without `--mode`, and
        where the network is to be off.
        """
        if request.network is False:
            raise self._refused(
                "Cursor Agent has no known switch that keeps its tools off the network",
                "race it without --no-network",
            )
        if request.fork:
            raise self._refused(
                "Cursor Agent has no known way to go on with a copy of a session",
                "go on with the session itself, or begin a new one",
            )
        line = Line(
            self.key(), self.descriptor.label, found.flags, hint=self.descriptor.install_hint
        )
        line.add(PRINT)
        line.add_value(FORMAT, "stream-json")
        line.add(TRUST)
        if request.permission is Permission.PLAN:
            if not line.add(MODE, MODE.name, "plan"):
                raise line.gone(f"{MODE.name} plan", MODE.purpose)
        elif request.permission not in (Permission.DEFAULT, Permission.CONFIG):
            line.add(FORCE)
        line.add(WORKSPACE, WORKSPACE.name, str(request.worktree))
        if request.model and not line.add(MODEL, MODEL.name, request.model):
            raise line.gone(MODEL.name, MODEL.purpose)
        if request.resume:
            line.add_session(RESUME, request.resume)
            line.warnings.append(NEW_CHAT)
        return BuiltCommand(
            program=str(found.binary),
            args=(*line.args, *request.extra_args),
            cwd=request.worktree,
            stdin=as_stdin(
                prefaced(request.preface, request.prompt),
                adapter=self.key(),
                limit=PROMPT_BYTES,
                unit="bytes",
            ),
            dropped=tuple(line.dropped),
            warnings=(INFERRED, *line.warnings),
        )

    def _refused(self, message: str, hint: str) -> UnsupportedFlag:
        return UnsupportedFlag(message, adapter=self.key(), hint=hint, reason="capability")

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.cursor_stream import CursorStream

        return CursorStream()


ADAPTER = Cursor()
