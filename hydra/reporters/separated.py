"""Tests that an agent was asked for: the input that separates patches, and what each gives."""

from __future__ import annotations

from hydra.reporters.fields import Data, record, records, text
from hydra.reporters.text import clean, cut, pad, plural
from hydra.reporters.text import width as cells

SHOWN, LINES = 5, 24
"""Tests that are shown, and lines of each test's own text."""


def separated(verdict: Data, width: int | None) -> list[str]:
    """A block for a terminal; nothing where nobody was asked."""
    told = record(verdict, "separated")
    tests, shown = records(told, "tests"), records(told, "shown")
    if not tests:
        return []
    agent = clean(text(told, "agent"))
    if not shown:
        return [f"{plural(len(tests), 'test')} of {agent}'s: none tells the leading patches apart"]
    lines = [f"{len(shown)} of {plural(len(tests), 'test')} of {agent}'s tell patches apart"]
    for one in shown[:SHOWN]:
        lines += [_fit(f"  {clean(text(one, 'id'))}", width), *_source(one, width)]
        lines += _gives(record(one, "gives"), width)
    if shown[SHOWN:]:
        lines.append(f"  and {len(shown) - SHOWN} more")
    return lines


def _source(one: Data, width: int | None) -> list[str]:
    lines = clean(text(one, "source"), multiline=True).split("\n")
    kept = [*lines[:LINES], *(["..."] if lines[LINES:] else [])]
    return [_fit(f"    | {line}".rstrip(), width) for line in kept if line or lines != [""]]


def _gives(gives: Data, width: int | None) -> list[str]:
    names = {lane: clean(lane) for lane in gives}
    wide = max((cells(name) for name in names.values()), default=0)
    lines = []
    for lane, name in names.items():
        told = clean(text(gives, lane), multiline=True).split("\n")
        lines.append(_fit(f"    {pad(name, wide)}  {told[0].strip()}", width))
        lines += [_fit(f"    {' ' * wide}  {line.strip()}", width) for line in told[1:]]
    return lines


def _fit(line: str, width: int | None) -> str:
    return line if width is None else cut(line, width)
