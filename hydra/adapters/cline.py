"""Cline's own CLI: its descriptor, its line, and how its answers are read. Seen in 3.0.65.

`--json` wants a prompt among the arguments: a blank one does, and what comes by a pipe on stdin is
put behind it. Of a file on stdin it reads nothing. What it may do is said by a settings file of
Hydra's own, because `--auto-approve` knows only all or nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from hydra.adapters import event_builders as build
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import ConfigFolder, Descriptor, common_probes, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.failures import failure
from hydra.adapters.json_fields import Object, first, integer, mapping, number, objects, string
from hydra.adapters.json_stream import JsonStream, stderr_of, tokens, unknown
from hydra.records.agent import Capability, CapabilitySet, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- Cline as data. Seen in 3.0.65.

PROVIDER_KEYS = names(
    "CLINE_API_KEY ANTHROPIC_API_KEY OPENAI_API_KEY OPENROUTER_API_KEY GEMINI_API_KEY"
    " GOOGLE_GENERATIVE_AI_API_KEY DEEPSEEK_API_KEY XAI_API_KEY GROQ_API_KEY CEREBRAS_API_KEY"
    " TOGETHER_API_KEY MOONSHOT_API_KEY MINIMAX_API_KEY ZHIPU_API_KEY DASHSCOPE_API_KEY"
    " AI_GATEWAY_API_KEY OLLAMA_API_KEY LMSTUDIO_API_KEY"
)
"""The keys of the services that it is most used with; it knows some hundred more."""

DESCRIPTOR = Descriptor(
    key="cline",
    label="Cline",
    homepage="https://docs.cline.bot/cline-cli/overview",
    binaries=("cline",),
    stdin_pipe=True,
    # Its list of tools holds; but what a repository brings along runs within it.
    install_hint="npm install -g cline (node 22 or newer)",
    sign_in_hint="run `cline auth`, or set a provider's key, for example CLINE_API_KEY",
    exit_codes={
        0: "done, or broken off by a signal or after mistakes: the stream tells which",
        1: "an error of the service, no key, or a bad command line",
    },
    minimum_version="3.0.65",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="--json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="--auto-approve true, which is its default"),
        sandbox_controls=Capability(True, note="a list of tools that are off, in its settings"),
        approval_controls=Capability(True, note="--plan, and that list; --auto-approve is for all"),
        emits_usage=Capability(True, note="tokens, and the list price where it knows the model"),
    ),
    environment=("CLINE_DIR", *PROVIDER_KEYS),
    secret_environment=PROVIDER_KEYS,
    sign_in_environment=PROVIDER_KEYS,
    config=ConfigFolder(
        variable="CLINE_DIR",
        default=".cline",
        # Each run writes its model into the first of these, and it names the service: so it is no
        # credentials file, which would be given back.
        copied=names(
            "data/settings/providers.json data/settings/global-settings.json"
            " data/settings/cline_mcp_settings.json rules skills workflows agents hooks plugins"
        ),
    ),
    probes=common_probes(timeout=30),
    modes={
        Permission.PLAN: "plan, without its shell",
        Permission.EDIT: "act, without its shell",
        Permission.FULL_AUTO: "act",
        Permission.UNRESTRICTED: "act",
        Permission.DEFAULT: "act",
        Permission.CONFIG: "as its settings say",
    },
    efforts={Effort.LOW: "low", Effort.MEDIUM: "medium", Effort.HIGH: "high", Effort.MAX: "xhigh"},
    budgets=("seconds",),
    tagline="the agent of the Cline editor extension, in a terminal",
    hidden_paths=(".cline/hooks", ".clinerules/hooks", ".cline/plugins"),
)

JSON = required("--json", "to read what it does", "json_stream", "emits_usage")
APPROVE = Flag(
    "--auto-approve",
    "to work without asking",
    drops=("force_edit_mode",),
    loss="it works as its default has it",
)
PLAN = Flag("--plan", "for --permission plan", drops=("approval_controls", "sandbox_controls"))
VERBOSE = Flag("--verbose", "to hear its model", loss="it does not say which model and mode it has")
CWD = Flag("--cwd", "to name the worktree, where it is started anyway")
MODEL = Flag("--model", "to choose a model")
THINKING = Flag("--thinking", "to say how hard it thinks")
TIMEOUT = Flag("--timeout", "to keep the budget", loss="Hydra alone watches over how long it takes")

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

# ---- Cline's `--json --verbose`, read as events. Seen in 3.0.65.

_EDITS = frozenset({"editor", "apply_patch"})
_WITHHELD = frozenset(
    {"run_commands", "fetch_web_content", "spawn_agent", "team_spawn_teammate", *_EDITS}
)
"""Tools of its own that its settings or its plan mode can take away: it calls them unavailable."""

_NOTICES = frozenset({"hook_event", "team_event", "team_restored", "model_catalog"})
_UNAVAILABLE = "tried to call unavailable tool"
_NOT_APPROVED = "requires approval in a TTY session"
_TIMED_OUT = "run timed out after "
_MISTAKES = "it gave up: too many of its tool calls in a row failed"


class ThinkingText:
    """What it thinks, in pieces: told before what it says then, though its end comes after that."""

    LARGEST = 64 * 1024

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._count = 0
        self._text = ""

    def add(self, piece: str) -> None:
        """One more piece, as long as there is room."""
        if self._count < self.LARGEST:
            self._pieces.append(piece[: self.LARGEST])
            self._count += len(piece)

    def tell(self) -> str:
        """What has not been told yet."""
        text = "".join(self._pieces)
        self._pieces, self._count = [], 0
        self._text = (self._text + text)[: self.LARGEST]
        return text

    def rest(self, whole: str) -> str:
        """What `whole`, the end of it, has beyond what was told; then it begins anew."""
        text, self._text = self._text, ""
        self._pieces, self._count = [], 0
        return whole.removeprefix(text)


class ClineStream(JsonStream):
    """One attempt's stream. `run_result` is held until the end: what follows may break it off."""

    label = "Cline"
    edits = _EDITS

    def __init__(self) -> None:
        super().__init__()
        self._error: AgentEvent | None = None
        self._result: Object | None = None
        self._asked_to_stop = ""
        self._mode = ""
        self._thinking = ThinkingText()
        self._readers = {
            "run_start": self._start,
            "agent_event": self._event,
            "run_result": self._take_result,
            "run_abort_requested": self._abort_requested,
            "run_aborted": lambda line: build.notice("run_aborted"),
        }
        self._events: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "iteration_start": lambda event: build.notice("turn"),
            "iteration_end": lambda event: [],
            "content_start": self._content,
            "content_update": lambda event: [],
            "content_end": self._content_end,
            "usage": _usage,
            "error": self._take_error,
            "notice": _notice,
            "done": lambda event: [],
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        kind = string(line, "type")
        if kind in _NOTICES:
            return build.notice(kind, string(line, "hookEventName"))
        reader = self._readers.get(kind)
        return reader(line) if reader else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The held result as the ending; without one the error that came before it could."""
        stderr = stderr_of(files)
        result = self._result
        if result is None:
            return [self._error] if self._error else []
        how, text = string(result, "finishReason"), string(result, "text")
        if how == "completed":
            return self._done(text, turns=integer(result, "iterations"))
        if how == "aborted":
            return [self._aborted(stderr)]
        return [self._error or failure(text or how)]

    def _aborted(self, stderr: str) -> AgentEvent:
        if self._asked_to_stop:
            text = f"it was stopped by {self._asked_to_stop.upper()}"
            return build.failed("Interrupted", "signal", text)
        if _TIMED_OUT in stderr:
            return build.failed("AgentFailed", "budget", "its own time limit ended it")
        return build.failed("AgentFailed", "agent_error", _MISTAKES)

    # lines

    def _start(self, line: Object) -> list[AgentEvent]:
        self._mode = string(line, "mode")
        return [build.session(model=string(line, "modelId"), permission=string(line, "mode"))]

    def _event(self, line: Object) -> list[AgentEvent]:
        event = mapping(line, "event")
        reader = self._events.get(string(event, "type"))
        return reader(event) if reader else unknown(event)

    def _take_result(self, line: Object) -> list[AgentEvent]:
        self._result = line
        usage = mapping(line, "aggregateUsage") or mapping(line, "usage")
        return [*_totals(usage), *self.closing()]

    def _abort_requested(self, line: Object) -> list[AgentEvent]:
        self._asked_to_stop = string(line, "reason") or "a signal"
        return build.notice("run_abort_requested", self._asked_to_stop)

    # what an agent_event holds

    def _content(self, event: Object) -> list[AgentEvent]:
        kind = string(event, "contentType")
        if kind == "reasoning":
            self._thinking.add(string(event, "reasoning"))
            return []
        events = build.message(self._thinking.tell(), "thinking")
        if kind != "tool":
            return events  # a piece of what `content_end` has whole
        id, name = string(event, "toolCallId"), string(event, "toolName")
        return [*events, *self._tools.call(id, name, _summary(name, mapping(event, "input")))]

    def _content_end(self, event: Object) -> list[AgentEvent]:
        kind = string(event, "contentType")
        if kind == "tool":
            return self._answer(event)
        if kind == "text":
            return build.message(string(event, "text"))
        if kind == "reasoning":
            return build.message(self._thinking.rest(string(event, "reasoning")), "thinking")
        return build.notice(kind or "content")

    def _answer(self, event: Object) -> list[AgentEvent]:
        id = string(event, "toolCallId")
        name = string(event, "toolName") or self._tools.name(id)
        error = string(event, "error")
        parts = objects(event, "output") or [mapping(event, "output")]
        ok = not error and all(part.get("success") is not False for part in parts)
        withheld = name in _WITHHELD or self._mode == "plan"
        denied = _NOT_APPROVED in error or (_UNAVAILABLE in error and withheld)
        text = error or "\n".join(first(part, ("error", "result")) for part in parts)
        return self._tools.answer(id, name, text, ok=ok, denied=denied)

    def _take_error(self, event: Object) -> list[AgentEvent]:
        text = string(mapping(event, "error"), "message")
        if event.get("recoverable") is True:
            return build.notice("error", text)
        self._error = _failure(text, string(event, "errorClass"))
        # No key gets better by waiting.
        if self._error.data["error"] == "AuthMissing":
            return [self._error]
        return build.notice("error", text)


def _failure(text: str, kind: str) -> AgentEvent:
    """Its own class of an error where it has one for it, else by the service's words."""
    if kind == "auth":
        return build.failed("AuthMissing", "sign_in", text)
    return failure(text)


