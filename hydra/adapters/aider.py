"""Aider, experimental: plain text, one message from a file, edits by what the model says.

It has no tools: the model writes edits as text, and aider applies them to files that are in the
chat; a file that the model names is put there. Its repository map needs git, so git stays on and
every commit of its own is turned off. Seen in runs of 0.86.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from hydra.adapters import event_builders as build
from hydra.adapters import failures
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import ConfigFolder, Descriptor, Probe, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.json_fields import (
    MalformedLine,
    Object,
    decode,
    integer,
    mapping,
    number,
    string,
)
from hydra.adapters.json_stream import JsonStream
from hydra.errors import AgentError
from hydra.records.agent import (
    BuiltCommand,
    Capability,
    CapabilitySet,
    DetectResult,
    ProbeOutput,
    SpawnRequest,
)
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Effort, Permission

# ---- Aider's flags: what a lane's line is made of. Names and defaults are those of 0.86.2.

PROMPT_FILE, EVENTS_FILE = "aider-message.txt", "aider-events.jsonl"

MESSAGE = required("--message-file", "to give it the task", "plain_text")
YES = required("--yes-always", "to run without a terminal", "force_edit_mode", "approval_controls")
MODEL = Flag("--model", "to choose a model")
MODE = Flag("--chat-mode", "for --permission plan")
EFFORT = Flag("--reasoning-effort", "to choose how hard the model thinks")
READ = Flag(
    "--read",
    "to show it the repository's instructions",
    loss="it does not see the repository's instructions",
)
EVENTS = Flag(
    "--analytics-log",
    "to know what it used and how it ended",
    drops=("emits_usage",),
    loss="its figures are those that it rounds, and its end is told from its text alone",
)

_COMMITS = "to leave its work for Hydra to take"
QUIET: tuple[tuple[Flag, str], ...] = (
    (required("--no-auto-commits", _COMMITS), ""),
    (required("--no-dirty-commits", _COMMITS), ""),
    (required("--no-gitignore", "to leave .gitignore as it is"), ""),
    (Flag("--no-analytics", "to send nothing about its use"), ""),
    (Flag("--no-check-update", "to stay as it is"), ""),
    (Flag("--no-show-release-notes", "to open no browser"), ""),
    (Flag("--disable-playwright", "to install nothing"), ""),
    (Flag("--no-detect-urls", "to fetch no page that the task names"), ""),
    (Flag("--no-show-model-warnings", "to ask nothing about the model"), ""),
    (Flag("--no-pretty", "to write plain text"), ""),
    (Flag("--no-fancy-input", "to do without a terminal"), ""),
    (Flag("--no-watch-files", "to do this task alone"), ""),
    (Flag("--no-restore-chat-history", "to begin anew"), ""),
    (Flag("--input-history-file", "to leave no file in the worktree"), "/dev/null"),
    (Flag("--chat-history-file", "to leave no file in the worktree"), "/dev/null"),
    # What the repository's own .aider.conf.yml could name, and aider would run.
    (Flag("--no-suggest-shell-commands", "to run no command"), ""),
    (Flag("--no-auto-lint", "to run no command of the repository's"), ""),
    (Flag("--no-auto-test", "to run no command of the repository's"), ""),
    (Flag("--no-notifications", "to run no command of the repository's"), ""),
    (Flag("--lint-cmd", "to run no command of the repository's"), "true"),
    (Flag("--test-cmd", "to run no command of the repository's"), "true"),
    (Flag("--load", "to run no commands from a file"), "/dev/null"),
)
"""What is turned off, each with the flag's value where it takes one."""

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

# ---- Aider as data: what its documentation, its help text and runs of 0.86.2 say of it.

_KEYS = names(
    "OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY OPENROUTER_API_KEY DEEPSEEK_API_KEY"
    " GROQ_API_KEY XAI_API_KEY MISTRAL_API_KEY FIREWORKS_API_KEY AZURE_API_KEY"
    " AIDER_OPENAI_API_KEY AIDER_ANTHROPIC_API_KEY"
)
OWN_SETTINGS = (".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json")
"""Of the repository's: they are read, and no switch passes them over."""

