"""What is said of tests that a patch changed; which patches are refused is tried by the corpus."""

from __future__ import annotations

import ast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.patches import accused, found, told
from tests.test_tampering_corpus import TEXTS

BASE = TEXTS["pages.py"]
PATH = "tests/test_pages.py"

SENTENCES = [
    (
        "last(20) == 7",
        "last(20) == 8",
        ("expectation_changed", "suspect"),
        "changes what test_last expects: 7 -> 8",
        ("test_last",),
    ),
    (
        "== [1, 2, 3]",
        "== [1, 2]",
        ("expectation_changed", "suspect"),
        "changes what test_first_page expects: assert pages.first() == [1, 2, 3] -> "
        "assert pages.first() == [1, 2]",
        ("test_first_page",),
    ),
    (
        "(2, 10)",
        "(2, 11)",
        ("expectation_changed", "suspect"),
        "changes what TestMore.test_all expects: (2,10) -> (2,11)",
        ("TestMore.test_all",),
    ),
    (
        "    assert pages.more\n",
        "    # assert pages.more\n",
        ("assertion_removed", "gate"),
        "removes 1 of 3 assertions of test_first_page",
        ("test_first_page",),
    ),
    (
        "last(20) == 7",
        "last(20) > 3",
        ("assertion_weakened", "gate"),
        "weakens an assertion of test_last: assert last(20) == 7 -> assert last(20) > 3",
        ("test_last",),
    ),
    (
        "    assert last(20) == 7\n",
        "    return\n    assert last(20) == 7\n",
        ("assertion_removed", "gate"),
        "returns before the only assertion of test_last",
        ("test_last",),
    ),
    (
        "    assert last(20) == 7\n",
        "    try:\n        assert last(20) == 7\n    except AssertionError:\n        pass\n",
        ("assertion_weakened", "gate"),
        "swallows what the only assertion of test_last says",
        ("test_last",),
    ),
    (
        "def test_last",
        "@pytest.mark.skip(reason='flaky')\ndef test_last",
        ("skip_added", "gate"),
        "skips test_last (pytest.mark.skip)",
        ("test_last",),
    ),
    (
        "class TestMore",
        "@pytest.mark.skip\nclass TestMore",
        ("skip_added", "gate"),
        "skips class TestMore (pytest.mark.skip)",
        ("TestMore", "TestMore.test_all"),
    ),
    (
        "def test_last",
        "@unittest.expectedFailure\ndef test_last",
        ("expected_failure_added", "gate"),
        "marks test_last as expected to fail (unittest.expectedFailure)",
        ("test_last",),
    ),
    (
        "def test_last",
        "def check_last",
        ("skip_added", "gate"),
        "renames test_last to check_last, which no test runner collects",
        ("test_last",),
    ),
    (
        "def test_last():\n    assert last(20) == 7\n",
        "",
        ("test_deleted", "gate"),
        "deletes the test test_last",
        ("test_last",),
    ),
]


@pytest.mark.parametrize(("old", "new", "kind", "text", "tests"), SENTENCES)
def test_a_sentence_names_the_test_and_what_became_of_it(
    old: str, new: str, kind: tuple[str, str], text: str, tests: tuple[str, ...]
) -> None:
    assert old in BASE
    (finding, *more) = found((PATH, BASE, BASE.replace(old, new, 1)))
    assert not more or {each.weight for each in more} == {"remark"}
    assert (finding.kind, finding.weight) == kind
    assert (finding.text, finding.path, finding.tests) == (text, PATH, tests)


def test_a_sentence_has_its_line() -> None:
    (finding,) = found((PATH, BASE, BASE.replace("last(20) == 7", "last(20) == 8")))
    assert finding.line == 14


def test_a_deleted_file_is_told_with_its_tests() -> None:
    (finding,) = (each for each in found((PATH, BASE, None)) if each.kind == "test_deleted")
    assert finding.text.startswith("deletes tests/test_pages.py with 4 tests (test_first_page, ")
    assert len(finding.tests) == 4


def test_an_emptied_helper_is_told_of_the_tests_that_call_it() -> None:
    helper = TEXTS["helper.py"]
    (finding,) = found((PATH, helper, helper.replace(' == total, f"{a} and {b}"', " or True")))
    assert (finding.kind, finding.weight) == ("assertion_weakened", "gate")
    assert finding.tests == ("test_one", "test_two", "test_three")


