"""OpenAI Codex: its line, and how it is probed. Seen in 0.169.0."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from msgspec.structs import replace

from hydra.adapters import event_builders as build
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.contract import ConfigFolder, Descriptor, PathTrust, Probe, TokenFields, names
from hydra.adapters.detection import AgentIdentity, older, read
from hydra.adapters.json_fields import (
    MalformedLine,
    Object,
    decode,
    integer,
    mapping,
    objects,
    string,
)
from hydra.adapters.json_stream import JsonStream, RecentIds, stderr_of, tokens, unknown
from hydra.adapters.prompts import as_session
from hydra.errors import SpawnFailed
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

# ---- Codex as data: what it is, where its settings are, how it signs in. Seen in 0.169.0.

ROLLOUT = "sessions/*/*/*/rollout-*.jsonl"
"""Codex's own record of the session: the only place that tells the sandbox it applied."""

MODES = {
    Permission.PLAN: "read-only",
    Permission.EDIT: "workspace-write",
    Permission.FULL_AUTO: "workspace-write",
    Permission.UNRESTRICTED: "danger-full-access",
    Permission.DEFAULT: "read-only",
    Permission.CONFIG: "as its settings say",
}

EFFORTS = {Effort.LOW: "low", Effort.MEDIUM: "medium", Effort.HIGH: "high", Effort.MAX: "xhigh"}
"""Sent to the service as they are; which of them a model takes, the service says."""

DESCRIPTOR = Descriptor(
    key="codex",
    label="OpenAI Codex",
    homepage="https://developers.openai.com/codex/cli",
    tier=Tier.TIER1,
    binaries=("codex",),
    install_hint="npm install -g @openai/codex",
    sign_in_hint="run `codex login`, or set CODEX_API_KEY",
    exit_codes={
        0: "the turn is over, whatever came of it: the stream tells",
        1: "the turn failed, no sign-in, or stopped by SIGINT",
        2: "a bad command line",
        101: "it crashed (so it does when its output is closed)",
    },
    minimum_version="0.134.0",
    broken_versions={
        "<0.40.1": "`codex exec --json` writes an older format that has no closing event"
        " (seen in 0.40.0)",
        "<0.134.0": "its sandbox cannot be tried before a race: `codex sandbox -- COMMAND` is no"
        " command of it (seen in 0.133.0)",
    },
    confines_itself=True,
    side_files=(ROLLOUT,),
    capabilities=CapabilitySet(
        json_stream=Capability(True),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="workspace-write, approval never"),
        sandbox_controls=Capability(True, note="bundled bubblewrap with seccomp"),
        approval_controls=Capability(True, note="by -c approval_policy; exec has no flag for it"),
        session_resume=Capability(True, note="exec resume"),
        emits_usage=Capability(True, note="tokens, no cost"),
    ),
    environment=("CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY"),
    secret_environment=("CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY"),
    # Not OPENAI_API_KEY: exec does not send it.
    sign_in_environment=("CODEX_API_KEY", "CODEX_ACCESS_TOKEN"),
    config=ConfigFolder(
        variable="CODEX_HOME",
        default=".codex",
        credentials=("auth.json",),
        # As 0.169.0 wrote it. After a 401 it renews at once and prints nothing of it.
        renewals=(
            TokenFields(
                file="auth.json",
                access="tokens.access_token",
                refresh="tokens.refresh_token",
                tokens=("tokens.id_token",),
                stamps=("last_refresh",),
                account=("tokens.account_id",),
                silent=True,
            ),
        ),
        trust=(PathTrust("config.toml", "projects"),),
        writable=PathTrust("config.toml", "sandbox_workspace_write.writable_roots"),
        copied=names(
            "config.toml AGENTS.md AGENTS.override.md rules prompts skills installation_id"
        ),
    ),
    probes=(
        Probe(name="version", args=("--version",)),
        Probe(name="help", args=("--help",)),
        Probe(name="exec_help", args=("exec", "--help")),
        Probe(name="sign_in", args=("login", "status")),
        Probe(name="sandbox", args=("sandbox", "--", "true"), timeout=15, confined=True),
    ),
    modes=MODES,
    forks=True,
    network_switch=True,
    efforts=EFFORTS,
    service_tiers={"fast": "fast", "flex": "flex"},
    families=("gpt",),
    tagline="OpenAI's coding agent",
)

