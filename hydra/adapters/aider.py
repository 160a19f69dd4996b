"""Aider, experimental: plain text, one message from a file, edits by what the model says.

It has no tools: the model writes edits as text, and aider applies them to files that are in the
chat; a file that the model names is put there. Its repository map needs git, so git stays on and
every commit of its own is turned off. Seen in runs of 0.86.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from hydra.adapters import event_builders, failures
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import Flag
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import ConfigFolder, Descriptor, Parser, Probe
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.json_stream import (
    JsonStream,
    MalformedLine,
    Object,
    decode,
    integer,
    mapping,
    number,
    string,
)
from hydra.adapters.prompts import as_stdin, prefaced
from hydra.errors import AgentError
from hydra.records.agent import (
    BuiltCommand,
    Capability,
    CapabilitySet,
    DetectResult,
    ProbeOutput,
    SpawnRequest,
    Tier,
)
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- Aider's flags: what a lane's line is made of. Names and defaults are those of 0.86.2.

PROMPT_FILE, EVENTS_FILE = "aider-message.txt", "aider-events.jsonl"
PROMPT_BYTES = 10_000_000

MESSAGE = Flag(
    name="--message-file", purpose="to give it the task", required=True, drops=("plain_text",)
)
YES = Flag(
    name="--yes-always",
    purpose="to run without a terminal",
    required=True,
    drops=("force_edit_mode", "approval_controls"),
)
MODEL = Flag(name="--model", purpose="to choose a model")
MODE = Flag(name="--chat-mode", purpose="for --permission plan")
EFFORT = Flag(name="--reasoning-effort", purpose="to choose how hard the model thinks")
READ = Flag(
    name="--read",
    purpose="to show it the repository's instructions",
    loss="it does not see the repository's instructions",
)
EVENTS = Flag(
    name="--analytics-log",
    purpose="to know what it used and how it ended",
    drops=("emits_usage",),
    loss="its figures are those that it rounds, and its end is told from its text alone",
)

_COMMITS = "to leave its work for Hydra to take"
QUIET: tuple[tuple[Flag, str], ...] = (
    (Flag(name="--no-auto-commits", purpose=_COMMITS, required=True), ""),
    (Flag(name="--no-dirty-commits", purpose=_COMMITS, required=True), ""),
    (Flag(name="--no-gitignore", purpose="to leave .gitignore as it is", required=True), ""),
    (Flag(name="--no-analytics", purpose="to send nothing about its use"), ""),
    (Flag(name="--no-check-update", purpose="to stay as it is"), ""),
    (Flag(name="--no-show-release-notes", purpose="to open no browser"), ""),
    (Flag(name="--disable-playwright", purpose="to install nothing"), ""),
    (Flag(name="--no-detect-urls", purpose="to fetch no page that the task names"), ""),
    (Flag(name="--no-show-model-warnings", purpose="to ask nothing about the model"), ""),
    (Flag(name="--no-pretty", purpose="to write plain text"), ""),
    (Flag(name="--no-fancy-input", purpose="to do without a terminal"), ""),
    (Flag(name="--no-watch-files", purpose="to do this task alone"), ""),
    (Flag(name="--no-restore-chat-history", purpose="to begin anew"), ""),
    (Flag(name="--input-history-file", purpose="to leave no file in the worktree"), "/dev/null"),
    (Flag(name="--chat-history-file", purpose="to leave no file in the worktree"), "/dev/null"),
    # What the repository's own .aider.conf.yml could name, and aider would run.
    (Flag(name="--no-suggest-shell-commands", purpose="to run no command"), ""),
    (Flag(name="--no-auto-lint", purpose="to run no command of the repository's"), ""),
    (Flag(name="--no-auto-test", purpose="to run no command of the repository's"), ""),
    (Flag(name="--no-notifications", purpose="to run no command of the repository's"), ""),
    (Flag(name="--lint-cmd", purpose="to run no command of the repository's"), "true"),
    (Flag(name="--test-cmd", purpose="to run no command of the repository's"), "true"),
    (Flag(name="--load", purpose="to run no commands from a file"), "/dev/null"),
)
"""What is turned off, each with the flag's value where it takes one."""

