"""A diff for a person's eyes: control characters made visible, coloured as git colours it."""

from __future__ import annotations

from hydra.reporters.text import clean

_COLORS = ((b"@@", "36"), (b"+++", "1"), (b"---", "1"), (b"+", "32"), (b"-", "31"), (b"diff", "1"))


def shown(text: bytes, *, color: bool) -> bytes:
    """`text` with nothing in it that a terminal would obey."""
    return b"".join(_line(line, color) for line in text.split(b"\n")).removesuffix(b"\n")


def _line(line: bytes, color: bool) -> bytes:
    # Tabs are what a diff is indented with; all other control characters are shown, not sent.
    parts = line.decode("utf-8", "backslashreplace").split("\t")
    safe = "\t".join(clean(part, verbatim=True) for part in parts)
    code = next((code for start, code in _COLORS if line.startswith(start)), "") if color else ""
    return (f"\x1b[{code}m{safe}\x1b[m\n" if code else f"{safe}\n").encode()
