"""GitHub Copilot CLI, experimental: its line, and how its answers are read. Seen in 1.0.102.

It is the program `copilot`, which has nothing to do with `gh copilot`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters import event_builders as build
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import ConfigFolder, Descriptor, PathTrust, common_probes, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.failures import failure
from hydra.adapters.json_fields import (
    MalformedLine,
    Object,
    decode,
    first,
    integer,
    mapping,
    string,
)
from hydra.adapters.json_stream import JsonStream, stderr_of, summary, unknown
from hydra.adapters.prompts import as_session
from hydra.records.agent import Capability, CapabilitySet, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- GitHub Copilot CLI as data: what it is, where it keeps things, what it takes. Seen in
# 1.0.102.

USAGE = "copilot-usage.json"
"""What it writes at its end, in the lane's home: the only place that tells tokens."""

SECRETS = names(
    "COPILOT_GITHUB_TOKEN GH_TOKEN GITHUB_TOKEN COPILOT_PROVIDER_API_KEY"
    " COPILOT_PROVIDER_BEARER_TOKEN COPILOT_PROVIDER_HEADERS"
)

DESCRIPTOR = Descriptor(
    key="copilot",
    label="GitHub Copilot CLI",
    tagline="GitHub's agent, with its own models or a provider of yours",
    homepage="https://docs.github.com/copilot/how-tos/copilot-cli",
    binaries=("copilot",),
    install_hint="npm install -g @github/copilot",
    sign_in_hint="set COPILOT_GITHUB_TOKEN, or COPILOT_PROVIDER_BASE_URL and its key; or run"
    " `copilot login`",
    exit_codes={
        0: "done, denied, or stopped by SIGTERM: the stream tells which",
        1: "an error, no sign-in, or a bad command line",
    },
    minimum_version="1.0.102",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="dotted types; tokens in a file of their own"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="--allow-tool=write, --allow-all"),
        sandbox_controls=Capability(True, note="by rules for tools and paths"),
        approval_controls=Capability(True, note="what would be asked about is denied"),
        session_resume=Capability(True, note="--resume"),
        emits_usage=Capability(True, note="tokens at the end; premium requests, no price"),
    ),
    environment=(
        *SECRETS,
        *names(
            "COPILOT_HOME COPILOT_GH_HOST GH_HOST COPILOT_MODEL COPILOT_OFFLINE"
            " COPILOT_PROVIDER_* COPILOT_CLI_DIST_DIR"
        ),
    ),
    secret_environment=SECRETS,
    sign_in_environment=names(
        "COPILOT_GITHUB_TOKEN GH_TOKEN GITHUB_TOKEN COPILOT_PROVIDER_BASE_URL"
    ),
    config=ConfigFolder(
        variable="COPILOT_HOME",
        default=".copilot",
        # The first is what 1.0.102 writes; it takes the second as well.
        trust=(
            PathTrust("config.json", "trustedFolders"),
            PathTrust("config.json", "trusted_folders"),
        ),
        # config.json holds the sign-in beside settings, so a lane's never goes back.
        copied=names(
            "config.json settings.json mcp-config.json lsp-config.json copilot-instructions.md"
            " instructions agents skills"
        ),
    ),
    # It unpacks 235 MB into a cache that a lane has of its own; from here it is run as it lies.
    data_dirs={
        "COPILOT_CLI_DIST_DIR": (
            ".cache/copilot/pkg/linux-x64/{version}",
            ".cache/copilot/pkg/linux-arm64/{version}",
        )
    },
    side_files=(USAGE,),
    probes=common_probes(timeout=30),
    modes={
        Permission.PLAN: "--plan, no writing and no commands",
        Permission.EDIT: "--allow-tool=write --deny-tool=shell",
        Permission.FULL_AUTO: "--allow-all",
        Permission.UNRESTRICTED: "--allow-all",
    },
    efforts={effort: effort.value for effort in Effort},
)

