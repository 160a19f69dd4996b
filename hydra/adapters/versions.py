"""Version numbers as CLIs print them: found in a text, compared, looked up as broken."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NUMBERS = re.compile(r"\d+")


def parts(version: str) -> tuple[int, ...]:
    """The numbers of `version` up to the first suffix: `2.1.330-beta.1` gives (2, 1, 330)."""
    return tuple(
        int(n) for n in _NUMBERS.findall(re.split(r"[-+ ]", version.strip(), maxsplit=1)[0])
    )


def order(version: str) -> tuple[tuple[int, ...], bool, str]:
    """What sorts versions: numbers as numbers, a beta before its release."""
    return parts(version), "-" not in version, version


def older(version: str, than: str) -> bool:
    """Whether `version` comes before `than`; an empty one on either side never does."""
    left, right = parts(version), parts(than)
    return bool(left) and bool(right) and left < right


def broken(version: str, table: Mapping[str, str]) -> str:
    """Why `version` is known not to work, or nothing. A key `<X` stands for all before X."""
    for key, reason in table.items():
        if key.startswith("<") and older(version, key[1:]):
            return reason
        if key == version:
            return reason
    return ""