DESCRIPTOR = Descriptor(
    key="aider",
    label="Aider",
    homepage="https://aider.chat",
    tagline="Edits the files that the task or the model names, by text alone; runs no command",
    binaries=("aider",),
    protocol="file",
    stream_format="text",
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
        *names(
            "AIDER_* OPENAI_API_BASE OPENAI_ORGANIZATION ANTHROPIC_API_BASE AZURE_API_BASE"
            " AZURE_API_VERSION OLLAMA_API_BASE OLLAMA_API_KEY LM_STUDIO_API_BASE"
            " LM_STUDIO_API_KEY"
        ),
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
        events += build.usage(
            input_tokens=record.sent, output_tokens=record.received, cost_usd=record.cost
        )
        if self._wrong is not None:
            return [*events, _failure(*self._wrong)]
        if self._reported and (not record.any or record.reason == _DONE):
            self._tools.failed_edits = 0 if self._edits else self._unapplied
            return [*events, *self._done(self._answer)]
        return events

    def _paragraph(self) -> list[AgentEvent]:
        """What was said since the last known line, as one message."""
        text, self._lines, self._size = "\n".join(self._lines), [], 0
        if text and not self._thinking:
            self._text = text
        return build.message(text, "thinking" if self._thinking else "")

    def _version(self, match: re.Match[str]) -> _Events:
        self._seen_version = match[1]
        return []

    def _session(self, match: re.Match[str]) -> _Events:
        if self._model:
            return build.message(match[0])
        self._model = match[1]
        return [build.session(model=match[1], version=self._seen_version)]

    def _notice(self, match: re.Match[str]) -> _Events:
        return build.notice(match[1].lower(), match[0])

    def _turned(self, match: re.Match[str]) -> _Events:
        self._thinking = match[1] == "THINKING"
        return []

    def _tokens(self, match: re.Match[str]) -> _Events:
        self._reported, self._wrong, self._thinking = True, None, False
        self._answer = self._text
        return build.usage(input_tokens=_count(match[1]), output_tokens=_count(match[2]))

    def _applied(self, match: re.Match[str]) -> _Events:
        self._edits += 1
        id = f"edit-{self._edits}"
        call = build.tool_call(id, "edit", f"Edit {match[1]}")
        return [call, build.tool_result(id, True, match[1])]

    def _not_applied(self, match: re.Match[str]) -> _Events:
        self._unapplied += 1
        id, dry = f"unapplied-{self._unapplied}", match[0].endswith("(--dry-run)")
        if dry and len(self._tools.denials) < 100:
            self._tools.denials.append(f"Edit {match[1]}")
        call = build.tool_call(id, "edit", f"Edit {match[1]}" if dry else "Edit")
        return [call, build.tool_result(id, False, match[0], denied=dry)]

    def _retry(self, match: re.Match[str]) -> _Events:
        text = self._wrong[1] if self._wrong else ""
        self._wrong = None
        return [build.progress("retry", seconds=float(_number(match[1])), text=text)]

    def _problem(self, match: re.Match[str]) -> _Events:
        self._wrong = (match[1], match[0].removeprefix("litellm."))
        return build.notice("error", match[0])


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
        return build.failed("AgentFailed", "context_overflow", text)
    if name == "No LLM model":
        return build.failed("AuthMissing", "sign_in", text)
    if name == "InternalServerError" and "Connection error" in text:
        return build.failed("AgentFailed", "network", text)
    if name == "APIError" and _FORBIDDEN.search(text):
        return build.failed("AuthMissing", "sign_in", text)
    names = _REASONS.get(name)
    return build.failed(*names, text) if names else failures.failure(text)


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


class Aider(CliAdapter):
    """`aider --message-file F --yes-always --analytics-log F --no-auto-commits ...`. Refused where
    no model is named: it would wait minutes for a login in a browser."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^aider (\d+\.\d+\.\d+\S*)\s*$"),
        re.compile(r"(?i)aider is AI pair programming"),
    )
    table = (*named_flags(globals()), *(flag for flag, _ in QUIET))
    stream = AiderText

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probe `settings` as well: whether they name a model."""
        result = super().detect(binary, probes)
        settings = probes.get("settings")
        if settings is None or not _MODEL.search(settings.stdout):
            return result
        return replace(result, flags=result.flags | {CONFIGURED})

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """The line; the prompt is in a file of it."""
        built = super().build_command(request, result)
        message = (lane_home(request) / PROMPT_FILE, built.stdin or b"")
        return replace(built, stdin=None, files=(message,))

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        if not request.model and CONFIGURED not in line.options:
            raise AgentError(
                "aider has no model of its own: without one it waits minutes for a login in a"
                " browser",
                adapter=self.key(),
                hint="name one, as in -a aider:openai/gpt-5.2, or in ~/.aider.conf.yml",
                reason="model",
            )
        home = lane_home(request)
        line.env += ENVIRONMENT
        line.add(MESSAGE, MESSAGE.name, str(home / PROMPT_FILE))
        line.add(YES)
        if request.permission is Permission.PLAN:
            line.need(MODE, self.descriptor.modes[Permission.PLAN])
        line.add(EVENTS, EVENTS.name, str(home / EVENTS_FILE))
        for flag, value in QUIET:
            line.add(flag, flag.name, *([value] if value else []))
        line.need(MODEL, request.model)
        line.need(EFFORT, request.effort)
        for name in request.instructions:
            if name not in OWN_SETTINGS:
                line.add(READ, READ.name, name)
        own = [name for name in OWN_SETTINGS if name in request.instructions]
        if own and not request.masked:
            line.warnings.append(
                f"the repository has {' and '.join(own)}: aider has no switch to pass it over, and"
                " a server that it names gets your key"
            )

    def _prompt(self, request: SpawnRequest) -> str:
        """A `/` or `!` at the head would be a command of aider's, and of a shell's: a line break
        before it makes it a text."""
        text = super()._prompt(request)
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise AgentError(
                "aider reads its task as UTF-8, and this one has bytes that are none",
                adapter=self.key(),
                hint="write the task in UTF-8",
                reason="prompt",
            )
        return f"\n{text}" if text.startswith(("/", "!")) else text


ADAPTER = Aider()
