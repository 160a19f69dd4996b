"""Patches without names: which is A and which B is a matter of what they hold, and of the run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from itertools import product
from string import ascii_uppercase

from msgspec import Struct

LIMIT = 200_000
"""Characters of all patches together in a prompt: what every model that is asked has room for."""

LINE = 2000
"""Characters of one line that are shown."""

NOBODY = "agent"
"""What stands where a patch names who made it."""


class AnonymousPatches(Struct, frozen=True, kw_only=True):
    """The patches as a model sees them. `lanes` and `texts` go by letter. `mark` stands around each
    text: no patch can hold it by chance."""

    lanes: Mapping[str, str]
    texts: Mapping[str, str]
    mark: str


def unnamed(
    run: str, patches: Mapping[str, str], names: Collection[str] = (), limit: int = LIMIT
) -> AnonymousPatches:
    """`patches` (git's diffs, by lane) in an order that tells nothing of the lanes.

    `names` are words that would tell who made a patch and that are the project's own nowhere.
    """
    order = sorted(patches, key=lambda lane: (_mixed(run, patches[lane]), lane))
    letters = ("".join(row) for size in (1, 2) for row in product(ascii_uppercase, repeat=size))
    lanes = dict(zip(letters, order, strict=False))
    scrubbed = {letter: scrub(patches[lane], names) for letter, lane in lanes.items()}
    room = _shares({letter: len(text) for letter, text in scrubbed.items()}, limit)
    return AnonymousPatches(
        lanes=lanes,
        texts={letter: cut(text, room[letter]) for letter, text in scrubbed.items()},
        mark=_mixed(run, *patches.values())[:16],
    )


def _mixed(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def scrub(text: str, names: Iterable[str]) -> str:
    """`text` with each of `names`, where it stands as a word, made `agent`."""
    terms = sorted({name for name in names if len(name) > 1}, key=lambda name: (-len(name), name))
    if not terms:
        return text
    line = "|".join(re.escape(term) for term in terms)
    return re.sub(rf"(?<![A-Za-z0-9_])(?:{line})(?![A-Za-z0-9_])", NOBODY, text, flags=re.I)


def _shares(sizes: Mapping[str, int], limit: int) -> dict[str, int]:
    """Room for each: what short ones leave goes to the long ones, all of which get the same."""
    room: dict[str, int] = {}
    remaining = limit
    for place, letter in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
        room[letter] = min(sizes[letter], remaining // (len(sizes) - place))
        remaining -= room[letter]
    return room


def cut(text: str, limit: int) -> str:
    """`text` with its middle left out where it is longer, and a line that counts what is gone."""
    lines = [_short(line) for line in text.split("\n")]
    if sum(len(line) + 1 for line in lines) <= limit + 1:
        return "\n".join(lines)
    head, tail = _fitting(lines, limit * 2 // 3), _fitting(lines[::-1], limit // 3)
    gone = lines[head : len(lines) - tail]
    size = sum(len(line) + 1 for line in gone)
    gap = f"[... {len(gone):,} lines of this patch, {size:,} characters, are left out here ...]"
    return "\n".join([*lines[:head], gap, *lines[len(lines) - tail :]])


def _fitting(lines: list[str], limit: int) -> int:
    used = 0
    for count, line in enumerate(lines):
        used += len(line) + 1
        if used > limit:
            return count
    return len(lines)


def _short(line: str) -> str:
    if len(line) <= LINE:
        return line
    return f"{line[:LINE]}[... {len(line) - LINE:,} characters of this line are left out ...]"
