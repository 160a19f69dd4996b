"""pi, talked to by `--mode rpc` instead of run once: the same CLI, the same line but for that.

What is asked and answered is in `protocols/pi_rpc.py`. Seen in 0.73.1.
"""

from __future__ import annotations

from dataclasses import replace

from hydra.adapters.contract import Conversation, Parser
from hydra.adapters.pi import MODE, PRINT, Pi
from hydra.adapters.pi_descriptor import DESCRIPTOR
from hydra.adapters.protocols.pi_rpc import PiRpc, PiRpcStream
from hydra.model import BuiltCommand, Capability, DetectResult, SpawnRequest

_PRINTING = (PRINT.name, MODE.name, "json")
_TALKING = (MODE.name, "rpc")


class PiOverRpc(Pi):
    """The adapter."""

    descriptor = replace(
        DESCRIPTOR,
        key="pi-rpc",
        label="pi (rpc)",
        tagline="pi over its own protocol: it is asked at the end what the session has cost",
        protocol="pi-rpc",
        converses=True,
        capabilities=replace(
            DESCRIPTOR.capabilities,
            json_stream=Capability(True, note="--mode rpc"),
            emits_usage=Capability(True, note="its own count of the session's totals"),
        ),
        exit_codes={
            0: "its stdin ended: the stream tells how its work did",
            1: "a bad command line, no such session",
            143: "stopped by SIGTERM",
        },
    )

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`pi --mode rpc --no-extensions ...`; the prompt is sent in the conversation.

        Raises as `Pi.build_command`.
        """
        built = super().build_command(request, found)
        assert built.args[: len(_PRINTING)] == _PRINTING
        return replace(built, args=(*_TALKING, *built.args[len(_PRINTING) :]))

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation for one attempt."""
        prompt = (command.stdin or b"").decode("utf-8", "surrogateescape")
        return PiRpc(self.descriptor.label, prompt)

    def parser(self) -> Parser:
        """Reads a recorded stream: pi's side of a conversation."""
        return PiRpcStream(self.descriptor.label)


ADAPTER = PiOverRpc()
