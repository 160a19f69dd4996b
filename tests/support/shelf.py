"""The shelf of most landings' tests, as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import landing_kinds as kinds
from tests.support.landings import Shelf


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """One lane's work on the project; the test stands in it."""
    monkeypatch.chdir(scratch)
    repo = kinds.shop(scratch)
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    shelf.lane("claude", kinds.work)
    return shelf