def test_tests_that_moved_are_told_without_a_word_against_them() -> None:
    (kind, weight, text), *more = told(("tests/test_a.py", BASE, None), (PATH, None, BASE))
    assert (kind, weight, more) == ("tests_restructured", "remark", [])
    assert text.startswith("moves, renames or merges 4 tests (test_first_page, ")


def test_a_file_that_does_not_parse_is_told_and_refuses_nothing() -> None:
    findings = found((PATH, BASE, BASE.replace("last(20) == 7", "last(20")))
    assert "cannot be parsed" in next(each.text for each in findings if each.kind == "unread")
    assert "gate" not in {each.weight for each in findings}


def test_a_patch_without_tests_says_nothing_of_tests() -> None:
    assert told(("src/pages.py", "def f():\n    return g()\n", "def f():\n    return h()\n")) == []


def test_many_findings_of_one_kind_are_counted() -> None:
    old = "\n\n".join(f"def test_{n}():\n    assert f({n}) == {n + 9}" for n in range(60))
    findings = found(("tests/test_a.py", old, old.replace(" == ", " != ")))
    assert len(findings) == 21
    assert findings[-1].text.startswith("does so in 40 more places (")


_LINES = f"{BASE}\n{TEXTS['unittest.py']}\n{TEXTS['table.py']}".split("\n")
_PIECES = st.sampled_from([line + "\n" for line in _LINES])


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=st.lists(_PIECES, max_size=30), new=st.lists(_PIECES, max_size=30))
def test_no_shuffle_of_lines_raises(old: list[str], new: list[str]) -> None:
    for finding in found(("tests/test_a.py", "".join(old), "".join(new))):
        assert finding.text
        assert "\n" not in finding.text


_VALUES = st.one_of(st.integers(-99, 99), st.text(max_size=5), st.lists(st.integers(0, 9)))
_SHAPES = st.sampled_from(
    [
        "assert thing.f({0!r}) == {0!r}",
        "x = {0!r}\n    assert x in thing",
        "assert not thing.g({0!r})",
        "for n in [{0!r}]:\n        assert thing.h(n) > 1",
        "with pytest.raises(ValueError):\n        thing.f({0!r})",
    ]
)


@st.composite
def _suites(draw: st.DrawFn) -> str:
    tests: list[str] = []
    for at in range(draw(st.integers(1, 4))):
        lines = [f"def test_{at}(thing):"]
        lines += [
            "    " + draw(_SHAPES).format(draw(_VALUES)) for _ in range(draw(st.integers(1, 4)))
        ]
        tests.append("\n".join(lines))
    return "\n\n\n".join(tests) + "\n"


@settings(max_examples=20, deadline=None)
@given(text=_suites())
def test_formatting_alone_accuses_nobody(text: str) -> None:
    formatted = ast.unparse(ast.parse(text)).replace("def ", "# as black has it\n\n\ndef ")
    assert accused(("tests/test_a.py", text, formatted)) == []
    assert accused(("tests/test_a.py", text, text.replace("\n", "\r\n"))) == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [940, 960])
def test_a_file_of_tests_is_read_up_to_the_one_limit(size: int) -> None:
    rows = "    (1, [2 + 3, 'a row that tests go by']),\n" * 25
    text = f"ROWS = [\n{rows * size}]\n\n\ndef test_last():\n    assert last(20) == 7\n"
    seen = told((PATH, text, text.replace("last(20) == 7", "last(20) > 3")))
    if len(text) < 1024 * 1024:
        assert [(kind, weight) for kind, weight, _ in seen] == [("assertion_weakened", "gate")]
    else:
        sentence = f"has a file of tests that is not read: over 1,024 KiB: {PATH}"
        assert seen == [("unread", "remark", sentence)]


def test_an_assertion_that_is_added_changes_nothing_that_was_expected() -> None:
    more = BASE.replace("assert last(20) == 7", "assert last(9) == 3; assert last(20) == 7")
    assert accused((PATH, BASE, more)) == []


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('if (input === "/#a(") return;', 'input === "/#a("'),
        ("if (skips(input)) return;", "skips(input)"),
        ("if (skips(input) && (a || b)) return;", "skips(input) && (a || b)"),
    ],
)
def test_a_condition_is_told_without_the_brackets_around_it(line: str, text: str) -> None:
    old = 'describe("cuts", () => {\n  for (const input in inputs) {\n    test(input, () => {\n'
    rest = "      expect(cut(input)).toBe(inputs[input]);\n    });\n  }\n});\n"
    (finding,) = found(("a.test.js", old + rest, f"{old}      {line}\n{rest}"))
    assert finding.text == f"puts the only assertion of cuts under a condition: {text}"
