"""Hermes Agent, experimental: one shot, its final text on stdout, its figures in a file beside.

The prompt is a word of its line, `--oneshot=...`: it reads a task from neither stdin nor a file
(its ACP server does, docs/reference/agents/others.md). Seen in runs of 0.19.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters import event_builders, failures
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import Flag
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import (
    ConfigFolder,
    Descriptor,
    Parser,
    Probe,
)
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.json_stream import (
    JsonStream,
    MalformedLine,
    Object,
    decode,
    integer,
    number,
    string,
)
from hydra.adapters.prompts import prefaced
from hydra.errors import AgentError
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
from hydra.records.request import Permission

# ---- Hermes Agent as data: what its help text, its source and runs of 0.19.0 say of it.

USAGE_FILE = "hermes-usage.json"

_KEYS = (
    "OPENROUTER_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_TOKEN",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "NOUS_API_KEY",
    "GLM_API_KEY",
    "KIMI_API_KEY",
    "MINIMAX_API_KEY",
    "DEEPSEEK_API_KEY",
    "XAI_API_KEY",
)

DESCRIPTOR = Descriptor(
    key="hermes",
    label="Hermes Agent",
    homepage="https://hermes-agent.nousresearch.com",
    tier=Tier.EXPERIMENTAL,
    tagline="An assistant with files, a terminal, skills and a memory; asked once here",
    binaries=("hermes",),
    protocol="argv",
    stream_format="text",
    sandbox="soft",
    install_hint="python -m pip install hermes-agent",
    sign_in_hint="run `hermes setup`, or set the key of a provider (OPENROUTER_API_KEY, ...)",
    exit_codes={
        0: "it ended by itself: also where its key was refused",
        1: "it gave no answer; stderr says why",
        2: "it did not understand its command line, or failed without a word",
    },
    minimum_version="0.19.0",
    side_files=(USAGE_FILE,),
    capabilities=CapabilitySet(
        plain_text=Capability(True, note="--oneshot"),
        force_edit_mode=Capability(True, note="one shot approves everything"),
        approval_controls=Capability(True, note="--toolsets"),
        emits_usage=Capability(True, note="--usage-file"),
    ),
    environment=(
        *_KEYS,
        "HERMES_HOME",
        "HERMES_INFERENCE_MODEL",
        "HERMES_INFERENCE_PROVIDER",
        "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL",
        "OPENROUTER_BASE_URL",
    ),
    secret_environment=_KEYS,
    sign_in_environment=_KEYS,
    config=ConfigFolder(
        variable="HERMES_HOME",
        default=".hermes",
        credentials=("auth.json", ".env"),
        copied=("config.yaml", "SOUL.md", "skills", "memories", "models_dev_cache.json"),
    ),
    probes=(
        Probe(name="version", args=("--version",), timeout=45),
        Probe(name="help", args=("--help",), timeout=45),
    ),
    # No mode of its own reads and never writes: plan is refused.
    modes={
        Permission.EDIT: "file",
        Permission.FULL_AUTO: "file,terminal,todo",
        Permission.UNRESTRICTED: "coding",
        Permission.CONFIG: "",
    },
)


ONESHOT = Flag(
    name="--oneshot",
    purpose="to run without a terminal",
    required=True,
    drops=("plain_text", "force_edit_mode"),
)
USAGE = Flag(
    name="--usage-file",
    purpose="to know whether it failed: its exit code does not tell",
    required=True,
    drops=("emits_usage",),
)
MODEL = Flag(name="--model", purpose="to choose a model")
TOOLSETS = Flag(
    name="--toolsets",
    purpose="to give it no more tools than asked for",
    drops=("approval_controls",),
)
TABLE = (ONESHOT, USAGE, MODEL, TOOLSETS)

ENVIRONMENT = (("PYTHONUNBUFFERED", "1"),)

PROMPT_BYTES = 128 * 1024 - 16
"""What Linux takes as one word of a line, less the option's name."""

SEEN = (
    "hermes takes its task on its command line: other users of this machine can read it while"
    " the agent runs"
)


