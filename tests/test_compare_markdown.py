"""The verdict as a pull request's comment: read by GitHub's own Markdown, it stays what it says."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra.report.markdown import LIMIT, code, inert, plain
from hydra.report.text import clean
from tests.support import verdicts
from tests.support.rendering import comment
from tests.test_reporters_hostile import nasty

cmarkgfm = pytest.importorskip("cmarkgfm")

ALLOWED = {
    *("p", "h3", "strong", "code", "span", "sub", "ul", "li", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
SPECIAL = "|`*_~<>&@#:/.[]()!$\\-+=\"' \n\t"
tricky = st.one_of(
    nasty,
    st.text(st.sampled_from(f"{SPECIAL}aw1"), max_size=30),
    st.sampled_from(
        [
            "</summary></details><img src=x onerror=alert(1)>",
            "@ada and @org/team, #12, GH-7, org/repo#3, ada@example.com",
            "https://evil.example www.evil.example ftp://x javascript:alert(1)",
            "[link](https://evil.example) ![x](y) [ref]: /z",
            "a|b \\| c \\\\| d ``` ~~~ <!-- x -->",
            "- [x] 1. # > --- === | --- |",
            "$`x`$ $$y$$ :+1: &lt;b&gt; &#64;ada",
            "```",
            "#0 and #12",
        ]
    ),
)


class Page(HTMLParser):
    """What a browser would see: elements, and the texts that GitHub looks for names in."""

    def __init__(self, rendered: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[tuple[str, str]] = []
        self.rows: list[int] = []
        self._open: list[str] = []
        self.feed(rendered)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._open.append(tag)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self._open
        assert self._open[-1] == tag, (tag, self._open)
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append(("code" if "code" in self._open else "prose", data))

    @property
    def whole(self) -> str:
        """All of its text."""
        return "".join(text for _, text in self.texts)


def rendered(markdown: str) -> Page:
    """As GitHub makes HTML of it (before it takes out what it does not allow)."""
    options = cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE
    return Page(cmarkgfm.github_flavored_markdown_to_html(markdown, options=options))


def assert_inert(page: Page) -> None:
    """Nothing that acts, and nothing that GitHub would make a link or a mention of."""
    assert set(page.tags) <= ALLOWED, set(page.tags) - ALLOWED
    assert all(name in ("align",) for name, _ in page.attributes), page.attributes
    for kind, text in page.texts:
        if kind == "code":
            continue
        assert not re.search(r"@\w", text), text
        assert not re.search(r"#\d", text), text
        assert not re.search(r"(?i)\bgh-\d", text), text
        assert not re.search(r"(?i)\bwww\.\w|\w://", text), text


@settings(max_examples=150)
@given(tricky)
def test_prose_is_read_back_as_it_was(text: str) -> None:
    shown = clean(text[:300]).strip(" ")
    for markdown in (f"- {inert(text)}", f"x {inert(text)}", f"**{inert(text)}x**"):
        assert_inert(rendered(markdown))
    page = rendered(f"| a |\n| --- |\n| {inert(text)} |\n")
    assert_inert(page)
    assert page.rows == [1, 1]
    line = page.whole.partition("a")[2]
    assert " ".join(line.split()) == " ".join(shown.split())


@settings(max_examples=150)
@given(tricky)
def test_code_is_read_back_as_it_was(text: str) -> None:
    shown = clean(text[:300])
    for markdown in (f"x {code(text)} y", f"| a |\n| --- |\n| {code(text)} |\n"):
        page = rendered(markdown)
        assert_inert(page)
        line = "".join(text for kind, text in page.texts if kind == "code")
        assert " ".join(line.split()) == " ".join(shown.split())
    assert page.rows == [1, 1]


@settings(max_examples=100)
@given(tricky)
def test_a_summary_is_read_back_as_it_was(text: str) -> None:
    page = rendered(f"<details>\n<summary>{plain(text)}</summary>\n\nx\n\n</details>")
    assert_inert(page)
    line = page.whole.rstrip().removesuffix("x")
    assert " ".join(line.split()) == " ".join(clean(text[:300]).split())


@settings(max_examples=40)
@given(tricky)
def test_whatever_the_texts_are_the_whole_is_inert(text: str) -> None:
    document = verdicts.with_texts(verdicts.verdict(), lambda line: f"{line}{text}")
    assert_inert(rendered(comment(document)))


def large(lanes: int, tests: int, text: str) -> dict[str, Any]:
    names = [f"codex-{n}" for n in range(lanes)]
    document = verdicts.verdict()
    document["lanes"] = [
        verdicts.lane(name, rank=n, reasons=[verdicts.reason("risk", text)] * 60, why=text)
        for n, name in enumerate(names, 1)
    ]
    cells = dict.fromkeys(names, "passed")
    document["cross"] = [verdicts.cross(f"t::{n}{text}", names[0], cells) for n in range(tests)]
    document["not_tried"] = [text] * 500
    return document


@pytest.mark.parametrize("text", ["x" * 5000, "|" * 5000, "<@\u202e" * 5000])
def test_it_ends_where_githubs_limit_is_and_says_so(text: str) -> None:
    line = comment(large(64, 2000, text))
    assert len(line) <= LIMIT
    assert "left out for the length: `hydra compare -r k3f` shows all" in line
    assert line.endswith(f"<sub>Hydra, run `{verdicts.RUN}`, base `4be1c02` (main)</sub>\n")
    page = rendered(line)
    assert_inert(page)
    assert page.tags.count("details") == html.unescape(line).count("</details>")


@settings(deadline=None)
@given(tricky, tricky, tricky)
def test_what_separates_patches_is_in_it_and_harmless(id: str, lane: str, gave: str) -> None:
    shown = [{"id": id, "source": "x", "gives": {lane: gave, "codex": "passed"}}]
    document = verdicts.ranked("r", {"claude": "a" * 40, "codex": "b" * 40})
    document["separated"] = {"agent": id, "shown": shown, "tests": [{}]}
    page = rendered(comment(document))
    assert_inert(page)
    assert "that tell patches apart" in page.whole
