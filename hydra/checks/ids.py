"""Ids that are the same in two runs of one test, wherever and whenever it runs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

LENGTH = 500
"""Characters of an id; a longer one is cut and keeps a hash of the whole."""

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_TEMPORARY = re.compile(
    r"(?<![\w/.-])/(?:tmp|var/tmp|var/folders|private/tmp|private/var|dev/shm)"
    r"(?:/[^/\s\"'\]\),:]+)*"
)
_RANDOM = re.compile(r"tmp\w{6,}|[0-9a-f-]{8,}|\d+")
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
)
_BLANKS = re.compile(r"\s+")
_SCRIPT = re.compile(r"^\S+\.[cm]?[jt]sx?::")
_CLASSES = re.compile(r"^(?:\w+[.#])+(?=test)", re.I)


def own_name(id: str) -> str:
    """What a test is called without its file and what it lies in, with its case in brackets. Where
    that is a title, no mark in it parts anything: `/#abc` of `a.test.ts::cuts > /#abc`."""
    plain, bracket, case = id.partition("[")
    if " > " in plain or _SCRIPT.match(id):
        return _SCRIPT.sub("", id).rpartition(" > ")[2] or id
    last = plain.rpartition("::")[2] or plain
    return _CLASSES.sub("", last) + bracket + case


def stable(raws: Iterable[str], roots: Sequence[str] = ()) -> Mapping[str, str]:
    """Each raw id's stable one; different raw ids stay different.

    Paths under `roots` become relative; memory addresses and temporary folders lose what is
    random, and ids that are then the same are numbered. Times and UUIDs are left out only
    where no two ids differ by nothing else: parameters are often fixed dates.
    """
    without_moment: dict[str, int] = {}
    shaped = [(raw, _shape(raw, roots)) for raw in dict.fromkeys(raws)]
    timed = {}
    for raw, shape in shaped:
        if _MOMENT.search(shape):
            timed[raw] = _MOMENT.sub("\u2026", shape)
            without_moment[timed[raw]] = without_moment.get(timed[raw], 0) + 1
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    named: dict[str, str] = {}
    for raw, shape in shaped:
        bare = timed.get(raw)
        plain = bare if bare is not None and without_moment[bare] == 1 else shape
        name = _cut(plain)
        while name in taken:
            numbers[plain] = numbers.get(plain, 1) + 1
            name = _cut(f"{plain} #{numbers[plain]}")
        taken.add(name)
        named[raw] = name
    return named


def _shape(raw: str, roots: Sequence[str]) -> str:
    text = _BLANKS.sub(" ", raw).strip() if not raw.isprintable() else raw.strip()
    if "/" in text:
        for root in roots:
            text = text.replace(root.rstrip("/") + "/", "")
        text = _TEMPORARY.sub(_last, text)
    return _ADDRESS.sub("0x\u2026", text) if "0x" in text else text


def _last(match: re.Match[str]) -> str:
    last = match[0].rsplit("/", 1)[1]
    random = _RANDOM.fullmatch(last) or match[0].count("/") < 2
    return "/\u2026" if random else f"/\u2026/{last}"


def _cut(name: str) -> str:
    if len(name) <= LENGTH:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{name[: LENGTH - 14]}\u2026{mark}"
