"""What an earlier Hydra has left is read, landed, undone and removed, and shown byte for byte as it
was; `python -m tests.support.earlier show` writes it anew where other words were meant."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path

import pytest

from tests.support import driver
from tests.support.earlier import ALWAYS, SCENARIOS, golden, shown


def changes(name: str, now: str) -> list[str]:
    before = golden(name).read_text().splitlines()
    return list(unified_diff(before, now.splitlines(), name, "now", lineterm="", n=1))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_that_an_earlier_hydra_has_left(name: str, scratch: Path) -> None:
    assert changes(name, shown(name, scratch)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ALWAYS)
def test_every_help_and_screen_and_what_is_read_of_every_cheat(name: str) -> None:
    shown = ALWAYS[name]()
    assert changes(name, shown) == []
    assert driver.RAW.search(shown) is None
