"""Whatever an agent writes, no reporter sends a raw control character: events, results and verdicts
in test_stream_storm.py, all else in tests/data/golden/screens.txt."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from hydra.report.hunks import shown as shown_diff

nasty = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b\x9b\x9d\x07\x7f\r\n\t[]\\;0m2JHc \u202e\u2066\u200b\u2028\ud800\u0301"
        ),
        st.characters(),
    ),
    max_size=40,
)


def assert_harmless(shown: str, *, color: bool) -> None:
    if color:
        shown = re.sub(r"\x1b\[(?:0|1|2|31|32|33|36)m", "", shown)
    bad = [
        name for name in shown
        if name != "\n" and unicodedata.category(name) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]  # fmt: skip
    assert not bad, f"{bad!r} in {shown!r}"


@given(st.binary(max_size=60))
def test_diffs(diff: bytes) -> None:
    for shown in shown_diff(diff, color=False).decode().split("\n"):
        assert_harmless(shown.replace("\t", ""), color=False)
