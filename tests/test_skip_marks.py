"""Marks that keep a test from running, however a project writes them."""

from __future__ import annotations

import pytest

from tests.support.patches import found, told

PYTHON = "def test_last():\n    assert 7 == last(20)\n"
NODE = """\
import test from "node:test";
test("refuses", () => {
  assert.equal(page(0), 1);
});
"""


def marked(
    before: str, line: str, *others: tuple[str, str | None, str]
) -> list[tuple[str, str, str]]:
    """What is told of a test that gets a decorator, and imports that."""
    path = "tests/test_pages.py"
    return told((path, PYTHON, f"{before}\n\n{line}\n{PYTHON}"), *others)


@pytest.mark.parametrize(
    ("before", "line", "marks"),
    [
        ("from .marks import skip_slow", "@skip_slow", "skip_slow = pytest.mark.skip"),
        ("from .marks import slow", "@slow", "slow = pytest.mark.skip(reason='later')"),
        ("from tests import marks", "@marks.slow", "slow = pytest.mark.skip"),
        ("from tests.marks import slow", "pytestmark = [slow]\n", "slow = pytest.mark.skip"),
        ("from shop.marks import mark", "@mark.skip", "from pytest import mark"),
    ],
)
def test_a_mark_of_the_project_s_own_module_is_a_skip(before: str, line: str, marks: str) -> None:
    (row,) = marked(before, line, ("tests/marks.py", None, f"import pytest\n\n{marks}\n"))
    assert row[:2] == ("skip_added", "gate")


@pytest.mark.parametrize("name", ["skip_slow", "skip_if_offline", "skipIfOffline", "skip_on_ci"])
def test_a_mark_of_a_module_that_the_patch_does_not_show_is_told_by_its_name(name: str) -> None:
    (row,) = marked(f"from shop.marks import {name}", f"@{name}")
    assert row == ("skip_added", "suspect", f"skips test_last ({name})")


@pytest.mark.parametrize("name", ["skip_validation", "skips", "skip", "skip_info", "onskip"])
def test_what_only_sounds_like_it_is_none(name: str) -> None:
    assert marked(f"from shop.orders import {name}", f"@{name}") == []


@pytest.mark.parametrize(
    ("options", "weight"),
    [
        ("{ skip: true }", "gate"),
        ('{ skip: "later" }', "gate"),
        ('{ timeout: 5, "skip": 1 }', "gate"),
        ("{ skip }", "suspect"),
        ("{ todo }", "suspect"),
        ("{ timeout: 5, skip: !process.env.CI }", "suspect"),
        ("{ skip: false }", ""),
        ("{ timeout: 5 }", ""),
        ("{ skipped }", ""),
        ("{ inner: { skip } }", ""),
    ],
)
def test_an_option_of_node_s_keeps_a_test_from_running(options: str, weight: str) -> None:
    for new in (
        NODE.replace(", () =>", f", {options}, () =>"),
        NODE.replace("});", f"}}, {options});"),
    ):
        rows = told(("pages.test.js", NODE, new))
        assert [row[:2] for row in rows] == ([("skip_added", weight)] if weight else [])


@pytest.mark.parametrize(
    ("value", "weight"), [("true", "gate"), ("isOffline()", "suspect"), ("false", "")]
)
@pytest.mark.parametrize("options", ["{ skip }", "{ skip: skip }", "{ todo: skip, timeout: 5 }"])
def test_an_option_is_what_its_name_stands_for(options: str, value: str, weight: str) -> None:
    new = NODE.replace("() =>", f"{options}, () =>")
    new = new.replace("test(", f"const skip = {value};\ntest(")
    rows = told(("pages.test.js", NODE, new))
    assert [row[:2] for row in rows] == ([("skip_added", weight)] if weight else [])


TAPE = """\
test("combine()", function (t) {
  t.test("under it", function (st) {
    st.equal(page(0), 1);
  });
  t.test("at it", function (st) {
    st.equal(page(1), 1);
  });
});
"""
GO = """\
package page

func TestPage(t *testing.T) {
	t.Run("at it", func(t *testing.T) {
		if page(1) != 1 {
			t.Fatal(1)
		}
	})
}
"""
HEIR = """\
import pytest


class TestTimed(Common):
    def test_age(self):
        assert age() == 1
"""
XFAIL = "@pytest.mark.xfail(reason='later')\n"


@pytest.mark.parametrize(
    ("path", "text", "old", "new", "says", "line"),
    [
        (
            "a.test.js",
            TAPE,
            '"at it",',
            '"at it", { skip: true },',
            'skips "at it" in combine() (skip)',
            5,
        ),
        ("a_test.go", GO, "if p", "t.Skip()\n\t\tif p", 'skips "at it" in TestPage (t.Skip)', 5),
        (
            "tests/test_a.py",
            HEIR,
            "class",
            f"{XFAIL}class",
            "marks class TestTimed as expected to fail (pytest.mark.xfail)",
            4,
        ),
        (
            "tests/test_a.py",
            HEIR,
            "\n\nc",
            "pytestmark = pytest.mark.skip\n\n\nc",
            "skips tests of tests/test_a.py (pytest.mark.skip)",
            2,
        ),
    ],
)
def test_a_mark_is_told_of_what_it_stands_on_and_counts_no_tests(
    path: str, text: str, old: str, new: str, says: str, line: int
) -> None:
    """Of a class that inherits tests, not all are in its file."""
    (finding,) = found((path, text, text.replace(old, new)))
    assert (finding.text, finding.line) == (says, line)


def test_a_class_that_is_new_and_skipped_skips_no_test_that_was_there() -> None:
    more = (
        "\n\n@pytest.mark.skip\nclass TestMore:\n    def test_more(self):\n        assert more()\n"
    )
    assert found(("tests/test_a.py", HEIR, HEIR + more)) == ()
