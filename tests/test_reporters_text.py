from __future__ import annotations

import json
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.report import text
from hydra.report.style import wants_color, wants_live
from hydra.text import plural

HOSTILE = json.loads((Path(__file__).parent / "data" / "hostile.json").read_text())


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_is_shown_and_not_obeyed(case: str) -> None:
    line, shown = HOSTILE[case]
    assert text.clean(line) == shown


@pytest.mark.parametrize(
    "line",
    ["plain", "na\u00efve \u2192 \u65e5\u672c", "\U0001f680 done", "e\u0301", "\u0e01\u0e33"],
)
def test_ordinary_writing_stays(line: str) -> None:
    assert text.clean(line) == line


def test_what_is_passed_over_quickly_needs_no_look() -> None:
    for code in range(0x110000):
        char = chr(code)
        if text._ORDINARY.fullmatch(char) and char not in "\n\t":
            assert "".join(text._harmless(char, " ")) == char, f"U+{code:04X}"


def test_emoji_lose_their_glue_and_nothing_else() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert text.clean(family) == "\U0001f468\U0001f469\U0001f467"
    assert text.clean("\u26a0\ufe0f careful") == "\u26a0 careful"


def test_a_diff_shows_every_control_character_for_itself() -> None:
    assert text.clean("\x1b[31mred\x1b]0;t\x07\r", verbatim=True) == "^[[31mred^[]0;t^G^M"


def is_harmless(shown: str) -> bool:
    return all(
        name == "\n" or unicodedata.category(name) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        for name in shown
    )


nasty = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b\x9b\x9d\x90\x07\x9c[]P\\;0m2JH\r\n\t \u202e\u200d\ufe0f\u0301\U0001f468"
        ),
        st.characters(),
    ),
    max_size=60,
)


@given(nasty, st.booleans(), st.booleans())
def test_clean_lets_nothing_through_and_is_idempotent(
    given: str, multiline: bool, verbatim: bool
) -> None:
    once = text.clean(given, multiline=multiline, verbatim=verbatim)
    assert is_harmless(once)
    assert multiline or "\n" not in once
    assert text.clean(once, multiline=multiline, verbatim=verbatim) == once


@given(nasty.map(text.clean), st.integers(0, 30))
def test_cutting_and_padding_keep_to_the_width(shown: str, cells: int) -> None:
    cut = text.cut(shown, cells)
    assert text.width(cut) <= cells
    assert text.width(text.pad(cut, cells)) == cells


@given(nasty.map(text.clean), st.integers(2, 30))
def test_wrapping_loses_nothing(shown: str, cells: int) -> None:
    lines = text.wrap(shown, cells)
    assert all(text.width(line) <= cells for line in lines)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")


@pytest.mark.slow
def test_a_flood_is_cleaned_in_linear_time() -> None:
    # Quadratic would be minutes here: 400,000 unended beginnings of strings.
    for start in ("\x1b]", "\x9d", "\x1bP", "\x9b1;", "\x1b[0"):
        assert text.width(text.clean(start * 200_000)) > 0


def test_width_counts_cells() -> None:
    assert [text.width(name) for name in ("abc", "\u65e5\u672c", "e\u0301", "\U0001f680")] == [
        3,
        4,
        1,
        2,
    ]
    assert text.cut("\u65e5\u672c\u8a9e", 4) == "\u65e5\u2026"
    assert text.pad("\u65e5", 4, right=True) == "  \u65e5"


def test_numbers_for_people() -> None:
    assert [text.duration(s) for s in (0.4, 41, 600, 3723, None, float("nan"))] == [
        "0:00", "0:41", "10:00", "1:02:03", "?", "?",
    ]  # fmt: skip
    assert [text.tokens(n) for n in (0, 912, 999.96, 18_240, 999_950, 1_300_000, None)] == [
        "0", "912", "1.0k", "18.2k", "1.0M", "1.3M", "?",
    ]  # fmt: skip
    assert [text.cost(c) for c in (0, 0.004, 0.11, 1234.5, None, -1)] == [
        "$0.00", "<$0.01", "$0.11", "$1,234.50", "?", "?",
    ]  # fmt: skip
    assert [text.size(n) for n in (412, 3_400_000, 256 * 1024**2, 100 * 1000**2, None)] == [
        "412 B", "3.4 MB", "268.4 MB", "100 MB", "?",
    ]  # fmt: skip
    assert [plural(1, "lane"), plural(2, "lane")] == ["1 lane", "2 lanes"]


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is the shell that is asked")
def test_a_quoted_line_is_exact_and_harmless() -> None:
    argv = [
        "it's",
        "",
        "a b",
        "$HOME",
        "line\nline",
        "\x1b[2J\x07\\'",
        "t\u202ex",
        "\udcff",
        "na\u00efve",
    ]
    line = text.command_line(argv)
    assert is_harmless(line)
    assert "\n" not in line
    script = f"printf '%s\\0' {line}"
    output = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
    back = [content.decode("utf-8", "surrogateescape") for content in output.split(b"\0")[:-1]]
    assert back == argv


def test_colours_and_repainting_follow_the_terminal() -> None:
    able = {"TERM": "xterm-256color"}
    assert wants_color(able, True)
    assert not wants_color(able, False)
    assert not wants_color({"TERM": "dumb"}, True)
    assert not wants_color({**able, "NO_COLOR": "1", "FORCE_COLOR": "1"}, True)
    assert wants_color({"FORCE_COLOR": "1"}, False)
    assert not wants_color({**able, "FORCE_COLOR": "0"}, True)
    assert wants_live(able, True)
    assert not wants_live({"TERM": "dumb"}, True)
    assert not wants_live(able, False)