TABLE = (MESSAGE, YES, MODEL, MODE, EFFORT, READ, EVENTS, *(flag for flag, _ in QUIET))

SETTINGS = (
    *("--verbose", "--no-git", "--no-analytics", "--no-check-update"),
    *("--chat-history-file", "/dev/null", "--input-history-file", "/dev/null"),
    *("--set-env", "LITELLM_LOCAL_MODEL_COST_MAP=True", "--list-models", "no-such-model"),
)
"""Shows its settings, from its own files and variables, and ends."""

ENVIRONMENT = (
    # No .env: one of the repository's could send the user's key to another server.
    ("PYTHON_DOTENV_DISABLED", "1"),
    ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
    # Without a name and an address git has, aider writes some into the repository's settings.
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "user.name"),
    ("GIT_CONFIG_VALUE_0", "aider"),
    ("GIT_CONFIG_KEY_1", "user.email"),
    ("GIT_CONFIG_VALUE_1", "aider@localhost"),
    # It breaks its lines at the terminal's width.
    ("COLUMNS", "4000"),
)


def as_message(preface: str, prompt: str, *, adapter: str) -> bytes:
    """The prompt as its message file holds it. Raises `AgentError` for what aider cannot read.

    A `/` or `!` at the head would be a command of aider's, and of a shell's: a line break before
    it makes it a text.
    """
    text = prefaced(preface, prompt)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise AgentError(
            "aider reads its task as UTF-8, and this one has bytes that are none",
            adapter=adapter,
            hint="write the task in UTF-8",
            reason="prompt",
        )
    head = "\n" if text[:1] in ("/", "!") else ""
    return as_stdin(head + text, adapter=adapter, limit=PROMPT_BYTES, unit="bytes")


# ---- Aider as data: what its documentation, its help text and runs of 0.86.2 say of it.

_KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "MISTRAL_API_KEY",
    "FIREWORKS_API_KEY",
    "AZURE_API_KEY",
    "AIDER_OPENAI_API_KEY",
    "AIDER_ANTHROPIC_API_KEY",
)
OWN_SETTINGS = (".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json")
"""Of the repository's: they are read, and no switch passes them over."""

DESCRIPTOR = Descriptor(
    key="aider",
    label="Aider",
    homepage="https://aider.chat",
    tier=Tier.EXPERIMENTAL,
    tagline="Edits the files that the task or the model names, by text alone; runs no command",
    binaries=("aider",),
    protocol="file",
    stream_format="text",
    sandbox="soft",
    install_hint="python -m pip install aider-install && aider-install",
    sign_in_hint="set the key of your model's provider (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...)",
    exit_codes={
        0: "it ended by itself: also where its key was refused",
        1: "it did not begin: no model, an option or a file that it could not use",
        2: "it did not understand its command line",
    },
    minimum_version="0.86.2",
    side_files=(EVENTS_FILE,),
    capabilities=CapabilitySet(
        plain_text=Capability(True, note="--message-file"),
        force_edit_mode=Capability(True, note="--yes-always"),
        approval_controls=Capability(True, note="--yes-always, --chat-mode ask"),
        emits_usage=Capability(True, note="in the file of --analytics-log"),
    ),
    environment=(
        *_KEYS,
        "AIDER_*",
        "OPENAI_API_BASE",
        "OPENAI_ORGANIZATION",
        "ANTHROPIC_API_BASE",
        "AZURE_API_BASE",
        "AZURE_API_VERSION",
        "OLLAMA_API_BASE",
        "OLLAMA_API_KEY",
        "LM_STUDIO_API_BASE",
        "LM_STUDIO_API_KEY",
    ),
    secret_environment=(*_KEYS, "AIDER_API_KEY", "OLLAMA_API_KEY", "LM_STUDIO_API_KEY"),
    sign_in_environment=_KEYS,
    # No variable moves its folder: the copy is laid over it where something confines.
    config=ConfigFolder(
        variable="",
        default=".aider",
        copied=("caches", "analytics.json", "installs.json"),
        home_files=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=30),
        Probe(name="help", args=("--help",), timeout=30),
        Probe(name="settings", args=SETTINGS, timeout=45, settings=True),
    ),
    generated_files=(".aider.tags.cache.v4", ".aider.chat.history.md", ".aider.input.history"),
    instructions=("AGENTS.md", "CONVENTIONS.md", *OWN_SETTINGS),
    hidden_paths=OWN_SETTINGS,
    modes={
        Permission.PLAN: "ask",
        Permission.EDIT: "yes-always",
        Permission.FULL_AUTO: "yes-always",
        Permission.UNRESTRICTED: "yes-always",
    },
    efforts={Effort.LOW: "low", Effort.MEDIUM: "medium", Effort.HIGH: "high"},
)


