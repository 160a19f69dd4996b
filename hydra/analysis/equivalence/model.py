"""Lanes whose patches are the same, and what several lanes changed."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Group(Struct, frozen=True, kw_only=True):
    """Lanes whose patches are the same: `identical` byte for byte, or `equivalent` but for
    formatting, comments and the order of imports; `alike` pass and fail the same tests."""

    kind: Literal["identical", "equivalent", "alike"]
    lanes: tuple[str, ...]


class Shared(Struct, frozen=True, kw_only=True):
    """A function (or a file, where `name` is "") that several lanes changed."""

    path: str
    name: str
    lanes: tuple[str, ...]