JSON = required("--json", "to read what it does", "json_stream", "emits_usage")
SANDBOX = Flag("--sandbox", "to say what it may do", drops=("sandbox_controls", "force_edit_mode"))
BYPASS = Flag("--dangerously-bypass-approvals-and-sandbox", "for --unsafe-full-access")
CONFIG = Flag(
    "--config",
    "to keep it from asking, and from reporting home",
    drops=("approval_controls",),
    loss="analytics, the update check and keys in its tools' environment stay as configured",
)
COLOR = Flag("--color", "for plain output")
CD = Flag("--cd", "to name the worktree, where it is started anyway")
REPO_CHECK = Flag("--skip-git-repo-check", "for a worktree that it does not take for a repository")
DISABLE = Flag("--disable", "to leave its plugins out")
MODEL = Flag("--model", "to choose a model")

TRUSTS_NOBODY = "0.169.0"
"""Before it (0.134.0 to 0.165.0 were tried) Codex starts the MCP servers of a repository that the
user never trusted. Told not to trust it, 0.165.0 leaves AGENTS.md out as well; 0.134.0 does not."""

FORKS = "0.169.0"
"""The version in which `codex exec fork` was run; it keeps the sandbox that stands before it."""

UNTRUSTED = '{trust_level="untrusted"}'

SETTINGS = names(
    "analytics.enabled=false check_for_update_on_startup=false"
    " shell_environment_policy.ignore_default_excludes=false"
    " sandbox_workspace_write.exclude_slash_tmp=true"
)

READ_ONLY_GIT = (
    "--no-network rests on Codex's own sandbox, which then holds its .git read-only: it can change"
    " files, and not commit, stash or check out"
)
"""Codex runs gits of its own outside of that sandbox, and a filter that one session has put into
.git would run with them (0.169.0)."""

# ---- Codex's failures told apart by their words: its JSON carries a message and nothing else.

# In this order: a 403 on the WebSocket is a proxy's, and Codex goes on over HTTPS. `\A(?>.*?x).*y`
# looks behind the first x alone: with each of them, a text of many would be searched for hours.
_FAILURES: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, reason, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for kind, reason, pattern in (
        ("AgentFailed", "network", r"\A(?>.*?unexpected status (?!401)\d++ ).*url: wss?://"),
        ("AuthMissing", "sign_in", r"unexpected status 40[13] |^missing environment variable"),
        ("AuthMissing", "sign_in", r"not logged in|sign in again|log out and sign in"),
        ("AuthMissing", "sign_in", r"access token could not be refreshed|refresh token was"),
        ("AgentFailed", "context_overflow", r"ran out of room in the model's context window"),
        ("AgentFailed", "prompt_too_large", r"input exceeds the maximum length"),
        ("AgentFailed", "quota", r"quota exceeded|insufficient_quota"),
        ("AgentFailed", "rate_limit", r"hit your usage limit|rate limit (?:exceeded|reached)"),
        ("AgentFailed", "rate_limit", r"status:? 429 |429 too many requests"),
        (
            "AgentFailed",
            "model",
            r"\A(?>.*?\bmodel\b).*(?:does not exist|is not supported|not found)",
        ),
        (
            "AgentFailed",
            "overloaded",
            r"experiencing high demand|at capacity|unexpected status 5\d\d ",
        ),
        ("AgentFailed", "network", r"stream disconnected|connection failed|error sending request"),
    )
)
_WAIT = re.compile(
    r"try again in (?:(\d{1,6})h ?)?(?:(\d{1,6})m(?!s) ?)?(?:(\d{1,9}(?:\.\d{1,9})?)(ms|s))?"
)
_END = 20_000
"""Characters at either end of a message in which is looked for what it stands for."""
_LENGTH = re.compile(r'"max_chars":(\d{1,12}),"actual_chars":(\d{1,12})')


def trouble(message: str) -> AgentEvent:
    """What `message` stands for; `agent_error` where nobody knows."""
    ends = message if len(message) <= 2 * _END else f"{message[:_END]}\n{message[-_END:]}"
    for kind, reason, pattern in _FAILURES:
        if pattern.search(ends):
            return build.failed(kind, reason, message, _numbers(reason, ends))
    return build.failed("AgentFailed", "agent_error", message)


def _numbers(reason: str, message: str) -> dict[str, float]:
    numbers: dict[str, float] = {}
    status = re.search(r"status:? (\d{3}) ", message)
    if status:
        numbers["status"] = int(status[1])
    if reason == "rate_limit":
        numbers |= _wait(message)
    length = _LENGTH.search(message)
    if length:
        numbers |= {"limit": int(length[1]), "length": int(length[2])}
    return numbers


