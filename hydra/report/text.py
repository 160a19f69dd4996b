"""Making strings harmless and fitting them into columns.

Terminals act on what they are sent: an agent's text may set the clipboard (OSC 52), the title,
links, move the cursor, or turn the reading order round. `clean` lets none of it through, and
shows in its place what was there: terminals' own libraries do not (click's strip_ansi passed 13
of 16 such sequences).
"""

from __future__ import annotations

import math
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import groupby

from hydra.errors import NOT_INSTALLED, AgentError, AuthMissing, Failure, HydraError
from hydra.redaction import redacted
from hydra.report.style import paint
from hydra.text import plural

MARKS_KEPT = 4
"""Combining marks left on one letter. Real writing needs up to three; floods cover other lines."""

_COLOUR = re.compile(r"(?:\x1b\[|\x9b)[0-9;:]*m")

# Letters, punctuation, arrows and boxes in which there is nothing to look for: most text, fast.
_ORDINARY = re.compile(
    "[\n\t -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u23ff\u2500-\u259f]*"
)
_EMOJI = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
# Joiners and variation selectors inside an emoji carry no text, and terminals disagree on how
# wide they make it: the parts are shown side by side instead. Anywhere else they are marked.
_GLUE = (
    rf"(?<=[{_EMOJI}])[\ufe0e\ufe0f](?:\u200d(?=[{_EMOJI}]))?"
    rf"|(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])"
    r"|(?<=[0-9#*])\ufe0f(?=\u20e3)"
)
# Invisible although Unicode calls them letters, marks or symbols (Default_Ignorable, blanks).
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)


def clean(text: str, *, multiline: bool = False, verbatim: bool = False) -> str:
    """`text` with nothing in it that a terminal acts on or that hides other text, nor a secret that
    was typed.

    Control characters become `^G`, those of an escape sequence too (`^[[2J`), but colours go;
    invisible, bidirectional and unassigned ones `<U+202E>`, bytes that were not text `\\xff`.
    Newlines become an arrow unless `multiline`. `verbatim` drops no colour: for a diff. Idempotent.
    """
    text = redacted(text)
    if text.isascii() and text.isprintable():
        return text
    if not verbatim:
        text = _COLOUR.sub("", text.replace("\r\n", "\n"))
    tab = "    " if multiline else " "
    if _ORDINARY.fullmatch(text):
        text = text.replace("\t", tab)
    else:
        text = "".join(_harmless(_glue().sub("", text), tab))
    if multiline or "\n" not in text:
        return text
    return " \u21b5 ".join(part.strip(" ") for part in text.split("\n") if part.strip(" "))


@cache
def _glue() -> re.Pattern[str]:
    # Over a millisecond of a start, and most texts never need it.
    return re.compile(_GLUE)


def _harmless(text: str, tab: str) -> Iterator[str]:
    """The pieces of `text`; a run of one bad character is named once, with how many there are."""
    has_base = False
    for (kind, char), run in groupby(text, _kind):
        piece = "".join(run)
        if kind == "keep" or (kind == "mark" and has_base and len(piece) <= MARKS_KEPT):
            yield piece
        elif kind == "mark" and has_base:
            yield piece[:MARKS_KEPT] + f"<{len(piece) - MARKS_KEPT} marks>"
        elif kind == "mark":
            yield f"<{len(piece)} marks>"
        elif kind == "space":
            yield "".join(tab if name == "\t" else "\n" if name == "\n" else " " for name in piece)
        else:
            yield _name(char, len(piece))
        has_base = kind != "space"


@lru_cache(maxsize=4096)
def _kind(char: str) -> tuple[str, str]:
    """(`keep`, `mark`, `space` or `bad`, the character itself where runs of it are one)."""
    category = unicodedata.category(char)
    if char in "\t\n" or category == "Zs":
        return "space", ""
    if char in _INVISIBLE:
        return "bad", char
    if category in ("Mn", "Me"):
        return "mark", ""
    if category == "Cn" and "\U0001f000" <= char <= "\U0001faff":
        return "keep", ""  # an emoji younger than this Python's tables
    return ("bad", char) if category[0] == "C" or category in ("Zl", "Zp") else ("keep", "")


def _name(char: str, count: int) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        name = f"\\x{code - 0xDC00:02x}"  # a byte that was no UTF-8, as surrogateescape holds it
    elif code < 0x20 or code == 0x7F:
        name = f"^{chr(code ^ 0x40)}"
    else:
        name = f"<U+{code:04X}>"
    return name if count == 1 else f"<{name.strip('<>')} x{count}>"


