"""Code that is called `skip`, `ignore`, `only`, `todo` or `disabled`, and skips no test."""

from __future__ import annotations

import pytest

from hydra.analysis.tampering.findings import findings
from tests.support.evidences import file

PYTHON = "import pytest\n\n{}def test_a():\n    assert f(1) == 2\n"
JS = "{}test('a', {}() => {{\n  {}expect(f(1)).toBe(2)\n}})\n"
RUST = "mod tests {{\n    #[test]\n{}    fn a() {{\n        assert_eq!(f(1), 2);\n    }}\n}}\n"
GO = "package a\n\nfunc TestA(t *testing.T) {{\n\t{}if f(1) != 2 {{\n\t\tt.Fatal(1)\n\t}}\n}}\n"
JAVA = "class ATest {{\n    @Test\n{}    void a() {{\n        assertEquals(2, f(1));\n    }}\n}}\n"
RUBY = "describe 'A' do\n  it 'a'{} do\n    {}expect(f(1)).to eq(2)\n  end\nend\n"

Filled = tuple[str, ...]
NO_SKIPS: list[tuple[str, str, str, Filled]] = [
    ("tests/test_a.py", PYTHON, "from app import skip\n\n", ("@skip\n",)),
    ("tests/test_a.py", PYTHON, "from app.todo import skip_info\n\n", ("@skip_info(3)\n",)),
    ("tests/test_a.py", PYTHON, "import app.registry\n\n", ("@app.registry.skip('x')\n",)),
    ("web/a.test.js", JS, "", ("", "{ todo: false }, ", "")),
    ("web/a.test.js", JS, "", ("", "{ meta: { skip: 3, only: 1 } }, ", "")),
    ("web/a.test.js", JS, "", ("", "", "ctx.skip(10)\n  ")),
    ("web/a.test.js", JS, "", ("const t = query()\n", "", "t.skip(first)\n  ")),
    ("web/a.test.js", JS, "", ("", "", "expect(pending()).toBe(3)\n  ")),
    ("web/a.test.js", JS, "", ("import { pending } from 'queue'\n", "", "pending()\n  ")),
    ("src/lib.rs", RUST, "", ("    #[ignore::traced]\n",)),
    ("src/lib.rs", RUST, "", ("    #[ignore_warnings]\n",)),
    ("src/lib.rs", RUST, "", ("    #[cfg_attr(test, allow(unused))]\n",)),
    ("a_test.go", GO, "", ("b.Skip(2)\n\t",)),
    ("src/ATest.java", JAVA, "", ("    @com.shop.Ignore\n",)),
    ("src/ATest.java", JAVA, "import com.shop.Disabled;\n", ("    @Disabled\n",)),
    ("src/ATest.java", JAVA, "", ('    @With("cache.enabled = false")\n',)),
    ("spec/a_spec.rb", RUBY, "", ("", "skip, rest = parts\n    ")),
    ("spec/a_spec.rb", RUBY, "", ("", "skip << 1\n    ")),
    ("spec/a_spec.rb", RUBY, "", ("", "pending ||= 2\n    ")),
    ("spec/a_spec.rb", RUBY, "", (", status: :pending", "")),
    ("spec/a_spec.rb", RUBY, "", (", skip: false", "")),
    ("spec/a_spec.rb", RUBY, "", ("", "pending!(order)\n    ")),
    ("spec/a_spec.rb", "describe 'A' do\n  it {{ expect(a{}).to eq 1 }}\nend\n", "", (".pending",)),
    ("web/a.test.js", JS, "", ("import {\n  pending,\n} from 'queue'\n", "", "pending()\n  ")),
    ("web/a.test.js", JS, "", ("const { ctx } = query()\n", "", "ctx.skip(first)\n  ")),
]


def skips(path: str, text: str, before: str, filled: Filled) -> list[str]:
    """What is text of skipping in a patch that fills the places of `text`."""
    new = before + text.format(*filled)
    patch = [file(path, text.format(*("" for _ in filled)), new)]
    return [f"{row.weight}: {row.text}" for row in findings(patch) if row.kind in KINDS]


KINDS = ("skip_added", "expected_failure_added")


@pytest.mark.parametrize(("path", "text", "before", "filled"), NO_SKIPS)
def test_what_is_only_called_so_skips_nothing(
    path: str, text: str, before: str, filled: Filled
) -> None:
    assert skips(path, text, before, filled) == []


def test_a_build_tag_of_another_name_is_no_certain_skip() -> None:
    for tag, weight in (("ignore_me", "suspect"), ("!ignore", "suspect"), ("ignore", "gate")):
        text = skips("a_test.go", GO, f"//go:build {tag}\n\n", ("",))
        assert text == [f"{weight}: skips tests of a_test.go (//go:build {tag})"]


SKIPS: list[tuple[str, str, str, Filled]] = [
    ("tests/test_a.py", PYTHON, "from unittest import skip\n\n", ("@skip\n",)),
    ("tests/test_a.py", PYTHON, "from tests.util import skip\n\n", ("@skip\n",)),
    ("tests/test_a.py", PYTHON, "from .util import skip\n\n", ("@skip\n",)),
    ("web/a.test.js", JS, "", ("", "{ timeout: 3, skip: true }, ", "")),
    ("web/a.test.js", JS, "", ("", "", "this.skip()\n  ")),
    ("web/a.test.js", JS, "", ("", "", "t.skip('x')\n  ")),
    ("web/a.test.js", JS, "", ("", "", "pending()\n  ")),
    ("src/lib.rs", RUST, "", ('    #[ignore = "slow"]\n',)),
    ("a_test.go", GO.replace("t ", "tt ", 1), "", ("tt.Skip(2)\n\t",)),
    ("src/ATest.java", JAVA, "import org.junit.jupiter.api.Disabled;\n", ("    @Disabled\n",)),
    ("src/ATest.java", JAVA, "", ("    @org.junit.Ignore\n",)),
    (
        "src/ATest.java",
        JAVA.replace("@Test", "@Test{}").replace("\n{} ", "\n "),
        "",
        ("(enabled = false)",),
    ),
    ("spec/a_spec.rb", RUBY, "", (", :skip", "")),
    ("spec/a_spec.rb", RUBY, "", (", skip: true", "")),
    ("spec/a_spec.rb", RUBY, "", ("", "skip unless here\n    ")),
]


@pytest.mark.parametrize(("path", "text", "before", "filled"), SKIPS)
def test_what_skips_is_still_seen(path: str, text: str, before: str, filled: Filled) -> None:
    assert skips(path, text, before, filled) != []
