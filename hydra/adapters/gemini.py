"""Google's Gemini CLI, experimental: its descriptor and its line. Seen in 0.61.0."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters import event_builders as build
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.contract import ConfigFolder, Descriptor, TokenFields, common_probes, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.json_fields import Object, integer, mapping, string
from hydra.adapters.json_stream import JsonStream, stderr_of, summary, unknown
from hydra.records.agent import Capability, CapabilitySet, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.request import Permission

# ---- Gemini CLI as data: what it is, where its settings are, how it signs in. Seen in 0.61.0.

MODES = {
    Permission.PLAN: "plan",
    Permission.EDIT: "auto_edit",
    Permission.FULL_AUTO: "yolo",
    Permission.UNRESTRICTED: "yolo",
    Permission.DEFAULT: "default",
    Permission.CONFIG: "as its settings say",
}

DOTENV = (".gemini/.env", ".env")
"""The repository's files of variables, of which it reads the first that it finds."""

DESCRIPTOR = Descriptor(
    key="gemini",
    label="Gemini CLI",
    homepage="https://geminicli.com/docs",
    binaries=("gemini",),
    stream_format="stream-json",
    install_hint="npm install -g @google/gemini-cli",
    sign_in_hint="run `gemini` once and sign in, or set GEMINI_API_KEY",
    exit_codes={
        0: "done, denied, or stopped by a signal: the stream tells which",
        1: "a bad command line, or the service does not know the model",
        41: "no sign-in",
        42: "no prompt, or no session of that id",
        144: "the service refused the request (HTTP 400: the exit code is the status, less 256)",
        145: "the service refused its key (HTTP 401)",
        147: "the service refused its key (HTTP 403)",
        244: "the service failed (HTTP 500)",
    },
    minimum_version="0.61.0",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="stream-json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="auto_edit, yolo"),
        sandbox_controls=Capability(
            True, note="by approval mode; its own sandbox needs a container"
        ),
        approval_controls=Capability(True, note="--approval-mode"),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="tokens, no cost"),
    ),
    environment=names(
        "GEMINI_CLI_HOME GEMINI_API_KEY GEMINI_API_KEY_AUTH_MECHANISM GEMINI_CLI_CUSTOM_HEADERS"
        " GEMINI_MODEL GOOGLE_API_KEY GOOGLE_GEMINI_BASE_URL GOOGLE_GENAI_API_VERSION"
        " GOOGLE_GENAI_USE_GCA GOOGLE_GENAI_USE_VERTEXAI GOOGLE_CLOUD_PROJECT"
        " GOOGLE_CLOUD_LOCATION"
    ),
    # A cloud's keys open far more than a model: only for who reaches Gemini through that cloud.
    environment_if={
        "GOOGLE_GENAI_USE_VERTEXAI": (
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_VERTEX_BASE_URL",
            "CLOUDSDK_CONFIG",
        )
    },
    secret_environment=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_CLI_CUSTOM_HEADERS"),
    sign_in_environment=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"),
    config=ConfigFolder(
        variable="GEMINI_CLI_HOME",
        default=".gemini",
        parent=True,
        credentials=("oauth_creds.json", "gemini-credentials.json", ".env"),
        # As 0.61.0 wrote it: its refresh token stays. gemini-credentials.json is sealed.
        renewals=(
            TokenFields(
                file="oauth_creds.json",
                access="access_token",
                tokens=("id_token",),
                expiries=("expiry_date",),
            ),
        ),
        copied=names(
            "settings.json google_accounts.json GEMINI.md commands skills agents policies"
            " extensions installation_id"
        ),
    ),
    probes=common_probes(timeout=45),
    modes=MODES,
    families=("gemini",),
    tagline="Google's coding agent",
    # Not for its line: where the repository has one, the lane is told what it does.
    instructions=DOTENV,
)

FORMAT = required("--output-format", "to read what it does", "json_stream", "emits_usage")
TRUST = required(
    "--skip-trust",
    "to work in a folder that nobody approved, without the repository's own settings",
)
MODE = Flag(
    "--approval-mode",
    "to say what it may do",
    drops=("approval_controls", "force_edit_mode", "sandbox_controls"),
)
YOLO = Flag("--yolo", "to work without asking")
MODEL = Flag("--model", "to choose a model")
RESUME = Flag("--resume", "to go on later", drops=("session_resume",))