def gist(text: str, limit: int = 300) -> str:
    """The beginning of an agent's text as one harmless line, for a cell or a log line."""
    text = redacted(text)
    return clean(text[:limit] + "\u2026" if len(text) > limit else text)


def width(text: str) -> int:
    """How many cells `text` takes on a terminal (Unicode's East Asian widths)."""
    return len(text) if text.isascii() else sum(map(_cells, text))


@lru_cache(maxsize=4096)
def _cells(char: str) -> int:
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" or category == "Cn" else 1


def cut(text: str, cells: int) -> str:
    """`text` in at most `cells` cells, with an ellipsis where something was cut off."""
    if width(text) <= cells:
        return text
    if cells < 1:
        return ""
    used = 0
    names = []
    for char in text:
        used += _cells(char)
        if used > cells - 1:
            break
        names.append(char)
    return "".join(names) + "\u2026"


def cut_middle(text: str, cells: int) -> str:
    """`text` in at most `cells` cells, without a part of its middle: of tests with a long name the
    ends differ, and the beginning says whose they are."""
    if width(text) <= cells:
        return text
    head = cut(text, max(cells // 3, 1))
    return head + cut(text[::-1], cells - width(head) + 1)[:-1][::-1]


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """`text` with spaces up to `cells` cells; on its left where it is aligned `right`."""
    space = " " * (cells - width(text))
    return space + text if right else text + space


_VALUE = r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"`;])+"
TO_TYPE = re.compile(
    rf"`hydra [^`]+`|\bhydra [a-z]+(?: --?[a-z][a-z-]* {_VALUE})+"
    rf"|(?<=: )--(?:copy|setup|share) {_VALUE}(?: --(?:copy|setup|share) {_VALUE})*"
)
"""What a sentence has for a person to type, or to add to what he typed."""


def wrap(text: str, cells: int) -> list[str]:
    """`text` in lines of at most `cells` cells, broken at spaces where there are any.

    A longer word is broken after a slash of its own if it has one in reach: most are paths. What is
    to be typed is not broken: where it is longer, it has a longer line to itself.
    """
    lines: list[str] = []
    line = ""
    marked = TO_TYPE.sub(lambda match: match[0].replace(" ", "\0"), text)
    for part in marked.split(" "):
        term = part.replace("\0", " ")
        joined = f"{line} {term}" if line else term
        if width(joined) <= cells:
            line = joined
            continue
        if line:
            lines.append(line)
        *full, line = [term, ""] if "\0" in part else _chunks(term, cells)
        lines.extend(full)
    return [*lines, line] if line or not lines else lines


def _chunks(term: str, cells: int) -> list[str]:
    chunks = [""]
    used = 0
    for char in term:
        used += _cells(char)
        if used > cells and chunks[-1]:
            whole, slash, rest = chunks[-1].rpartition("/")
            if whole and rest:
                chunks[-1] = whole + slash
            chunks.append(rest if whole and rest else "")
            used = width(chunks[-1]) + _cells(char)
        chunks[-1] += char
    return chunks


def duration(seconds: float | None) -> str:
    """Seconds as `0:41`, `10:00` or `1:02:03`; unknown is `?`."""
    if seconds is None or not 0 <= seconds < math.inf:
        return "?"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def span(seconds: float) -> str:
    """A whole number of seconds in words: `10 minutes`, `1 hour 30 minutes`, `45 seconds`."""
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "hour"), (minutes, "minute"), (rest, "second"))
    return " ".join(plural(count, unit) for count, unit in parts if count) or "0 seconds"


def tokens(count: float | None) -> str:
    """A number of tokens as `912`, `18.2k` or `1.3M`; unknown is `?`, never zero."""
    if count is None or not 0 <= count < math.inf:
        return "?"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size * 0.99995:
            return f"{count / size:.1f}{unit}"
    return f"{count:.0f}"


def cost(dollars: float | None) -> str:
    """US dollars as `$0.11`; unknown is `?`, and less than a cent is not shown as nothing."""
    if dollars is None or not 0 <= dollars < math.inf:
        return "?"
    return "<$0.01" if 0 < dollars < 0.01 else f"${dollars:,.2f}"


def size(count: float | None) -> str:
    """Bytes as `412 B`, `3.4 MB`: one kind of unit, whatever a limit was written in."""
    if count is None or not 0 <= count < math.inf:
        return "?"
    for power, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= power:
            return f"{count / power:.1f}".removesuffix(".0") + f" {name}"
    return f"{count:.0f} B"


def quote(argument: str) -> str:
    """One argument as a POSIX shell takes it back exactly; `$'...'` where it holds controls."""
    argument = redacted(argument)
    if argument == clean(argument):
        return shlex.quote(argument)
    raw = argument.encode("utf-8", "surrogateescape" if _only_bytes(argument) else "surrogatepass")
    named = {0x0A: "\\n", 0x09: "\\t", 0x5C: "\\\\", 0x27: "\\'"}
    return "$'" + "".join(named.get(b) or _octet(b) for b in raw) + "'"


