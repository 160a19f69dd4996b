"""The page as bytes: what it may do, what it carries, how it is cut. Looks: tests/browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from hydra.report.html import patches
from hydra.report.html.harmless import LONGEST, code, prose, whole
from hydra.report.html.patches import language_of
from hydra.report.html.timeline import ROWS, timelines
from tests.support.landings import Shelf
from tests.support.page_small import small as make_small
from tests.support.pages import PageRun, commit_files, event, lane, verdict
from tests.support.rendering import build

SCRIPT = "application/json"


class Parsed(HTMLParser):
    """The page as a parser of HTML sees it: its scripts, and every tag."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self.inside = False
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            at = len(self.tags) - 1
            self.texts[at] = self.texts.get(at, "") + data

    def blocks(self) -> dict[str, Any]:
        """The data, by the id of its element."""
        return {
            str(names["id"]): json.loads(self.texts[at])
            for at, (tag, names) in enumerate(self.tags)
            if tag == "script" and names.get("type") == SCRIPT
        }

    def text_of(self, tag: str, **values: str) -> list[str]:
        """The texts of all elements of a kind."""
        return [
            self.texts.get(at, "")
            for at, (name, attributes) in enumerate(self.tags)
            if name == tag and values.items() <= attributes.items()
        ]


@pytest.fixture
def small(repo: Path, scratch: Path) -> PageRun:
    return make_small(repo, scratch)


def parsed(document: dict[str, Any] | None = None, **data: Any) -> Parsed:
    rows = {"lanes": [], "run": "r", "folder": "/run", "title": "t", "says": "s"}
    return Parsed(build(document or rows, data.get("patches", ()), data.get("events", ())))


def digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_nothing_but_its_own_script_and_style_may_run_or_be_fetched(small: PageRun) -> None:
    page = Parsed(small.bytes())
    (policy,) = (
        names["content"] for tag, names in page.tags if "http-equiv" in names and tag == "meta"
    )
    scripts = [
        page.texts[at]
        for at, (tag, names) in enumerate(page.tags)
        if tag == "script" and names.get("type") != SCRIPT
    ]
    (style,) = page.text_of("style")
    assert len(scripts) == 1
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest(scripts[0])}'; "
        f"style-src 'sha256-{digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    for tag, names in page.tags:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form", "svg")
        assert not [name for name in names if name.startswith("on") or name in ("style", "src")]
        assert not str(names.get("href", "#")).startswith(("http", "//", "javascript")), names


def test_the_same_run_gives_the_same_bytes(small: PageRun) -> None:
    assert small.bytes() == small.bytes()


def test_a_change_that_several_lanes_made_is_carried_once(small: PageRun) -> None:
    blocks = Parsed(small.bytes()).blocks()
    files = [row["path"] for row in blocks["data"]["files"]]
    hunks = blocks[f"file-{files.index('src/pager.py')}"]["hunks"]
    assert sorted(lane for hunk in hunks for lane, _ in hunk["lanes"]) == [0, 1, 2]
    assert all(re.fullmatch("[0-9a-f]{6,}", short) for hunk in hunks for _, short in hunk["lanes"])
    assert "files" not in blocks["data"]["verdict"]["lanes"][0]


def test_a_rename_is_one_thing(repo: Path, scratch: Path) -> None:
    shelf = Shelf.of(repo, scratch)
    text = (repo / "src/pager.py").read_text()
    commit_files(shelf, "codex", {"src/pager.py": None, "src/pages.py": text})
    page = Parsed(PageRun(shelf, verdict(shelf, [lane("codex", 1)])).bytes())
    rows = page.blocks()["data"]["files"]
    assert [(row["path"], row["moved"]) for row in rows] == [
        ("src/pager.py", {"0": 1}),
        ("src/pages.py", {"0": 0}),
    ]