def _wait(message: str) -> dict[str, float]:
    match = _WAIT.search(message)
    if match is None or not any(match.groups()):
        return {}
    hours, minutes, amount, unit = match.groups()
    seconds = float(amount or 0) / (1000 if unit == "ms" else 1)
    return {"retry_after": int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds}


# ---- Codex's `exec --json`, read as events. Seen in 0.169.0.

_RETRY = re.compile(r"^Reconnecting\.\.\. (\d+)/(\d+) \((.*)\)$", re.DOTALL)
_STATUS = re.compile(r"\b(?:status:? )(\d{3})\b")
# The first place in a line alone: with each of them, a line of many would be searched for hours.
_NO_SANDBOX = re.compile(
    r"^bwrap: |^(?>.*?Landlock).*(?:not|fail)|^(?>.*?sandbox).*(?:EPERM|not permitted)", re.M
)
_REJECTED = re.compile(r"patch rejected: |rejected by user approval settings")
_NOT_APPLIED = re.compile(r"apply_patch verification failed")
_KINDS = {"add": "Add", "delete": "Delete", "update": "Edit"}


class CodexStream(JsonStream):
    """One attempt's stream. Its ending is held: some denials are told on stderr alone."""

    label = "Codex"
    edits = ("apply_patch",)

    def __init__(self) -> None:
        super().__init__()
        self._thread = ""
        self._closed = RecentIds()
        self._before = RecentIds()
        self._retried = False
        self._worked = False
        self._no_sandbox = ""
        self._trouble: AgentEvent | None = None
        self._completed = False
        self._last_text = ""
        self._readers = {
            "thread.started": self._started,
            "turn.started": self._notice,
            "turn.completed": self._turn_completed,
            "turn.failed": self._turn_failed,
            "error": self._error,
            "item.started": self._item,
            "item.updated": self._item,
            "item.completed": self._item,
        }

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What it applied, from its own record; then its ending, with stderr's denials."""
        events = self._applied(files.get(ROLLOUT, b""))
        stderr = stderr_of(files)
        if self._completed:
            return [*events, *self._over(stderr)]
        seen = self._trouble or _fatal(stderr, exit)
        return [*events, seen] if seen else events

    # the turn

    def _started(self, line: Object) -> list[AgentEvent]:
        self._thread = string(line, "thread_id")
        return [build.session(session=self._thread)]

    def _notice(self, line: Object) -> list[AgentEvent]:
        return build.notice(string(line, "type"))

    def _turn_completed(self, line: Object) -> list[AgentEvent]:
        self._completed, self._trouble = True, None
        usage = mapping(line, "usage")
        events = tokens(usage, "input_tokens", "output_tokens", "cached_input_tokens")
        return [*events, *self.closing()]

    def _turn_failed(self, line: Object) -> list[AgentEvent]:
        self._completed = False
        self._trouble = trouble(string(mapping(line, "error"), "message"))
        return _at_once(self._trouble) or self.closing()

    def _error(self, line: Object) -> list[AgentEvent]:
        """`error` alone ends nothing: the CLI may still be trying."""
        text = string(line, "message")
        match = _RETRY.match(text)
        seen = trouble(match[3] if match else text)
        refused = _at_once(seen)
        if match is None:
            self._trouble = seen
            return refused or build.notice("error", text)
        self._retried = True
        status = _STATUS.search(match[3])
        return refused or [
            build.progress(
                "retry",
                attempt=int(match[1][:9]),
                of=int(match[2][:9]),
                status=int(status[1]) if status else None,
                retry_after=mapping(seen.data, "numbers").get("retry_after"),
                text=match[3],
            )
        ]

    # items

    def _item(self, line: Object) -> list[AgentEvent]:
        item = mapping(line, "item")
        kind, id = string(item, "type"), string(item, "id")
        over = string(line, "type") == "item.completed"
        if over and id in self._closed:
            return []
        if kind in _TEXTS:
            return self._text(item, id) if over else []
        if kind in ("todo_list", "error"):
            return self._aside(item, kind, id if over else "")
        if kind not in _TOOLS:
            return unknown({"type": "item", "subtype": kind})
        events = self._tools.call(id, _TOOLS[kind], _summary(kind, item))
        return [*events, *self._closing(item, kind, id)] if over else events

    def _text(self, item: Object, id: str) -> list[AgentEvent]:
        self._closed.add(id)
        text, sub = string(item, "text"), _TEXTS[string(item, "type")]
        # A stream that broke and was tried again says the same once more, under a new id.
        mark = f"{sub}:{hash(text)}"
        if self._retried and mark in self._before:
            return []
        self._before.add(mark)
        if not sub:
            self._last_text = text
        return build.message(text, sub)

    def _aside(self, item: Object, kind: str, id: str) -> list[AgentEvent]:
        if id:
            self._closed.add(id)
        done = [entry for entry in objects(item, "items") if entry.get("completed") is True]
        plan = f"{len(done)} of {len(objects(item, 'items'))} steps done"
        text = plan if kind == "todo_list" else string(item, "message")
        return build.notice(kind, text)

    def _closing(self, item: Object, kind: str, id: str) -> list[AgentEvent]:
        status, code = string(item, "status"), integer(item, "exit_code")
        output = string(item, "aggregated_output")
        ok = status in ("completed", "") and code in (0, None)
        self._worked = self._worked or ok
        if not ok and _NO_SANDBOX.search(output):
            self._no_sandbox = build.one_line(output)
        failure = string(mapping(item, "error"), "message")
        summary = output or failure or (f"exit {code}" if code is not None else status)
        denied = status == "declined"
        return self._tools.answer(id, _TOOLS[kind], summary, ok=ok, denied=denied)

    # the end

    def _over(self, stderr: str) -> list[AgentEvent]:
        if self._no_sandbox and not self._worked:
            # It changed nothing, says that it is done, and exits with 0.
            text = f"its own sandbox does not start: {self._no_sandbox}"
            return [build.failed("SpawnFailed", "sandbox_broken", text)]
        lines = stderr.splitlines()
        self._tools.denials += ["apply_patch" for line in lines if _REJECTED.search(line)]
        self._tools.failed_edits += sum(1 for line in lines if _NOT_APPLIED.search(line))
        return self._done(self._last_text)

    def _applied(self, rollout: bytes) -> list[AgentEvent]:
        context: Object = {}
        for raw in rollout.split(b"\n"):
            if b'"turn_context"' in raw[:200]:
                try:
                    line = decode(raw) or {}
                except MalformedLine:
                    continue
                context = mapping(line, "payload") or context
        if not context or self._thread.encode() not in rollout:
            return []
        sandbox = string(mapping(context, "sandbox_policy"), "type")
        model = string(context, "model")
        return [build.session(session=self._thread, model=model, sandbox=sandbox)]


