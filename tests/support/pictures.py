"""`python -m tests.support.pictures [OUT]`: pictures of a real demo, its terminal and its page.

Runs `hydra demo` at two widths, draws what it printed as SVG, and has Chromium take its page as
on a desktop and on a phone, light and dark.
Needs the extra `browser`. OUT is docs/pictures, where the README looks for them. What no two demos
share (the run's id, the folder, the commit, the seconds) is replaced by examples of the same width,
so that the same Hydra, Chromium and fonts give the same bytes.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hydra.report.text import width as cells
from tests.support.browser import Scheme, browser, opened
from tests.support.terminal import run_on_terminal

TERMINALS = {"terminal-80.svg": 80, "terminal.svg": 120}
"""Columns of each; the last demo's page is taken."""
SCREENS = {"verdict": (1280, 900), "verdict-phone": (390, 844)}
LARGEST = 250_000
"""Bytes of one picture."""
OUT = Path(__file__).parents[2] / "docs" / "pictures"

_EXAMPLES = (
    (re.compile(r"\b\d{8}t\d{6}-[a-z0-9]{4}\b"), "20260101t120000-demo"),
    (re.compile(r"(?<=/)hydra-demo-\w+"), "hydra-demo"),
    (re.compile(r"(?<= as )[0-9a-f]{10}\b"), "a1b2c3d4e5"),
    (re.compile(r"\b\d:\d\d\b"), "0:03"),
)
"""What differs from demo to demo, and what stands for it."""

_CELL, _LINE, _PAD, _SIZE = 7.8, 19, 20, 13
_COLORS = {"31": "#ff9a8f", "32": "#6fd08a", "33": "#e6bd63", "36": "#62cdb8", "2": "#98a19c"}
_SGR = re.compile(r"\x1b\[([0-9;]*)m")
_WORDS = re.compile(r"\S+(?: \S+)*")
"""Words with one space between: more than one is not kept by what draws the picture."""
_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def main() -> None:
    """Writes them all; each is named with its size."""
    out = Path(sys.argv[1]) if sys.argv[1:] else OUT
    out.mkdir(parents=True, exist_ok=True)
    for name, columns in TERMINALS.items():
        _take(out, name, columns)
    for picture in sorted(out.iterdir()):
        size = picture.stat().st_size
        print(f"{size:>8,} {picture}")
        if size > LARGEST:
            raise SystemExit(f"{picture} is larger than {LARGEST:,} bytes")


def _take(out: Path, name: str, columns: int) -> None:
    printed = _demo(columns)
    folder = _folder(printed)
    try:
        (out / name).write_text(svg(_shown(_example(printed))))
        if name == [*TERMINALS][-1]:
            page = Path(*_found(r"(/\S+/page\.html)", printed))
            page.write_text(_example(page.read_text()))
            _pages(page, out)
    finally:
        shutil.rmtree(folder)


def _example(text: str) -> str:
    for pattern, example in _EXAMPLES:
        text = pattern.sub(example, text)
    return text


def _demo(columns: int) -> str:
    """What `hydra demo` prints on a terminal of its own, with its colours."""
    environ = {**os.environ, "TERM": "xterm-256color"}
    environ.pop("NO_COLOR", None)
    line = [sys.executable, "-m", "hydra", "demo"]
    # Without the live table: what it left is in the summary.
    null = subprocess.DEVNULL
    code, output = run_on_terminal(line, columns=columns, env=environ, stderr=null)
    if code:
        raise SystemExit(f"hydra demo ended with {code}")
    printed = output.decode().replace("\r\n", "\n")
    if "not started" in printed:  # a machine's trouble is no picture of Hydra
        raise SystemExit(f"a lane of the demo was not started:\n{printed}")
    return printed


def _found(pattern: str, text: str) -> tuple[str, ...]:
    match = re.search(pattern, _SGR.sub("", text))
    if match is None:
        raise SystemExit(f"the demo does not say {pattern}:\n{text}")
    return match.groups()


def _folder(text: str) -> Path:
    (folder,) = _found(r"rm -rf (/\S*/hydra-demo-\w+)\n", text)
    return Path(folder)


def _shown(text: str) -> list[str]:
    """The part worth a picture: up to the lines to type, which are as long as their paths."""
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines) if line.startswith("what the lanes did")), None)
    names = lines[:end]
    while names and not names[-1].strip():
        names.pop()
    return ["$ hydra demo", "", *names]


def svg(lines: list[str]) -> str:
    """Lines with SGR colours as a picture that asks for no font."""
    wide = max(cells(_SGR.sub("", line)) for line in lines) * _CELL + 2 * _PAD
    high = len(lines) * _LINE + 2 * _PAD
    drawn = "\n".join(_line(line, _PAD + (n + 0.75) * _LINE) for n, line in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high}" '
        f'viewBox="0 0 {wide:.0f} {high}" role="img" aria-label="hydra demo in a terminal">\n'
        f'<rect width="100%" height="100%" rx="10" fill="#111413"/>\n'
        f'<g font-family="{_FONT}" font-size="{_SIZE}" fill="#e6e9e6">\n'
        f"{drawn}\n</g>\n</svg>\n"
    )


def _line(line: str, y: float) -> str:
    parts: list[str] = []
    column, style = 0, ""
    for at, piece in enumerate(_SGR.split(line)):
        if at % 2:
            style = "" if piece in ("", "0") else piece
            continue
        parts += (
            _text(match[0], column + cells(piece[: match.start()]), y, style)
            for match in _WORDS.finditer(piece)
        )
        column += cells(piece)
    return "".join(parts)


def _text(text: str, column: int, y: float, style: str) -> str:
    x, long = _PAD + column * _CELL, cells(text) * _CELL
    look = f' fill="{_COLORS[style]}"' if style in _COLORS else ""
    look += ' font-weight="700"' if style == "1" else ""
    # Its length is said, so that columns stand whatever font there is.
    place = f'x="{x:.1f}" y="{y:.1f}" textLength="{long:.1f}"'
    return f"<text {place}{look}>{html.escape(text)}</text>"


def _pages(page: Path, out: Path) -> None:
    schemes: tuple[Scheme, ...] = ("light", "dark")
    with browser() as started:
        for scheme in schemes:
            for name, (width, height) in SCREENS.items():
                with opened(started, page, width=width, height=height, scheme=scheme) as seen:
                    seen.page.locator("#patch .row").first.wait_for()
                    seen.page.screenshot(path=out / f"{name}-{scheme}.png")
            with opened(
                started, page, width=1280, height=760, scheme=scheme, view="changes"
            ) as seen:
                for key in ("o", "n", "x"):
                    seen.page.keyboard.press(key)
                seen.page.locator("#picks code.line").wait_for()
                seen.page.screenshot(path=out / f"changes-{scheme}.png")
            if not seen.quiet:
                raise SystemExit(f"the page did not keep to itself: {seen}")


if __name__ == "__main__":
    main()