def _usage(event: Object) -> list[AgentEvent]:
    """Totals of the run so far; cached tokens are told at the end alone."""
    return tokens(event, "totalInputTokens", "totalOutputTokens", "")


def _totals(usage: Object) -> list[AgentEvent]:
    cost = number(usage, "totalCost")
    return tokens(usage, "inputTokens", "outputTokens", "cacheReadTokens", cost=cost)


def _notice(event: Object) -> list[AgentEvent]:
    document = mapping(event, "metadata")
    kind = "compaction" if "compaction" in string(document, "kind") else "notice"
    return build.notice(kind, string(event, "message"))


def _summary(name: str, document: Object) -> str:
    commands = document.get("commands")
    if isinstance(commands, list):
        return build.command("; ".join(name for name in commands if isinstance(name, str)))
    path = string(document, "path") or next(
        (string(file, "path") for file in objects(document, "files")), ""
    )
    target = build.path(path, "") if path else first(document, ("query", "url", "task", "question"))
    return f"{_VERBS.get(name, name)} {target}".strip()


_VERBS = {"editor": "Edit", "read_files": "Read", "search_codebase": "Search"}


class Cline(CliAdapter):
    """`cline " " --json --verbose --auto-approve true ...`, the prompt by a pipe on stdin."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(re.compile(r"(?m)^(\d+\.\d+\.\d+\S*)\s*$"), re.compile(r"Cline CLI"))
    table = named_flags(globals())
    stream = ClineStream

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.env += ENVIRONMENT
        if not request.masked:
            line.warnings.append(OWN_COMMANDS)
        line.args.append(BLANK)
        line.add(JSON)
        verbose = line.add(VERBOSE)
        if request.permission is not Permission.CONFIG:
            self._permission(line, request, verbose)
        line.add(CWD, CWD.name, str(request.worktree))
        line.need(MODEL, request.model)
        line.need(THINKING, request.effort and self.descriptor.efforts[request.effort])
        if request.budget.seconds:
            line.add(TIMEOUT, TIMEOUT.name, str(max(1, round(request.budget.seconds))))

    def _permission(self, line: CommandBuilder, request: SpawnRequest, verbose: bool) -> None:
        """By its mode, and by settings in place of the user's."""
        permission = request.permission
        if permission is Permission.PLAN:
            line.need(PLAN)
        if permission is not Permission.DEFAULT:
            line.add(APPROVE, APPROVE.name, "true")
        if verbose:
            line.expected.append(("permission", "plan" if permission is Permission.PLAN else "act"))
        document: dict[str, object] = {"telemetryOptOut": True, "autoUpdateEnabled": False}
        if permission in (Permission.PLAN, Permission.EDIT):
            document["disabledTools"] = list(SHELL_TOOLS)
        place = lane_home(request) / "cline-settings.json"
        line.env.append(("CLINE_GLOBAL_SETTINGS_PATH", str(place)))
        line.files.append((place, json.dumps(document).encode()))


ADAPTER = Cline()
