"""Lanes whose patches are the same, and what several lanes changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Lanes whose patches are the same: `identical` byte for byte, or `equivalent` but for
    formatting, comments and the order of imports; `alike` pass and fail the same tests."""

    kind: Literal["identical", "equivalent", "alike"]
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A function (or a file, where `name` is "") that several lanes changed."""

    path: str
    name: str
    lanes: tuple[str, ...]
