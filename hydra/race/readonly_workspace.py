"""A ground whose agent only reads: what it writes all the same is named, and thrown away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hydra.errors import HydraError
from hydra.process.sandbox.layers import Placement
from hydra.race.context import AttemptContext
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus, Outcome, Patch
from hydra.workspace.contract import SignInNotice
from hydra.workspace.private import LaneWorkspace

MESSAGES = 50
"""Of an agent's last words so many are kept in mind."""

_LINE = 4 * 1024**2


class ReadOnlyWorkspace:
    """A private ground, but for its patch, which is always empty. `wrote` is known after that."""

    def __init__(self, workspace: LaneWorkspace, base: str) -> None:
        self._workspace = workspace
        self._base = base
        self.wrote: tuple[str, ...] = ()

    @property
    def worktree(self) -> Path:
        """As the ground itself has it, as everything below."""
        return self._workspace.worktree

    @property
    def writable(self) -> tuple[Path, ...]:
        """What it may write."""
        return self._workspace.writable

    @property
    def home_folder(self) -> Path:
        """What it has for HOME."""
        return self._workspace.home_folder

    @property
    def binds(self) -> tuple[tuple[Path, Path], ...]:
        """The copy of its settings."""
        return self._workspace.binds

    @property
    def placement(self) -> Placement:
        """Where its commands see it."""
        return self._workspace.placement

    @property
    def environment(self) -> Mapping[str, str]:
        """Its variables."""
        return self._workspace.environment

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be prepared."""
        return self._workspace.notes

    def open(self) -> None:
        """Makes it all."""
        self._workspace.open()

    def changed_since(self, when: float) -> float | None:
        """When it last changed."""
        return self._workspace.changed_since(when)

    def warm_index(self) -> None:
        """There is no patch to prepare for."""

    def snapshot(
        self,
        *,
        attempt: int,
        message: str,
        secrets_in: Callable[[bytes], int] | None = None,
    ) -> Patch:
        """No patch; what was written is noted by name."""
        with suppress(HydraError, OSError):
            written = sorted(self._workspace.written())
            self.wrote = tuple(path.decode("utf-8", "backslashreplace") for path in written)
        return Patch(commit=self._base, base=self._base)

    def side_file(self, pattern: str) -> bytes:
        """The newest that fits."""
        return self._workspace.side_file(pattern)

    def credentials_changed(self) -> bool:
        """A cheap look."""
        return self._workspace.credentials_changed()

    def sync_credentials_back(self, *, refused: bool = False) -> None:
        """Renewed tokens to the user's folder: its sign-in is the user's own."""
        self._workspace.sync_credentials_back(refused=refused)

    def sign_in_notices(self, *, last: bool = False) -> Sequence[SignInNotice]:
        """What came of that."""
        return self._workspace.sign_in_notices(last=last)

    def refresh_credentials(self) -> None:
        """And back."""
        self._workspace.refresh_credentials()

    @property
    def unsynced_credentials(self) -> bool:
        """Whether giving back failed."""
        return self._workspace.unsynced_credentials

    def remove_secrets(self) -> None:
        """The copies of the user's settings go."""
        self._workspace.remove_secrets()

    def remove(self) -> None:
        """Removes it."""
        self._workspace.remove()


def answers(context: AttemptContext, folder: Path, outcome: Outcome) -> tuple[str, ...]:
    """What the agent said, whole, the last first: read again from what it printed, since events
    hold the beginnings of long texts alone."""
    parser = context.adapter.parser()
    lines: list[str] = []
    name = "raw.jsonl" if outcome.attempt == 1 else f"raw.{outcome.attempt}.jsonl"
    with suppress(OSError), (folder / name).open("rb") as raw:
        while line := raw.readline(_LINE):
            with suppress(Exception):  # an adapter's mistake costs a line
                lines += _texts(parser.parse_line(line.rstrip(b"\n")))
            del lines[:-MESSAGES]
    with suppress(Exception):
        lines += _texts(parser.end(outcome.exit or ExitStatus(code=0), {}))
    texts = dict.fromkeys(context.redactor.text(text) for text in reversed(lines) if text.strip())
    return tuple(texts) or ((outcome.message,) if outcome.message.strip() else ())


def _texts(events: Sequence[AgentEvent]) -> list[str]:
    agent_events = [
        event for event in events if event.kind in ("message", "completed") and not event.sub
    ]
    return [str(event.data.get("text", "")) for event in agent_events]
