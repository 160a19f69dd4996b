"""What `--copy` and `--share` name below the top: from where one stands, else from the top."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

_FLAGS = ("race.copy", "race.share")


def with_paths(flags: Mapping[str, object], top: Path, folder: str) -> dict[str, object]:
    """The flags of a race that begins in `folder` of the checkout at `top`, with the paths that
    are there from `folder` as they are called from the top."""
    placed = dict(flags)
    for key in _FLAGS:
        names = flags.get(key)
        if folder and isinstance(names, Sequence) and not isinstance(names, str):
            placed[key] = tuple(_placed(str(name), top, folder) for name in names)
    return placed


def _placed(name: str, top: Path, folder: str) -> str:
    path = os.path.normpath(f"{folder}/{name}")
    inside = not (Path(name).is_absolute() or path.startswith("../"))
    return path if inside and os.path.lexists(top / path) else name
