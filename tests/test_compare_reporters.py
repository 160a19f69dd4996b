"""The verdict on a terminal: what it says, at every width, whatever is in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from hydra.report import text
from tests.support import verdicts
from tests.support.rendering import compare_text
from tests.test_reporters_hostile import assert_harmless

WIDTHS = (40, 60, 80, 100, 120, 160, 200)
HOSTILE = "\u202ekcatta\u2066 \x1b[2J\x1b]52;c;ZXZpbA==\x07\x00\n## | `x` <b> @ada #1 \ud800 \u200b"
SAMPLES: dict[str, Callable[[], dict[str, Any]]] = {
    "verdict": verdicts.verdict,
    "tie": verdicts.tie,
    "none": verdicts.none_passing,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_it_fits_every_width_and_hostile_texts_stay_text(name: str) -> None:
    bearable = HOSTILE.translate({0: None, 0xD800: "\udcff"})  # what may stand in a name of a disk
    hostile = verdicts.with_texts(SAMPLES[name](), lambda text: f"{text}{bearable}")
    hostile |= {"title": HOSTILE, "says": HOSTILE}
    for width in WIDTHS:
        shown = compare_text(SAMPLES[name](), width=width)
        # The baseline's line, the folder and the commands are to be read or copied in one piece.
        lines = shown[: shown.index("files: ")].split("\n")
        prose = [line for line in lines if "baseline" not in line]
        assert [line for line in prose if text.width(line) > width] == []
        assert "timed out" in shown  # whole, however narrow
        # A colour is never the only signal.
        colored = compare_text(SAMPLES[name](), width=width, color=True)
        assert (colored != shown, re.sub(r"\x1b\[[0-9]+m", "", colored)) == (True, shown)
        for color in (False, True):
            assert_harmless(compare_text(hostile, width=width, color=color), color=color)


def test_a_huge_text_costs_a_line_and_not_a_screen() -> None:
    huge = "x" * 1_000_000
    document = verdicts.verdict(title=huge, says=huge, not_tried=[huge], warnings=[huge])
    document["cross"] = [verdicts.cross(huge, "codex", {"claude": "passed"}, says=huge)]
    document["lanes"][0] |= {"why": huge, "message": huge}
    document["lanes"][0]["gates"] = [verdicts.reason("gate", huge, huge, huge)]
    document["shared"][0] |= {"path": huge, "name": huge}
    assert len(compare_text(document, width=100)) < 10_000
    document = verdicts.verdict()
    document["lanes"][0]["reasons"] = [verdicts.reason("risk", "y" * 1_000_000)] * 1000
    shown = compare_text(document, width=100)
    assert len(shown) < 20_000
    assert "and 988 more: --json has them all" in shown