def _at_once(seen: AgentEvent) -> list[AgentEvent]:
    """A refused sign-in ends the lane now, not after the CLI's own five retries."""
    return [seen] if seen.data["error"] == "AuthMissing" else []


_TEXTS = {"agent_message": "", "reasoning": "thinking"}
_TOOLS = {
    "command_execution": "shell",
    "file_change": "apply_patch",
    "mcp_tool_call": "mcp",
    "web_search": "web_search",
    "collab_tool_call": "agent",
}


def _summary(kind: str, item: Object) -> str:
    if kind == "command_execution":
        return build.command(string(item, "command"))
    if kind == "file_change":
        return _changes(objects(item, "changes"))
    if kind == "mcp_tool_call":
        return f"{string(item, 'server')} {string(item, 'tool')}"
    if kind == "web_search":
        return f"Search {string(item, 'query')}"
    return string(item, "tool") or "agent"


def _changes(changes: list[Object]) -> str:
    if not changes:
        return "Edit"
    first = changes[0]
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    path = build.path(string(first, "path"), "")
    return f"{_KINDS.get(string(first, 'kind'), 'Edit')} {path}{more}"


def _fatal(stderr: str, exit: ExitStatus) -> AgentEvent | None:
    """A last word on stderr, where the turn never started: `Error: ...` (exit 1)."""
    if exit.code != 1:
        return None
    lines = [line for line in stderr.splitlines() if line.startswith("Error: ")]
    return trouble(lines[-1].removeprefix("Error: ")) if lines else None