FORMAT = required("--output-format", "to read what it does", "json_stream")
NO_ASK = Flag("--no-ask-user", "to work without a person")
NO_UPDATE = Flag("--no-auto-update", "to stay as it is during a race")
USAGE_FILE = Flag(
    "--usage-output-file", "to tell tokens", drops=("emits_usage",), loss="its tokens are not known"
)
STREAM = Flag("--stream", "to say each thing once")
COLOR = Flag("--no-color", "to write plain text")
TELEMETRY = Flag("--disable-client-telemetry", "to send no telemetry")
REMOTE = Flag("--no-remote", "to be led by nobody else")
EXPORT = Flag("--no-remote-export", "to keep the session here")
BUILTIN = Flag(
    "--disable-builtin-mcps",
    "to keep it from changing things on GitHub",
    loss="it may act on GitHub with your account",
)
SECRET = Flag(
    "--secret-env-vars",
    "to keep keys out of its tools",
    loss="its tools see the keys in its environment",
)
ALLOW = Flag("--allow-tool", "to change files", drops=("force_edit_mode",))
DENY = Flag(
    "--deny-tool", "to say what it may not do", drops=("approval_controls", "sandbox_controls")
)
PLAN = Flag("--plan", "for --permission plan")
ALLOW_ALL = Flag("--allow-all", "to work without asking")
MODEL = Flag("--model", "to choose a model")
EFFORT = Flag("--reasoning-effort", "to say how hard it thinks")
RESUME = Flag("--resume", "to go on later", drops=("session_resume",))

_PLAIN = (NO_ASK, NO_UPDATE, COLOR, TELEMETRY, REMOTE, EXPORT, BUILTIN)

_PERMISSION_FLAGS: Mapping[Permission, tuple[tuple[Flag, str], ...]] = {
    Permission.PLAN: ((PLAN, ""), (DENY, "write"), (DENY, "shell")),
    Permission.EDIT: ((ALLOW, "write"), (DENY, "shell")),
    Permission.FULL_AUTO: ((ALLOW_ALL, ""),),
    Permission.UNRESTRICTED: ((ALLOW_ALL, ""),),
}

# Set to "true" by the user it would trust the worktree: hooks and MCP servers of the repository.
ENVIRONMENT = (("COPILOT_AUTO_UPDATE", "false"), ("COPILOT_ALLOW_ALL", "false"))

# ---- Copilot CLI's JSON lines, read as events; its tokens from a file at the end. Seen in 1.0.102.

_VERBS = {"create": "Create", "edit": "Edit", "view": "Read"}
_TARGETS = ("path", "pattern", "url", "query", "description", "skill", "name")
_DENIED = re.compile(r"^Permission (?:to run this tool was )?denied|Plan mode does not permit")
_SIGNED_OUT = re.compile(r"^Error: (No authentication information found[^\n]*)", re.MULTILINE)
_ROOMS = names("agent. assistant. hook. model. session. skill. subagent. tool. user.")
"""Types of its that say nothing more here than that they came."""


