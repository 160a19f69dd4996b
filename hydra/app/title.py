"""A short title for a run, from its task alone: no model is asked."""

from __future__ import annotations

import re

LONGEST = 60
"""Characters: a column of `hydra runs`."""

_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+|[-*+>]\s+|\d{1,3}[.)]\s+)")
_MARKS = re.compile(r"[*`~]+(?=\S)|(?<=\S)[*`~]+(?!\w)")
_LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{1,500}\)")
_ASKING = re.compile(
    r"^(?:please|kindly|can you|could you|would you|i(?:'d| would) like you to|i want you to"
    r"|your task is to|the task is to|you (?:should|must|need to))\s+(?:please\s+)?",
    re.IGNORECASE,
)
_FENCE = ("```", "~~~", "---", "===")


def title(prompt: str) -> str:
    """What the task says first, in one short line; a heading counts, the ways of asking do not."""
    for line in prompt.splitlines():
        said = _plain(line[:2000])
        if said and not line.lstrip().startswith(_FENCE):
            return _short(said)
    return _short(" ".join(prompt.split()))


def _plain(line: str) -> str:
    text = _LINK.sub(r"\1", _HEADING.sub("", line))
    text = " ".join(_MARKS.sub("", text).split())
    asked = _ASKING.sub("", text)
    if asked != text and asked:
        text = asked[0].upper() + asked[1:]
    return text.rstrip(":").strip()


def _short(text: str) -> str:
    """The first sentence where it fits, else as many words as fit."""
    sentence = re.split(r"(?<=[.!?])\s+(?=\S)", text, maxsplit=1)[0]
    text = sentence if len(sentence) <= LONGEST else text
    text = text[:-1] if text.endswith(".") and not text.endswith("..") else text
    if len(text) <= LONGEST:
        return text
    cut = text[: LONGEST - 4]
    return f"{cut.rpartition(' ')[0].rstrip(',;:') or cut} ..."
