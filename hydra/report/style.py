"""Whether to colour and to repaint, and how. A colour is never the only signal."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra import log

_CODES = {
    "": "",
    "bold": "1",
    "dim": "2",
    "good": "32",
    "bad": "31",
    "warn": "33",
    "busy": "36",
}
_PAINT = re.compile("\x1b\\[[0-9]+m")


def paint(text: str, style: str, color: bool) -> str:
    """`text` in one of the styles. `text` must be clean already."""
    code = _CODES[style]
    return f"\x1b[{code}m{text}\x1b[0m" if color and code and text else text


def plain(text: str) -> str:
    """What `paint` painted, without it."""
    return _PAINT.sub("", text)


def wants_color(environ: Mapping[str, str], is_terminal: bool) -> bool:
    """NO_COLOR wins (no-color.org), then FORCE_COLOR, else colours only on an able terminal."""
    if environ.get("NO_COLOR"):
        return False
    forced = environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return is_terminal and environ.get("TERM", "") not in ("", "dumb")


def wants_live(environ: Mapping[str, str], is_terminal: bool) -> bool:
    """Whether the table can be repainted in place; else one plain line an event, as where the log
    says its lines in between."""
    return not log.shows() and is_terminal and environ.get("TERM", "") not in ("", "dumb")
