"""Which options a hint names that the command which prints it has not: they do not work there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import click

from hydra.cli.group import COMMANDS, hydra

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def foreign_options(command: str, text: str) -> list[str]:
    """In the hint that ends `text`; of a clause that names another command, or git, the other's."""
    _, found, hint = text.rpartition("\nhint: ")
    return [*_foreign(command, _QUOTED.sub("", hint))] if found else []


def _foreign(command: str, hint: str) -> Iterator[str]:
    known = frozenset().union(*map(_options, COMMANDS))
    for clause in re.split(r"; |, | or ", " ".join(hint.split())):
        named = re.search(r"\bhydra ([a-z]+)", clause)
        own = _options(named[1] if named else command)
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", clause):
            if option in known - own and "git " not in clause:
                yield option


@cache
def _options(command: str) -> frozenset[str]:
    found = hydra.get_command(click.Context(hydra), command)
    below = getattr(found, "commands", {}).values()
    rows = [param for each in (found, *below) if each for param in each.params]
    return frozenset(name for row in rows for name in (*row.opts, *row.secondary_opts))
