"""A reviewer's answer, read: remarks on patches, or one sentence on why there are none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hydra.commands.review.anonymize import AnonymousPatches

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
class ReviewRemark:
    """One remark of a reviewer's. `path` is the file's own, "" where it named none of the patch;
    `severity` is high, medium, low or "" (it gave none)."""

    lane: str
    text: str
    path: str = ""
    line: int | None = None
    severity: str = ""


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """One fenced block: the line before it (not blank), what stands on the fence, and its text."""

    before: str
    info: str
    text: str


def blocks(answer: str) -> Iterator[FencedBlock]:
    """The fenced blocks of an answer, as Markdown has them; one that nobody closes ends with it."""
    before, fence, info = "", "", ""
    names: list[str] = []
    for line in answer[:LONGEST].split("\n"):
        match = _FENCE.match(line.rstrip("\r"))
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                yield FencedBlock(before, info, "\n".join(names) + "\n" if names else "")
                before, fence, names = "", "", []
            else:
                names.append(line.rstrip("\r"))
        elif match:
            fence, info = match[1], match[2].strip()
        elif line.strip():
            before = line.strip()
    if fence and names:
        yield FencedBlock(before, info, "\n".join(names) + "\n")


def remarks(
    answers: Sequence[str], shown: AnonymousPatches
) -> tuple[tuple[ReviewRemark, ...], str]:
    """What the first of `answers` (the last words first) that can be read says, and a warning.

    The warning is one sentence where none can be read, or where some of it was left out.
    """
    for answer in answers:
        for values in _lists(answer):
            if values is not None:
                return _unique(values, shown)
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
        document = json.loads(text[:LONGEST])
    except (ValueError, RecursionError):
        return None
    if isinstance(document, dict):
        document = next((value for value in document.values() if isinstance(value, list)), None)
    if not isinstance(document, list) or (
        document and not any(isinstance(row, dict) for row in document)
    ):
        return None
    return document


def _unique(
    values: Sequence[object], shown: AnonymousPatches
) -> tuple[tuple[ReviewRemark, ...], str]:
    rows: dict[str, list[ReviewRemark]] = {lane: [] for lane in shown.lanes.values()}
    over = unread = 0
    for value in values:
        remark = _remark(value, shown) if isinstance(value, dict) else None
        if remark is None:
            unread += 1
        elif remark in rows[remark.lane]:
            continue
        elif len(rows[remark.lane]) >= REMARKS:
            over += 1
        else:
            rows[remark.lane].append(remark)
    why = [f"{unread} of its remarks could not be read"] if unread else []
    why += [f"{over} remarks over {REMARKS} a patch were left out"] if over else []
    return tuple(remark for lane in rows.values() for remark in lane), "; ".join(why)


def _remark(document: Mapping[str, object], shown: AnonymousPatches) -> ReviewRemark | None:
    letter = _one_line(document.get("patch")).upper().removeprefix("PATCH ")
    text = _one_line(document.get("text"))
    if letter not in shown.lanes or not text:
        return None
    text = _PATCH.sub(lambda match: shown.lanes.get(match[1], match[0]), text)
    line, level = document.get("line"), _one_line(document.get("severity")).lower()
    whole = isinstance(line, int) and not isinstance(line, bool) and 0 < line <= _LINES
    return ReviewRemark(
        lane=shown.lanes[letter],
        text=text if len(text) <= TEXT else f"{text[: TEXT - 1]}\u2026",
        path=shown.paths.get(_one_line(document.get("path")), ""),
        line=int(line) if whole and isinstance(line, int) else None,
        severity=level if level in _LEVELS else "",
    )


def _one_line(value: object) -> str:
    """A text in one line, without half characters, which nobody can write down."""
    if not isinstance(value, str):
        return ""
    whole = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return " ".join(whole.split())