ENVIRONMENT = (
    # One process, which obeys signals; with the two that it makes by itself it obeys none.
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    # Read before --skip-trust is: the repository's settings, hooks and MCP servers are left out,
    # also where the user trusts every folder. The flag then lets it work all the same.
    ("GEMINI_CLI_TRUST_WORKSPACE", "false"),
    ("GEMINI_TELEMETRY_ENABLED", "false"),
    ("NO_BROWSER", "true"),
)

# ---- Gemini CLI's `stream-json`, read as events, and which failure it was. Seen in 0.61.0.

_VERBS = {"write_file": "Write", "replace": "Edit", "read_file": "Read"}
_TARGETS = ("file_path", "absolute_path", "dir_path", "path", "pattern", "query", "prompt", "name")
_MODES = frozenset({"run_shell_command", "write_file", "replace", "web_fetch"})
"""Tools that it does not offer at all where its approval mode does not allow them."""

_REFUSED = ("Access denied: plan path", "Path not in workspace:")
_CODE = re.compile(r'"code": ?(\d{3})\b')
_TOKENS = re.compile(r"count \((?P<tokens>\d{1,15})\) exceeds [a-z ]{1,50}\((?P<limit>\d{1,15})\)")
_STATUS = {401: "sign_in", 403: "sign_in", 404: "model", 429: "rate_limit"}
_REASONS = (
    ("sign_in", re.compile(r"API.key.not.valid|API_KEY_INVALID|UNAUTHENTICATED", re.I)),
    ("context_overflow", re.compile(r"exceeds the maximum number of tokens", re.I)),
    ("quota", re.compile(r"exhausted your (?:daily )?(?:quota|capacity)", re.I)),
    ("rate_limit", re.compile(r"RESOURCE_EXHAUSTED|rate limit|current quota", re.I)),
    ("model", re.compile(r"model is not found|model[^\n]{0,200} (?:not found|not exist)", re.I)),
    ("overloaded", re.compile(r"overloaded|internal error|UNAVAILABLE|high demand", re.I)),
    ("network", re.compile(r"fetch failed|ECONN|ENOTFOUND|socket hang up|terminated", re.I)),
    ("max_turns", re.compile(r"max(?:imum)? session turns", re.I)),
)
_TYPES = {"FatalTurnLimitedError": "max_turns", "FatalAuthenticationError": "sign_in"}
_NO_SIGN_IN = re.compile(
    r"^.*(?:set an Auth method|Invalid auth method|GEMINI_API_KEY environment|authenticat).*$",
    re.I | re.M,
)
_LONGEST = 20_000
"""Characters of an error's text in which its reason is looked for."""