CONFIGURED = "--model=(named by its own settings)"
"""Stands among the flags that were found where its settings name a model."""

_MODEL = re.compile(r"^  - model: (?!None\s*$)\S", re.MULTILINE)


class Aider(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        version=re.compile(r"^aider (\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"aider is AI pair programming", re.IGNORECASE),
    )
    table = TABLE

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes `version`, `help` and `settings`: whether they name a model."""
        result = super().detect(binary, probes)
        settings = probes.get("settings")
        if settings is None or not _MODEL.search(settings.stdout):
            return result
        return replace(result, flags=result.flags | {CONFIGURED})

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """`aider --message-file F --yes-always --analytics-log F --no-auto-commits ...`.

        Raises `UnsupportedFlag` where a flag that is needed is gone; `AgentError` where no model
        is named: it would wait minutes for a login in a browser.
        """
        self._check_model(request, result)
        home = lane_home(request)
        line = self.line(result)
        line.add(MESSAGE, MESSAGE.name, str(home / PROMPT_FILE))
        line.add(YES)
        if request.permission is Permission.PLAN:
            line.need(MODE, self.descriptor.modes[Permission.PLAN])
        line.add(EVENTS, EVENTS.name, str(home / EVENTS_FILE))
        for flag, value in QUIET:
            line.add(flag, flag.name, *([value] if value else []))
        if request.model:
            line.need(MODEL, request.model)
        if request.effort:
            line.need(EFFORT, self.descriptor.efforts[request.effort])
        for name in request.instructions:
            if name not in OWN_SETTINGS:
                line.add(READ, READ.name, name)
        line.warnings += _own_settings(request)
        message = as_message(request.preface, request.prompt, adapter=self.key())
        return line.command(
            request, result, env=ENVIRONMENT, files=((home / PROMPT_FILE, message),)
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        return AiderText()

    def _check_model(self, request: SpawnRequest, result: DetectResult) -> None:
        if not request.model and CONFIGURED not in result.flags:
            raise AgentError(
                "aider has no model of its own: without one it waits minutes for a login in a"
                " browser",
                adapter=self.key(),
                hint="name one, as in -a aider:openai/gpt-5.2, or in ~/.aider.conf.yml",
                reason="model",
            )


def _own_settings(request: SpawnRequest) -> tuple[str, ...]:
    own = [name for name in OWN_SETTINGS if name in request.instructions]
    if request.masked or not own:
        return ()
    return (
        f"the repository has {' and '.join(own)}: aider has no switch to pass it over, and a server"
        " that it names gets your key",
    )


ADAPTER = Aider()


# ---- Aider's plain text, with its own record of events beside it. What the model says stands among
# what aider says, unmarked: a model that writes `Applied edit to x` is believed here, and told
# apart by the patch alone.

_TEXT_LIMIT = 64 * 1024
"""Characters of one message, and of an answer that is told at the end."""

_LINE = 4200
"""Characters of a line that may be one of aider's own."""

_RULES = ("-" * 14, "-" * 12)
_REASONS: Mapping[str, tuple[str, str]] = {
    "AuthenticationError": ("AuthMissing", "sign_in"),
    "PermissionDeniedError": ("AuthMissing", "sign_in"),
    "RateLimitError": ("AgentFailed", "rate_limit"),
    "RouterRateLimitError": ("AgentFailed", "rate_limit"),
    "NotFoundError": ("AgentFailed", "model"),
    "ContextWindowExceededError": ("AgentFailed", "context_overflow"),
    "BudgetExceededError": ("AgentFailed", "budget"),
    "APIConnectionError": ("AgentFailed", "network"),
    "Timeout": ("AgentFailed", "network"),
    "ServiceUnavailableError": ("AgentFailed", "overloaded"),
    "BadGatewayError": ("AgentFailed", "overloaded"),
}
"""What litellm's classes come to; any other is told by its words."""

_FORBIDDEN = re.compile(r"not allowed|forbidden|permission denied", re.IGNORECASE)
"""A 403, in a service's own words: litellm has no class for it."""

_DONE = "Completed --message-file"


class AiderText(JsonStream):
    """One attempt's output: known lines are events, what stands between them is said."""

    label = "Aider"

    def __init__(self) -> None:
        super().__init__()
        self._by_line: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Events]], ...] = (
            (re.compile(r"Aider v(\S{1,40})"), self._version),
            (re.compile(r"(?:Main m|M)odel: (\S{1,200}) with (\S+) edit format.*"), self._session),
            (re.compile(r"(Detected) dumb terminal.*"), self._notice),
            (re.compile(r"(Git repo|Repo-map|Weak model|Editor model): .*"), self._notice),
            (re.compile(r"(Added) .{1,4000} to the chat.*"), self._notice),
            (re.compile(r"► \*\*(THINKING|ANSWER)\*\*"), self._turned),
            (re.compile(r"Tokens: (\S+) sent, (?:.* )?(\S+) received\.(?: Cost.*)?"), self._tokens),
            (re.compile(r"Applied edit to (.{1,4000})"), self._applied),
            (re.compile(r"Did not apply edit to (.{1,4000}) \(--dry-run\)"), self._not_applied),
            (re.compile(r"(The LLM did not conform to the edit format\.)"), self._not_applied),
            (re.compile(r"Retrying in ([\d.]{1,10}) seconds\.\.\."), self._retry),
            (re.compile(r"litellm\.([A-Za-z]{1,60}): (.*)"), self._problem),
            (re.compile(r"(Model) (\S{1,200} has hit a token limit!)"), self._problem),
            (re.compile(r"(Empty response) (received from LLM.*)"), self._problem),
            (re.compile(r"(No LLM model) (was specified and no API keys.*)"), self._problem),
            (re.compile(r"(\^C)(?: again to exit|KeyboardInterrupt)"), self._notice),
            (re.compile(r"(HTTPSConnectionPool)\(host='raw\.github.*"), self._notice),
        )
        self._seen_version = self._model = ""
        self._thinking = False
        self._lines: list[str] = []
        self._size = 0
        self._text = self._answer = ""
        self._edits = self._unapplied = 0
        self._denials: list[str] = []
        self._wrong: tuple[str, str] | None = None
        self._reported = False

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line of text. Never raises."""
        text = line.decode("utf-8", "replace").strip("\x00\r\n")
        plain = text.strip()
        if not plain or plain in _RULES:
            return []
        self.understood += 1
        for pattern, reader in self._by_line if len(plain) < _LINE else ():
            match = pattern.fullmatch(plain)
            if match:
                return [*self._paragraph(), *reader(match)]
        self._lines.append(text)
        self._size += len(text) + 1
        return self._paragraph() if self._size > _TEXT_LIMIT else []

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The last paragraph, its exact figures, and how it ended."""
        events = self._paragraph()
        record = _AiderRecord(files.get(EVENTS_FILE, b""))
        events += event_builders.usage(
            input_tokens=record.sent, output_tokens=record.received, cost_usd=record.cost
        )
        if self._wrong is not None:
            return [*events, _failure(*self._wrong)]
        if self._reported and (not record.any or record.reason == _DONE):
            remaining = 0 if self._edits else self._unapplied
            return [
                *events,
                event_builders.completed(
                    self._answer, denials=self._denials, failed_items=remaining
                ),
            ]
        return events

    def _paragraph(self) -> list[AgentEvent]:
        """What was said since the last known line, as one message."""
        text, self._lines, self._size = "\n".join(self._lines), [], 0
        if text and not self._thinking:
            self._text = text
        return event_builders.message(text, "thinking" if self._thinking else "")

    def _version(self, match: re.Match[str]) -> _Events:
        self._seen_version = match[1]
        return []

    def _session(self, match: re.Match[str]) -> _Events:
        if self._model:
            return event_builders.message(match[0])
        self._model = match[1]
        return [event_builders.session(model=match[1], version=self._seen_version)]

    def _notice(self, match: re.Match[str]) -> _Events:
        return [event_builders.progress("notice", type=match[1].lower(), text=match[0])]

    def _turned(self, match: re.Match[str]) -> _Events:
        self._thinking = match[1] == "THINKING"
        return []

    def _tokens(self, match: re.Match[str]) -> _Events:
        self._reported, self._wrong, self._thinking = True, None, False
        self._answer = self._text
        return event_builders.usage(input_tokens=_count(match[1]), output_tokens=_count(match[2]))

    def _applied(self, match: re.Match[str]) -> _Events:
        self._edits += 1
        id = f"edit-{self._edits}"
        call = event_builders.tool_call(id, "edit", f"Edit {match[1]}")
        return [call, event_builders.tool_result(id, True, match[1])]

    def _not_applied(self, match: re.Match[str]) -> _Events:
        self._unapplied += 1
        id, dry = f"unapplied-{self._unapplied}", match[0].endswith("(--dry-run)")
        if dry and len(self._denials) < 100:
            self._denials.append(f"Edit {match[1]}")
        call = event_builders.tool_call(id, "edit", f"Edit {match[1]}" if dry else "Edit")
        return [call, event_builders.tool_result(id, False, match[0], denied=dry)]

    def _retry(self, match: re.Match[str]) -> _Events:
        text = self._wrong[1] if self._wrong else ""
        self._wrong = None
        return [event_builders.progress("retry", seconds=float(_number(match[1])), text=text)]

    def _problem(self, match: re.Match[str]) -> _Events:
        self._wrong = (match[1], match[0].removeprefix("litellm."))
        return [event_builders.progress("notice", type="error", text=match[0])]


