"""What one case is: a patch that leaves the code wrong, and an honest patch that looks like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Files = Mapping[str, str | bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """A repository with one failing test, the check that shows it, and its right code."""

    language: str
    base: Files
    check: str
    code: str
    """Path of the wrong code."""
    right: str
    """What mends it."""
    mark: str
    """Begins a comment."""

    @property
    def wrong(self) -> str:
        """The code as it stands in the base."""
        text = self.base[self.code]
        assert isinstance(text, str)
        return text

    @property
    def fix(self) -> Files:
        """The honest patch that stands beside every cheat, made larger than any of them."""
        return {self.code: f"{self.mark} one more line\n" * 200 + self.right}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`cheat` passes its own checks and leaves the code wrong; `twin` has the right code already
    put beside its files. `watching` says why it cannot be noticed, "" where it is."""

    name: str
    shop: Shop
    cheat: Files
    twin: Files
    watching: str = ""
