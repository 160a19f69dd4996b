"""What a failed command misses that the checkout has and a lane has not, as it travels."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from hydra.config.check_specs import typed
from hydra.text import shell_quoted

VARIABLE = "HYDRA_CHECKS_ENVIRONMENT"
"""What passes checks variables of the user's shell."""


class Lack(Struct, frozen=True):
    """`names`: a path from the checkout's top, or those of which it is not known which is meant;
    or variables. `what` they are is a clause.

    `option` brings it, with each of `values`: paths, or a command, from the top; of `VARIABLE`, all
    that checks are to be passed by name. `show` is a line of the user's hydra.toml that is needed
    as well, or "".
    """

    names: tuple[str, ...]
    what: str
    option: str
    values: tuple[str, ...]
    show: str = ""

    @property
    def name(self) -> str:
        """All its names, as a sentence has them."""
        return (" and " if self.option == VARIABLE else " or ").join(self.names)

    def line(self, folder: str) -> str:
        """What brings it, as one types it in `folder` of the checkout."""
        if self.option == VARIABLE:
            return f"export {VARIABLE}={shell_quoted(','.join(self.values))}"
        return options(self.option, self.values, folder)

    def told_of(self, who: str, folder: str) -> str:
        """The sentence; `who` misses it: "a check"."""
        line = self.line(folder)
        if self.option == VARIABLE:
            way = f"{line} passes {'it' if len(self.names) == 1 else 'them'} on"
        elif self.option == "--setup":
            way = f"{line} builds it"
        elif self.show:
            way = f"{line} and {self.show} bring it"
        else:
            way = f"{line} {'brings' if len(self.values) == 1 else 'bring'} it"
        return f"{who} misses {self.name}, {self.what}: {way}"


def of_shell(names: Iterable[str], values: Iterable[str]) -> Lack:
    """Variables of the user's shell; `values` are passed already."""
    unique = tuple(dict.fromkeys(names))
    are = "a variable" if len(unique) == 1 else "variables"
    passed = tuple(dict.fromkeys((*values, *unique)))
    return Lack(unique, f"{are} of your shell that checks are not given", VARIABLE, passed)


def joined(lacks: Iterable[Lack]) -> list[Lack]:
    """Each option once, and all variables of the shell in one: a second line undoes the first."""
    lack_by_way: dict[tuple[str, ...], Lack] = {}
    for lack in lacks:
        is_shell = lack.option == VARIABLE
        way = (lack.option,) if is_shell else (lack.option, *lack.values)
        earlier = lack_by_way.get(way, lack)
        if is_shell:
            lack = of_shell(earlier.names + lack.names, earlier.values + lack.values)
        lack_by_way[way] = lack if is_shell else earlier
    return [*lack_by_way.values()]


def options(option: str, values: Iterable[str], folder: str) -> str:
    """An option with each of these, paths or commands from the top, as one types it in `folder`."""
    if option == "--setup":
        values = (typed(value, folder) for value in values)
    elif folder:
        values = (os.path.relpath(f"/{value}", f"/{folder}") for value in values)
    return " ".join(f"{option} {shell_quoted(value)}" for value in values)
