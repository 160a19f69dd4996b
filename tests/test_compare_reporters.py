"""The verdict on a terminal: what it says, at every width, whatever is in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from hydra.report import text
from tests.support import verdicts
from tests.support.rendering import compare_text, race_end, summary
from tests.test_reporters_hostile import assert_harmless

WIDTHS = (40, 60, 80, 100, 120, 160, 200)
HOSTILE = "\u202ekcatta\u2066 \x1b[2J\x1b]52;c;ZXZpbA==\x07\x00\n## | `x` <b> @ada #1 \ud800 \u200b"
SAMPLES: dict[str, Callable[[], dict[str, Any]]] = {
    "verdict": verdicts.verdict,
    "tie": verdicts.tie,
    "none": verdicts.none_passing,
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    shown = compare_text(SAMPLES[name](), width=width)
    # The baseline's line, the folder and the commands are to be read or copied in one piece.
    prose = [name for name in shown[: shown.index("files: ")].split("\n") if "baseline" not in name]
    long = [line for line in prose if text.width(line) > width]
    assert long == []
    assert "timed out" in shown  # whole, however narrow


@pytest.mark.parametrize("name", SAMPLES)
def test_a_colour_is_never_the_only_signal(name: str) -> None:
    plain = compare_text(SAMPLES[name](), width=100)
    colored = compare_text(SAMPLES[name](), width=100, color=True)
    assert colored != plain
    assert re.sub(r"\x1b\[[0-9]+m", "", colored) == plain


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [None, *WIDTHS])
def test_hostile_texts_stay_text(name: str, width: int | None) -> None:
    document = verdicts.with_texts(SAMPLES[name](), lambda text: f"{text}{HOSTILE}")
    for color in (False, True):
        assert_harmless(compare_text(document, width=width, color=color), color=color)
        whole = {"run": "r", "lanes": document["lanes"], "verdict": document}
        assert_harmless(summary(whole, width=width, color=color), color=color)
        assert_harmless(race_end(whole, width=width, color=color), color=color)


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