def _only_bytes(argument: str) -> bool:
    return not re.search("[\ud800-\udc7f\udd00-\udfff]", argument)


def _octet(byte: int) -> str:
    # Octal, always three digits: \x takes as many hex digits as follow in some shells.
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def command_line(argv: tuple[str, ...] | list[str]) -> str:
    """The line a person can paste into a shell."""
    return " ".join(map(quote, argv))


# ---- Errors as a person reads them: what happened and why, then what to do next.

STDERR_LINES = 12
"""Lines of an agent's stderr shown with its failure; its whole is in the run's folder."""


def error_text(error: HydraError, *, color: bool = False, width: int | None = None) -> str:
    """`error: ...` and `hint: ...`, as git, cargo and gh say it; ends with a newline."""
    lines = _headed("error:", error.message, "bad", color, width)
    if isinstance(error, AgentError):
        lines += failure_details(error.failure, width, hint=False)
    several = len(error.failures) > 1
    for failure in error.failures:
        plain = failure.reason == NOT_INSTALLED or failure.kind == AuthMissing.kind
        if several and plain:  # the message has all but what to do
            lines.append(line(clean(failure.adapter), clean(failure.hint)))
        else:
            lines += failure_details(failure, width, hint=several)
    if error.hint:
        lines += _headed("hint:", error.hint, "busy", color, None)  # it may be pasted
    return "\n".join(lines) + "\n"


def _headed(head: str, value: str, style: str, color: bool, width: int | None) -> list[str]:
    """Its first line folded, and set in beneath; lines of its own stay as they are."""
    sentence, *lines = clean(value, multiline=True).split("\n")
    first, *rest = wrapped(sentence, width, len(head) + 1, least=20)
    set_in = " " * (len(head) + 1)
    return [f"{paint(head, style, color)} {first}", *(f"{set_in}{name}" for name in rest), *lines]


def failure_details(failure: Failure, width: int | None, *, hint: bool = True) -> list[str]:
    """A failure's four fields, one below the other; those that say nothing are left out."""
    lines = labelled("adapter", failure.adapter, width)
    if failure.command:
        # Never wrapped: it is there to be pasted.
        lines += labelled("command", command_line(failure.command), None)
    for i, value in enumerate(stderr_lines(failure.stderr)):
        lines += [line("" if i else "stderr", value if width is None else cut(value, width - 11))]
    return lines + (labelled("next", failure.hint, width) if hint else [])


def labelled(label: str, value: str, width: int | None, wide: int = 7) -> list[str]:
    """`label` and what it says, harmless and wrapped to `width`; no line where nothing is said."""
    return hanging(f"{label:{wide}}  ", value, width, indent=2, least=20)


def facts(rows: Iterable[tuple[str, str]], width: int | None) -> list[str]:
    """Facts one below the other, labels on the left; one without words is left out."""
    return [line for label, value in rows for line in labelled(label, value, width, 11)]


def line(label: str, value: str) -> str:
    """One line of a failure's details."""
    return f"  {label:7}  {value}"


def stderr_lines(stderr: str) -> list[str]:
    """The last lines of an agent's stderr that say anything, harmless."""
    lines = [line.rstrip() for line in clean(stderr, multiline=True).split("\n")]
    return [line for line in lines if line][-STDERR_LINES:]


# ---- Text on a screen of a known width, or of none: then it stays one line.


def wrapped(value: str, width: int | None, indent: int = 0, least: int = 10) -> list[str]:
    """`value` in lines that leave `indent` of `width` cells free; on a screen that is too narrow
    they are `least` wide all the same."""
    return [value] if width is None else wrap(value, max(width - indent, least))


def paragraph(value: str, width: int | None) -> list[str]:
    """`value` in lines of `width`; none where nothing is said."""
    return wrapped(value, width) if value else []


def bullets(remarks: list[str], width: int | None) -> list[str]:
    """Each remark once, as an indented item wrapped to `width`."""
    return [line for remark in dict.fromkeys(remarks) for line in hanging("- ", remark, width, 2)]


def hanging(
    head: str, value: str, width: int | None, indent: int = 0, least: int = 10
) -> list[str]:
    """`value`, harmless, behind `head`, its later lines under its beginning; [] where it is ""."""
    parts = wrapped(clean(value), width, indent + len(head), least) if value else []
    return [f"{'':{indent}}{' ' * len(head) if i else head}{part}" for i, part in enumerate(parts)]
