"""Aider, experimental: plain text, one message from a file, edits by what the model says.

It has no tools: the model writes edits as text, and aider applies them to files that are in the
chat; a file that the model names is put there. Its repository map needs git, so git stays on and
every commit of its own is turned off. Seen in runs of 0.86.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from hydra.adapters.aider_facts import DESCRIPTOR, OWN_SETTINGS
from hydra.adapters.aider_line import (
    EFFORT,
    ENVIRONMENT,
    EVENTS,
    EVENTS_FILE,
    MESSAGE,
    MODE,
    MODEL,
    PROMPT_FILE,
    QUIET,
    READ,
    TABLE,
    YES,
    as_message,
)
from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity
from hydra.adapters.folders import lane_home
from hydra.errors import AgentError
from hydra.model import BuiltCommand, DetectResult, Permission, ProbeOutput, SpawnRequest

CONFIGURED = "--model=(named by its own settings)"
"""Stands among the flags that were found where its settings name a model."""

_MODEL = re.compile(r"^  - model: (?!None\s*$)\S", re.MULTILINE)


class Aider(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^aider (\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE),
        help=re.compile(r"aider is AI pair programming", re.IGNORECASE),
    )
    table = TABLE

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes `version`, `help` and `settings`: whether they name a model."""
        found = super().detect(binary, probes)
        settings = probes.get("settings")
        if settings is None or not _MODEL.search(settings.stdout):
            return found
        return replace(found, flags=found.flags | {CONFIGURED})

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`aider --message-file F --yes-always --analytics-log F --no-auto-commits ...`.

        Raises `UnsupportedFlag` where a required flag is gone, and for what aider has nothing for;
        `AgentError` where no model is named: it would wait minutes for a login in a browser.
        """
        self._refuse(request, found)
        home = lane_home(request)
        line = self.line(found)
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
        return line.command(request, found, env=ENVIRONMENT, files=((home / PROMPT_FILE, message),))

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.aider_text import AiderText

        return AiderText()

    def _refuse(self, request: SpawnRequest, found: DetectResult) -> None:
        if not request.model and CONFIGURED not in found.flags:
            raise AgentError(
                "aider has no model of its own: without one it waits minutes for a login in a"
                " browser",
                adapter=self.key(),
                hint="name one, as in -a aider:openai/gpt-5.2, or in ~/.aider.conf.yml",
                reason="model",
            )
        asked = (
            (request.network is False, "keeps it off the network", "without --no-network"),
            (
                request.permission not in self.descriptor.modes,
                f"is --permission {request.permission.value}",
                "with plan, edit, full-auto or unrestricted",
            ),
            (bool(request.resume), "goes on with a session", "without a session to go on with"),
            (
                request.effort is not None and request.effort not in self.descriptor.efforts,
                f"is --effort {request.effort and request.effort.value}",
                "with low, medium or high",
            ),
            (bool(request.service_tier), "chooses a service tier", "without one"),
        )
        for wanted, what, instead in asked:
            if wanted:
                raise self.cannot(f"aider has no option that {what}", f"race it {instead}")


def _own_settings(request: SpawnRequest) -> tuple[str, ...]:
    own = [name for name in OWN_SETTINGS if name in request.instructions]
    if request.masked or not own:
        return ()
    return (
        f"the repository has {' and '.join(own)}: aider has no switch to pass it over, and a server"
        " that it names gets your key",
    )


ADAPTER = Aider()
