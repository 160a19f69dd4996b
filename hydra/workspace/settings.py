"""All the settings folders of one agent, as one lane's copies: one for most, several for some."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hydra.adapters.contract import ConfigFolder
from hydra.workspace import sidefile
from hydra.workspace.contract import SignInNotice
from hydra.workspace.credentials import ConfigCopy, give_back_left
from hydra.workspace.trust import withdraw_trust

Named = tuple[ConfigFolder, str | None]
"""A folder, and the value of its variable in the user's environment, if that is set."""


class Settings:
    """The copies of one agent's folders, the first being its configuration."""

    def __init__(self, folders: Sequence[Named], *, home: Path, place: Path) -> None:
        """`home` is the user's; the copies lie in `place`, the lane's own."""
        self.copies = [
            ConfigCopy(folder, home=home, named=named, root=place, below=_below(number))
            for number, (folder, named) in enumerate(folders)
        ]
        self.withheld = False
        """Whether a renewal was refused of which the user's own may be consumed."""
        self._returns: list[SignInNotice] = []
        self._refusals: list[SignInNotice] = []

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

    def make(self, place: Path | None) -> None:
        """Copies what is wanted of each, but for the trust in `place`, at which its lane stands."""
        for copy in self.copies:
            copy.make()
            if place is not None:
                withdraw_trust((copy.copy, copy.copy.parent), copy.trust, place)

    def changed(self) -> bool:
        """Whether a credentials file is another than at the last look."""
        return any(copy.changed() for copy in self.copies)

    def give_back(self, *, refused: bool) -> None:
        """Renewed tokens to the user's own folders."""
        self._refusals = []
        for copy in self.copies:
            for notice in copy.give_back(refused=refused):
                (self._returns if notice.fields else self._refusals).append(notice)
        self.withheld = any(notice.consumed for notice in self._refusals)

    def sign_in_notices(self, *, last: bool) -> list[SignInNotice]:
        """What went back since then, each once; at `last` also what is refused."""
        notices, self._returns = self._returns, []
        return [*notices, *(self._refusals if last else ())]

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


def give_back_all(lent: object, *, refused: bool) -> list[SignInNotice]:
    """As `Settings.give_back`, by what `lent()` gave. Raises `OSError`, and `KeyError` and
    `TypeError` for what is none, as an older Hydra's."""
    records = lent if isinstance(lent, list) else []
    return [notice for record in records for notice in give_back_left(record, refused=refused)]


def _below(number: int) -> str:
    # Two folders of one agent may have the same name: .config/opencode, .local/share/opencode.
    return f"more-{number}" if number else ""