def test_a_broken_record_is_shown_as_far_as_it_goes(small: PageRun) -> None:
    with (small.record.folder / "events.jsonl").open("ab") as file:
        file.write(b"no event\n")
    head = Parsed(small.bytes()).blocks()["data"]
    assert len(head["times"]) == 5
    assert head["problems"][0].startswith("the timeline is not whole: ")


@settings(max_examples=30)
@given_any(
    st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_any_text_survives_the_way_into_the_page(value: Any) -> None:
    document = {"lanes": [], "run": "r", "folder": "/", "title": "t", "says": "s"}
    page = parsed({**document, "separated": {"x": value}})
    assert page.blocks()["data"]["verdict"]["separated"]["x"] == whole(value)
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 2


def test_text_outside_of_diffs_is_cut_and_counted() -> None:
    assert prose("x" * (LONGEST + 1_234)).endswith("\u2026 (1,234 characters more)")
    assert prose("a\x1b[31mb\nc") == "ab\nc"


def test_lines_of_code_keep_their_tabs_and_show_their_controls() -> None:
    assert code("\tif x:\r\n\ty\u202e\n") == "\tif x:^M\n\ty<U+202E>\n"
    plain = "def f():\n\treturn '\u00e9\u2026'\n"
    assert code(plain) is plain


def test_a_hunk_that_is_too_large_is_cut_at_a_line(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patches, "HUNK_LIMIT", 100)
    monkeypatch.setattr(patches, "TOTAL_LIMIT", 150)
    shelf = Shelf.of(repo, scratch)
    commit_files(shelf, "codex", {"a": "12345678\n" * 30, "b": "12345678\n" * 30, "c": "1\n"})
    blocks = Parsed(PageRun(shelf, verdict(shelf, [lane("codex", 1)])).bytes()).blocks()
    first, second, third = (blocks[f"file-{n}"]["hunks"][0] for n in range(3))
    assert first["body"].split("\n")[1:] == ["+12345678"] * 8
    assert first["left"] == [22, 220]
    assert len(second["body"]) < 70
    assert second["left"][0] > 22
    assert "body" not in third or third["body"]


def test_a_timeline_keeps_both_ends_and_counts_the_rest() -> None:
    many = 3 * ROWS
    events = [event(n, n / 10, "message", "codex", text=f"{n}") for n in range(many)]
    (document,) = timelines(events)
    assert document["messages"] == many
    assert document["dropped"] == many - 2 * ROWS
    first, last = document["first"], document["last"]
    assert isinstance(first, list)
    assert isinstance(last, list)
    assert [len(first), len(last)] == [ROWS, ROWS]
    assert [first[0][2], last[-1][2]] == ["0", str(many - 1)]


def test_a_tool_call_and_what_came_of_it_are_one_row() -> None:
    events = [
        event(1, 1.0, "tool_call", "codex", id="a", name="Bash", summary="$ pytest -q"),
        event(2, 3.5, "tool_result", "codex", id="a", ok=False, summary=""),
        event(3, 4.0, "tool_call", "codex", id="b", name="Edit", summary="Edit a.py"),
        event(4, 4.5, "tool_result", "codex", id="b", ok=False, denied=True, summary=""),
        event(5, 5.0, "tool_call", "codex", id="c", name="Read", summary="Read a.py"),
    ]
    (document,) = timelines(events)
    assert document["first"] == [
        [1.0, "tool", "$ pytest -q", "testing", "failed", 2.5],
        [4.0, "tool", "Edit a.py", "editing", "denied", 0.5],
        [5.0, "tool", "Read a.py", "reading", "", None],
    ]


def test_only_the_grammars_that_are_needed_are_carried(small: PageRun) -> None:
    page = small.bytes()
    assert b'registerLanguage("python"' in page
    assert b'registerLanguage("rust"' not in page
    assert b"Highlight.js v11" in page
    assert language_of("a/Dockerfile") == "dockerfile"
    assert language_of("README") == ""
