"""The shelf of most landings' tests, as a fixture; a landing that is killed at each moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hydra.landing import transaction
from hydra.race.recovery.startup import recover
from tests.support import landing_kinds as kinds
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, laid, leftovers


def of_claude(scratch: Path) -> Shelf:
    """One lane's work on the project."""
    shelf = Shelf.of(kinds.shop(scratch), scratch)
    shelf.lane("claude", kinds.work)
    return shelf


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """One lane's work on the project; the test stands in it."""
    shelf = laid(scratch, of_claude)
    monkeypatch.chdir(shelf.repo)
    return shelf


def is_old_or_new_wherever_killed(
    shelf: Shelf, land: Callable[[], object], before: Callable[[], object] = lambda: None
) -> None:
    """Asserts it of each other moment; the child that is killed does something `before`."""
    old = Stand.of(shelf.repo)
    seen: list[str] = []
    transaction.moment = seen.append
    land()
    kinds.quiet()
    new = Stand.of(shelf.repo)
    shelf.undo()
    for number in range(1, len(seen) + 1, 2):
        assert kinds.killed_at(lambda: (before(), land()), number)
        recover(shelf.environ, lambda line: None)
        now = Stand.of(shelf.repo)
        assert now in (old, new), seen[number - 1]
        assert leftovers(shelf.repo) == []
        if now == new:
            shelf.undo()
