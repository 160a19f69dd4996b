"""What the page calls a conflict is what the landing refuses, for every two of many patches."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from hydra.errors import HydraError
from hydra.landing.picks import Pick
from tests.support.pages import PageRun

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Open


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.full)])
def test_the_page_and_the_landing_agree(
    made: Callable[[str], PageRun], show: Open, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    run, page = made("crossing"), show("crossing").page
    monkeypatch.chdir(run.shelf.repo)
    lanes = [lane["lane"] for lane in run.document["lanes"]]
    for summary in page.locator(".fold > summary").all():
        if summary.evaluate("(node) => !node.parentElement.open"):
            summary.click()
    wrong, conflicts = [], 0
    pairs = [*combinations(lanes, 2)][::step]
    for row, other in pairs:
        is_present = shown(page, lanes.index(row), lanes.index(other))
        conflicts += is_present
        if is_present != refused(run, row, other):
            wrong.append((row, other, "the page says so" if is_present else "the landing refuses"))
    assert not wrong
    assert len(pairs) / 6 < conflicts < len(pairs) * 2 / 3


def shown(page: Page, number: int, other: int) -> bool:
    for lane in (number, other):
        page.locator(f"[data-pick-lane='{lane}']").click()
    is_present = bool(page.locator("#picks .conflicts").count())
    page.get_by_role("button", name="Clear").click()
    return is_present


def refused(run: PageRun, name: str, other: str) -> bool:
    try:
        run.shelf.merge(picks=(Pick(name, path=""), Pick(other, path="")), dry_run=True)
    except HydraError as error:
        if error.exit_code != 5:
            raise
        return True
    return False
