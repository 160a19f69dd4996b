"""What Hydra's own adapters have in common: a CLI that is known by its help text and led by flags.

Nobody has to derive from it: an adapter is whatever has the shape of `contract.Adapter`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hydra.adapters.command_line import CommandBuilder, Flag, without_lost
from hydra.adapters.contract import Descriptor
from hydra.adapters.detection import AgentIdentity, ProbeReading, read
from hydra.errors import UnsupportedFlag
from hydra.records.agent import CapabilitySet, DetectResult, ProbeOutput


class CliAdapter:
    """Base of the adapters: a subclass gives these three, `build_command` and `parser`."""

    descriptor: Descriptor
    identity: AgentIdentity
    table: Sequence[Flag]
    """Every flag that its lines may have."""

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the descriptor's probes, whichever were run; `help` is the one with the flags."""
        return read(
            ProbeReading(
                descriptor=self.descriptor,
                identity=self.identity,
                table=self.table,
                binary=binary,
                probes=probes,
            )
        )

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The descriptor's, less those whose flags are gone."""
        return without_lost(self.descriptor.capabilities, self.table, flags)

    def line(self, result: DetectResult) -> CommandBuilder:
        """An empty line, to which the flags that were found can be added."""
        descriptor = self.descriptor
        return CommandBuilder(
            descriptor.key, descriptor.label, result.flags, hint=descriptor.install_hint
        )

    def cannot(self, message: str, hint: str) -> UnsupportedFlag:
        """The error for what this CLI has no way to do, whatever its version; `hint` says what to
        do instead."""
        return UnsupportedFlag(message, adapter=self.key(), hint=hint, reason="capability")
