"""The message of a landed commit: the task's title or the user's own words, then trailers that
say which agents, which models and which race it came from."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TRAILER = re.compile(r"Hydra-[A-Za-z]+: .*")


def message_of(patches: Sequence[str], own: str | None = None) -> str:
    """`patches` are the messages of the lanes' commits; `own` takes the place of their title."""
    trailers = dict.fromkeys(line for text in patches for line in _trailers(text))
    title = own if own is not None else "\n".join(_body(patches[0]))
    return f"{title.strip()}\n\n" + "".join(f"{line}\n" for line in _ordered(trailers))


def _trailers(text: str) -> list[str]:
    return [line for line in text.splitlines() if _TRAILER.fullmatch(line)]


def _body(text: str) -> list[str]:
    return [line for line in text.splitlines() if not _TRAILER.fullmatch(line)]


def _ordered(trailers: dict[str, None]) -> list[str]:
    """The run last: several lanes have it in common."""
    return sorted(trailers, key=lambda line: line.startswith("Hydra-Run:"))
