"""What a patch did to the tests of other languages."""

from __future__ import annotations

import pytest

from tests.support.patches import accused, told

JEST = """\
import { page } from "./page";

describe("page", () => {
  // it("is not a test")
  it("gives the first", () => {
    const got = page(1);
    expect(got).toEqual([1, 2, 3]);
    expect(got.more).toBe(true);
    assert.strictEqual(count(2), 4);
  });

  test.each([[1, 2], [3, 4]])("doubles %i", (a, b) => {
    expect(double(a)).toBe(b);
  });

  it("refuses", async () => {
    await expect(page(0)).rejects.toThrow(RangeError);
  });
});
"""
GO = """\
package page

import "testing"

func TestFirst(t *testing.T) {
	got := First(3)
	if got != 7 {
		t.Errorf("got %d", got)
	}
	if _, err := Load("a"); err != nil {
		t.Fatal(err)
	}
}

func TestTable(t *testing.T) {
	tests := []struct {
		in   int
		want int
	}{
		{1, 2},
		{3, 4},
	}
	for _, tt := range tests {
		t.Run("x", func(t *testing.T) {
			if got := Double(tt.in); got != tt.want {
				t.Errorf("got %d", got)
			}
		})
	}
}

func TestTestify(t *testing.T) {
	assert.Equal(t, 3, Half(6))
}
"""
RUST = """\
pub fn page(n: u32) -> Vec<u32> { vec![n] }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first() {
        let got = page(1);
        assert_eq!(got, vec![1, 2]);
        assert!(more(1));
    }

    #[test]
    #[should_panic(expected = "empty")]
    fn empty() {
        page(0);
    }
}
"""
JAVA = """\
class PageTest {
  @Test
  void first() {
    List<Integer> got = page(1);
    assertEquals(List.of(1, 2), got);
    assertThat(more(1)).isTrue();
  }

  @Test
  public void empty() throws Exception {
    assertThrows(IllegalArgumentException.class, () -> page(0));
  }

  @ParameterizedTest
  @CsvSource({"1, 2", "3, 4"})
  void doubles(int a, int b) {
    assertEquals(b, twice(a));
  }
}
"""
KOTLIN = """\
class PageTest {
    @Test
    fun `gives the first`() {
        val got = page(1)
        assertEquals(listOf(1, 2), got)
        assertTrue(more(1))
    }

    @Test
    fun refuses() {
        assertFailsWith<IllegalStateException> { page(0) }
    }
}
"""
RSPEC = """\
describe Page do
  it "gives the first" do
    got = page(1)
    expect(got).to eq([1, 2])
    expect(more(1)).to be_truthy
  end

  it "refuses" do
    expect { page(0) }.to raise_error(ArgumentError)
  end

  [[1, 2], [3, 4]].each do |a, b|
    it "doubles" do
      expect(twice(a)).to eq(b)
    end
  end
end
"""
MINITEST = """\
class PageTest < Minitest::Test
  def test_first
    assert_equal [1, 2], page(1)
    assert more(1)
  end

  test "refuses" do
    assert_raises(ArgumentError) { page(0) }
  end
end
"""
FILES = {
    "web/page.test.ts": JEST,
    "page_test.go": GO,
    "src/page.rs": RUST,
    "src/test/java/PageTest.java": JAVA,
    "src/test/kotlin/PageTest.kt": KOTLIN,
    "spec/page_spec.rb": RSPEC,
    "test/page_test.rb": MINITEST,
}
JS, GOLANG, RS, JV, KT, RB, MT = FILES

