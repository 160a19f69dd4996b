"""The list of behaviours names tests that are there."""

from __future__ import annotations

from tests.support import behaviours


def test_each_test_that_is_named_is_there() -> None:
    assert behaviours.missing() == []


def test_the_page_is_what_the_rows_say() -> None:
    """`python -m tests.support.behaviours` writes it anew."""
    assert behaviours.PAGE.read_text() == behaviours.page()
