"""OpenCode, experimental: its line, and how its answers are read. Seen in 1.18.33."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from hydra.adapters import event_builders
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, Pairs, named_flags
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import (
    ConfigFolder,
    Conversation,
    Descriptor,
    Parser,
    Probe,
    TokenFields,
)
from hydra.adapters.detection import AgentIdentity, older
from hydra.adapters.json_stream import JsonStream, Object, mapping, string, unknown
from hydra.adapters.prompts import Files, as_session, as_stdin
from hydra.adapters.protocols.opencode_events import OVERFLOW, Parts, failure
from hydra.adapters.protocols.opencode_server import (
    OpenCodeConversation,
    OpenCodeServerStream,
    ServerRequest,
)
from hydra.records.agent import (
    BuiltCommand,
    Capability,
    CapabilitySet,
    DetectResult,
    SpawnRequest,
    Tier,
)
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- OpenCode as data: what it is, where it keeps things, what it takes. Seen in 1.18.33.

KEYS = (
    "OPENCODE_API_KEY",
    "OPENCODE_AUTH_CONTENT",
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENROUTER_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
    "GROQ_API_KEY",
    "TOGETHER_API_KEY",
    "CEREBRAS_API_KEY",
)

FOLDERS = (
    # OPENCODE_CONFIG_DIR adds to this folder and does not move it: it is made all the same.
    ConfigFolder(
        variable="XDG_CONFIG_HOME",
        default=".config/opencode",
        parent=True,
        copied=(
            "config.json",
            "opencode.json",
            "opencode.jsonc",
            "AGENTS.md",
            "agent",
            "agents",
            "command",
            "commands",
            "mode",
            "modes",
            "skill",
            "skills",
        ),
    ),
    ConfigFolder(
        variable="XDG_DATA_HOME",
        default=".local/share/opencode",
        parent=True,
        credentials=("auth.json", "mcp-auth.json"),
        # As 1.18.33 wrote both. It renews the first by the clock alone, the second when refused.
        renewals=(
            TokenFields(
                file="auth.json",
                entries=("*",),
                kind="oauth",
                access="access",
                refresh="refresh",
                expiries=("expires",),
                account=("accountId", "enterpriseUrl"),
            ),
            TokenFields(
                file="mcp-auth.json",
                entries=("*",),
                access="tokens.accessToken",
                refresh="tokens.refreshToken",
                expiries=("tokens.expiresAt",),
                seconds=True,
                account=("serverUrl",),
                silent=True,
            ),
        ),
    ),
    ConfigFolder(variable="XDG_STATE_HOME", default=".local/state/opencode", parent=True),
)

DESCRIPTOR = Descriptor(
    key="opencode",
    label="OpenCode",
    tagline="Open-source agent for any provider's models, its own sessions in SQLite",
    homepage="https://opencode.ai/docs/cli",
    tier=Tier.EXPERIMENTAL,
    binaries=("opencode",),
    protocol="stdin",
    stream_format="json-lines",
    sandbox="soft",
    install_hint="npm install -g opencode-ai",
    sign_in_hint="run `opencode auth login`, or set the key of your provider, as ANTHROPIC_API_KEY",
    exit_codes={
        0: "it ended by itself, or a permission was refused: the stream tells which",
        1: "an error, or an overflow that it got over: the stream tells which",
    },
    minimum_version="1.18.33",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="a tool is told when it has ended; no closing event"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="--auto"),
        sandbox_controls=Capability(True, note="rules for tools, by OPENCODE_PERMISSION"),
        approval_controls=Capability(True, note="what is not allowed is refused, never asked"),
        session_resume=Capability(True, note="--session, --fork"),
        emits_usage=Capability(True, note="a step's tokens and list price"),
    ),
    environment=(
        *KEYS,
        "OPENCODE_CONFIG",
        "OPENCODE_MODELS_URL",
        "OPENCODE_MODELS_PATH",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_ENABLE_EXPERIMENTAL_MODELS",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
    ),
    secret_environment=KEYS,
    sign_in_environment=KEYS,
    config=FOLDERS[0],
    folders=FOLDERS[1:],
    probes=(
        # A second each where nothing else runs, and a dozen on a busy machine.
        Probe(name="version", args=("--version",), timeout=30),
        Probe(name="help", args=("run", "--help"), timeout=30, stderr=True),
    ),
    # It takes the first of them itself; with the repository's settings its instructions go, too.
    instructions=("AGENTS.md", "CLAUDE.md", "CONTEXT.md"),
    forks=True,
    modes={
        Permission.PLAN: "plan",
        Permission.EDIT: "build, no commands",
        Permission.FULL_AUTO: "--auto",
        Permission.UNRESTRICTED: "--auto",
        Permission.CONFIG: "its own settings",
    },
    efforts={effort: effort.value for effort in Effort},
)


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
AUTO = Flag(name="--auto", purpose="to work without asking", drops=("force_edit_mode",))
AGENT = Flag(name="--agent", purpose="to say what it may do", drops=("approval_controls",))
VARIANT = Flag(name="--variant", purpose="to say how hard it thinks")
SESSION = Flag(name="--session", purpose="to go on later", drops=("session_resume",))
FORK = Flag(name="--fork", purpose="to go on with a copy of a session")

TABLE = named_flags(globals())

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

_SEEN = "1.18.33"
UNSEEN = (
    "OpenCode {} may fetch its plugin library for each lane (63 MB by npm): Hydra says to it that"
    f" it is there, and was seen to be believed by {_SEEN}"
)


class OpenCode(CliAdapter):
    """The adapter. Nothing that the CLI has says whether it is signed in."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        version=re.compile(r"^(\d+(?:\.\d+){2}\S*)\s*$", re.MULTILINE),
        help=re.compile(r"^opencode run ", re.MULTILINE),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """`opencode run --format json ...`, the prompt on stdin.

        Raises `UnsupportedFlag` where a flag that is needed is gone.
        """
        line = self.line(result)
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
        if older(_SEEN, result.version):
            line.warnings.append(UNSEEN.format(result.version))
        return line.command(
            request,
            result,
            env=(*ENVIRONMENT, *settings(request, [str(path) for path, _ in preface])),
            stdin=as_stdin(request.prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=(*preface, *_installed(home / Path(FOLDERS[0].default).name)),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        return OpenCodeStream()

    def _permission(self, line: CommandBuilder, permission: Permission) -> None:
        if permission in RULES:
            agent = "plan" if permission is Permission.PLAN else "build"
            line.need_words(AGENT, AGENT.name, agent)
        elif permission is not Permission.CONFIG:
            line.need(AUTO)

    def _model(self, line: CommandBuilder, request: SpawnRequest) -> None:
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
    content = json.dumps(lock).encode()
    return ((place / "node_modules", b""), (place / "package-lock.json", content))


def settings(request: SpawnRequest, preface: Sequence[str] = ()) -> Pairs:
    """What goes over its settings, as variables: nothing is shared, and no snapshots of the
    worktree are taken for undoing. Of the repository's instructions it reads one file, the first
    there is; so one is named, behind the files of `preface`."""
    first = [str(request.worktree / name) for name in request.instructions[:1]]
    document = {"share": "disabled", "snapshot": False, "instructions": [*preface, *first]}
    if not (request.model or "").startswith(f"{HOSTED}/"):
        document["disabled_providers"] = [HOSTED]
    rules = RULES.get(request.permission)
    return (
        ("OPENCODE_CONFIG_CONTENT", json.dumps(document)),
        *((("OPENCODE_PERMISSION", json.dumps(rules)),) if rules is not None else ()),
    )


ADAPTER = OpenCode()


# ---- OpenCode as a server that Hydra talks to on loopback, instead of a program that is run once.
#
# What is said is in `protocols/opencode_server.py`; settings, rules and folders are as above.
# Seen in 1.18.33.

PASSWORD = "OPENCODE_SERVER_PASSWORD"  # noqa: S105  a variable's name
"""Made for each attempt: the loopback is every lane's, and a rival could talk to the server."""

_AGENTS = {Permission.PLAN: "plan", Permission.EDIT: "build"}
_ALLOWED = (Permission.FULL_AUTO, Permission.UNRESTRICTED)


class OpenCodeServer(OpenCode):
    """The adapter."""

    descriptor = replace(
        DESCRIPTOR,
        key="opencode-http",
        label="OpenCode (server)",
        tagline="OpenCode as a server of the lane's own, which tells its work as it goes on",
        protocol="http",
        stream_format="json-lines",
        interactive=True,
        capabilities=replace(
            DESCRIPTOR.capabilities,
            json_stream=Capability(True, note="server-sent events; a tool is told as it begins"),
            force_edit_mode=Capability(True, note="Hydra answers what its tools ask"),
            approval_controls=Capability(True, note="it asks, and Hydra answers"),
            session_resume=Capability(True, note="/session/ID, /session/ID/fork"),
        ),
        exit_codes={
            0: "it was sent away",
            1: "a bad command line, or its port was taken",
            130: "stopped by SIGINT",
            143: "stopped by SIGTERM",
        },
    )

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """`opencode serve --hostname 127.0.0.1 --port 0 ...`; the prompt is sent by HTTP.

        Raises as `OpenCode.build_command`.
        """
        built = super().build_command(request, result)
        # It tries 4096 first all the same: where it listens is what it prints.
        args = ["serve", "--hostname", "127.0.0.1", "--port", "0"]
        args += [PURE.name] if PURE.name in result.flags else []
        if LOGS.name in result.flags:
            args.append(LOGS.name)
            args += [LEVEL.name, "ERROR"] if LEVEL.name in result.flags else []
        return replace(
            built,
            args=(*args, *request.extra_args),
            session_params=self._dialogue(request),
            per_attempt_secrets=(PASSWORD,),
        )

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation for one attempt."""
        values = dict(command.session_params)
        return OpenCodeConversation(
            ServerRequest(
                prompt=(command.stdin or b"").decode("utf-8", "surrogateescape"),
                password=values.get(PASSWORD, ""),
                allow="allow" in values,
                agent=values.get("agent", ""),
                model=values.get("model", ""),
                variant=values.get("variant", ""),
                resume=values.get("resume", ""),
                fork="fork" in values,
            )
        )

    def parser(self) -> Parser:
        """Reads a recorded stream: what the server answered and told."""
        return OpenCodeServerStream()

    def _dialogue(self, request: SpawnRequest) -> Pairs:
        rows = []
        if request.permission in _ALLOWED:
            rows.append(("allow", "yes"))
        if request.permission in RULES:
            rows.append(("agent", _AGENTS[request.permission]))
        if request.model:
            rows.append(("model", request.model))
        if request.effort is not None:
            rows.append(("variant", self.descriptor.efforts[request.effort]))
        if request.resume:
            rows.append(("resume", as_session(request.resume, adapter=self.key())))
        if request.fork:
            rows.append(("fork", "yes"))
        return tuple(rows)


HTTP = OpenCodeServer()


# ---- `opencode run --format json`, read as events. Seen in 1.18.33.
#
# It has no closing event: how it ended is told by the last step, an error, and the exit together.

_PARTS = frozenset({"step_start", "step_finish", "text", "reasoning", "tool_use"})


class OpenCodeStream(JsonStream):
    """One attempt's stream."""

    label = "OpenCode"

    def __init__(self) -> None:
        super().__init__()
        self._parts = Parts()
        self._session = ""
        self._error: Object | None = None

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        kind = string(line, "type")
        if kind not in _PARTS and kind != "error":
            return unknown(line)
        events = self._begun(string(line, "sessionID"))
        if kind == "error":
            return [*events, *self._failed(mapping(line, "error"))]
        agent_events = self._parts.take(mapping(line, "part"))
        if self._parts.reason == "stop":
            # It has got over what went wrong before: an overflow, by a summary of its own.
            self._error = None
        return [*events, *(unknown(line) if agent_events is None else agent_events)]

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """An error that nothing came after, else the last step; a summary's is none by itself."""
        if self._error is not None:
            log = files.get("stderr", b"").decode("utf-8", "replace")
            return [failure(self._error, log)]
        reason = self._parts.reason
        # 1 as well: so it ends where it has got over an overflow.
        ended_itself = exit.code in (0, 1)
        if reason == "stop" and (ended_itself or not self._parts.overflowed):
            return [self._completed()]
        if not reason or not ended_itself:
            return []
        # A refused permission ends the run after the step that asked for it.
        if reason == "tool-calls" and self._parts.tools.denials:
            return [self._completed()]
        text = f"its last answer was cut off ({reason})"
        return [event_builders.failed("AgentFailed", "agent_error", text)]

    def _begun(self, session: str) -> list[AgentEvent]:
        if not session or session == self._session:
            return []
        self._session = session[:200]
        return [event_builders.session(session=self._session)]

    def _failed(self, error: Object) -> list[AgentEvent]:
        if string(error, "name") == OVERFLOW:
            return self._overflow(error)
        event = failure(error)
        self._error = error
        # No key gets better by waiting; of the others stderr may say more at the end.
        return [event] if event.data["error"] == "AuthMissing" else []

    def _overflow(self, error: Object) -> list[AgentEvent]:
        self._error = error
        if self._parts.overflow():
            return [failure(error)]
        return [
            event_builders.progress(
                "notice", type="compaction", text="the conversation is too long"
            )
        ]

    def _completed(self) -> AgentEvent:
        return event_builders.completed(
            self._parts.text,
            denials=self._parts.tools.denials,
            failed_items=self._parts.tools.failed_edits,
        )


ADAPTERS = (ADAPTER, HTTP)