TAMPERED = [
    (
        JS,
        "    expect(got.more).toBe(true);\n",
        "",
        "assertion_removed",
        'removes 1 of 3 assertions of "page > gives the first"',
    ),
    (
        JS,
        "    expect(got.more)",
        "    // expect(got.more)",
        "assertion_removed",
        'removes 1 of 3 assertions of "page > gives the first"',
    ),
    (
        JS,
        ".toEqual([1, 2, 3])",
        ".toBeTruthy()",
        "assertion_weakened",
        'weakens an assertion of "page > gives the first": page(1) == [1,2,3] -> is true',
    ),
    (
        JS,
        ".toEqual([1, 2, 3])",
        ".toBeDefined()",
        "assertion_weakened",
        'weakens an assertion of "page > gives the first": page(1) == [1,2,3] -> is there',
    ),
    (
        JS,
        ".toEqual([1, 2, 3])",
        ".toContain(1)",
        "assertion_weakened",
        'weakens an assertion of "page > gives the first": page(1) == [1,2,3] -> in 1',
    ),
    (
        JS,
        ".toEqual([1, 2, 3])",
        ".toEqual(expect.anything())",
        "assertion_weakened",
        'weakens an assertion of "page > gives the first": page(1) == [1,2,3] -> is there',
    ),
    (
        JS,
        "toThrow(RangeError)",
        "toThrow()",
        "assertion_weakened",
        'weakens an assertion of "page > refuses": rejects page(0) raises RangeError -> raises '
        "anything",
    ),
    (
        JS,
        "expect(double(a)).toBe(b)",
        "expect(true).toBe(true)",
        "assertion_weakened",
        'weakens an assertion of "page > doubles %i": double(1) == 2 -> true always holds == '
        "true, double(3) == 4 -> true always holds == true",
    ),
    (
        JS,
        "strictEqual(count(2), 4)",
        "ok(count(2))",
        "assertion_weakened",
        'weakens an assertion of "page > gives the first": count(2) == 4 -> is true',
    ),
    (
        JS,
        "[1, 2], [3, 4]",
        "[1, 2]",
        "assertion_removed",
        'removes 1 of 2 cases of "page > doubles %i"',
    ),
    (
        JS,
        "[1, 2, 3]",
        "[1, 2]",
        "expectation_changed",
        'changes what "page > gives the first" expects: [1,2,3] -> [1,2]',
    ),
    (JS, 'it("refuses"', 'it.skip("refuses"', "skip_added", "skips page > refuses (it.skip)"),
    (JS, 'it("refuses"', 'xit("refuses"', "skip_added", "skips page > refuses (xit)"),
    (JS, 'it("refuses"', 'it.todo("refuses"', "skip_added", "skips page > refuses (it.todo)"),
    (
        JS,
        'it("refuses"',
        'it.failing("refuses"',
        "expected_failure_added",
        "marks as expected to fail page > refuses (it.failing)",
    ),
    (
        JS,
        'it("refuses"',
        'it.only("refuses"',
        "skip_added",
        "runs page > refuses alone (.only): 2 other tests of web/page.test.ts are left out",
    ),
    (
        JS,
        "describe(",
        "describe.skip(",
        "skip_added",
        "skips all 3 tests of web/page.test.ts (describe.skip)",
    ),
    (
        JS,
        "const got",
        "return; const got",
        "assertion_removed",
        'lets "page > gives the first" return before all 3 assertions',
    ),
    (
        JS,
        JEST[JEST.index('  it("refuses"') : -4],
        "",
        "test_deleted",
        "deletes the test page > refuses",
    ),
    (
        JS,
        "    await expect(page(0)).rejects.toThrow(RangeError);",
        "    try { await expect(page(0)).rejects.toThrow(RangeError); } catch (e) {}",
        "assertion_weakened",
        'swallows what the only assertion of "page > refuses" says',
    ),
    (
        GOLANG,
        'if got != 7 {\n\t\tt.Errorf("got %d", got)\n\t}\n',
        "_ = got\n",
        "assertion_removed",
        "removes 1 of 2 assertions of TestFirst",
    ),
    (
        GOLANG,
        "got != 7",
        "got == 0",
        "assertion_weakened",
        "weakens an assertion of TestFirst: First(3) == 7 -> != 0",
    ),
    (
        GOLANG,
        "got != 7",
        "got != 8",
        "expectation_changed",
        "changes what TestFirst expects: 7 -> 8",
    ),
    (GOLANG, "\t\t{3, 4},\n", "", "assertion_removed", "removes 1 of 2 cases of TestTable"),
    (GOLANG, "{3, 4}", "{3, 5}", "expectation_changed", "changes what TestTable expects: 4 -> 5"),
    (
        GOLANG,
        "\tgot := First(3)",
        '\tt.Skip("x")\n\tgot := First(3)',
        "skip_added",
        "skips TestFirst (t.Skip)",
    ),
    (
        GOLANG,
        "assert.Equal(t, 3, Half(6))",
        "assert.NotNil(t, Half(6))",
        "assertion_weakened",
        "weakens an assertion of TestTestify: Half(6) == 3 -> is there",
    ),
    (
        GOLANG,
        "func TestTestify",
        "func testTestify",
        "skip_added",
        "renames TestTestify to testTestify, which no test runner collects",
    ),
    (
        GOLANG,
        "package page\n",
        "//go:build ignore\n\npackage page\n",
        "skip_added",
        "skips all 3 tests of page_test.go (//go:build ignore)",
    ),
    (
        RS,
        "        assert!(more(1));\n",
        "",
        "assertion_removed",
        "removes 1 of 2 assertions of first",
    ),
    (
        RS,
        "assert_eq!(got, vec![1, 2])",
        "assert!(got.is_some())",
        "assertion_weakened",
        "weakens an assertion of first: page(1) == vec![1,2] -> is there",
    ),
    (
        RS,
        "vec![1, 2]",
        "vec![1, 3]",
        "expectation_changed",
        "changes what first expects: vec![1,2] -> vec![1,3]",
    ),
    (
        RS,
        "    #[test]\n    fn first",
        "    #[test]\n    #[ignore]\n    fn first",
        "skip_added",
        "skips first (#[ignore])",
    ),
    (
        RS,
        "    #[test]\n    fn first",
        "    fn first",
        "skip_added",
        "leaves first where no test runner collects it",
    ),
    (
        RS,
        '(expected = "empty")',
        "",
        "assertion_weakened",
        "weakens an assertion of empty: the test raises empty -> raises anything",
    ),
    (
        JV,
        "    assertThat(more(1)).isTrue();\n",
        "",
        "assertion_removed",
        "removes 1 of 2 assertions of first",
    ),
    (
        JV,
        "assertEquals(List.of(1, 2), got)",
        "assertNotNull(got)",
        "assertion_weakened",
        "weakens an assertion of first: page(1) == List.of(1,2) -> is there",
    ),
    (
        JV,
        "IllegalArgumentException",
        "Exception",
        "assertion_weakened",
        "weakens an assertion of empty: ()->page(0) raises IllegalArgumentException -> raises "
        "anything Exception",
    ),
    (
        JV,
        "  @Test\n  void",
        "  @Disabled\n  @Test\n  void",
        "skip_added",
        "skips first (@Disabled)",
    ),
    (
        JV,
        "class PageTest",
        '@Ignore("x")\nclass PageTest',
        "skip_added",
        "skips all 3 tests of src/test/java/PageTest.java (@Ignore)",
    ),
    (
        JV,
        "  @Test\n  void",
        "  void",
        "skip_added",
        "leaves first where no test runner collects it",
    ),
    (JV, '"1, 2", "3, 4"', '"1, 2"', "assertion_removed", "removes 1 of 2 cases of doubles"),
    (
        KT,
        "        assertTrue(more(1))\n",
        "",
        "assertion_removed",
        'removes 1 of 2 assertions of "gives the first"',
    ),
    (
        KT,
        "assertEquals(listOf(1, 2), got)",
        "assertNotNull(got)",
        "assertion_weakened",
        'weakens an assertion of "gives the first": page(1) == listOf(1,2) -> is there',
    ),
    (
        KT,
        "<IllegalStateException>",
        "<Exception>",
        "assertion_weakened",
        "weakens an assertion of refuses: the block raises IllegalStateException -> raises "
        "anything Exception",
    ),
    (
        RB,
        "    expect(more(1)).to be_truthy\n",
        "",
        "assertion_removed",
        'removes 1 of 2 assertions of "Page > gives the first"',
    ),
    (
        RB,
        "eq([1, 2])",
        "be_truthy",
        "assertion_weakened",
        'weakens an assertion of "Page > gives the first": page(1) == [1,2] -> is true',
    ),
    (
        RB,
        "(ArgumentError)",
        "",
        "assertion_weakened",
        'weakens an assertion of "Page > refuses": page(0) raises ArgumentError -> raises anything',
    ),
    (RB, 'it "refuses"', 'xit "refuses"', "skip_added", "skips Page > refuses (xit)"),
    (
        RB,
        "    got = page",
        '    skip "x"\n    got = page',
        "skip_added",
        "skips Page > gives the first (skip)",
    ),
    (
        RB,
        "    got = page",
        "    pending\n    got = page",
        "expected_failure_added",
        "marks as expected to fail Page > gives the first (pending)",
    ),
    (RB, ", [3, 4]]", "]", "assertion_removed", 'removes 1 of 2 cases of "Page > doubles"'),
    (
        MT,
        "assert_equal [1, 2], page(1)",
        "assert page(1)",
        "assertion_weakened",
        "weakens an assertion of test_first: page(1) == [1,2] -> is true",
    ),
    (
        MT,
        "(ArgumentError)",
        "",
        "assertion_weakened",
        "weakens an assertion of refuses: the block raises ArgumentError -> raises anything",
    ),
    (
        MT,
        "def test_first",
        "def xtest_first",
        "skip_added",
        "renames test_first to xtest_first, which no test runner collects",
    ),
]


