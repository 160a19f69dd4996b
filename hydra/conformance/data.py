"""Data that people write (TOML), read by its type, with an error that says where a slip stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from msgspec import ValidationError

from hydra.errors import ConfigError


@contextmanager
def naming(where: str) -> Iterator[None]:
    """What the body finds to be wrong in some data as a `ConfigError` that begins with `where`."""
    try:
        yield
    except (ValidationError, ValueError, TypeError) as error:
        raise ConfigError(f"{where}: {error}") from error


def among(term: str, names: Collection[str], what: str) -> None:
    """Raises `ValueError` for a word that is not one of `names`, and names those."""
    if term not in names:
        text = ", ".join(name or '""' for name in names)
        raise ValueError(f"{what} {term!r} is unknown; known: {text}")
