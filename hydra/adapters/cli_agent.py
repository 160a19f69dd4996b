"""What Hydra's own adapters have in common: a CLI that is known by its help text and led by flags.

Nobody has to derive from it: an adapter is whatever has the shape of `contract.Adapter`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hydra.adapters.command_line import CommandBuilder, Flag, without_lost
from hydra.adapters.contract import Descriptor, Parser
from hydra.adapters.detection import AgentIdentity, ProbeReading, read
from hydra.adapters.prompts import as_stdin, no_command, prefaced
from hydra.errors import UnsupportedFlag
from hydra.records.agent import BuiltCommand, CapabilitySet, DetectResult, ProbeOutput, SpawnRequest


class CliAdapter:
    """Base of the adapters: a subclass gives these four and `_compose`."""

    descriptor: Descriptor
    identity: AgentIdentity
    table: Sequence[Flag]
    """Every flag that its lines may have."""
    stream: type[Parser]
    """Reads what it writes: one for each attempt."""
    help_probe = "help"
    """The probe that shows the flags."""
    prompt_limit = (10_000_000, "bytes")
    """What it takes on stdin at most, in its own unit; the default is more than any model reads."""
    has_commands = False
    """Whether it takes a task that begins as one of its own commands for that command."""

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        """Puts what was asked for on the line, into its environment and its files."""
        raise NotImplementedError

    def _prompt(self, request: SpawnRequest) -> str:
        """What goes to its stdin."""
        prompt = prefaced(request.preface, request.prompt)
        return no_command(prompt) if self.has_commands else prompt

    def key(self) -> str:
        """The name users type."""
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the descriptor's probes, whichever were run."""
        return read(self._reading(binary, probes))

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        """The descriptor's, less those whose flags are gone."""
        return without_lost(self.descriptor.capabilities, self.table, flags)

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """The line, and the prompt on stdin. Raises `UnsupportedFlag` where a flag that is needed
        is gone, `AgentError` for what this agent cannot be given."""
        line = self.line(result)
        self._compose(line, request)
        limit, unit = self.prompt_limit
        prompt = as_stdin(self._prompt(request), adapter=self.key(), limit=limit, unit=unit)
        return line.command(request, result, stdin=prompt)

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        return self.stream()

    def line(self, result: DetectResult) -> CommandBuilder:
        """An empty line, to which the flags that were found can be added."""
        descriptor = self.descriptor
        return CommandBuilder(
            descriptor.key,
            descriptor.label,
            result.flags,
            hint=descriptor.install_hint,
            version=result.version,
        )

    def cannot(self, message: str, hint: str) -> UnsupportedFlag:
        """The error for what this CLI has no way to do, whatever its version; `hint` says what to
        do instead."""
        return UnsupportedFlag(message, adapter=self.key(), hint=hint, reason="capability")

    def _reading(self, binary: str, probes: Mapping[str, ProbeOutput]) -> ProbeReading:
        return ProbeReading(
            descriptor=self.descriptor,
            identity=self.identity,
            table=self.table,
            binary=binary,
            probes=probes,
            help=self.help_probe,
        )
