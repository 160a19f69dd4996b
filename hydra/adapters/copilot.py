"""GitHub Copilot CLI, experimental: its line, and how its answers are read. Seen in 1.0.102.

It is the program `copilot`, which has nothing to do with `gh copilot`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Parser
from hydra.adapters.copilot_descriptor import DESCRIPTOR, SECRETS, USAGE
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag
from hydra.adapters.folders import lane_home
from hydra.adapters.prompts import as_session, as_stdin, prefaced
from hydra.model import BuiltCommand, DetectResult, Permission, SpawnRequest

FORMAT = Flag(
    name="--output-format", purpose="to read what it does", required=True, drops=("json_stream",)
)
NO_ASK = Flag(name="--no-ask-user", purpose="to work without a person")
NO_UPDATE = Flag(name="--no-auto-update", purpose="to stay as it is during a race")
USAGE_FILE = Flag(
    name="--usage-output-file",
    purpose="to tell tokens",
    drops=("emits_usage",),
    loss="its tokens are not known",
)
STREAM = Flag(name="--stream", purpose="to say each thing once")
COLOR = Flag(name="--no-color", purpose="to write plain text")
TELEMETRY = Flag(name="--disable-client-telemetry", purpose="to send no telemetry")
REMOTE = Flag(name="--no-remote", purpose="to be led by nobody else")
EXPORT = Flag(name="--no-remote-export", purpose="to keep the session here")
BUILTIN = Flag(
    name="--disable-builtin-mcps",
    purpose="to keep it from changing things on GitHub",
    loss="it may act on GitHub with your account",
)
SECRET = Flag(
    name="--secret-env-vars",
    purpose="to keep keys out of its tools",
    loss="its tools see the keys in its environment",
)
ALLOW = Flag(name="--allow-tool", purpose="to change files", drops=("force_edit_mode",))
DENY = Flag(
    name="--deny-tool",
    purpose="to say what it may not do",
    drops=("approval_controls", "sandbox_controls"),
)
PLAN = Flag(name="--plan", purpose="for --permission plan")
ALLOW_ALL = Flag(name="--allow-all", purpose="to work without asking")
MODEL = Flag(name="--model", purpose="to choose a model")
EFFORT = Flag(name="--reasoning-effort", purpose="to say how hard it thinks")
RESUME = Flag(name="--resume", purpose="to go on later", drops=("session_resume",))

_PLAIN = (NO_ASK, NO_UPDATE, COLOR, TELEMETRY, REMOTE, EXPORT, BUILTIN)
TABLE = (
    FORMAT,
    *_PLAIN,
    USAGE_FILE,
    STREAM,
    SECRET,
    ALLOW,
    DENY,
    PLAN,
    ALLOW_ALL,
    MODEL,
    EFFORT,
    RESUME,
)

_WORDS: Mapping[Permission, tuple[tuple[Flag, str], ...]] = {
    Permission.PLAN: ((PLAN, ""), (DENY, "write"), (DENY, "shell")),
    Permission.EDIT: ((ALLOW, "write"), (DENY, "shell")),
    Permission.FULL_AUTO: ((ALLOW_ALL, ""),),
    Permission.UNRESTRICTED: ((ALLOW_ALL, ""),),
}

# Set to "true" by the user it would trust the worktree: hooks and MCP servers of the repository.
ENVIRONMENT = (("COPILOT_AUTO_UPDATE", "false"), ("COPILOT_ALLOW_ALL", "false"))

PROMPT_BYTES = 10_000_000


class Copilot(CliAdapter):
    """The adapter. Nothing that the CLI has says whether it is signed in."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^GitHub Copilot CLI (\d+(?:\.\d+)+\S*?)\.?\s*$", re.MULTILINE),
        help=re.compile(r"GitHub Copilot CLI"),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`copilot --output-format json ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a needed flag is gone, and for what it has no switch for:
        a network that is off, and permissions that it has no words for.
        """
        self._check(request)
        line = self.line(found)
        line.add_value(FORMAT, "json")
        for flag in _PLAIN:
            line.add(flag)
        line.add(STREAM, STREAM.name, "off")
        home = lane_home(request)
        line.add(USAGE_FILE, USAGE_FILE.name, str(home / USAGE))
        # Values that may be many are joined on: what follows them is another option's.
        line.add(SECRET, f"{SECRET.name}={','.join(SECRETS)}")
        for flag, word in _WORDS[request.permission]:
            line.need_words(flag, f"{flag.name}={word}" if word else flag.name)
        if request.model:
            line.need_words(MODEL, MODEL.name, request.model)
        if request.effort is not None:
            line.need_words(EFFORT, EFFORT.name, self.descriptor.efforts[request.effort])
        if request.resume:
            session = as_session(request.resume, adapter=self.key())
            line.need_words(RESUME, f"{RESUME.name}={session}")
        prompt = prefaced(request.preface, request.prompt)
        return line.command(
            request,
            found,
            env=ENVIRONMENT,
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.copilot_stream import CopilotStream

        return CopilotStream()

    def _check(self, request: SpawnRequest) -> None:
        self.check_network(request)
        if request.fork:
            raise self.cannot(
                "GitHub Copilot CLI cannot go on with a copy of a session",
                "go on with the session itself",
            )
        if request.permission not in _WORDS:
            raise self.cannot(
                f"GitHub Copilot CLI has nothing for the permission {request.permission.value}",
                "use --permission plan, edit or full-auto",
            )


ADAPTER = Copilot()
