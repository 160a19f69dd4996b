"""OpenCode, experimental: its line, and how its answers are read. Seen in 1.18.33."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from hydra.adapters import event_builders as build
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import (
    ConfigFolder,
    Conversation,
    Descriptor,
    Parser,
    Probe,
    TokenFields,
    names,
)
from hydra.adapters.detection import AgentIdentity, older
from hydra.adapters.json_fields import Object, mapping, string
from hydra.adapters.json_stream import stderr_of, unknown
from hydra.adapters.prompts import as_session
from hydra.adapters.protocols.opencode_events import PartsStream, failure
from hydra.adapters.protocols.opencode_server import (
    OpenCodeConversation,
    OpenCodeServerStream,
    ServerRequest,
)
from hydra.records.agent import BuiltCommand, Capability, CapabilitySet, DetectResult, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- OpenCode as data: what it is, where it keeps things, what it takes. Seen in 1.18.33.

KEYS = names(
    "OPENCODE_API_KEY OPENCODE_AUTH_CONTENT ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY"
    " GOOGLE_GENERATIVE_AI_API_KEY OPENROUTER_API_KEY MISTRAL_API_KEY DEEPSEEK_API_KEY XAI_API_KEY"
    " GROQ_API_KEY TOGETHER_API_KEY CEREBRAS_API_KEY"
)

FOLDERS = (
    # OPENCODE_CONFIG_DIR adds to this folder and does not move it: it is made all the same.
    ConfigFolder(
        variable="XDG_CONFIG_HOME",
        default=".config/opencode",
        parent=True,
        copied=names(
            "config.json opencode.json opencode.jsonc AGENTS.md agent agents command commands"
            " mode modes skill skills"
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
    binaries=("opencode",),
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
        *names(
            "OPENCODE_CONFIG OPENCODE_MODELS_URL OPENCODE_MODELS_PATH"
            " OPENCODE_DISABLE_MODELS_FETCH OPENCODE_DISABLE_DEFAULT_PLUGINS"
            " OPENCODE_ENABLE_EXPERIMENTAL_MODELS XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME"
        ),
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

FORMAT = required("--format", "to read what it does", "json_stream", "emits_usage")
MODEL = required("--model", "to choose a model")
PURE = Flag(
    "--pure",
    "to keep plugins from being downloaded",
    loss="it may download the plugins of its settings for each lane",
)
DIR = Flag("--dir", "to name the worktree, where it is started anyway")
TITLE = Flag(
    "--title", "to name the session", loss="it asks a model for a title of the session as well"
)
THINKING = Flag("--thinking", "to show what it thinks")
LOGS = Flag("--print-logs", "to say why it failed")
LEVEL = Flag("--log-level", "to log errors alone")
AUTO = Flag("--auto", "to work without asking", drops=("force_edit_mode",))
AGENT = Flag("--agent", "to say what it may do", drops=("approval_controls",))
VARIANT = Flag("--variant", "to say how hard it thinks")
SESSION = Flag("--session", "to go on later", drops=("session_resume",))
FORK = Flag("--fork", "to go on with a copy of a session")

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

AGENTS = {Permission.PLAN: "plan", Permission.EDIT: "build"}

HOSTED = "opencode"
"""Its maker's own provider: what it takes, without an account, where no other is there."""

_SEEN = "1.18.33"
UNSEEN = (
    "OpenCode {} may fetch its plugin library for each lane (63 MB by npm): Hydra says to it that"
    f" it is there, and was seen to be believed by {_SEEN}"
)

# ---- `opencode run --format json`, read as events. Seen in 1.18.33.
#
# It has no closing event: how it ended is told by the last step, an error, and the exit together.

_PARTS = frozenset({"step_start", "step_finish", "text", "reasoning", "tool_use"})


class OpenCodeStream(PartsStream):
    """One attempt's stream."""

    label = "OpenCode"

    def __init__(self) -> None:
        super().__init__()
        self._session = ""

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        kind, session = string(line, "type"), string(line, "sessionID")[:200]
        if kind not in _PARTS and kind != "error":
            return unknown(line)
        begun = [build.session(session=session)] if session not in ("", self._session) else []
        self._session = session or self._session
        if kind == "error":
            return [*begun, *self._failed(mapping(line, "error"))]
        events = self._part_events(mapping(line, "part"))
        if self._reason == "stop":
            # It has got over what went wrong before: an overflow, by a summary of its own.
            self._error = None
        return [*begun, *(unknown(line) if events is None else events)]

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """An error that nothing came after, else the last step; a summary's is none by itself."""
        if self._error is not None:
            return [failure(self._error, stderr_of(files))]
        # 1 as well: so it ends where it has got over an overflow.
        ended_itself = exit.code in (0, 1)
        whole = ended_itself or (self._reason == "stop" and not self._overflowed)
        return self._last_step() if self._reason and whole else []


