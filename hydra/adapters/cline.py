"""Cline's own CLI: its descriptor, its line, and how its answers are read. Seen in 3.0.65.

`--json` wants a prompt among the arguments: a blank one does, and what comes by a pipe on stdin is
put behind it. Of a file on stdin it reads nothing. What it may do is said by a settings file of
Hydra's own, because `--auto-approve` knows only all or nothing.
"""

from __future__ import annotations

import json
import re

from hydra.adapters.base import CliAdapter
from hydra.adapters.cline_descriptor import DESCRIPTOR
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag, Line, Pairs
from hydra.adapters.folders import lane_home
from hydra.adapters.prompts import Files, as_stdin, prefaced
from hydra.model import BuiltCommand, DetectResult, Permission, SpawnRequest

JSON = Flag(
    name="--json",
    purpose="to read what it does",
    required=True,
    drops=("json_stream", "emits_usage"),
)
APPROVE = Flag(
    name="--auto-approve",
    purpose="to work without asking",
    drops=("force_edit_mode",),
    loss="it works as its default has it",
)
PLAN = Flag(
    name="--plan", purpose="for --permission plan", drops=("approval_controls", "sandbox_controls")
)
VERBOSE = Flag(
    name="--verbose",
    purpose="to hear its model",
    loss="it does not say which model and mode it has",
)
CWD = Flag(name="--cwd", purpose="to name the worktree, where it is started anyway")
MODEL = Flag(name="--model", purpose="to choose a model")
THINKING = Flag(name="--thinking", purpose="to say how hard it thinks")
TIMEOUT = Flag(
    name="--timeout",
    purpose="to keep the budget",
    loss="Hydra alone watches over how long it takes",
)

TABLE = (JSON, APPROVE, PLAN, VERBOSE, CWD, MODEL, THINKING, TIMEOUT)

# It asks a service of its maker's for feature flags all the same: the one switch against that,
# IS_TEST, would reach the repository's own tests.
ENVIRONMENT = (
    ("CLINE_NO_AUTO_UPDATE", "1"),
    # Else a daemon in a session of its own does the work, and outlives it.
    ("CLINE_SESSION_BACKEND_MODE", "local"),
)

OWN_COMMANDS = (
    "Cline runs a repository's own hooks and plugins (.cline/hooks, .clinerules/hooks,"
    " .cline/plugins) and has no switch against it"
)

SHELL_TOOLS = ("run_commands", "fetch_web_content", "spawn_agent", "team_spawn_teammate")
"""What is off with `plan` and `edit`: its shell, the web, and agents that might have either."""

BLANK = " "
"""The prompt on its line: it must be there with `--json`, and hold a blank, or it is refused."""

PROMPT_BYTES = 10_000_000
"""More than any model reads; 200 kB were tried."""


class Cline(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"Cline CLI"),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`cline " " --json --verbose --auto-approve true ...`, the prompt by a pipe on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, for a session to go on with, and
        where the network is to be off.
        """
        self._check(request)
        line = self.line(found)
        if not request.masked:
            line.warnings.append(OWN_COMMANDS)
        line.args.append(BLANK)
        line.add(JSON)
        line.add(VERBOSE)
        mode = self._permission(line, request.permission)
        line.add(CWD, CWD.name, str(request.worktree))
        self._further(line, request)
        env, files = _settings(request)
        prompt = prefaced(request.preface, request.prompt)
        return line.command(
            request,
            found,
            env=(*ENVIRONMENT, *env),
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=files,
            expects=() if mode is None or VERBOSE.name in line.dropped else (("permission", mode),),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.cline_stream import ClineStream

        return ClineStream()

    def _check(self, request: SpawnRequest) -> None:
        self.check_network(request)
        if request.resume:
            raise self.cannot(
                "Cline goes on with a session in its terminal UI alone",
                "begin a new session for it",
            )

    def _permission(self, line: Line, permission: Permission) -> str | None:
        if permission is Permission.CONFIG:
            return None
        if permission is Permission.PLAN:
            line.need(PLAN)
        if permission is not Permission.DEFAULT:
            line.add(APPROVE, APPROVE.name, "true")
        return "plan" if permission is Permission.PLAN else "act"

    def _further(self, line: Line, request: SpawnRequest) -> None:
        if request.model:
            line.need(MODEL, request.model)
        effort = request.effort and self.descriptor.efforts[request.effort]
        if effort:
            line.need(THINKING, effort)
        if request.budget.seconds:
            line.add(TIMEOUT, TIMEOUT.name, str(max(1, round(request.budget.seconds))))


def _settings(request: SpawnRequest) -> tuple[Pairs, Files]:
    """The settings in place of the user's: the variable that names them, and their file."""
    if request.permission is Permission.CONFIG:
        return (), ()
    told: dict[str, object] = {"telemetryOptOut": True, "autoUpdateEnabled": False}
    if request.permission in (Permission.PLAN, Permission.EDIT):
        told["disabledTools"] = list(SHELL_TOOLS)
    place = lane_home(request) / "cline-settings.json"
    return (("CLINE_GLOBAL_SETTINGS_PATH", str(place)),), ((place, json.dumps(told).encode()),)


ADAPTER = Cline()