_Events = list[AgentEvent]


class _AiderRecord:
    """What its own record of events says: exact figures of every message, and why it ended."""

    def __init__(self, data: bytes) -> None:
        self.sent: int | None = None
        self.received: int | None = None
        self.cost: float | None = None
        self.reason = ""
        self.any = False
        for line in data.splitlines():
            try:
                event = decode(line)
            except MalformedLine:
                continue
            if event is not None:
                self._take(event)

    def _take(self, event: Object) -> None:
        self.any = True
        what = mapping(event, "properties")
        if string(event, "event") == "exit":
            self.reason = string(what, "reason")
        if string(event, "event") != "message_send":
            return
        self.reason = ""
        self.sent = (self.sent or 0) + (integer(what, "prompt_tokens") or 0)
        self.received = (self.received or 0) + (integer(what, "completion_tokens") or 0)
        # 0 is what it says of a model whose price it does not know.
        self.cost = number(what, "total_cost") or self.cost


def _failure(name: str, text: str) -> AgentEvent:
    if name == "Model":
        return event_builders.failed("AgentFailed", "context_overflow", text)
    if name == "No LLM model":
        return event_builders.failed("AuthMissing", "sign_in", text)
    if name == "InternalServerError" and "Connection error" in text:
        return event_builders.failed("AgentFailed", "network", text)
    if name == "APIError" and _FORBIDDEN.search(text):
        return event_builders.failed("AuthMissing", "sign_in", text)
    names = _REASONS.get(name)
    return event_builders.failed(*names, text) if names else failures.failure(text)


def _count(text: str) -> int | None:
    """`780`, `4.8k` or `12k`: rounded, as aider says it."""
    thousands = text.endswith("k")
    value = _number(text.removesuffix("k"))
    return int(value * 1000) if thousands else int(value)


def _number(text: str) -> float:
    try:
        value = float(text[:12])
    except ValueError:
        return 0.0
    return value if 0 <= value < 1e12 else 0.0
