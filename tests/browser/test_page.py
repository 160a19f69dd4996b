"""The page in a browser: the keyboard, many files, long diffs, every width, both themes."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.support.processes import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Open
    from tests.support.browser import Scheme

AXE_GATES = ("small", 360, "dark")
"""The page, width and theme that gate; `pytest -m full` has the others."""

VIEWS = ("verdict", "changes", "tests", "timeline")


def focused(page: Page) -> str:
    text: str = page.evaluate("(({ id, className }) => id || className)(document.activeElement)")
    return text


def wait(page: Page, what: str) -> None:
    """Until it is so. Playwright's own waiting evaluates text, which the page's policy forbids."""
    assert wait_until(lambda: bool(page.evaluate(what)), 60), what


def file_name(page: Page) -> str:
    text: str = page.locator("#file h2").inner_text()
    return text


def test_the_page_opens_on_the_answer_and_folds_all_else(show: Open) -> None:
    seen = show("small")
    page = seen.page
    assert page.locator("h1").inner_text() == "Land codex"
    assert page.locator(".hero .why").inner_text().startswith("Fixes all three failures; smallest")
    assert page.locator(".hero code.line").inner_text().startswith("hydra merge codex -r ")
    assert page.locator("#patch h3 button").all_inner_texts() == [
        "src/pager.py",
        "tests/test_pager.py",
    ]
    lanes = page.locator(".lane")
    assert lanes.locator("strong").all_inner_texts() == [
        "codex",
        "claude",
        "codex-2",
        "cursor-agent",
    ]
    assert "held back" in lanes.nth(3).inner_text()
    seen_text = page.locator("#view-verdict").inner_text()
    for hidden in (".json", "87%", "tokens", " x 100", "of 100"):
        assert hidden not in seen_text, hidden
    lanes.nth(3).click()
    assert page.locator("#patch h2").inner_text() == "What cursor-agent changes"
    assert "assertEqual" in page.locator("#patch .row.add").first.inner_text()
    page.locator("details.fold").first.locator("summary").click()
    evidence = page.locator("a.evidence:visible").first.get_attribute("href") or ""
    assert evidence.startswith("file:///")
    assert evidence.endswith("/checks/1/codex/pytest.json")
    assert seen.quiet


def test_what_is_unknown_is_no_zero(show: Open) -> None:
    details = show("small").page.locator("details.fold").nth(2)
    details.locator("summary").click()
    facts = details.locator("dl.facts").first.inner_text()
    assert "tokens out\n?" in facts
    assert "cost\n?" in facts


def test_a_held_back_lane_is_green_nowhere(show: Open) -> None:
    page = show("small", "tests").page
    rows, tests = page.locator("table.matrix").all()[:2]
    cells = rows.locator("tbody tr:last-child td").all()
    cells += tests.locator("tbody td:last-child").all()
    assert [cell for cell in cells if "good" in (cell.get_attribute("class") or "")] == []
    # Two lanes pass two tests by what they changed in them: neither fixed anything.
    assert page.locator("td.warn", has_text="passes").count() == 4
    assert page.locator("td.warn", has_text="fixed").count() == 0
    bent = page.locator("td.warn", has_text="passes, by its own version of the test")
    assert (bent.count(), bent.first.locator(".sign").inner_text()) == (2, "!")


def test_a_wide_table_scrolls_in_its_box_and_shows_that_it_does(show: Open) -> None:
    page = show("small", "tests", width=360).page
    frame = page.locator(".frame").first
    wait(page, "document.querySelector('.frame').classList.contains('after')")
    assert not frame.evaluate("(node) => node.classList.contains('before')")
    frame.locator(".scroll").evaluate("(node) => node.scrollTo(node.scrollWidth, 0)")
    wait(page, "document.querySelector('.frame').classList.contains('before')")
    assert not frame.evaluate("(node) => node.classList.contains('after')")


def test_the_keyboard_does_it_all(show: Open) -> None:
    seen = show("small")
    page = seen.page
    page.keyboard.press("j")
    assert focused(page) == "lane-0"
    page.keyboard.press("2")
    assert page.locator("#view-changes").is_visible()
    assert file_name(page) == "src/pager.py"
    page.keyboard.press("j")
    assert file_name(page) == "tests/test_pager.py"
    page.keyboard.press("k")
    page.keyboard.press("n")
    assert focused(page) == "head"
    page.keyboard.press("x")
    assert page.locator("#picks").is_visible()
    page.keyboard.press("x")
    assert page.locator("#picks").is_hidden()
    page.keyboard.press("s")
    assert page.locator(".rows.pairs").count() == 1
    page.keyboard.press("o")
    assert page.locator(".both.names").inner_text().split() == ["codex", "claude"]
    page.keyboard.press("u")
    assert page.locator("#file .rows.unified").count() == 1
    page.keyboard.press("/")
    page.keyboard.type("usage")
    assert page.locator(".entry").count() == 1
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("dialog").is_hidden()
    page.keyboard.press("3")
    assert page.locator("#view-tests").is_visible()
    page.keyboard.press("4")
    page.keyboard.press("j")
    assert page.locator("#events h2").inner_text() == "claude"
    assert seen.quiet


def test_shortcuts_can_be_turned_off(show: Open) -> None:
    page = show("small").page
    page.keyboard.press("?")
    page.get_by_label("Shortcuts of one key").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    assert page.locator("#view-changes").is_hidden()
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()


def test_everything_can_be_reached_by_tab_and_shows_it(show: Open) -> None:
    page = show("small").page
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        document = page.evaluate(
            "(() => { const a = document.activeElement; const s = getComputedStyle(a);"
            " return [a.textContent.slice(0, 40), s.outlineStyle, a.getClientRects().length]; })()"
        )
        assert document[1] != "none", document
        assert document[2] > 0, document
        reached.add(document[0])
    assert {
        "Skip to the content",
        "Verdict",
        "Changes",
        "Copy",
        "codex Codex \u00b7 gpt-5.5",
    } <= reached


def test_three_hundred_files_are_in_the_tree_and_none_is_drawn(show: Open) -> None:
    seen = show("many", "changes")
    page = seen.page
    assert page.locator(".entry").count() == 300
    assert page.locator("#file .diff").count() == 1
    page.locator("#filter").fill("part014 0299")
    assert page.locator(".entry").count() == 1
    page.locator(".entry").click()
    assert file_name(page) == "src/part014/module0299.py"
    assert page.locator(".row.add").count() > 0
    page.keyboard.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    assert page.locator(".entry").count() == 300
    assert seen.quiet


def test_twenty_thousand_lines_are_drawn_as_one_looks(show: Open) -> None:
    seen = show("one_diff", "changes")
    page = seen.page
    page.locator(".row.add").first.wait_for()
    heads = page.evaluate("document.querySelectorAll('.chunk').length")
    assert heads > 100
    # What is drawn on the way may move the end away again: one looks until it is there.
    wait(
        page,
        "(scrollTo(0, document.body.scrollHeight),"
        " [...document.querySelectorAll('.chunk')].at(-1).innerText.includes('f2499'))",
    )
    # What was not looked at comes by itself, so that the browser's own search finds it.
    wait(page, "[...document.querySelectorAll('.chunk')].every((one) => one.childElementCount > 0)")
    page.keyboard.press("s")
    page.keyboard.press("o")
    page.keyboard.press("n")
    assert focused(page) == "head"
    assert seen.quiet


def test_two_lanes_stand_beside_each_other_by_the_lines_of_the_base(show: Open) -> None:
    page = show("one_diff", "changes").page
    page.keyboard.press("o")
    page.locator(".rows.pairs .both").first.wait_for()
    rows = page.evaluate(
        "[...document.querySelectorAll('.rows .both')].slice(0, 12)"
        ".map((row) => [...row.children].map((side) => side.textContent))"
    )
    assert ["    x = a + 0", "    x = a + 0"] in rows
    assert ['    y = x * 2 + len("two")', ""] in rows
    assert ["    z = y", "    z = y"] in rows
    assert ["", "    z = y or None  # zero"] in rows


def test_a_line_that_is_far_too_long_is_cut_and_counted(show: Open) -> None:
    seen = show("hostile", "changes")
    page = seen.page
    page.locator(".entry", has_text="long.py").click()
    more = page.locator("button.more")
    assert "1,999,006" in more.inner_text()
    before = page.locator(".row.add").first.inner_text()
    assert len(before) < 1_200
    more.click()
    assert len(page.locator(".row.add").first.inner_text()) > 20_000
    assert seen.quiet


@pytest.mark.full
@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
@pytest.mark.parametrize("name", ["small", "hostile", "many"])
def test_no_width_scrolls_sideways(show: Open, name: str, width: int) -> None:
    page = show(name, width=width).page
    for view in VIEWS:
        page.keyboard.press(str(VIEWS.index(view) + 1))
        for summary in page.locator("summary:visible").all():
            if summary.evaluate("(node) => !node.parentElement.open"):
                summary.click()
        if view == "changes":
            page.keyboard.press("x")
            page.keyboard.press("s")
        over = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert over <= 0, f"{view} is {over} px too wide"


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        pytest.param(*row, marks=() if row == AXE_GATES else pytest.mark.full)
        for row in product(("small", "hostile"), (360, 1280), ("light", "dark"))
    ],
)
def test_axe_finds_nothing(show: Open, name: str, scheme: Scheme, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = show(name, width=width, scheme=scheme).page
    for key in "1234":
        page.keyboard.press(key)
        for summary in page.locator("summary:visible").all():
            if summary.evaluate("(node) => !node.parentElement.open"):
                summary.click()
        if key == "2":
            states = ["x", "s", "o", "u"] if name == "small" else ["x"]
        else:
            states = ["?"] if key == "1" else [""]
        for state in states:
            if state:
                page.keyboard.press(state)
            document = axe.run(page).response["violations"]
            pairs = [
                (row["id"], [node["html"][:160] for node in row["nodes"][:3]]) for row in document
            ]
            assert not document, f"view {key}, after {state!r}: {json.dumps(pairs, indent=1)}"
        page.keyboard.press("Escape")


def test_the_theme_can_be_chosen_and_stays(show: Open) -> None:
    page = show("small", scheme="dark").page

    def paper() -> str:
        text: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return text

    dark = paper()
    page.keyboard.press("t")
    light = paper()
    assert light != dark
    page.reload()
    assert paper() == light
    page.keyboard.press("t")
    assert paper() == dark
