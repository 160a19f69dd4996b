"""Factory's droid: its line, and how its answers are read. Seen in 0.215.0."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters import event_builders as build
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import ConfigFolder, Descriptor, Probe, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.failures import failure
from hydra.adapters.json_fields import Object, first, integer, mapping, string
from hydra.adapters.json_stream import JsonStream, RecentIds, summary, tokens
from hydra.records.agent import Capability, CapabilitySet, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- Factory's droid as data. Seen in 0.215.0.

MODES = {
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
    binaries=("droid",),
    stream_format="stream-json",
    tagline="Factory's coding agent",
    install_hint="npm install -g droid",
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
    environment=names(
        "FACTORY_API_KEY FACTORY_API_BASE_URL FACTORY_AIRGAP_ENABLED FACTORY_HOME_OVERRIDE"
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
    forks=True,
    modes=MODES,
    efforts={effort: effort.value for effort in Effort},
)

FORMAT = required(
    "--output-format", "to read what it does", "json_stream", "plain_text", "emits_usage"
)
CWD = Flag("--cwd", "to name the worktree, where it is started anyway")
AUTO = Flag(
    "--auto", "to change files without asking", drops=("approval_controls", "force_edit_mode")
)
UNSAFE = Flag("--skip-permissions-unsafe", "for --unsafe-full-access")
ONLY_TOOLS = Flag("--only-tools", "for --permission plan")
REMOVE_TOOLS = Flag("--remove-tools", "to keep it from running commands")
MODEL = Flag("--model", "to choose a model")
EFFORT = Flag("--reasoning-effort", "to say how hard it thinks")
PREFACE = Flag("--append-system-prompt-file", "for the preface")
SESSION = Flag("--session-id", "to go on later", drops=("session_resume",))
FORK = Flag("--fork", "to go on with a copy of a session")

PERMISSION_FLAGS = {
    Permission.PLAN: [(ONLY_TOOLS, "Read,LS,Grep,Glob")],
    Permission.EDIT: [(AUTO, "low"), (REMOVE_TOOLS, "Execute,Script")],
    Permission.FULL_AUTO: [(AUTO, "high")],
    Permission.UNRESTRICTED: [(UNSAFE, "")],
}
"""The tools it has, and up to which risk it uses them unasked."""

ENVIRONMENT = (("FACTORY_OTEL_ENABLED", "false"), ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false"))

SETTINGS = b"""\
{"hooks": {"hooksDisabled": true}, "mcpPolicy": {"enabled": true, "allowlist": []}}
"""
"""Laid over the user's settings and the repository's: a repository's .factory/settings.json has
hooks, and its .factory/mcp.json servers, that are run without it (0.215.0)."""

# ---- Factory's droid `exec --output-format stream-json`, read as events. Seen in 0.215.0.

_VERBS = {"Create": "Write"}
_TARGETS = ("file_path", "path", "folder", "directory_path", "pattern", "query", "url", "summary")
_REFUSED = re.compile(r"is not permitted in this exec session|insufficient permission to proceed")
_WRAPPED = "Exec failed"
"""What it says last of any failure that it has told before."""


class DroidStream(JsonStream):
    """One attempt's stream. A failure is told twice, by the agent's loop and by the program: the
    first counts. The ending is held until the process has ended."""

    label = "droid"
    edits = frozenset({"Edit", "MultiEdit", "Create", "Write", "ApplyPatch"})

    def __init__(self) -> None:
        super().__init__()
        self._root = ""
        self._thoughts = RecentIds()
        self._error = ""
        self._completion: Object | None = None
        self._readers = {
            "system": self._system,
            "message": self._message,
            "reasoning": self._reasoning,
            "tool_call": self._call,
            "tool_result": self._answer,
            "error": self._failed,
            "completion": self._completed,
        }

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """A completion, or the first failure that it told."""
        if self._completion is not None:
            turns = integer(self._completion, "numTurns")
            return self._done(string(self._completion, "finalText"), turns=turns)
        if self._error and self._tools.denials and _REFUSED.search(self._error):
            return [build.failed("AgentFailed", "permission_denied", self._error)]
        return [failure(self._error)] if self._error else []

    def _system(self, line: Object) -> list[AgentEvent]:
        if string(line, "subtype") != "init":
            text = first(line, ("message", "text", "status"))
            kind = string(line, "subtype") or "system"
            return build.notice(f"system/{kind[:60]}", text)
        self._root = string(line, "cwd")
        return [build.session(session=string(line, "session_id"), model=string(line, "model"))]

    def _message(self, line: Object) -> list[AgentEvent]:
        return build.message(string(line, "text")) if string(line, "role") == "assistant" else []

    def _reasoning(self, line: Object) -> list[AgentEvent]:
        # Each thought comes twice, with the same id and the same words.
        mark = f"{string(line, 'id')[:60]} {hash(string(line, 'text'))}"
        if mark in self._thoughts:
            return []
        self._thoughts.add(mark)
        return build.message(string(line, "text"), "thinking")

    def _call(self, line: Object) -> list[AgentEvent]:
        id, name = string(line, "id"), string(line, "toolName") or string(line, "toolId") or "tool"
        verb, document = _VERBS.get(name, name), mapping(line, "parameters")
        return self._tools.call(id, name, summary(verb, document, _TARGETS, self._root))

    def _answer(self, line: Object) -> list[AgentEvent]:
        id = string(line, "id")
        name = self._tools.name(id) or string(line, "toolId")
        ok = line.get("isError") is not True
        text = string(line, "value") if ok else string(mapping(line, "error"), "message")
        denied = not ok and bool(_REFUSED.search(text[:400]))
        return self._tools.answer(id, name, text, ok=ok, denied=denied)

    def _failed(self, line: Object) -> list[AgentEvent]:
        text = string(line, "message")
        if text and text != _WRAPPED and not self._error:
            self._error = text[:4000]
        return build.notice("error", text)

    def _completed(self, line: Object) -> list[AgentEvent]:
        self._completion, usage = line, mapping(line, "usage")
        caches = ("cache_read_input_tokens", "cache_creation_input_tokens")
        # Cache reads and writes come on top of its input.
        events = tokens(usage, "input_tokens", "output_tokens", caches[0], beside=caches)
        return [*events, *self.closing()]


class Droid(CliAdapter):
    """`droid exec --output-format stream-json --cwd WORKTREE ...`, the prompt on stdin."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^(\d+\.\d+\.\d+\S*)\s*$"), re.compile(r"(?i)droid exec")
    )
    table = named_flags(globals())
    stream = DroidStream

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        settings = lane_home(request) / "droid.json"
        line.files.append((settings, SETTINGS))
        line.env += (*ENVIRONMENT, ("FACTORY_RUNTIME_SETTINGS_PATH", str(settings)))
        line.args.append("exec")
        line.add(FORMAT, FORMAT.name, "stream-json")
        line.add(CWD, CWD.name, str(request.worktree))
        for flag, value in PERMISSION_FLAGS[request.permission]:
            line.need(flag, value)
        line.need(MODEL, request.model)
        line.need(EFFORT, request.effort)
        line.add_preface(PREFACE, request)
        line.add_session(FORK if request.fork else SESSION, request.resume)

    def _prompt(self, request: SpawnRequest) -> str:
        return request.prompt


ADAPTER = Droid()
