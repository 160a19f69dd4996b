"""A reviewer's answer, read: remarks on patches, or one sentence on why there are none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hydra.judge.asking.unnamed import Unnamed

REMARKS = 20
"""Remarks on one patch that are kept."""

TEXT = 300
"""Characters of one remark."""

LONGEST = 1_000_000
"""Characters of an answer that are looked at."""

_LEVELS = ("high", "medium", "low", "")
_LINES = 10_000_000
_PATCH = re.compile(r"\b[Pp]atch ([A-Z]{1,2})\b")
_FENCE = re.compile(r"^[ \t>]{0,8}(`{3,}|~{3,})[ \t]*([^`\n]*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One remark of a reviewer's. `path` is the file's own, "" where it named none of the patch;
    `severity` is high, medium, low or "" (it gave none)."""

    lane: str
    text: str
    path: str = ""
    line: int | None = None
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: the line before it (not blank), what stands on the fence, and its text."""

    before: str
    info: str
    text: str


def blocks(answer: str) -> Iterator[Block]:
    """The fenced blocks of an answer, as Markdown has them; one that nobody closes ends with it."""
    before, fence, info = "", "", ""
    held: list[str] = []
    for line in answer[:LONGEST].split("\n"):
        found = _FENCE.match(line.rstrip("\r"))
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                yield Block(before, info, "\n".join(held) + "\n" if held else "")
                before, fence, held = "", "", []
            else:
                held.append(line.rstrip("\r"))
        elif found:
            fence, info = found[1], found[2].strip()
        elif line.strip():
            before = line.strip()
    if fence and held:
        yield Block(before, info, "\n".join(held) + "\n")


def remarks(answers: Sequence[str], shown: Unnamed) -> tuple[tuple[Said, ...], str]:
    """What the first of `answers` (the last words first) that can be read says, and a warning.

    The warning is one sentence where none can be read, or where some of it was left out.
    """
    for answer in answers:
        for told in _lists(answer):
            if told is not None:
                return _kept(told, shown)
    return (), "what it answered is no list of remarks, so there are none of it"


def _lists(answer: str) -> Iterator[list[object] | None]:
    """Whatever in an answer may be the list, the last block first."""
    yield from (_list(block.text) for block in reversed(list(blocks(answer))))
    yield _list(answer)
    at, end = answer.find("["), answer.rfind("]")
    if 0 <= at < end <= LONGEST:
        yield _list(answer[at : end + 1])


def _list(text: str) -> list[object] | None:
    try:
        told = json.loads(text[:LONGEST])
    except (ValueError, RecursionError):
        return None
    if isinstance(told, dict):
        told = next((value for value in told.values() if isinstance(value, list)), None)
    if not isinstance(told, list) or (told and not any(isinstance(one, dict) for one in told)):
        return None
    return told


def _kept(told: Sequence[object], shown: Unnamed) -> tuple[tuple[Said, ...], str]:
    kept: dict[str, list[Said]] = {lane: [] for lane in shown.lanes.values()}
    over = unread = 0
    for one in told:
        said = _said(one, shown) if isinstance(one, dict) else None
        if said is None:
            unread += 1
        elif said in kept[said.lane]:
            continue
        elif len(kept[said.lane]) >= REMARKS:
            over += 1
        else:
            kept[said.lane].append(said)
    why = [f"{unread} of its remarks could not be read"] if unread else []
    why += [f"{over} remarks over {REMARKS} a patch were left out"] if over else []
    return tuple(one for lane in kept.values() for one in lane), "; ".join(why)


def _said(told: Mapping[str, object], shown: Unnamed) -> Said | None:
    letter = _word(told.get("patch")).upper().removeprefix("PATCH ")
    text = _word(told.get("text"))
    if letter not in shown.lanes or not text:
        return None
    text = _PATCH.sub(lambda found: shown.lanes.get(found[1], found[0]), text)
    line, level = told.get("line"), _word(told.get("severity")).lower()
    whole = isinstance(line, int) and not isinstance(line, bool) and 0 < line <= _LINES
    return Said(
        lane=shown.lanes[letter],
        text=text if len(text) <= TEXT else f"{text[: TEXT - 1]}\u2026",
        path=shown.paths.get(_word(told.get("path")), ""),
        line=int(line) if whole and isinstance(line, int) else None,
        severity=level if level in _LEVELS else "",
    )


def _word(told: object) -> str:
    """A text in one line, without half characters, which nobody can write down."""
    if not isinstance(told, str):
        return ""
    whole = told.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return " ".join(whole.split())
