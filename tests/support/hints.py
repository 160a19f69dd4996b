"""Which options a hint names that the command which prints it has not: they do not work there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from tests.support.golden_text import FOLDER

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def foreign_options(command: str, text: str) -> list[str]:
    """In the hint that ends `text`; of a clause that names another command, or git, the other's."""
    _, found, hint = text.rpartition("\nhint: ")
    return [*_foreign(command, _QUOTED.sub("", hint))] if found else []


def _foreign(command: str, hint: str) -> Iterator[str]:
    options = _options()
    known = frozenset().union(*options.values())
    for clause in re.split(r"; |, | or ", " ".join(hint.split())):
        named = re.search(r"\bhydra ([a-z]+)", clause)
        own = options.get(named[1] if named else command, frozenset())
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", clause):
            if option in known - own and "git " not in clause:
                yield option


@cache
def _options() -> dict[str, frozenset[str]]:
    """Each command's, those of what is below it too, as its help has them."""
    options: dict[str, frozenset[str]] = {}
    for page in re.split(r"(?m)^\$ hydra (?=[a-z])", (FOLDER / "help.txt").read_text())[1:]:
        name = page.split(maxsplit=1)[0]
        rows = re.findall(r"(?m)^[ +] +(?:-\w, )?(--[a-z-]+)(?: / (--[a-z-]+))?", page)
        options[name] = options.get(name, frozenset()) | {*sum(rows, ())} - {""}
    return options
