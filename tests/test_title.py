"""A run's title from its task."""

from __future__ import annotations

import pytest

from hydra.race.preflight import LONGEST, title


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("Fix the off-by-one in pager.py", "Fix the off-by-one in pager.py"),
        ("Please fix the tests.", "Fix the tests"),
        ("could you please add a --json flag?", "Add a --json flag?"),
        ("# Add retries\n\nAll calls should ...", "Add retries"),
        ("\n\n- `pages()` is *wrong*:\n- mend it", "pages() is wrong"),
        ("```python\nx = 1\n```\nMend that", "x = 1"),
        ("Mend it. Then run all of the tests, twice, with each of the Pythons.", "Mend it"),
        ("See [the issue](https://example.org/1) and mend it", "See the issue and mend it"),
        ("snake_case_name stays __init__ too", "snake_case_name stays __init__ too"),
        ("...", "..."),
        ("- ", "-"),
        ("word " * 40, "word " * 11 + "..."),
        ("x" * 200, "x" * 56 + " ..."),
    ],
)
def test_a_title_is_what_the_task_says_first(prompt: str, text: str) -> None:
    assert title(prompt) == text
    assert 0 < len(title(prompt)) <= LONGEST


def test_no_task_makes_it_slow() -> None:
    for text in (
        "*" * 200_000,
        "[" * 200_000,
        "a. " * 100_000,
        "_`" * 100_000,
        "can you " * 50_000,
    ):
        assert len(title(text)) <= LONGEST
