"""The shelf of most landings' tests, as a fixture; a landing that is killed at each moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hydra.landing import transaction
from hydra.race.recovery.startup import recover
from tests.support import landing_kinds as kinds
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, laid


def empty_run(scratch: Path) -> Shelf:
    """The project, and an empty run over it."""
    return Shelf.of(kinds.shop(scratch), scratch)


def of_claude(scratch: Path) -> Shelf:
    """One lane's work on the project."""
    shelf = Shelf.of(kinds.shop(scratch), scratch)
    shelf.lane("claude", kinds.work)
    return shelf


def fixture_of(make: Callable[[Path], Shelf]) -> Any:
    """A fixture: what that makes of a scratch folder; the test stands in its repository."""

    @pytest.fixture
    def standing(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
        shelf = laid(scratch, make)
        monkeypatch.chdir(shelf.repo)
        return shelf

    return standing


shelf = fixture_of(of_claude)
"""One lane's work on the project."""


def is_old_or_new_wherever_killed(
    shelf: Shelf,
    act: Callable[[], object],
    *,
    prepare: Callable[[], object] = lambda: None,
    child: Callable[[], object] = lambda: None,
    every: int = 3,
) -> None:
    """Asserts it of a third of the moments of `act` and of its last ones; `child` comes first."""
    repo, start = shelf.repo, Stand.of(shelf.repo)
    prepare()
    old = Stand.of(repo)
    seen: list[str] = []
    transaction.moment = seen.append
    act()
    kinds.quiet()
    new = Stand.of(repo)
    answers = set()
    count = len(seen) + 1
    for number in sorted({*range(1, count, every), *range(max(1, count - 6), count)}):
        if Stand.of(repo) != start:
            shelf.undo()
        prepare()
        assert kinds.killed_at(lambda: (child(), act()), number)
        lines: list[str] = []
        recover(shelf.environ, lines.append)
        now = Stand.of(repo)
        assert now in (old, new), (seen[number - 1], lines)
        assert kinds.clean(repo)
        assert len(lines) <= 1, lines
        assert not [*shelf.state.glob("*/landing/journal.json")], lines
        answers.add(now == new)
    assert False in answers
