"""Text on a screen of a known width, or of none: then it stays one line."""

from __future__ import annotations

from hydra.reporters.text import wrap


def wrapped(said: str, width: int | None, indent: int = 0, least: int = 10) -> list[str]:
    """`said` in lines that leave `indent` of `width` cells free; on a screen that is too narrow
    they are `least` wide all the same."""
    return [said] if width is None else wrap(said, max(width - indent, least))


def paragraph(said: str, width: int | None) -> list[str]:
    """`said` in lines of `width`; none where nothing is said."""
    return wrapped(said, width) if said else []


def bullets(remarks: list[str], width: int | None) -> list[str]:
    """Each remark once, as an indented item wrapped to `width`."""
    lines = []
    for remark in dict.fromkeys(remarks):
        first, *rest = wrapped(remark, width, 4)
        lines += [f"  - {first}", *(f"    {line}" for line in rest)]
    return lines
