"""OpenCode as a server that Hydra talks to on loopback, instead of a program that is run once.

What is said is in `protocols/opencode_http.py`; settings, rules and folders are `opencode.py`'s.
Seen in 1.18.33.
"""

from __future__ import annotations

from dataclasses import replace

from hydra.adapters.contract import Conversation, Parser
from hydra.adapters.flags import Pairs
from hydra.adapters.opencode import LEVEL, LOGS, PURE, RULES, OpenCode
from hydra.adapters.opencode_descriptor import DESCRIPTOR
from hydra.adapters.prompts import as_session
from hydra.adapters.protocols.opencode_http import OpenCodeConversation, Wish
from hydra.adapters.protocols.opencode_server import OpenCodeServerStream
from hydra.model import BuiltCommand, Capability, DetectResult, Permission, SpawnRequest

PASSWORD = "OPENCODE_SERVER_PASSWORD"  # noqa: S105  a variable's name
"""Made for each attempt: the loopback is every lane's, and a rival could talk to the server."""

_AGENTS = {Permission.PLAN: "plan", Permission.EDIT: "build"}
_ALLOWED = (Permission.FULL_AUTO, Permission.UNRESTRICTED)


class OpenCodeServer(OpenCode):
    """The adapter."""

    descriptor = replace(
        DESCRIPTOR,
        key="opencode-http",
        label="OpenCode (server)",
        tagline="OpenCode as a server of the lane's own, which tells its work as it goes on",
        protocol="http",
        stream_format="json-lines",
        converses=True,
        # Shown by `opencode serve --help`, which no probe asks for.
        hidden_flags={"--hostname": ("1.18.33", "1.18.33")},
        capabilities=replace(
            DESCRIPTOR.capabilities,
            json_stream=Capability(True, note="server-sent events; a tool is told as it begins"),
            force_edit_mode=Capability(True, note="Hydra answers what its tools ask"),
            approval_controls=Capability(True, note="it asks, and Hydra answers"),
            session_resume=Capability(True, note="/session/ID, /session/ID/fork"),
        ),
        exit_codes={
            0: "it was sent away",
            1: "a bad command line, or its port was taken",
            130: "stopped by SIGINT",
            143: "stopped by SIGTERM",
        },
    )

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`opencode serve --hostname 127.0.0.1 --port 0 ...`; the prompt is sent by HTTP.

        Raises as `OpenCode.build_command`.
        """
        built = super().build_command(request, found)
        # It tries 4096 first all the same: where it listens is what it prints.
        args = ["serve", "--hostname", "127.0.0.1", "--port", "0"]
        args += [PURE.name] if PURE.name in found.flags else []
        if LOGS.name in found.flags:
            args.append(LOGS.name)
            args += [LEVEL.name, "ERROR"] if LEVEL.name in found.flags else []
        return replace(
            built,
            args=(*args, *request.extra_args),
            dialogue=self._dialogue(request),
            fresh=(PASSWORD,),
        )

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation for one attempt."""
        told = dict(command.dialogue)
        return OpenCodeConversation(
            Wish(
                prompt=(command.stdin or b"").decode("utf-8", "surrogateescape"),
                password=told.get(PASSWORD, ""),
                allow="allow" in told,
                agent=told.get("agent", ""),
                model=told.get("model", ""),
                variant=told.get("variant", ""),
                resume=told.get("resume", ""),
                fork="fork" in told,
            )
        )

    def parser(self) -> Parser:
        """Reads a recorded stream: what the server answered and told."""
        return OpenCodeServerStream()

    def _dialogue(self, request: SpawnRequest) -> Pairs:
        told = []
        if request.permission in _ALLOWED:
            told.append(("allow", "yes"))
        if request.permission in RULES:
            told.append(("agent", _AGENTS[request.permission]))
        if request.model:
            told.append(("model", request.model))
        if request.effort is not None:
            told.append(("variant", self.descriptor.efforts[request.effort]))
        if request.resume:
            told.append(("resume", as_session(request.resume, adapter=self.key())))
        if request.fork:
            told.append(("fork", "yes"))
        return tuple(told)


ADAPTER = OpenCodeServer()
