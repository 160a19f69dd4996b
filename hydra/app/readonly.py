"""A ground whose agent only reads: what it writes all the same is named, and thrown away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hydra.bench import Bench
from hydra.errors import HydraError
from hydra.events import AgentEvent
from hydra.model import ExitStatus, Outcome, Patch
from hydra.sandbox.layers import Placement
from hydra.workspace import PrivateGround, SignInNotice

MESSAGES = 50
"""Of an agent's last words so many are kept in mind."""

_LINE = 4 * 1024**2


class Ground:
    """A private ground, but for its patch, which is always empty. `wrote` is known after that."""

    def __init__(self, ground: PrivateGround, base: str) -> None:
        self._ground = ground
        self._base = base
        self.wrote: tuple[str, ...] = ()

    @property
    def worktree(self) -> Path:
        """As the ground itself has it, as everything below."""
        return self._ground.worktree

    @property
    def writable(self) -> tuple[Path, ...]:
        """What it may write."""
        return self._ground.writable

    @property
    def home_folder(self) -> Path:
        """What it has for HOME."""
        return self._ground.home_folder

    @property
    def binds(self) -> tuple[tuple[Path, Path], ...]:
        """The copy of its settings."""
        return self._ground.binds

    @property
    def config_variables(self) -> Mapping[str, str]:
        """The variables that name it."""
        return self._ground.config_variables

    @property
    def placement(self) -> Placement:
        """Where its commands see it."""
        return self._ground.placement

    @property
    def environment(self) -> Mapping[str, str]:
        """Its variables."""
        return self._ground.environment

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be prepared."""
        return self._ground.notes

    def open(self) -> None:
        """Makes it all."""
        self._ground.open()

    def instructions(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those that are there."""
        return self._ground.instructions(names)

    def changed_since(self, when: float) -> float | None:
        """When it last changed."""
        return self._ground.changed_since(when)

    def settle(self) -> None:
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
            written = sorted(self._ground.written())
            self.wrote = tuple(path.decode("utf-8", "backslashreplace") for path in written)
        return Patch(commit=self._base, base=self._base)

    def side_file(self, pattern: str) -> bytes:
        """The newest that fits."""
        return self._ground.side_file(pattern)

    def credentials_changed(self) -> bool:
        """A cheap look."""
        return self._ground.credentials_changed()

    def give_back(self, *, refused: bool = False) -> None:
        """Renewed tokens to the user's folder: its sign-in is the user's own."""
        self._ground.give_back(refused=refused)

    def sign_in_notices(self, *, last: bool = False) -> Sequence[SignInNotice]:
        """What came of that."""
        return self._ground.sign_in_notices(last=last)

    def take_in(self) -> None:
        """And back."""
        self._ground.take_in()

    @property
    def owes(self) -> bool:
        """Whether giving back failed."""
        return self._ground.owes

    def forget(self) -> None:
        """The copies of the user's settings go."""
        self._ground.forget()

    def remove(self) -> None:
        """Removes it."""
        self._ground.remove()


def answers(bench: Bench, folder: Path, outcome: Outcome) -> tuple[str, ...]:
    """What the agent said, whole, the last first: read again from what it printed, since events
    hold the beginnings of long texts alone."""
    parser = bench.adapter.parser()
    said: list[str] = []
    name = "raw.jsonl" if outcome.attempt == 1 else f"raw.{outcome.attempt}.jsonl"
    with suppress(OSError), (folder / name).open("rb") as raw:
        while line := raw.readline(_LINE):
            with suppress(Exception):  # an adapter's mistake costs a line
                said += _texts(parser.parse_line(line.rstrip(b"\n")))
            del said[:-MESSAGES]
    with suppress(Exception):
        said += _texts(parser.end(outcome.exit or ExitStatus(code=0), {}))
    texts = dict.fromkeys(bench.redactor.text(text) for text in reversed(said) if text.strip())
    return tuple(texts) or ((outcome.message,) if outcome.message.strip() else ())


def _texts(events: Sequence[AgentEvent]) -> list[str]:
    told = [it for it in events if it.kind in ("message", "completed") and not it.sub]
    return [str(it.data.get("text", "")) for it in told]
