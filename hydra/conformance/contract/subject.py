"""An adapter under test with what was recorded of its CLI, and what one check of it looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path

from msgspec import Struct

from hydra.adapters.contract import Adapter
from hydra.conformance import recorded
from hydra.conformance.recorded import Recording
from hydra.records.agent import DetectResult, ProbeOutput


class Form(Enum):
    """What a CLI's stdout is made of, by its descriptor's `stream_format`."""

    LINES = "one JSON object a line"
    TEXT = "plain text"
    DOCUMENT = "one JSON document, at the end"


class ContractSubject(Struct, frozen=True):
    """An adapter, and the folder in which `<its key>/<version>/` holds its recordings.

    `spec` is how a third party's is found again, `module:NAME`; "" for one of Hydra's own.
    """

    adapter: Adapter
    recordings: Path
    spec: str = ""
    third_party: bool = False

    @property
    def key(self) -> str:
        """The name users type."""
        return self.adapter.descriptor.key

    @property
    def form(self) -> Form:
        """What its stdout is made of."""
        forms = {"text": Form.TEXT, "json": Form.DOCUMENT}
        return forms.get(self.adapter.descriptor.stream_format, Form.LINES)

    @property
    def folder(self) -> Path:
        """Where this agent's versions lie."""
        return self.recordings / self.key

    def versions(self) -> list[Recording]:
        """What was recorded, the oldest version first."""
        return recorded.recordings(self.recordings, self.key)

    def newest(self) -> Recording | None:
        """The newest version that was recorded."""
        return next(reversed(self.versions()), None)

    def probes(self, recording: Recording) -> dict[str, ProbeOutput]:
        """The good answers of a version."""
        return dict(recording.probes(self.adapter.descriptor.probes))

    def detect(
        self, probes: Mapping[str, ProbeOutput], name: str = "", folder: str = "/opt/agents"
    ) -> DetectResult:
        """What the adapter makes of answers, from a program of that name."""
        binary = f"{folder}/{name or self.adapter.descriptor.binaries[0]}"
        return self.adapter.detect(binary, probes)


Whole = Callable[[ContractSubject], Iterable[str]]
Versioned = Callable[[ContractSubject, Recording], Iterable[str]]


class ContractCheck(Struct, frozen=True):
    """One thing that is tried. It yields a sentence for each difference, which names the flag,
    the field or the event; it raises `NotCheckable` where there is nothing to try it on.

    Exactly one of `whole` (once for an adapter) and `versioned` (once a recorded version) is set.
    """

    name: str
    whole: Whole | None = None
    versioned: Versioned | None = None


class NotCheckable(Exception):
    """Why a check could not be made here. It counts as skipped, never as passed."""


NO_RECORDINGS = "no recordings"
