"""Tables that fit a width: columns are cut, wrapped or left out in an order their owner chose."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from hydra.report.style import paint
from hydra.report.text import clean, cut, pad, width, wrap

GAP = 2


class Column(Struct, frozen=True):
    """One column. `least` is how narrow it may be cut (0: never cut); `floor` is how wide it is
    even when empty; `grows` takes all the width that is left. What does not fit a column that
    `wraps` goes onto further lines, all of it below the row where not even `least` is left.
    `optional` columns go where all is too narrow, the highest number first.
    """

    title: str
    right: bool = False
    least: int = 0
    floor: int = 0
    wraps: bool = False
    grows: bool = False
    optional: int = 0


class StyledText(Struct, frozen=True):
    """A cell's text with a style of `style.paint`."""

    text: str
    style: str = ""


Cell = str | StyledText


def table(
    rows: Sequence[Sequence[Cell]],
    columns: Sequence[Column],
    cells: int | None,
    color: bool,
    *,
    indent: int = 2,
    header: bool = True,
) -> list[str]:
    """The table's lines, header first, each at most `cells` wide (None: as wide as it likes). A
    cell with a line to type that is wider than its column stands below its row.

    Every cell is cleaned here, so a caller cannot forget to.
    """
    body = [
        [StyledText(clean(c)) if isinstance(c, str) else _clean(c) for c in row] for row in rows
    ]
    if header:
        body.insert(0, [StyledText(column.title, "dim") for column in columns])
    shown = list(range(len(columns)))
    widths = _natural(body, columns)
    room = None if cells is None else cells - indent
    below = [i for i in shown if columns[i].wraps]
    if room is None or _fits(columns, widths, shown, room):
        below = []
    shown = [i for i in shown if i not in below]
    while room is not None and not _fits(columns, widths, shown, room):
        dropped = max(shown, key=lambda i: columns[i].optional)
        if not columns[dropped].optional:
            break
        shown.remove(dropped)
    if room is not None:
        _fit(columns, widths, shown, room)
    picked = [columns[i] for i in shown]
    lines: list[str] = []
    for number, row in enumerate(body):
        late = [i for i in shown if columns[i].wraps and _overflows(row[i], widths[i])]
        inside = [StyledText("") if i in late else row[i] for i in shown]
        lines += _row(inside, picked, [widths[i] for i in shown], color, indent)
        if cells is not None and not (header and number == 0):
            under = sorted((*below, *late))
            lines += [line for i in under for line in _below(row[i], cells, color, indent + 4)]
    return lines


def _overflows(cell: StyledText, size: int) -> bool:
    return size > 0 and any(width(part) > size for part in wrap(cell.text, size))


def _below(cell: StyledText, cells: int, color: bool, indent: int) -> list[str]:
    parts = wrap(cell.text, max(cells - indent, 1)) if cell.text else []
    return [" " * indent + paint(part, cell.style, color) for part in parts]


def _clean(cell: StyledText) -> StyledText:
    return replace(cell, text=clean(cell.text))


def _natural(body: Sequence[Sequence[StyledText]], columns: Sequence[Column]) -> list[int]:
    return [
        max([column.floor, *(width(row[i].text) for row in body)])
        for i, column in enumerate(columns)
    ]


def _total(widths: list[int], shown: list[int]) -> int:
    return sum(widths[i] for i in shown) + GAP * (len(shown) - 1)


def _fits(columns: Sequence[Column], widths: list[int], shown: list[int], room: int) -> bool:
    smallest = [min(widths[i], columns[i].least or widths[i]) for i in range(len(widths))]
    return _total(smallest, shown) <= room


def _fit(columns: Sequence[Column], widths: list[int], shown: list[int], room: int) -> None:
    """Grows or narrows `widths` in place, and leaves out columns only where nothing else helps."""
    spare = room - _total(widths, shown)
    for i in shown:
        if columns[i].grows and spare > 0:
            widths[i] += spare
            spare = 0
    _narrow(widths, {i: columns[i].least for i in shown if columns[i].least}, -spare)
    over = _total(widths, shown) - room
    _narrow(widths, {i: 8 for i in shown if columns[i].least}, over)
    while len(shown) > 1 and len(shown) + GAP * (len(shown) - 1) > room:
        shown.pop()
    _narrow(widths, dict.fromkeys(shown, 1), _total(widths, shown) - room)


def _narrow(widths: list[int], least: dict[int, int], over: int) -> None:
    while over > 0:
        able = [i for i in least if widths[i] > least[i]]
        if not able:
            return
        widest = max(able, key=lambda i: widths[i])
        widths[widest] -= 1
        over -= 1


def _row(
    cells: list[StyledText], columns: list[Column], widths: list[int], color: bool, indent: int
) -> list[str]:
    parts = [
        wrap(cell.text, size) if column.wraps and size else [cut(cell.text, size)]
        for cell, column, size in zip(cells, columns, widths, strict=True)
    ]
    lines = []
    for level in range(max(len(part) for part in parts)):
        line = " " * indent
        for i, (cell, column, size) in enumerate(zip(cells, columns, widths, strict=True)):
            text = parts[i][level] if level < len(parts[i]) else ""
            padded = pad(text, size, right=column.right)
            painted = padded.replace(text, paint(text, cell.style, color), 1) if text else padded
            line += (" " * GAP if i else "") + painted
        lines.append(line.rstrip(" "))
    return lines
