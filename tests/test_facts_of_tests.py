"""What is said of tests that a patch changes, moves or marks: facts that a newcomer found false."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hydra.analysis.tampering.findings import findings
from hydra.analysis.tampering.inline_tests import helpers_changed
from hydra.checks.new_tests import CheckedPatch, with_cut_off
from hydra.ranking.results import leaf
from tests.support.evidences import file, lane, result
from tests.support.patches import found


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("test/a.test.ts::cuts, queries: true > /#abc", '"/#abc"'),
        ("a.test.ts::http.get", "http.get"),
        ("cuts > a.b/[c] > d", "d"),
        ("shop/pages::TestUp/http://a.b", "TestUp/http://a.b"),
        ("/?a=1", '"/?a=1"'),
        ("shop src/page.rs::page::tests::up", "up"),
        ("tests/test_a.py::TestUp::test_up[a > b.c]", "test_up[a > b.c]"),
        ("tests.test_a.TestUp.test_up", "test_up"),
        ("PageTest#test_up", "test_up"),
        ("tests/test_a.py", "test_a.py"),
    ],
)
def test_a_title_is_cut_at_no_mark_in_it(id: str, name: str) -> None:
    assert leaf(id) == name


def test_a_condition_is_told_without_the_brackets_around_it() -> None:
    line, text = "if (skips(input) && (a || b)) return;", "skips(input) && (a || b)"
    old = 'describe("cuts", () => {\n  for (const input in inputs) {\n    test(input, () => {\n'
    rest = "      expect(cut(input)).toBe(inputs[input]);\n    });\n  }\n});\n"
    (finding,) = found(("a.test.js", old + rest, f"{old}      {line}\n{rest}"))
    assert finding.text == f"puts the only assertion of cuts under a condition: {text}"


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


def test_a_file_that_is_moved_is_held_against_itself() -> None:
    """That a warning is turned off in it, and that its helpers may be code, was said of one."""
    text = "def up():\n    return 1\n\n\ndef test_up():\n    assert up() == 1\n"
    text += "\n\nif __name__ == '__main__':  # pragma: no cover\n    main()\n"
    was = replace(file("test.py", text, None), holds="unclear")
    for new in (text, text.replace("test_up", "test_ups")):
        files = [was, file("test_up.py", None, new)]
        assert {each.kind for each in findings(files)} == {"tests_restructured"}
        assert [*helpers_changed(files)] == []
    other = file("test_up.py", None, text.replace("return 1", "return 2"))
    assert [each.path for each in helpers_changed([was, other])] == ["test_up.py"]
    base = result({"test.py::test_up": True})
    own = result({"test_up.py::test_up": True, "test_up.py::test_more": True})
    checks = lane("a", own, base=[base], files=[was, other]).checks
    ((checked,),) = with_cut_off([CheckedPatch([was, other], checks, {"pytest": base})])
    assert checked.comparison
    assert checked.comparison.new == ("test_up.py::test_more",)
