"""What can be done to one line of an agent: to its JSON here, to its bytes in `stream_bytes`.

Every function here draws from the `Random` that it is given and from nothing else, so that a
stream can be made again from its number (`stream_cases`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from tests.support.stream_bytes import BY_BYTES, flip, secret
from tests.support.stream_corpus import words

Place = tuple[Any, Any]
"""A container within a line, and a key or an index in it."""


HARD_TEXTS = (
    *("", " ", "\x00", "\x1b[31mred\x1b[0m", "\x1b]8;;http://a\x1b\\x\x1b]8;;\x1b\\", "\x9b2J\x85"),
    *("\u202eabc", "a\u200bb\u2060", "\u2028\u2029", "\ud800", "\udc80\udfff", "e" + "\u0301" * 40),
    *("\U000e0041\U000e0042", "\ufeff", "-rf", "--help", "<script>|`*_[x](y)", "\r\nback\rfront"),
    *("@everyone #1", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u3164\u2800", "a\tb\vc\fd"),
)
_NUMBERS = (
    *(0, -1, -0.0, 1e308, -1e308, 5e-324, 2**53 + 1, 10**18, 10**29, 10**30, 10**400),
    *(float("nan"), float("inf"), float("-inf"), True, False),
)
_SAID = frozenset(("message", "text", "aggregated_output", "result", "command", "content", "error"))
_IDS = ("id", "tool_use_id", "call_id", "uuid", "task_id")
_ID = re.compile(rb'"(?:%s)": ?"' % "|".join(_IDS).encode())


def any_value(rng: Random) -> Any:
    """A value of any kind: a number at the edge, a hard text, a container, a deep one."""
    match rng.randrange(8):
        case 0 | 1:
            return rng.choice(_NUMBERS)
        case 2 | 3:
            return rng.choice(HARD_TEXTS)
        case 4:
            return rng.choice([None, [], {}, [[]], [None], {"": {}}, {"type": []}])
        case 5:
            return [rng.choice(HARD_TEXTS), rng.choice(_NUMBERS)]
        case 6:
            return {rng.choice(HARD_TEXTS): rng.choice(HARD_TEXTS), "type": rng.choice(words())}
        case _:
            return _deep(rng.choice((3, 63, 64, 65, 200)))


def _deep(levels: int) -> Any:
    value: Any = "x"
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def _changed(change: Callable[[Random, list[Place]], None]) -> Callable[[Random, bytes], bytes]:
    def mutation(rng: Random, line: bytes) -> bytes:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return flip(rng, line)
        places: list[Place] = []
        _collect([value], places)
        change(rng, places)
        return json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        )

    return mutation


def _collect(level: list[Any], places: list[Place]) -> None:
    while level:
        below: list[Any] = []
        for holder in level:
            if isinstance(holder, dict):
                places += [(holder, key) for key in holder]
                below += holder.values()
            elif isinstance(holder, list):
                places += [(holder, at) for at in range(len(holder))]
                below += holder
        level = below


def _texts(places: list[Place]) -> list[Place]:
    return [place for place in places if isinstance(place[0][place[1]], str)]


def _drop(rng: Random, places: list[Place]) -> None:
    if places:
        holder, key = rng.choice(places)
        del holder[key]


def _rename(rng: Random, places: list[Place]) -> None:
    named = [place for place in places if isinstance(place[0], dict)]
    if named:
        holder, key = rng.choice(named)
        holder[rng.choice((key.upper(), key + "_2", rng.choice(HARD_TEXTS)))] = holder.pop(key)


def _retype(rng: Random, places: list[Place]) -> None:
    for holder, key in rng.sample(places, min(len(places), rng.choice((1, 1, 3)))):
        holder[key] = any_value(rng)


def _rewrap(rng: Random, places: list[Place]) -> None:
    if places:
        holder, key = rng.choice(places)
        value = holder[key]
        holder[key] = rng.choice(([value], {"0": value}, [value] * 3, {"type": value}, str(value)))


def _swap(rng: Random, places: list[Place]) -> None:
    if len(places) > 1:
        (row, a), (other, b) = rng.sample(places, 2)
        # Not one into itself: a ring is no JSON.
        if not any(isinstance(value, dict | list) for value in (row[a], other[b])):
            row[a], other[b] = other[b], row[a]


def _harden(rng: Random, places: list[Place]) -> None:
    for holder, key in rng.sample(texts := _texts(places), min(len(texts), 2)):
        at = rng.randrange(len(holder[key]) + 1)
        holder[key] = holder[key][:at] + rng.choice(HARD_TEXTS) + holder[key][at:]


def _say(rng: Random, places: list[Place]) -> None:
    if texts := _texts(places):
        holder, key = rng.choice(texts)
        holder[key] = rng.choice((rng.choice(words()), f"{holder[key]} {rng.choice(words())}"))


def _identify(rng: Random, places: list[Place]) -> None:
    for holder, key in places:
        if key in _IDS:
            holder[key] = f"{rng.getrandbits(64):x}" * rng.choice((1, 1, 1, 40))


def stutter(rng: Random, line: bytes, size: int = 0) -> bytes:
    """One text of it said again and again, `size` bytes of it: what is slow to search is slow."""
    size = size or rng.choice((2_000, 40_000))
    chosen = rng.sample(words(), 4)
    gap = rng.choice(("", " ", " 1 ", "\n", "'"))
    long = "".join(f"{term}{gap}" * (size // 4 // len(term + gap) + 1) for term in chosen)

    def repeat(rng: Random, places: list[Place]) -> None:
        if texts := _texts(places):
            holder, key = rng.choice([p for p in texts if p[1] in _SAID] or texts)
            start = holder[key][:30] if rng.random() < 0.5 else ""
            holder[key] = start + long

    return _changed(repeat)(rng, line)


def twice(rng: Random, line: bytes) -> bytes:
    """A key that is there twice, or spelled in escapes."""
    keys = list(re.finditer(rb'"(\w+)":', line))
    if not keys:
        return line
    match = rng.choice(keys)
    spelled = "".join(f"\\u{value:04x}" for value in match[1]).encode()
    put = rng.choice((match[0] + b"null," + match[0], b'"' + spelled + b'":'))
    return line[: match.start()] + put + line[match.end() :]


identify = _changed(_identify)


def renewed(rng: Random, stream: tuple[bytes, ...]) -> list[bytes]:
    """The lines with other ids, the same one for the same: a copy that is no duplicate."""
    mark = b"%08x-" % rng.getrandbits(32)
    return [_ID.sub(rb"\g<0>" + mark, line) for line in stream]


BY_JSON = (*map(_changed, (_drop, _rename, _retype, _rewrap, _swap, _harden, _say)), twice)
MUTATIONS = (*BY_BYTES, *BY_JSON, *BY_JSON, secret)


def spoil(rng: Random, line: bytes) -> bytes:
    """One or two changes of any kind; rarely a long text."""
    if rng.random() < 0.01:
        return stutter(rng, line)
    for _ in range(rng.choice((1, 1, 2))):
        line = rng.choice(MUTATIONS)(rng, line)
    return line