class Codex(CliAdapter):
    """`codex exec --json --sandbox ... -`, the prompt on stdin. Refused where the network is to be
    off and no sandbox of its own is there to keep it off."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^codex(?:-cli)? (\d+(?:\.\d+)+\S*)"), re.compile(r"Codex")
    )
    table = named_flags(globals())
    stream = CodexStream
    help_probe = "exec_help"
    # More is refused with `input_too_large` (0.169.0).
    prompt_limit = (1_048_576, "characters")

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probe `sandbox` as well: whether its own sandbox starts."""
        sandbox = probes.get("sandbox")
        if sandbox is None or sandbox.exit_code == 0:
            return super().detect(binary, probes)
        broken = SpawnFailed(
            "Codex's own sandbox does not start here: it would change nothing and say that it"
            " is done",
            adapter=self.key(),
            command=sandbox.argv,
            stderr=sandbox.stderr,
            hint="allow unprivileged user namespaces here; `codex sandbox -- true` must exit 0",
            reason="sandbox_broken",
        )
        return read(self._reading(binary, probes), extra=(broken,))

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """The line; behind the user's own words a session to go on with, and where the prompt is.

        After `resume` it refuses --sandbox, and would fall back to read-only (0.169.0).
        """
        built = super().build_command(request, result)
        return replace(built, args=(*built.args, *self._session(request, result), "-"))

    def _session(self, request: SpawnRequest, result: DetectResult) -> list[str]:
        if not request.resume:
            return []
        session = as_session(request.resume, adapter=self.key())
        if request.fork and older(result.version, FORKS):
            raise self.cannot(
                f"OpenAI Codex {result.version} cannot go on with a copy of a session",
                f"update it: {self.descriptor.install_hint}",
            )
        return ["fork" if request.fork else "resume", session]

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.args.append("exec")
        line.add(JSON)
        line.add(COLOR, COLOR.name, "never")
        line.add(REPO_CHECK)
        line.add(CD, CD.name, str(request.worktree))
        if not line.add(DISABLE, DISABLE.name, "plugins"):
            line.args += ("-c", "features.plugins=false")
        self._permission(line, request)
        self._settings(line, request)
        line.need(MODEL, request.model)

    def _permission(self, line: CommandBuilder, request: SpawnRequest) -> None:
        permission = request.permission
        if permission is Permission.CONFIG:
            return
        line.expected.append(("sandbox", MODES[permission]))
        if permission is Permission.UNRESTRICTED:
            if request.network is False:
                raise self.cannot(
                    "Codex's tools cannot be kept off the network: nothing confines it with"
                    " --unsafe-full-access",
                    "leave out --no-network or --unsafe-full-access",
                )
            line.need(BYPASS)
            return
        if SANDBOX.name not in line.options:
            raise line.gone(SANDBOX.name, SANDBOX.purpose)
        line.add_value(SANDBOX, MODES[permission])

    def _settings(self, line: CommandBuilder, request: SpawnRequest) -> None:
        settings = list(SETTINGS)
        if request.permission not in (Permission.UNRESTRICTED, Permission.CONFIG):
            settings.insert(0, "approval_policy=never")
        if request.effort:
            settings.append(f"model_reasoning_effort={EFFORTS[request.effort]}")
        if request.service_tier:
            settings.append(f"service_tier={self.descriptor.service_tiers[request.service_tier]}")
        settings += self._network(line, request)
        if older(line.version, TRUSTS_NOBODY):
            settings.append(f"projects={{{json.dumps(str(request.worktree))}={UNTRUSTED}}}")
            line.warnings.append(
                f"OpenAI Codex {line.version} would run the repository's own MCP commands; told"
                " not to trust it, it may leave AGENTS.md out: update it"
            )
        if CONFIG.name not in line.options and request.network is not None:
            raise line.gone(CONFIG.name, "to turn its tools' network on or off")
        if CONFIG.name not in line.options and (request.effort or request.service_tier):
            raise line.gone(CONFIG.name, "to say how hard it thinks, or its service tier")
        line.add(CONFIG, *(term for setting in settings for term in ("-c", setting)))

    def _network(self, line: CommandBuilder, request: SpawnRequest) -> list[str]:
        if request.network is None or request.permission is Permission.UNRESTRICTED:
            return []
        if request.network and request.permission is Permission.PLAN:
            line.warnings.append("Codex's read-only sandbox has no network, --network or not")
            return []
        allowed = str(request.network).lower()
        settings = [f"sandbox_workspace_write.network_access={allowed}"]
        if not request.network and request.permission is not Permission.PLAN:
            line.warnings.append(READ_ONLY_GIT)
        return settings if request.network else [*settings, "web_search=disabled"]


ADAPTER = Codex()
