"""The first screen: what a person sees before a click, on a desktop, a phone and on paper."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.support.page_ends import PARTS

if TYPE_CHECKING:
    from tests.browser.conftest import Open


def test_what_a_tool_makes_comes_after_what_a_person_wrote(show: Open) -> None:
    page = show("ends").page
    page.locator(".lane").nth(1).click()
    files = page.locator("#patch h3").all_inner_texts()
    assert [file.split()[0] for file in files] == ["src/pager.py", "a.min.js", "b.png"]
    assert files[2] == "b.png binary"


def test_files_beyond_the_rows_are_counted(show: Open) -> None:
    page = show("ends").page
    files = page.locator("#patch h3").count()
    assert files < 20
    more = page.locator("#patch > p").last.inner_text()
    assert more == f"{PARTS + 2 - files} more files under Changes"


def test_a_lane_that_left_no_patch_has_no_lines(show: Open) -> None:
    page = show("ends").page
    failed = page.locator(".lane").nth(2)
    assert failed.locator(".size").count() == 0
    assert failed.locator(".why").inner_text() == "API Error"
    failed.click()
    assert page.locator("#patch p").inner_text() == "codex: it left no patch"
    evidence = page.locator("details.fold").nth(2)
    evidence.locator("summary").click()
    assert evidence.locator(".gate .kind").inner_text() == "failed"
    assert "lines\nnone" in evidence.locator("dl.facts").inner_text()


def test_nothing_is_told_twice_of_a_lane(show: Open) -> None:
    evidence = show("small").page.locator("details.fold").first
    evidence.locator("summary").click()
    names = Counter(evidence.locator("dt").all_inner_texts())
    assert names.most_common(1)[0][1] == 1, names


def test_lanes_without_a_patch_are_none_that_could_agree(show: Open) -> None:
    page = show("ends").page
    agree = page.locator("details.fold", has_text="Where lanes agree")
    agree.locator("summary").click()
    assert agree.locator("li").inner_text().startswith("2 of 2 patches changed pages in")


def test_what_came_of_tests_that_were_asked_for_is_seen_unfolded(show: Open) -> None:
    page = show("ends").page
    document = page.locator("details.fold", has_text="was asked for")
    text = "1 of 2 tests that codex was asked for tells patches apart"
    assert document.locator("summary").inner_text() == text
    assert page.locator("text=test_zero").first.is_hidden()
    document.locator("summary").click()
    assert document.locator("pre").inner_text().startswith("def test_zero():")
    items = document.locator("li").all_inner_texts()
    assert items[1] == "test_apart.test_rest: it passes on every patch"
    assert items[2].startswith("its file conftest.py is not tried")


def test_the_name_of_a_lane_at_the_head_of_a_table_is_one_line(show: Open) -> None:
    page = show("small", "tests", width=360).page
    heads = page.locator(".matrix thead th", has_text="cursor-agent")
    lines = (
        "(node) => { const range = document.createRange(); range.selectNode(node.firstChild);"
        " return range.getClientRects().length; }"
    )
    assert {head.evaluate(lines) for head in heads.all()} == {1}


def test_a_phone_shows_the_whole_line_that_lands_it(show: Open) -> None:
    line = show("small", width=360).page.locator(".hero code.line")
    assert line.evaluate("(node) => node.scrollWidth - node.clientWidth") <= 0
    assert line.inner_text().replace("\n", " ").startswith("hydra merge codex -r ")


def test_a_phone_shows_the_lines_of_a_patch_to_their_end(show: Open) -> None:
    page = show("small", width=360).page
    over = "(box) => box.scrollWidth - box.clientWidth"
    assert page.locator("#patch .row.del .changed").count() > 0
    assert [box.evaluate(over) for box in page.locator("#patch .diff").all()] == [0, 0]


def test_a_phone_breaks_no_line_of_a_patch_of_forty_characters(show: Open) -> None:
    rows = show("small", width=390).page.locator("#patch .row").all()
    high = {len(row.text_content() or ""): row.bounding_box() for row in rows}
    short = [box["height"] for long, box in high.items() if box and 36 <= long <= 40]
    assert short
    assert max(short) <= 20


def test_a_patch_that_goes_on_below_shows_that_it_does(show: Open) -> None:
    page = show("ends").page
    frame = page.locator("#patch .frame", has_text="ROW_1 ")
    frame.locator(".diff").scroll_into_view_if_needed()
    assert "below" in (frame.get_attribute("class") or "").split()
    frame.locator(".diff").evaluate("(node) => node.scrollTo(0, node.scrollHeight)")
    page.wait_for_function(
        "(node) => !node.classList.contains('below')", arg=frame.element_handle()
    )


def test_paper_is_light_and_has_all_that_the_screen_scrolls(show: Open) -> None:
    page = show("ends", scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 30, 27)"
    cut = page.evaluate(
        "[...document.querySelectorAll('#patch .diff')]"
        ".filter((box) => box.scrollHeight > box.clientHeight + 1 && "
        "getComputedStyle(box).overflowY !== 'visible').length"
    )
    assert cut == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "system"
