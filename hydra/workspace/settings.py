"""All the settings folders of one agent, as one lane's copies: one for most, several for some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hydra.adapters.contract import ConfigFolder
from hydra.workspace import sidefile
from hydra.workspace.credentials import ConfigCopy, give_back_left

Named = tuple[ConfigFolder, str | None]
"""A folder, and the value of its variable in the user's environment, if that is set."""


class Settings:
    """The copies of one agent's folders, the first being its configuration."""

    def __init__(self, folders: Sequence[Named], *, home: Path, place: Path) -> None:
        """`home` is the user's; the copies lie in `place`, the lane's own."""
        self.copies = [
            ConfigCopy(folder, home=home, named=named, place=_apart(place, number))
            for number, (folder, named) in enumerate(folders)
        ]

    @property
    def binds(self) -> tuple[tuple[Path, Path], ...]:
        """(copy, original place) for each, in the order in which they are laid: what lies deeper
        comes later. Of two for one place the first is laid last, and holds: a folder that Hydra
        knows gives its sign-in back, one that the user names does not."""
        laid = [pair for copy in reversed(self.copies) for pair in copy.binds]
        return tuple(sorted(laid, key=lambda pair: len(pair[1].parts)))

    @property
    def variables(self) -> dict[str, str]:
        """Every folder's variable, and its copy as its value."""
        return {copy.variable: str(copy.value) for copy in self.copies if copy.variable}

    def missing(self) -> dict[str, str]:
        """The same for those alone whose original is not there: nothing can be laid over it."""
        moved = [copy for copy in self.copies if copy.variable]
        return {copy.variable: str(copy.value) for copy in moved if not copy.source.exists()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, in sentences."""
        return tuple(dict.fromkeys(note for copy in self.copies for note in copy.notes))

    def make(self) -> None:
        """Copies what is wanted of each."""
        for copy in self.copies:
            copy.make()

    def changed(self) -> bool:
        """Whether a credentials file is another than at the last look."""
        return any(copy.changed() for copy in self.copies)

    def give_back(self) -> None:
        """Refreshed credentials to the user's own folders."""
        for copy in self.copies:
            copy.give_back()

    def take_in(self) -> None:
        """The user's credentials, moved since."""
        for copy in self.copies:
            copy.take_in()

    def lent(self) -> list[dict[str, object]]:
        """What `give_back_left` needs, for each."""
        return [copy.lent() for copy in self.copies]

    def side_file(self, pattern: str) -> bytes:
        """The newest file that fits, of the first copy that has one; b"" where none has."""
        found = (sidefile.newest(copy.copy, pattern) for copy in self.copies)
        return next(filter(None, found), b"")


def give_back_all(lent: object) -> None:
    """As `Settings.give_back`, by what `lent()` gave; an older record has one folder alone."""
    for one in lent if isinstance(lent, list) else [lent]:
        if isinstance(one, Mapping) and one:
            give_back_left(one)


def _apart(place: Path, number: int) -> Path:
    # Two folders of one agent may have the same name: .config/opencode, .local/share/opencode.
    return place / f"more-{number}" if number else place
