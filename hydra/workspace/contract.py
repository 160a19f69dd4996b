"""What the rest of Hydra knows of a lane's ground."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from hydra.process.sandbox.layers import Placement
from hydra.records.outcome import Patch


class SignInNotice(NamedTuple):
    """What came of a lane's renewed sign-in: `fields` of the user's own `file` are renewed, or it
    stays as it is, by `refusal`. `stray` and `consumed` are as in `Renewal`."""

    file: Path
    fields: tuple[str, ...] = ()
    refusal: str = ""
    stray: bool = False
    consumed: bool = False


class Workspace(Protocol):
    """One lane's ground. Every method blocks; callers use a thread."""

    @property
    def worktree(self) -> Path:
        """Where the agent stands: a checkout of the base, named like the user's repository."""

    @property
    def writable(self) -> tuple[Path, ...]:
        """Every folder that the agent may write."""

    @property
    def home_folder(self) -> Path:
        """What its processes have for their HOME where something confines them. Confinement makes
        it, and makes it anew; it goes with the ground."""

    @property
    def binds(self) -> tuple[tuple[Path, Path], ...]:
        """(copy, original place) of the agent's settings, for confinement to lay over."""

    @property
    def placement(self) -> Placement:
        """Where its commands see the worktree, and what beside it; known after `open`."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for the agent: temporary files, caches, its settings where unconfined."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a person on what could not be prepared; known after `open`."""

    def open(self) -> None:
        """Makes it all. Raises `Refused`; what was made goes with `remove`."""

    def changed_since(self, when: float) -> float | None:
        """When the worktree last changed, if after `when` (wall-clock seconds); else None."""

    def warm_index(self) -> None:
        """Prepares the snapshot while the agent thinks; once, over a second after `open`."""

    def snapshot(
        self,
        *,
        attempt: int,
        message: str,
        secrets_in: Callable[[bytes], int] | None = None,
    ) -> Patch:
        """Takes the patch. Raises `WorktreeLost`; all other trouble is the patch's incomplete.

        `secrets_in` counts secrets: a file that holds more than before is named in the notes.
        """

    def side_file(self, pattern: str) -> bytes:
        """The newest file of the agent's settings that fits `pattern`, capped; b"" where none."""

    def credentials_changed(self) -> bool:
        """Whether the agent wrote its credentials since they were last looked at: a cheap look."""

    def sync_credentials_back(self, *, refused: bool = False) -> None:
        """Renewed tokens go to the user's folder, unless the user's own have moved; `refused`: by
        the lane's own word its service refused the sign-in."""

    def sign_in_notices(self, *, last: bool = False) -> Sequence[SignInNotice]:
        """What went back since this was last called; at `last` also what is refused, which might
        have gone back later (a refusal of the service is seen after its renewal)."""

    def refresh_credentials(self) -> None:
        """Credentials that another lane gave back come into this one."""

    @property
    def unsynced_credentials(self) -> bool:
        """Whether `sync_credentials_back` failed at last, or refused what may be renewed: it is
        here alone."""

    def remove_secrets(self) -> None:
        """Removes the copies of the user's settings and sign-in, and what the agent wrote beside
        them; its work stays. Raises `OSError`."""

    def remove(self) -> None:
        """Removes the ground, whatever permissions the agent left. Raises `OSError`."""