@pytest.mark.parametrize(("path", "old", "new", "kind", "text"), TAMPERED)
def test_tampering_is_told(path: str, old: str, new: str, kind: str, text: str) -> None:
    base = FILES[path]
    assert old in base
    rows = told((path, base, base.replace(old, new, 1)))
    weight = "suspect" if kind == "expectation_changed" else "gate"
    assert (kind, weight, text) in rows


EACH = """test.each([[1, 2], [3, 4]])("doubles %i", (a, b) => {
    expect(double(a)).toBe(b);
  });"""
HONEST = [
    (
        "prettier",
        JS,
        JEST,
        JEST.replace('"', "'").replace("[1, 2, 3]", "[\n      1,\n 2, 3,\n    ]"),
    ),
    ("renamed variable", JS, JEST, JEST.replace("got", "result")),
    (
        "spelt out",
        JS,
        JEST,
        JEST.replace(
            EACH,
            'it("doubles", () => {\n    expect(double(1)).toBe(2);\n'
            "    expect(double(3)).toBe(4);\n  });",
        ),
    ),
    (
        "a loop",
        JS,
        JEST,
        JEST.replace(
            EACH,
            'it("doubles", () => {\n    for (const [x, y] of [[1, 2], [3, 4]]) {\n'
            "      expect(double(x)).toBe(y);\n    }\n  });",
        ),
    ),
    (
        "a helper",
        JS,
        JEST,
        JEST.replace(
            'describe("page"',
            'function check(n, m) {\n  assert.strictEqual(count(n), m);\n}\n\ndescribe("page"',
        ).replace("    assert.strictEqual(count(2), 4)", "    check(2, 4)"),
    ),
    (
        "to node's assert",
        JS,
        JEST,
        JEST.replace("expect(got).toEqual([1, 2, 3])", "assert.deepStrictEqual(got, [1, 2, 3])"),
    ),
    ("a test added", JS, JEST, JEST + 'test("new", () => { expect(page(9)).toBe(1); });\n'),
    ("the group renamed", JS, JEST, JEST.replace('describe("page"', 'describe("pages"')),
    ("comments gone", JS, JEST, JEST.replace('  // it("is not a test")\n', "")),
    ("renamed variable", GOLANG, GO, GO.replace("got", "value")),
    (
        "to testify",
        GOLANG,
        GO,
        GO.replace('if got != 7 {\n\t\tt.Errorf("got %d", got)\n\t}', "assert.Equal(t, 7, got)"),
    ),
    (
        "from testify",
        GOLANG,
        GO,
        GO.replace("assert.Equal(t, 3, Half(6))", "if v := Half(6); v != 3 {\n\t\tt.Fatal(v)\n\t}"),
    ),
    ("names of fields", GOLANG, GO, GO.replace("{1, 2}", "{in: 1, want: 2}")),
    ("a row added", GOLANG, GO, GO.replace("\t\t{3, 4},\n", "\t\t{3, 4},\n\t\t{5, 6},\n")),
    ("renamed variable", RS, RUST, RUST.replace("got", "value")),
    (
        "rustfmt",
        RS,
        RUST,
        RUST.replace(
            "assert_eq!(got, vec![1, 2]);",
            "assert_eq!(\n            got,\n            vec![1, 2],\n        );",
        ),
    ),
    ("a message", RS, RUST, RUST.replace("assert!(more(1))", 'assert!(more(1), "more")')),
    ("the code changed", RS, RUST, RUST.replace("{ vec![n] }", "{ vec![n, n + 1] }")),
    ("renamed test", RS, RUST, RUST.replace("fn first", "fn the_first_page")),
    ("renamed variable", JV, JAVA, JAVA.replace("got", "value")),
    (
        "to assertj",
        JV,
        JAVA,
        JAVA.replace(
            "assertEquals(List.of(1, 2), got)", "assertThat(got).isEqualTo(List.of(1, 2))"
        ),
    ),
    ("the class renamed", JV, JAVA, JAVA.replace("class PageTest", "class PagesTest")),
    ("a narrower error", JV, JAVA.replace("IllegalArgument", ""), JAVA),
    ("renamed variable", KT, KOTLIN, KOTLIN.replace("got", "value")),
    ("renamed variable", RB, RSPEC, RSPEC.replace("got", "value")),
    ("context", RB, RSPEC, RSPEC.replace("describe Page", "RSpec.describe Page")),
    ("rspec's brackets", RB, RSPEC, RSPEC.replace("eq([1, 2])", "eq [1, 2]")),
    ("to a block", MT, MINITEST, MINITEST.replace("def test_first", 'test "first" do')),
]


@pytest.mark.parametrize(
    ("path", "old", "new"), [pytest.param(p, a, b, id=f"{p}: {n}") for n, p, a, b in HONEST]
)
def test_an_honest_change_is_not_called_cheating(path: str, old: str, new: str) -> None:
    assert old != new
    assert accused((path, old, new)) == []


def test_a_file_of_tests_that_moves_is_not_deleted() -> None:
    for path, text in FILES.items():
        folder, _, name = path.rpartition("/")
        assert accused((path, text, None), (f"{folder}/more/{name}".strip("/"), None, text)) == []


def test_of_other_languages_the_lines_that_assert_are_counted() -> None:
    old = "void test_a(void) {\n  ASSERT_EQ(f(1), 2);\n  ASSERT_TRUE(g());\n}\n"
    new = old.replace("  ASSERT_TRUE(g());\n", "")
    rows = told(("tests/page.cpp", old, new))
    assert rows == [
        ("assertion_removed", "suspect", "drops 1 of 2 lines of assertions in tests/page.cpp")
    ]
    assert accused(("tests/a.cpp", old, None), ("tests/b.cpp", None, old)) == []