class GeminiStream(JsonStream):
    """One attempt's stream. A message comes in pieces and is told whole, once something else
    comes; the `result` is held until the process has ended."""

    label = "Gemini CLI"
    edits = frozenset({"write_file", "replace"})

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[str] = []
        self._count = 0
        self._last = ""
        self._error = ""
        self._result: Object | None = None
        self._readers = {
            "init": self._init,
            "tool_use": self._call,
            "tool_result": self._answer,
            "error": self._notice,
            "result": self._end,
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        kind = string(line, "type")
        if kind == "message":
            return self._message(line)
        reader = self._readers.get(kind)
        return [*self._whole(), *reader(line)] if reader else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The `result` as the ending; without one, what it said of its sign-in on stderr."""
        events = self._whole()
        if self._result is None:
            return [*events, *self._not_signed_in(files)]
        error = mapping(self._result, "error")
        if string(self._result, "status") != "success" or self._error:
            text = string(error, "message") or self._error
            return [*events, failure(text, string(error, "type"))]
        return [*events, *self._done(self._last)]

    def _init(self, line: Object) -> list[AgentEvent]:
        return [build.session(session=string(line, "session_id"), model=string(line, "model"))]

    def _message(self, line: Object) -> list[AgentEvent]:
        if string(line, "role") != "assistant":
            return [*self._whole(), build.progress("notice", type="message/user")]
        before = [] if line.get("delta") is True else self._whole()
        text = string(line, "content")
        if self._count < build.WHOLE:
            self._pieces.append(text)
            self._count += len(text)
        return before

    def _whole(self) -> list[AgentEvent]:
        """The message whose pieces have come so far."""
        text = "".join(self._pieces)
        self._pieces.clear()
        self._count = 0
        if text.strip():
            self._last = text
        return build.message(text)

    def _call(self, line: Object) -> list[AgentEvent]:
        id, name = string(line, "tool_id"), string(line, "tool_name")
        return self._tools.call(
            id, name, summary(_VERBS.get(name, name), mapping(line, "parameters"), _TARGETS)
        )

    def _answer(self, line: Object) -> list[AgentEvent]:
        id, error = string(line, "tool_id"), mapping(line, "error")
        name = self._tools.name(id)
        ok = string(line, "status") == "success" and not error
        text = string(line, "output") or string(error, "message")
        denied = not ok and _is_denial(name, string(error, "type"), text)
        return self._tools.answer(id, name, text, ok=ok, denied=denied)

    def _notice(self, line: Object) -> list[AgentEvent]:
        text = string(line, "message")
        if string(line, "severity") == "error":
            self._error = text[:_LONGEST] or "no reason was given"
        return build.notice("error", text)

    def _end(self, line: Object) -> list[AgentEvent]:
        self._result = line
        return [*build.usage(**_usage(mapping(line, "stats"))), *self.closing()]

    def _not_signed_in(self, files: Mapping[str, bytes]) -> list[AgentEvent]:
        if self.understood:
            return []
        match = _NO_SIGN_IN.search(stderr_of(files))
        return [build.failed("AuthMissing", "sign_in", match[0])] if match else []


def _is_denial(name: str, kind: str, text: str) -> bool:
    if kind in ("policy_violation", "path_not_in_workspace"):
        return True
    absent = kind == "tool_not_registered" and name in _MODES
    return absent or text.startswith(_REFUSED)


def _usage(stats: Object) -> dict[str, float | None]:
    """Cache reads are in `input_tokens`; thinking is in `total_tokens` alone."""
    count, out = integer(stats, "input_tokens"), integer(stats, "output_tokens")
    total = integer(stats, "total_tokens")
    if count is not None and out is not None and total is not None:
        out = max(out, total - count)
    return {"input_tokens": count, "output_tokens": out, "cached_tokens": integer(stats, "cached")}


def failure(text: str, kind: str = "") -> AgentEvent:
    """Which failure it was: by the type of the error, its HTTP status, then its words."""
    text = text[:_LONGEST]
    if kind == "FatalCancellationError":
        return build.failed("Interrupted", "interrupted", "it was interrupted")
    match = _CODE.search(text)
    status = int(match[1]) if match else 0
    by_word = next((reason for reason, pattern in _REASONS if pattern.search(text)), "")
    # A wrong key is a 400, and so is a conversation that is too long; a spent quota is a 429.
    reason = _TYPES.get(kind) or (by_word if by_word == "quota" else _STATUS.get(status)) or by_word
    if not reason:
        reason = "overloaded" if status >= 500 else "agent_error"
    numbers: dict[str, float] = {"status": status} if status else {}
    if tokens := _TOKENS.search(text):
        numbers |= {name: float(value) for name, value in tokens.groupdict().items()}
    error = "AuthMissing" if reason == "sign_in" else "AgentFailed"
    return build.failed(error, reason, _plain(text), numbers)


def _plain(text: str) -> str:
    """The service's own sentence out of `[API Error: {"error": {... "message": "..."}}]`."""
    inner = re.search(r'"message": ?"((?:[^"\\]|\\.){1,2000})"', text)
    return inner[1] if inner else text


class Gemini(CliAdapter):
    """`gemini --output-format stream-json --skip-trust ...`, the prompt on stdin."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(re.compile(r"(?m)^(\d+\.\d+\.\d+\S*)\s*$"), re.compile(r"Gemini CLI"))
    table = named_flags(globals())
    stream = GeminiStream
    has_commands = True
    # It cuts off the rest without a word on stdout.
    prompt_limit = (8 * 1024**2, "bytes")

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.add_value(FORMAT, "stream-json")
        line.add(TRUST)
        if request.permission is not Permission.CONFIG:
            mode = MODES[request.permission]
            line.add_mode(MODE, mode, YOLO if mode == "yolo" else None)
        line.need(MODEL, request.model)
        line.add_session(RESUME, request.resume)
        line.env += ENVIRONMENT
        if read := next((name for name in DOTENV if name in request.instructions), ""):
            line.warnings.append(
                f"Gemini CLI reads variables from the repository's {read}, a service's address"
                " among them: it has no switch against it"
            )


ADAPTER = Gemini()
