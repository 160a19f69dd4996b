"""OpenCode, experimental: its line, and how its answers are read. Seen in 1.18.33."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag, Line, Pairs
from hydra.adapters.folders import lane_home
from hydra.adapters.opencode_descriptor import DESCRIPTOR, FOLDERS
from hydra.adapters.prompts import Files, as_stdin
from hydra.model import BuiltCommand, DetectResult, Permission, SpawnRequest

FORMAT = Flag(
    name="--format",
    purpose="to read what it does",
    required=True,
    drops=("json_stream", "emits_usage"),
)
MODEL = Flag(name="--model", purpose="to choose a model", required=True)
PURE = Flag(
    name="--pure",
    purpose="to keep plugins from being downloaded",
    loss="it may download the plugins of its settings for each lane",
)
DIR = Flag(name="--dir", purpose="to name the worktree, where it is started anyway")
TITLE = Flag(
    name="--title",
    purpose="to name the session",
    loss="it asks a model for a title of the session as well",
)
THINKING = Flag(name="--thinking", purpose="to show what it thinks")
LOGS = Flag(name="--print-logs", purpose="to say why it failed")
LEVEL = Flag(name="--log-level", purpose="to log errors alone")
AUTO = Flag(
    name="--auto",
    purpose="to work without asking",
    drops=("force_edit_mode",),
)
AGENT = Flag(name="--agent", purpose="to say what it may do", drops=("approval_controls",))
VARIANT = Flag(name="--variant", purpose="to say how hard it thinks")
SESSION = Flag(name="--session", purpose="to go on later", drops=("session_resume",))
FORK = Flag(name="--fork", purpose="to go on with a copy of a session")

TABLE = (
    FORMAT,
    MODEL,
    PURE,
    DIR,
    TITLE,
    THINKING,
    LOGS,
    LEVEL,
    AUTO,
    AGENT,
    VARIANT,
    SESSION,
    FORK,
)

ENVIRONMENT = (
    ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ("OPENCODE_DISABLE_SHARE", "1"),
)

# What would be asked about is denied: a question that nobody answers ends the run at once.
_READING = {"*": "allow", "*.env": "deny", "*.env.*": "deny", "*.env.example": "allow"}
_CLOSED = {"bash": "deny", "external_directory": "deny", "doom_loop": "deny", "read": _READING}
RULES: Mapping[Permission, Mapping[str, object]] = {
    Permission.PLAN: {"edit": "deny", **_CLOSED},
    Permission.EDIT: {"edit": "allow", **_CLOSED},
}

HOSTED = "opencode"
"""Its maker's own provider: what it takes, without an account, where no other is there."""

PROMPT_BYTES = 10_000_000


class OpenCode(CliAdapter):
    """The adapter. Nothing that the CLI has says whether it is signed in."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(\d+(?:\.\d+){2}\S*)\s*$", re.MULTILINE),
        help=re.compile(r"^opencode run ", re.MULTILINE),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`opencode run --format json ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a needed flag is gone, and for what it has no switch for:
        a network that is off, and permissions that it has no words for.
        """
        self._check(request)
        line = self.line(found)
        line.args.append("run")
        line.add_value(FORMAT, "json")
        line.add(DIR, DIR.name, str(request.worktree))
        line.add(PURE)
        line.add(THINKING)
        line.add(TITLE, TITLE.name, "Hydra")
        if line.add(LOGS):
            line.add(LEVEL, LEVEL.name, "ERROR")
        self._permission(line, request.permission)
        self._model(line, request)
        if request.resume:
            line.add_session(SESSION, request.resume)
            if request.fork:
                line.need(FORK)
        home = lane_home(request)
        preface = _preface(request, home)
        return line.command(
            request,
            found,
            env=(*ENVIRONMENT, *settings(request, [str(path) for path, _ in preface])),
            stdin=as_stdin(request.prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=(*preface, *_installed(home / Path(FOLDERS[0].default).name)),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.opencode_stream import OpenCodeStream

        return OpenCodeStream()

    def _check(self, request: SpawnRequest) -> None:
        self.check_network(request)
        if request.permission not in self.descriptor.modes:
            raise self.cannot(
                f"OpenCode has nothing for the permission {request.permission.value}",
                "use --permission plan, edit, full-auto or config",
            )

    def _permission(self, line: Line, permission: Permission) -> None:
        if permission in RULES:
            agent = "plan" if permission is Permission.PLAN else "build"
            line.need_words(AGENT, AGENT.name, agent)
        elif permission is not Permission.CONFIG:
            line.need(AUTO)

    def _model(self, line: Line, request: SpawnRequest) -> None:
        if request.model:
            line.add(MODEL, MODEL.name, request.model)
        else:
            line.warnings.append(
                "no model was named: OpenCode takes that of its own settings, or one of a provider"
                " that is signed in"
            )
        if request.effort is not None:
            line.add_value(VARIANT, self.descriptor.efforts[request.effort])
            line.warnings.append(
                f"OpenCode thinks as hard as its model's variant {request.effort.value} says, and"
                " as always where the model has none of that name"
            )


def _preface(request: SpawnRequest, home: Path) -> Files:
    if not request.preface.strip():
        return ()
    return ((home / "opencode-preface.md", request.preface.encode("utf-8", "surrogateescape")),)


def _installed(place: Path) -> Files:
    """Says to it that its plugin library (63 MB by npm, 1.18.33) is there, in the lane's copy of
    its settings: it would fetch it for each lane, and without plugins nothing needs it."""
    lock = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    held = json.dumps(lock).encode()
    return ((place / "node_modules", b""), (place / "package-lock.json", held))


def settings(request: SpawnRequest, preface: Sequence[str] = ()) -> Pairs:
    """What goes over its settings, as variables: nothing is shared, and no snapshots of the
    worktree are taken for undoing. Of the repository's instructions it reads one file, the first
    there is; so one is named, behind the files of `preface`."""
    first = [str(request.worktree / name) for name in request.instructions[:1]]
    told = {"share": "disabled", "snapshot": False, "instructions": [*preface, *first]}
    if not (request.model or "").startswith(f"{HOSTED}/"):
        told["disabled_providers"] = [HOSTED]
    rules = RULES.get(request.permission)
    return (
        ("OPENCODE_CONFIG_CONTENT", json.dumps(told)),
        *((("OPENCODE_PERMISSION", json.dumps(rules)),) if rules is not None else ()),
    )


ADAPTER = OpenCode()
