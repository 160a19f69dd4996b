"""Hermes Agent, experimental: one shot, its final text on stdout, its figures in a file beside.

The prompt is a word of its line, `--oneshot=...`: it reads a task from neither stdin nor a file
(its ACP server does, docs/agents/hermes.md). Seen in runs of 0.19.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity, Reading, read
from hydra.adapters.flags import Flag, Line, without_lost
from hydra.adapters.hermes_facts import DESCRIPTOR, USAGE_FILE
from hydra.adapters.prompts import prefaced
from hydra.errors import AgentError, UnsupportedFlag
from hydra.model import (
    BuiltCommand,
    CapabilitySet,
    DetectResult,
    ProbeOutput,
    SpawnRequest,
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


class Hermes:
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^Hermes Agent v(\d+\.\d+\.\d+\S*) ", re.MULTILINE),
        help=re.compile(r"^Hermes Agent - ", re.MULTILINE),
    )

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes `version` and `help`."""
        return read(
            Reading(
                descriptor=self.descriptor,
                identity=self.identity,
                table=TABLE,
                binary=binary,
                probes=probes,
            )
        )

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The descriptor's, less those whose flags are gone."""
        return without_lost(self.descriptor.capabilities, TABLE, flags)

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`hermes --toolsets=file,terminal,todo --usage-file F --oneshot=PROMPT`.

        Raises `UnsupportedFlag` where a flag is gone, and for what hermes has nothing for;
        `AgentError` for a prompt that can be no word of a command line.
        """
        self._refuse(request)
        home = request.home or request.worktree.parent / "home"
        line = Line(
            self.key(), self.descriptor.label, found.flags, hint=self.descriptor.install_hint
        )
        line.add(USAGE, f"{USAGE.name}={home / USAGE_FILE}")
        toolsets = self.descriptor.modes[request.permission]
        if toolsets and not line.add(TOOLSETS, f"{TOOLSETS.name}={toolsets}"):
            raise line.gone(TOOLSETS.name, TOOLSETS.purpose)
        if request.model and not line.add(MODEL, f"{MODEL.name}={request.model}"):
            raise line.gone(MODEL.name, MODEL.purpose)
        line.add(ONESHOT, f"{ONESHOT.name}={self._word(request)}")
        return BuiltCommand(
            program=str(found.binary),
            args=(*line.args, *request.extra_args),
            env=ENVIRONMENT,
            cwd=request.worktree,
            dropped=tuple(line.dropped),
            warnings=(SEEN, *line.warnings),
        )

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
                raise UnsupportedFlag(
                    f"hermes has no option that {what}",
                    adapter=self.key(),
                    hint=f"race it {instead}",
                    reason="capability",
                )


ADAPTER = Hermes()