class OpenCode(CliAdapter):
    """`opencode run --format json ...`, the prompt on stdin. Nothing that the CLI has says whether
    it is signed in."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^(\d+(?:\.\d+){2}\S*)\s*$"), re.compile(r"(?m)^opencode run ")
    )
    table = named_flags(globals())
    stream: type[Parser] = OpenCodeStream

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.args.append("run")
        line.add_value(FORMAT, "json")
        line.add(DIR, DIR.name, str(request.worktree))
        line.add(PURE)
        line.add(THINKING)
        line.add(TITLE, TITLE.name, "Hydra")
        if line.add(LOGS):
            line.add(LEVEL, LEVEL.name, "ERROR")
        if request.permission in AGENTS:
            line.need_words(AGENT, AGENT.name, AGENTS[request.permission])
        elif request.permission is not Permission.CONFIG:
            line.need(AUTO)
        self._model(line, request)
        line.add_session(SESSION, request.resume)
        if request.fork:
            line.need(FORK)
        self._settings(line, request)
        if older(_SEEN, line.version):
            line.warnings.append(UNSEEN.format(line.version))

    def _prompt(self, request: SpawnRequest) -> str:
        return request.prompt

    def _model(self, line: CommandBuilder, request: SpawnRequest) -> None:
        if request.model:
            line.add(MODEL, MODEL.name, request.model)
        else:
            line.warnings.append(
                "no model was named: OpenCode takes that of its own settings, or one of a provider"
                " that is signed in"
            )
        if request.effort is not None:
            line.add_value(VARIANT, request.effort)
            line.warnings.append(
                f"OpenCode thinks as hard as its model's variant {request.effort.value} says, and"
                " as always where the model has none of that name"
            )

    def _settings(self, line: CommandBuilder, request: SpawnRequest) -> None:
        """What goes over its settings, as variables: nothing is shared, and no snapshots of the
        worktree are taken for undoing. Of the repository's instructions it reads one file, the
        first there is; so one is named, behind the preface's.

        It is told that its plugin library (63 MB by npm, 1.18.33) is there, in the lane's copy of
        its settings: it would fetch it for each lane, and without plugins nothing needs it.
        """
        home = lane_home(request)
        first = [str(request.worktree / name) for name in request.instructions[:1]]
        if request.preface.strip():
            place = home / "opencode-preface.md"
            line.files.append((place, request.preface.encode("utf-8", "surrogateescape")))
            first.insert(0, str(place))
        library = home / Path(FOLDERS[0].default).name
        lock = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
        line.files.append((library / "node_modules", b""))
        line.files.append((library / "package-lock.json", json.dumps(lock).encode()))
        document = {"share": "disabled", "snapshot": False, "instructions": first}
        if not (request.model or "").startswith(f"{HOSTED}/"):
            document["disabled_providers"] = [HOSTED]
        line.env += (*ENVIRONMENT, ("OPENCODE_CONFIG_CONTENT", json.dumps(document)))
        if request.permission in RULES:
            rules = json.dumps(RULES[request.permission])
            line.env.append(("OPENCODE_PERMISSION", rules))


# ---- OpenCode as a server that Hydra talks to on loopback, instead of a program that is run once.
#
# What is said is in `protocols/opencode_server.py`; settings, rules and folders are as above.

PASSWORD = "OPENCODE_SERVER_PASSWORD"  # noqa: S105  a variable's name
"""Made for each attempt: the loopback is every lane's, and a rival could talk to the server."""


class OpenCodeServer(OpenCode):
    """`opencode serve --hostname 127.0.0.1 --port 0 ...`; the prompt is sent by HTTP."""

    descriptor = replace(
        DESCRIPTOR,
        key="opencode-http",
        label="OpenCode (server)",
        tagline="OpenCode as a server of the lane's own, which tells its work as it goes on",
        protocol="http",
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
    stream = OpenCodeServerStream

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """The server's line, and in `session_params` what is to be said to it."""
        built = super().build_command(request, result)
        # It tries 4096 first all the same: where it listens is what it prints.
        args = ["serve", "--hostname", "127.0.0.1", "--port", "0"]
        args += [PURE.name] if PURE.name in result.flags else []
        if LOGS.name in result.flags:
            args.append(LOGS.name)
            args += [LEVEL.name, "ERROR"] if LEVEL.name in result.flags else []
        allowed = request.permission in (Permission.FULL_AUTO, Permission.UNRESTRICTED)
        resume = request.resume and as_session(request.resume, adapter=self.key())
        values = {
            "allow": "yes" if allowed else "",
            "agent": AGENTS.get(request.permission, ""),
            "model": request.model or "",
            "variant": request.effort or "",
            "resume": resume,
            "fork": "yes" if request.fork else "",
        }
        return replace(
            built,
            args=(*args, *request.extra_args),
            session_params=tuple((name, str(value)) for name, value in values.items() if value),
            per_attempt_secrets=(PASSWORD,),
        )

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation for one attempt."""
        values = dict(command.session_params)
        password = values.pop(PASSWORD, "")
        prompt = (command.stdin or b"").decode("utf-8", "surrogateescape")
        return OpenCodeConversation(ServerRequest(prompt, password, **values))


ADAPTERS = (OpenCode(), OpenCodeServer())
