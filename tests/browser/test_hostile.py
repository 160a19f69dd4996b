"""Names, contents and words that try to be more than text stay text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.support.pages import PageRun

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Open

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def walk(page: Page) -> None:
    """Every view, every file, every way to see it, everything opened."""
    for summary in page.locator("summary:visible").all():
        if summary.evaluate("(node) => !node.parentElement.open"):
            summary.click()
    for key in "234":
        page.keyboard.press(key)
    page.keyboard.press("2")
    for place in range(page.locator(".entry").count()):
        page.locator(".entry").nth(place).click()
        for key in "slouwx":
            page.keyboard.press(key)
    page.keyboard.press("4")
    for place in range(page.locator("#view-timeline .choices button").count()):
        page.locator("#view-timeline .choices button").nth(place).click()
    page.keyboard.press("?")


@pytest.mark.parametrize("name", ["hostile", "small"])
def test_nothing_runs_asks_or_complains(show: Open, name: str) -> None:
    seen = show(name)
    page = seen.page
    walk(page)
    assert page.evaluate("window.pwned") is None
    assert (
        page.evaluate("document.querySelectorAll('img, svg, iframe, object, embed, form').length")
        == 0
    )
    scripts = "[...document.scripts].filter((one) => one.type !== 'application/json').length"
    assert page.evaluate(scripts) == 1
    handlers = "[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())"
    assert not [name for name in page.evaluate(handlers) if name.startswith("on")]
    links = page.evaluate("[...document.links].map((one) => one.protocol)")
    assert set(links) <= {"file:"}
    assert (seen.console, seen.errors, seen.dialogs, seen.requests) == ([], [], [], [])


def test_what_would_hide_or_reorder_is_shown_by_its_name(show: Open) -> None:
    page = show("hostile").page
    walk(page)
    # The title too, and what only a screen reader gets.
    everything = page.evaluate(
        "document.documentElement.textContent + [...document.querySelectorAll('*')]"
        ".flatMap((one) => [...one.attributes].map((a) => a.value)).join(' ') + document.title"
    )
    assert not _HIDDEN.search(everything)
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.locator(".entry", has_text="a.py").first.click()
    # What no frame has drawn yet has no inner text.
    value = page.locator("#file .rows").text_content() or ""
    assert "<U+202E>gnp.exe<U+2066><U+200B><U+FEFF>" in value
    assert "^[]52;c;cHduZWQ=^G" in value
    assert "</script><script>window.pwned=1;alert(1)</script>" in value


def test_the_policy_forbids_what_the_page_does_not_do(show: Open) -> None:
    seen = show("small")
    page = seen.page
    page.evaluate(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.pwned = 1';"
        " document.body.append(s); const i = document.createElement('img');"
        " i.src = 'https://example.com/x.png'; document.body.append(i);"
        " const b = document.createElement('b'); b.setAttribute('onclick', 'window.pwned = 2');"
        " document.body.append(b); b.click();"
        " fetch('https://example.com/').catch(() => 0); })()"
    )
    while len(seen.console) < 3:  # one complaint each
        page.wait_for_event("console")
    assert page.evaluate("window.pwned") is None
    assert all("Content Security Policy" in text or "Security" in text for text in seen.console)


def test_every_attack_would_be_noticed(show: Open, made: Callable[[str], PageRun]) -> None:
    """The same data without its escapes does run: the test above can fail."""
    run = made("hostile")
    data = (run.shelf.state.parent / "page.html").read_text()
    policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', data)
    assert policy is not None
    broken = data.replace(policy[0], "").replace("\\u003c", "<")
    place = run.shelf.state.parent / "broken.html"
    place.write_text(broken)
    page = show("small").page
    page.goto(place.as_uri())
    page.wait_for_function("window.pwned === 1")