class CopilotStream(JsonStream):
    """One attempt's stream. Its `result` is held until the end: it says 0 when it was stopped."""

    label = "GitHub Copilot CLI"
    edits = frozenset({"create", "edit", "apply_patch", "str_replace_editor"})

    def __init__(self) -> None:
        super().__init__()
        self._model = ""
        self._text = ""
        self._idle = False
        self._stopped = False
        self._turns = 0
        self._error: Object = {}
        self._lost: Object = {}
        self._result: Object | None = None
        self._readers = {
            "session.tools_updated": self._session,
            "session.error": self._failed,
            "assistant.turn_start": self._turn,
            "assistant.message": self._message,
            "assistant.reasoning": lambda data: build.message(string(data, "content"), "thinking"),
            "assistant.idle": self._rested,
            "tool.execution_start": self._call,
            "abort": self._aborted,
            "tool.execution_complete": self._answer,
            "session.info": self._info,
            "model.call_failure": self._lose,
            "assistant.turn_retry": lambda data: self._retry(),
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        kind, data = string(line, "type"), mapping(line, "data")
        if kind == "result":
            self._result = line
            session = string(line, "sessionId")[:200]
            return [build.session(session=session, model=self._model), *self.closing()]
        if kind in self._readers:
            return self._readers[kind](data)
        if kind.startswith(_ROOMS):
            text = first(data, ("message", "infoType"))
            return build.notice(kind[:80], text)
        return unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """Tokens, and the ending: an error, else a `result` that came when it was at rest."""
        events = _usage(files.get(USAGE, b""))
        if self._error:
            return [*events, _failure(self._error)]
        match = _SIGNED_OUT.search(stderr_of(files))
        if match and self._result is None:
            return [*events, build.failed("AuthMissing", "sign_in", match[1])]
        if self._result is None or not self._idle or self._stopped:
            return events
        return [*events, *self._done(self._text, turns=self._turns)]

    def _session(self, data: Object) -> list[AgentEvent]:
        model = string(data, "model")
        if model == self._model:
            return []
        self._model = model[:200]
        return [build.session(model=self._model)]

    def _turn(self, data: Object) -> list[AgentEvent]:
        self._idle = False
        self._turns += 1
        return build.notice("turn")

    def _message(self, data: Object) -> list[AgentEvent]:
        self._text = string(data, "content") or self._text
        return build.message(string(data, "content"))

    def _rested(self, data: Object) -> list[AgentEvent]:
        self._idle = True
        return []

    def _aborted(self, data: Object) -> list[AgentEvent]:
        self._stopped = True
        return build.notice("abort", string(data, "reason"))

    def _failed(self, data: Object) -> list[AgentEvent]:
        self._error = data
        event = _failure(data)
        return [event] if event.data["error"] == "AuthMissing" else []

    def _lose(self, data: Object) -> list[AgentEvent]:
        self._lost = data
        return []

    def _info(self, data: Object) -> list[AgentEvent]:
        kind = string(data, "infoType")
        return build.notice(kind[:80] or "info", string(data, "message"))

    def _retry(self) -> list[AgentEvent]:
        """The failure that it has tried again after; one that it gave up at is told as an error."""
        lost, self._lost = self._lost, {}
        if not lost:
            return []
        attempt = integer(lost, "retryAttempt")
        return [
            build.progress(
                "retry",
                attempt=None if attempt is None else attempt + 1,
                status=integer(lost, "statusCode"),
                text=string(lost, "failureKind"),
            )
        ]

    def _call(self, data: Object) -> list[AgentEvent]:
        id, name = string(data, "toolCallId"), string(data, "toolName")
        document = mapping(data, "arguments")
        return self._tools.call(id, name, summary(_VERBS.get(name, name), document, _TARGETS))

    def _answer(self, data: Object) -> list[AgentEvent]:
        id = string(data, "toolCallId")
        error = mapping(data, "error")
        message = string(error, "message")
        denied = string(error, "code") == "denied" or bool(_DENIED.search(message[:2000]))
        code = integer(mapping(data, "shellExecution"), "exitCode")
        ok = data.get("success") is True and code in (0, None)
        text = message or string(mapping(data, "result"), "content")
        return self._tools.answer(id, self._tools.name(id), text, ok=ok, denied=denied)


def _failure(error: Object) -> AgentEvent:
    message, status = string(error, "message"), integer(error, "statusCode")
    if string(error, "errorType") == "authentication" and status is None:
        return build.failed("AuthMissing", "sign_in", message)
    return failure(message, status)


def _usage(file: bytes) -> list[AgentEvent]:
    """Tokens of all models. Cache reads are part of its input tokens."""
    try:
        document = decode(file) or {}
    except MalformedLine:
        return []
    models = [
        value for value in mapping(document, "modelMetrics").values() if isinstance(value, dict)
    ]
    if not models:
        return []
    documents = [mapping(model, "usage") for model in models]
    names = {
        "input_tokens": "inputTokens",
        "output_tokens": "outputTokens",
        "cached_tokens": "cacheReadTokens",
    }
    return build.usage(
        **{key: sum(integer(row, name) or 0 for row in documents) for key, name in names.items()}
    )


class Copilot(CliAdapter):
    """`copilot --output-format json ...`, the prompt on stdin. Nothing that the CLI has says
    whether it is signed in."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^GitHub Copilot CLI (\d+(?:\.\d+)+\S*?)\.?\s*$"),
        re.compile(r"GitHub Copilot CLI"),
    )
    table = named_flags(globals())
    stream = CopilotStream

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.env += ENVIRONMENT
        line.add_value(FORMAT, "json")
        for flag in _PLAIN:
            line.add(flag)
        line.add(STREAM, STREAM.name, "off")
        line.add(USAGE_FILE, USAGE_FILE.name, str(lane_home(request) / USAGE))
        # Values that may be many are joined on: what follows them is another option's.
        line.add(SECRET, f"{SECRET.name}={','.join(SECRETS)}")
        for flag, term in _PERMISSION_FLAGS[request.permission]:
            line.need_words(flag, f"{flag.name}={term}" if term else flag.name)
        if request.model:
            line.need_words(MODEL, MODEL.name, request.model)
        if request.effort is not None:
            line.need_words(EFFORT, EFFORT.name, request.effort)
        if request.resume:
            session = as_session(request.resume, adapter=self.key())
            line.need_words(RESUME, f"{RESUME.name}={session}")


ADAPTER = Copilot()
