"""One run of an agent as it can be held against an expectation, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from hydra.conformance.race_run import RacedLane
from hydra.conformance.request_log import LoggedRequest
from hydra.errors import EXIT_NO_AGENT, Failure
from hydra.records.events import Event


class LiveRun(Struct, frozen=True, kw_only=True):
    """What came of one run.

    `lane` is the lane's part of the result (None: there is none), `events` the agent's own, in
    order. `content` gives a file of the patch, None where it has none by that path.
    `requests` are those that the model server got. `hydra` is Hydra's exit code, `stderr` what it
    wrote there. `left` are processes that were still there; `trouble` is why there is nothing to
    look at, or ""; `wrong` is what the runner itself found to differ. `raw` and `raw_stderr` are
    what the CLI wrote. `places` are this run's own paths, which a record has to be scrubbed of:
    what each is called there, by path.
    """

    lane: RacedLane | None = None
    events: Sequence[Event] = ()
    patch: Mapping[str, str] = field(default_factory=dict)
    content: Callable[[str], str | None] = lambda path: None
    requests: Sequence[LoggedRequest] = ()
    hydra: int = 0
    stderr: str = ""
    orphans: Sequence[str] = ()
    trouble: str = ""
    wrong: Sequence[str] = ()
    raw: Path | None = None
    raw_stderr: Path | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[int, Path] = field(default_factory=dict)
    """Side files in the lane's home, by their place in the descriptor."""

    @property
    def status(self) -> str:
        """The lane's, or that none was started."""
        unseen = "not_started" if self.hydra == EXIT_NO_AGENT else ""
        return self.lane.status.value if self.lane else unseen

    @property
    def error(self) -> Failure | None:
        """The lane's error, if it has one."""
        return self.lane.failure if self.lane else None

    def of(self, kind: str, sub: str) -> list[Event]:
        """The events of one kind."""
        return [event for event in self.events if (event.kind, event.sub) == (kind, sub)]

    def first_line(self, kind: str, sub: str) -> str:
        """The line that the first event of the kind was read from; "" where it is not kept."""
        place = next((event.raw for event in self.of(kind, sub)), None)
        if self.raw is None or not place:
            return ""
        with self.raw.open("rb") as reader:
            reader.seek(place.offset)
            return reader.read(place.length).decode("utf-8", "replace").strip()


class Observation(Struct, frozen=True, kw_only=True):
    """One situation as one agent met it, in `run`, whose files are there until the run's folders
    are removed.

    `differences` are sentences, empty where all was as expected; `reason` is why it was not tried,
    or "". `proves` are the dimensions of the matrix that this situation proves where it passed.
    """

    situation: str
    agent: str
    version: str = ""
    run: LiveRun = LiveRun()
    differences: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0
    proves: tuple[str, ...] = ()
