"""Agents that speak the Agent Client Protocol: one adapter, a row of `acp_agents.py` for each.

What they are asked and told is in `protocols/acp.py`; here is how they are started. The protocol's
own words (session, mode, model) are chosen while it is spoken, from what the agent offers.
"""

from __future__ import annotations

import json
from dataclasses import replace

from hydra.adapters.acp_agents import ROWS
from hydra.adapters.acp_row import Row
from hydra.adapters.base import CliAdapter
from hydra.adapters.contract import Conversation, Parser
from hydra.adapters.flags import Pairs
from hydra.adapters.folders import lane_home
from hydra.adapters.prompts import as_session, as_stdin, prefaced
from hydra.model import (
    BuiltCommand,
    DetectResult,
    Permission,
    SpawnRequest,
)

PROMPT_BYTES = 10_000_000
"""The longest prompt that is sent: the agents name no limit of their own."""


class AcpAgent(CliAdapter):
    """The adapter of one row. Whether it is signed in is found out in the conversation."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.descriptor = row.descriptor
        self.identity = row.identity
        self.table = row.flags

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`gemini --acp` and its like; what else is wanted goes into the conversation.

        Raises `UnsupportedFlag` where a required flag is gone, and for what no agent is told by
        this protocol: a network that is off, and permissions that it has no mode for.
        """
        self._check(request)
        row = self.row
        line = self.line(found)
        home = lane_home(request)
        line.args.extend(row.words)
        for flag, words in row.options:
            line.add(flag, *(word.replace("{home}", str(home)) for word in words))
        if not request.masked:
            line.warnings += row.warnings
        mode = () if row.any_mode else row.manner.modes.get(request.permission, ())[:1]
        named = () if request.effort is None else (("effort", str(request.effort)),)
        env = ((name, value.replace("{home}", str(home))) for name, value in row.environment)
        prompt = prefaced(request.preface, request.prompt)
        built = line.command(
            request,
            found,
            env=(*env, *row.by_permission(request)),
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=tuple((home / name, data) for name, data in row.files.items()),
            expects=(*(("permission", word) for word in mode), *named),
        )
        return replace(built, dialogue=self._dialogue(request))

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
        self.check_network(request)
        if request.resume and not self.descriptor.capabilities.session_resume.present:
            raise self.cannot(f"{label} does not go on with a session", "begin a new one")
        if request.permission not in self.descriptor.modes:
            known = ", ".join(str(permission) for permission in self.descriptor.modes)
            raise self.cannot(
                f"{label} has nothing for the permission {request.permission}", f"it takes {known}"
            )

    def _dialogue(self, request: SpawnRequest) -> Pairs:
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