class Hermes(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        version=re.compile(r"^Hermes Agent v(\d+\.\d+\.\d+\S*) ", re.MULTILINE),
        help=re.compile(r"^Hermes Agent - ", re.MULTILINE),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """`hermes --toolsets=file,terminal,todo --usage-file F --oneshot=PROMPT`.

        Raises `UnsupportedFlag` where a flag that is needed is gone; `AgentError` for a prompt that
        can be no word of a command line.
        """
        home = lane_home(request)
        line = self.line(result)
        line.warnings.append(SEEN)
        line.add(USAGE, f"{USAGE.name}={home / USAGE_FILE}")
        toolsets = self.descriptor.modes[request.permission]
        if toolsets and not line.add(TOOLSETS, f"{TOOLSETS.name}={toolsets}"):
            raise line.gone(TOOLSETS.name, TOOLSETS.purpose)
        if request.model and not line.add(MODEL, f"{MODEL.name}={request.model}"):
            raise line.gone(MODEL.name, MODEL.purpose)
        line.add(ONESHOT, f"{ONESHOT.name}={self._prompt_argument(request)}")
        return line.command(request, result, env=ENVIRONMENT)

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""

        return HermesText()

    def _prompt_argument(self, request: SpawnRequest) -> str:
        text = prefaced(request.preface, request.prompt)
        length = len(text.encode("utf-8", "surrogateescape"))
        if length > PROMPT_BYTES:
            raise AgentError(
                f"the task has {length} bytes; hermes takes at most {PROMPT_BYTES} on its line",
                adapter=self.key(),
                hint="put the long part into a file of the repository and name it in the task",
                reason="prompt_too_large",
                numbers={"limit": PROMPT_BYTES, "length": length},
            )
        if "\x00" in text or not text.strip():
            raise AgentError(
                "hermes takes its task on its command line, and this one cannot stand there",
                adapter=self.key(),
                hint="write the task as text, without NUL bytes",
                reason="prompt",
            )
        return text


ADAPTER = Hermes()


# ---- What Hermes prints in one shot, its final text alone, and the usage file that it writes
# beside.
#
# Its exit is 0 where its key was refused: the text then is the error, and the file says `failed`.

_TEXT_LIMIT = 64 * 1024
"""Characters of its answer that are told at the end."""

_NONE: Object = {}


class HermesText(JsonStream):
    """One attempt's output: every line is said, and the file tells the rest."""

    label = "Hermes Agent"

    def __init__(self) -> None:
        super().__init__()
        self._answer = ""

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line of its answer. Never raises."""
        text = line.decode("utf-8", "replace").strip("\x00\r\n")
        if not text.strip():
            return []
        self.understood += 1
        if len(self._answer) < _TEXT_LIMIT:
            self._answer = f"{self._answer}\n{text}"[:_TEXT_LIMIT]
        return event_builders.message(text)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What it used and how it ended, by its usage file."""
        document = _document(files.get(USAGE_FILE, b""))
        session = event_builders.session(
            session=string(document, "session_id"), model=string(document, "model")
        )
        events = [session] if session.data else []
        events += _usage(document)
        answer = self._answer.strip()
        if document.get("failed") is True:
            text = string(document, "failure") or event_builders.one_line(answer)
            return [*events, failures.failure(text)]
        if document.get("completed") is True and answer:
            return [*events, event_builders.completed(answer, denials=[], failed_items=0)]
        if document.get("completed") is False and answer:
            return [*events, event_builders.failed("AgentFailed", "max_turns", _short(answer))]
        return events


def _document(data: bytes) -> Object:
    try:
        return decode(data) or _NONE
    except MalformedLine:
        return _NONE


def _usage(document: Object) -> list[AgentEvent]:
    """Its input is without what came from a cache; Hydra's is with it."""
    fresh, cached = integer(document, "input_tokens"), integer(document, "cache_read_tokens")
    written = integer(document, "cache_write_tokens") or 0
    return event_builders.usage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + written,
        output_tokens=integer(document, "output_tokens"),
        cached_tokens=cached,
        cost_usd=number(document, "estimated_cost_usd") or None,
    )


def _short(text: str) -> str:
    return f"it stopped before it was done: {event_builders.one_line(text)}"
