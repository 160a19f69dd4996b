"""Hermes Agent, experimental: one shot, its final text on stdout, its figures in a file beside.

The prompt is a word of its line, `--oneshot=...`: it reads a task from neither stdin nor a file
(its ACP server does, docs/agents/hermes.md). Seen in runs of 0.19.0.
"""

from __future__ import annotations

import re

from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag
from hydra.adapters.folders import lane_home
from hydra.adapters.hermes_facts import DESCRIPTOR, USAGE_FILE
from hydra.adapters.prompts import prefaced
from hydra.errors import AgentError
from hydra.model import BuiltCommand, DetectResult, SpawnRequest

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
    identity = Identity(
        version=re.compile(r"^Hermes Agent v(\d+\.\d+\.\d+\S*) ", re.MULTILINE),
        help=re.compile(r"^Hermes Agent - ", re.MULTILINE),
    )
    table = TABLE

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`hermes --toolsets=file,terminal,todo --usage-file F --oneshot=PROMPT`.

        Raises `UnsupportedFlag` where a flag is gone, and for what hermes has nothing for;
        `AgentError` for a prompt that can be no word of a command line.
        """
        self._refuse(request)
        home = lane_home(request)
        line = self.line(found)
        line.warnings.append(SEEN)
        line.add(USAGE, f"{USAGE.name}={home / USAGE_FILE}")
        toolsets = self.descriptor.modes[request.permission]
        if toolsets and not line.add(TOOLSETS, f"{TOOLSETS.name}={toolsets}"):
            raise line.gone(TOOLSETS.name, TOOLSETS.purpose)
        if request.model and not line.add(MODEL, f"{MODEL.name}={request.model}"):
            raise line.gone(MODEL.name, MODEL.purpose)
        line.add(ONESHOT, f"{ONESHOT.name}={self._word(request)}")
        return line.command(request, found, env=ENVIRONMENT)

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.hermes_text import HermesText

        return HermesText()

    def _word(self, request: SpawnRequest) -> str:
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

    def _refuse(self, request: SpawnRequest) -> None:
        asked = (
            (request.network is False, "keeps it off the network", "without --no-network"),
            (
                request.permission not in self.descriptor.modes,
                f"is --permission {request.permission.value}",
                "with edit, full-auto or unrestricted",
            ),
            (bool(request.resume), "goes on with a session in one shot", "as a task of its own"),
            (request.effort is not None, "sets an effort in one shot", "without one"),
            (bool(request.service_tier), "chooses a service tier", "without one"),
        )
        for wanted, what, instead in asked:
            if wanted:
                raise self.cannot(f"hermes has no option that {what}", f"race it {instead}")


ADAPTER = Hermes()
