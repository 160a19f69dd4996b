"""Agents that speak the Agent Client Protocol: one adapter, a row of `acp_agents.py` for each.

What they are asked and told is in `protocols/acp.py`; here is how they are started. The protocol's
own words (session, mode, model) are chosen while it is spoken, from what the agent offers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from hydra.adapters.acp_agents import ROWS
from hydra.adapters.acp_row import Row
from hydra.adapters.contract import Conversation, Descriptor, Parser
from hydra.adapters.detecting import Reading, read
from hydra.adapters.flags import Line, without_lost
from hydra.adapters.prompts import as_session, as_stdin, prefaced
from hydra.errors import UnsupportedFlag
from hydra.model import (
    BuiltCommand,
    CapabilitySet,
    DetectResult,
    Permission,
    ProbeOutput,
    SpawnRequest,
)

PROMPT_BYTES = 10_000_000
"""The longest prompt that is sent: the agents name no limit of their own."""


class AcpAgent:
    """The adapter of one row."""

    def __init__(self, row: Row) -> None:
        self.row = row

    @property
    def descriptor(self) -> Descriptor:
        """The agent as data."""
        return self.row.descriptor

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes `version` and `help`: the sign-in is found out in the conversation."""
        return read(
            Reading(
                descriptor=self.descriptor,
                identity=self.row.identity,
                table=self.row.flags,
                binary=binary,
                probes=probes,
            )
        )

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The descriptor's, less those whose flags are gone."""
        return without_lost(self.descriptor.capabilities, self.row.flags, flags)

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`gemini --acp` and its like; what else is wanted goes into the conversation.

        Raises `UnsupportedFlag` where a required flag is gone, and for what no agent is told by
        this protocol: a network that is off, and permissions that it has no mode for.
        """
        self._check(request)
        row = self.row
        line = Line(self.key(), row.descriptor.label, found.flags, row.descriptor.install_hint)
        home = request.home or request.worktree.parent / "home"
        line.args.extend(row.words)
        for flag, words in row.options:
            line.add(flag, *(word.replace("{home}", str(home)) for word in words))
        mode = row.manner.modes.get(request.permission, ())[:1]
        named = () if request.effort is None else (("effort", str(request.effort)),)
        return BuiltCommand(
            program=str(found.binary),
            args=(*line.args, *request.extra_args),
            env=(
                *((name, value.replace("{home}", str(home))) for name, value in row.environment),
                *row.by_permission(request),
            ),
            cwd=request.worktree,
            stdin=as_stdin(
                prefaced(request.preface, request.prompt),
                adapter=self.key(),
                limit=PROMPT_BYTES,
                unit="bytes",
            ),
            files=tuple((home / name, data) for name, data in row.files.items()),
            dialogue=self._dialogue(request),
            dropped=tuple(line.dropped),
            warnings=(*line.warnings, *row.warnings),
            expects=(*(("permission", word) for word in mode), *named),
        )

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation for one attempt."""
        from hydra.adapters.protocols.acp import AcpConversation
        from hydra.adapters.protocols.acp_wish import Wish

        told = dict(command.dialogue)
        wish = Wish(
            root=str(command.cwd),
            prompt=(command.stdin or b"").decode("utf-8", "replace"),
            permission=Permission(told["permission"]),
            model=told.get("model", ""),
            effort=told.get("effort", ""),
            resume=told.get("resume", ""),
            fork="fork" in told,
            meta=json.loads(told.get("meta", "{}")),
        )
        return AcpConversation(self.row.manner, wish)

    def parser(self) -> Parser:
        """Reads a recorded stream: the agent's side of a conversation."""
        from hydra.adapters.protocols.acp import AcpConversation

        return AcpConversation(self.row.manner)

    def _check(self, request: SpawnRequest) -> None:
        label = self.descriptor.label
        if request.network is False:
            raise self._cannot(
                f"{label} has no switch that keeps its tools off the network",
                "race it without --no-network",
            )
        if request.resume and not self.descriptor.capabilities.session_resume.present:
            raise self._cannot(f"{label} does not go on with a session", "begin a new one")
        if request.permission not in self.descriptor.modes:
            known = ", ".join(str(permission) for permission in self.descriptor.modes)
            raise self._cannot(
                f"{label} has nothing for the permission {request.permission}",
                f"it takes {known}",
            )

    def _cannot(self, message: str, hint: str) -> UnsupportedFlag:
        return UnsupportedFlag(message, adapter=self.key(), hint=hint, reason="capability")

    def _dialogue(self, request: SpawnRequest) -> tuple[tuple[str, str], ...]:
        told = [("permission", str(request.permission))]
        if request.model:
            told.append(("model", request.model))
        if request.effort is not None:
            told.append(("effort", self.descriptor.efforts[request.effort]))
        if request.resume:
            told.append(("resume", as_session(request.resume, adapter=self.key())))
        if request.fork:
            told.append(("fork", "yes"))
        if meta := self.row.meta(request):
            told.append(("meta", json.dumps(meta)))
        return tuple(told)


ADAPTERS: tuple[AcpAgent, ...] = tuple(AcpAgent(row) for row in ROWS)
