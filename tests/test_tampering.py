"""What a patch did to Python's tests: tampering is named, an honest refactoring is not."""

from __future__ import annotations

import ast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.patches import accused, found, told

BASE = """\
import pytest

from pages import Pages, last


def test_first_page():
    pages = Pages(20)
    assert pages.first() == [1, 2, 3]
    assert pages.more
    assert pages.size == pytest.approx(0.5, abs=0.001)


def test_last():
    assert last(20) == 7


def test_empty():
    with pytest.raises(ValueError):
        Pages(0)


class TestMore:
    def test_all(self):
        for size, count in [(1, 20), (2, 10), (3, 7)]:
            assert Pages(20, size).count == count
"""
LAST = "    assert last(20) == 7\n"

# what is replaced, by what, the kind, the weight, the sentence
TAMPERED = [
    (
        "    assert pages.more\n",
        "",
        "assertion_removed",
        "gate",
        "removes 1 of 3 assertions of test_first_page",
    ),
    (
        "    assert pages.more\n",
        "    # assert pages.more\n",
        "assertion_removed",
        "gate",
        "removes 1 of 3 assertions of test_first_page",
    ),
    (
        LAST,
        "    last(20)\n",
        "assertion_removed",
        "gate",
        "removes the only assertion of test_last",
    ),
    (
        "    with pytest.raises(ValueError):\n        Pages(0)\n",
        "    Pages(1)\n",
        "assertion_removed",
        "gate",
        "removes the only assertion of test_empty",
    ),
    ("(2, 10), ", "", "assertion_removed", "gate", "removes 1 of 3 cases of TestMore.test_all"),
    (
        "[(1, 20), (2, 10), (3, 7)]",
        "[]",
        "assertion_removed",
        "gate",
        "leaves the only assertion of TestMore.test_all in a loop over nothing",
    ),
    (
        "    pages = Pages(20)\n",
        "    return\n    pages = Pages(20)\n",
        "assertion_removed",
        "gate",
        "lets test_first_page return before all 3 assertions",
    ),
    (
        LAST,
        "    if False:\n        assert last(20) == 7\n",
        "assertion_removed",
        "gate",
        "puts the only assertion of test_last under a condition that never holds",
    ),
    (
        "== [1, 2, 3]",
        "is not None",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_first_page: Pages(20).first() == [1, 2, 3] -> is there",
    ),
    (
        "assert pages.first() == [1, 2, 3]",
        "assert pages.first()",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_first_page: Pages(20).first() == [1, 2, 3] -> is true",
    ),
    (
        "last(20) == 7",
        "last(20) in (6, 7)",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_last: last(20) == 7 -> in (6, 7)",
    ),
    (
        "last(20) == 7",
        "last(20) > 3",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_last: last(20) == 7 -> > 3",
    ),
    (
        "last(20) == 7",
        "isinstance(last(20), int)",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_last: last(20) == 7 -> is a int",
    ),
    (
        "abs=0.001",
        "abs=0.1",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_first_page: Pages(20).size within 0.001 -> within 0.1",
    ),
    (
        "ValueError",
        "Exception",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_empty: Pages(0) raises ValueError -> raises anything "
        "Exception",
    ),
    (
        "last(20) == 7",
        "last(20) == 7 or True",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_last: last(20) == 7 -> always holds or True",
    ),
    (
        LAST,
        "    assert True\n",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_last: last(20) == 7 -> True always holds",
    ),
    (
        "last(20) == 7",
        "last(20) == last(20)",
        "assertion_weakened",
        "gate",
        "weakens an assertion of test_last: last(20) == 7 -> always holds == last(20)",
    ),
    (
        LAST,
        "    try:\n        assert last(20) == 7\n    except AssertionError:\n        pass\n",
        "assertion_weakened",
        "gate",
        "swallows what the only assertion of test_last says",
    ),
    (
        LAST,
        "    import contextlib\n    with contextlib.suppress(Exception):\n    " + LAST,
        "assertion_weakened",
        "gate",
        "swallows what the only assertion of test_last says",
    ),
    (
        LAST,
        "    if last(20):\n        assert last(20) == 7\n",
        "assertion_weakened",
        "suspect",
        "puts an assertion of test_last under a condition: last(20)",
    ),
    (
        "== [1, 2, 3]",
        "== [1, 2]",
        "expectation_changed",
        "suspect",
        "changes what test_first_page expects: [1, 2, 3] -> [1, 2]",
    ),
    (
        "last(20) == 7",
        "last(20) == 8",
        "expectation_changed",
        "suspect",
        "changes what test_last expects: 7 -> 8",
    ),
    (
        "(2, 10)",
        "(2, 11)",
        "expectation_changed",
        "suspect",
        "changes what TestMore.test_all expects: 10 -> 11",
    ),
    (
        "def test_last",
        "@pytest.mark.skip\ndef test_last",
        "skip_added",
        "gate",
        "skips test_last (pytest.mark.skip)",
    ),
    (
        "def test_last",
        "@pytest.mark.skip(reason='flaky')\ndef test_last",
        "skip_added",
        "gate",
        "skips test_last (pytest.mark.skip)",
    ),
    (
        "def test_last",
        "@pytest.mark.skipif(True, reason='')\ndef test_last",
        "skip_added",
        "gate",
        "skips test_last (pytest.mark.skipif)",
    ),
    (
        "class TestMore",
        "@pytest.mark.skip\nclass TestMore",
        "skip_added",
        "gate",
        "skips TestMore.test_all (pytest.mark.skip)",
    ),
    (
        "def test_last",
        "@unittest.skip('x')\ndef test_last",
        "skip_added",
        "gate",
        "skips test_last (unittest.skip)",
    ),
    (
        LAST,
        "    pytest.skip('later')\n" + LAST,
        "skip_added",
        "gate",
        "skips test_last (pytest.skip)",
    ),
    (
        "import pytest\n",
        "import pytest\n\npytestmark = pytest.mark.skip\n",
        "skip_added",
        "gate",
        "skips all 4 tests of tests/test_pages.py (pytest.mark.skip)",
    ),
    (
        "import pytest\n",
        "import pytest\npytest.skip('x', allow_module_level=True)\n",
        "skip_added",
        "gate",
        "skips all 4 tests of tests/test_pages.py (pytest.skip)",
    ),
    (
        "import pytest\n",
        "import pytest\n__test__ = False\n",
        "skip_added",
        "gate",
        "skips all 4 tests of tests/test_pages.py (__test__ = False)",
    ),
    (
        "def test_last",
        "@pytest.mark.xfail\ndef test_last",
        "expected_failure_added",
        "gate",
        "marks as expected to fail test_last (pytest.mark.xfail)",
    ),
    (
        "def test_last",
        "@unittest.expectedFailure\ndef test_last",
        "expected_failure_added",
        "gate",
        "marks as expected to fail test_last (unittest.expectedFailure)",
    ),
    (
        "def test_last",
        "def _test_last",
        "skip_added",
        "gate",
        "renames test_last to _test_last, which no test runner collects",
    ),
    (
        "def test_last",
        "def check_last",
        "skip_added",
        "gate",
        "renames test_last to check_last, which no test runner collects",
    ),
    (
        "class TestMore",
        "class Moreover",
        "skip_added",
        "gate",
        "renames TestMore.test_all to Moreover.test_all, which no test runner collects",
    ),
    ("def test_last():\n" + LAST, "", "test_deleted", "gate", "deletes the test test_last"),
    (
        "class TestMore",
        "def test_last():\n    pass\n\n\nclass TestMore",
        "assertion_removed",
        "gate",
        "removes the only assertion of test_last",
    ),
]


@pytest.mark.parametrize(("old", "new", "kind", "weight", "text"), TAMPERED)
def test_tampering_is_told(old: str, new: str, kind: str, weight: str, text: str) -> None:
    assert old in BASE
    patched = BASE.replace(old, new, 1)
    assert (kind, weight, text) in told(("tests/test_pages.py", BASE, patched))


def test_a_sentence_has_its_file_line_and_test() -> None:
    patched = BASE.replace("last(20) == 7", "last(20)")
    (finding,) = found(("tests/test_pages.py", BASE, patched))
    assert (finding.path, finding.line, finding.tests) == (
        "tests/test_pages.py",
        14,
        ("test_last",),
    )


def test_a_deleted_file_is_told_with_its_tests() -> None:
    (finding,) = (f for f in found(("tests/test_pages.py", BASE, None)) if f.kind == "test_deleted")
    assert finding.weight == "gate"
    assert finding.text.startswith("deletes tests/test_pages.py with 4 tests (test_first_page, ")


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        ("slow", "marks test_last with pytest.mark.slow, which a run may leave out"),
        (
            "skipif(sys.platform == 'win32', reason='')",
            "skips test_last (pytest.mark.skipif sys.platform == 'win32')",
        ),
    ],
)
def test_what_may_or_may_not_run_is_in_doubt(mark: str, text: str) -> None:
    patched = BASE.replace("def test_last", f"@pytest.mark.{mark}\ndef test_last")
    assert told(("tests/test_pages.py", BASE, patched)) == [("skip_added", "suspect", text)]


def test_a_parametrized_test_that_loses_a_case() -> None:
    old = "@pytest.mark.parametrize(('n', 'm'), [(1, 2), (3, 4)])\ndef test_f(n, m):\n"
    old += "    assert f(n) == m\n"
    (texts,) = told(("tests/test_f.py", old, old.replace(", (3, 4)", "")))
    assert texts == ("assertion_removed", "gate", "removes 1 of 2 cases of test_f")


FEW = ", ".join(f'("in{n}", "out{n}")' for n in range(18))
REST = ", ".join(f'("in{n}", "out{n}")' for n in range(18, 24))
CASED = f"""\
import pytest


@pytest.mark.parametrize(("a", "b"), [{FEW}, {REST}])
def test_f(a, b):
    assert f(a) == b
"""
CUT = CASED.replace(f", {REST}", "")
STRICT = f"""\


@pytest.mark.parametrize(("a", "b"), [{REST}])
def test_rest(a, b):
    assert f(a, strict=True) == b
"""
RAISES = f"""\


@pytest.mark.parametrize(("a", "b"), [{REST}])
def test_rest(a, b):
    with pytest.raises(ValueError):
        f(a)
"""
ELSE = "replaces an assertion of test_f by others: f('in18') == 'out18' -> "
OPEN = "changes the cases of test_f, which are not all read"


@pytest.mark.parametrize(
    ("new", "sentences"),
    [
        (CASED.replace("[(", "FIRST + [(", 1).replace("\n\n", "\n\nFIRST = []\n", 1), []),
        (CASED.replace(FEW, f"*[{FEW}]"), []),
        (
            CUT.replace("_f(", "_few(")
            + STRICT.replace("_rest", "_f").replace(", strict=True", ""),
            [],
        ),
        (CUT + STRICT, [f"{ELSE}f('in18', strict=True) == 'out18', f('in19') == 'out19' -> "]),
        (CUT + RAISES, [f"{ELSE}raises ValueError, f('in19') == 'out19' -> "]),
        (CASED.replace(f"[{FEW}, {REST}]", "CASES"), [OPEN]),
        (CASED.replace(f"[{FEW}, {REST}]", "[(f'in{n}', f'out{n}') for n in range(24)]"), [OPEN]),
        (CUT, ["removes 6 of 24 cases of test_f"]),
        (
            CUT + STRICT.replace("f(a, strict=True) == b", "f(a)"),
            ["removes 6 of 24 cases of test_f"],
        ),
    ],
)
def test_cases_that_moved_are_not_removed(new: str, sentences: list[str]) -> None:
    texts = accused(("tests/test_f.py", CASED, new))
    assert [text[: len(start)] for text, start in zip(texts, sentences, strict=True)] == sentences


def test_a_case_that_stood_there_twice_is_no_gate() -> None:
    twice = CASED.replace(FEW, f"{FEW}, {FEW}")
    ((_, weight, text),) = told(("tests/test_f.py", twice, CASED))
    assert (weight, text) == ("suspect", "removes 18 of 42 cases of test_f that another one covers")


def test_an_emptied_parametrization_is_a_skip() -> None:
    old = "@pytest.mark.parametrize('n', [1, 2])\ndef test_f(n):\n    assert f(n) == 3\n"
    kinds = {texts[0] for texts in told(("tests/test_f.py", old, old.replace("[1, 2]", "[]")))}
    assert "skip_added" in kinds


UNITTEST = """\
import unittest


class PagesTest(unittest.TestCase):
    def setUp(self):
        self.pages = Pages(20)

    def test_first(self):
        result = self.pages.first()
        self.assertEqual(result, [1, 2, 3], "the first page")
        self.assertTrue(self.pages.more)

    def test_error(self):
        with self.assertRaises(ValueError):
            Pages(0)

    def test_last(self):
        self.assertIsNone(self.pages.last)
        self.assertIn(3, self.pages)
        self.assertFalse(self.pages.done)
"""
TO_PYTEST = """\
import pytest


@pytest.fixture
def pages():
    return Pages(20)


def test_first(pages):
    assert pages.first() == [1, 2, 3]
    assert pages.more


def test_error():
    with pytest.raises(ValueError):
        Pages(0)


def test_last(pages):
    assert pages.last is None
    assert 3 in pages
    assert not pages.done
"""
SPLIT = """\
import unittest


class FirstTest(unittest.TestCase):
    def setUp(self):
        self.pages = Pages(20)

    def test_first(self):
        self.assertEqual(self.pages.first(), [1, 2, 3])

    def test_more(self):
        self.assertTrue(self.pages.more)


class OtherTest(unittest.TestCase):
    def test_error(self):
        with self.assertRaises(ValueError):
            Pages(0)

    def test_last(self):
        pages = Pages(20)
        self.assertIsNone(pages.last)
        self.assertIn(3, pages)
        self.assertFalse(pages.done)
"""
THREE = """\
def test_one():
    assert add(1, 2) == 3


def test_two():
    assert add(3, 4) == 7


def test_three():
    value = add(0, 0)
    assert value == 0
"""
TABLE = """\
import pytest


@pytest.mark.parametrize(
    ("a", "b", "total"),
    [(1, 2, 3), pytest.param(3, 4, 7, id="two"), (0, 0, 0)],
)
def test_add(a, b, total):
    assert add(a, b) == total
"""
LOOP = """\
CASES = [(1, 2, 3), (3, 4, 7), (0, 0, 0)]


def test_add():
    for a, b, total in CASES:
        assert add(a, b) == total
"""
SUBTESTS = """\
import unittest


class AddTest(unittest.TestCase):
    def test_add(self):
        for (a, b), total in {(1, 2): 3, (3, 4): 7, (0, 0): 0}.items():
            with self.subTest(a=a):
                self.assertEqual(add(a, b), total)
"""
HELPER = '''\
def check(a, b, total):
    """Adds both."""
    assert add(a, b) == total, f"{a} and {b}"


def test_one():
    check(1, 2, 3)


def test_two():
    check(3, 4, total=7)


def test_three():
    check(0, 0, 0)
'''
MERGED = """\
def test_add():
    assert add(1, 2) == 3
    assert add(3, 4) == 7
    assert add(0, 0) == 0
"""
RENAMED = THREE.replace("test_one", "test_small_numbers").replace("value", "total")
STRONGER = THREE.replace("def test_two():\n", "def test_two():\n    assert add(3, -4) == -1\n")

HONEST = [
    ("to pytest", UNITTEST, TO_PYTEST),
    ("to unittest", TO_PYTEST, UNITTEST),
    ("a class split", UNITTEST, SPLIT),
    ("parametrized", THREE, TABLE),
    ("a table spelt out", TABLE, THREE),
    ("a loop", THREE, LOOP),
    ("subtests", THREE, SUBTESTS),
    ("a helper", THREE, HELPER),
    ("a helper put in its places", HELPER, THREE),
    ("merged", THREE, MERGED),
    ("split", MERGED, THREE),
    ("renamed", THREE, RENAMED),
    ("more is asked", THREE, STRONGER),
    ("the order of tests", THREE, "\n\n".join(reversed(THREE.split("\n\n\n"))) + "\n"),
    ("a test added", BASE, BASE + "\n\ndef test_new():\n    assert Pages(3).last == 3\n"),
    ("a skipped test added", BASE, BASE + "\n\n@pytest.mark.skip\ndef test_new():\n    pass\n"),
    ("comments gone", BASE.replace(LAST, "    # as it was\n" + LAST), BASE),
    ("a message added", BASE, BASE.replace("== 7", '== 7, "the last"')),
    ("sides changed", BASE, BASE.replace("last(20) == 7", "7 == last(20)")),
    ("a variable", BASE, BASE.replace(LAST, "    n = 20\n    assert last(n) == 7\n")),
    ("a constant", BASE, BASE.replace(LAST, "    assert last(20) == SEVEN\n") + "\nSEVEN = 7\n"),
    (
        "is not None made an equality",
        "def test_a():\n    assert f(1) is not None\n",
        "def test_a():\n    assert f(1) == 3\n",
    ),
    (
        "one whole value for its parts",
        "def test_a():\n    r = f(1)\n    assert len(r) == 2\n    assert r[0] == 5\n"
        "    assert r[1] == 6\n",
        "def test_a():\n    assert f(1) == [5, 6]\n",
    ),
    (
        "asyncio",
        "def test_a():\n    assert run(f(1)) == 3\n",
        "def test_a():\n    got = run(f(1))\n    assert got == 3\n",
    ),
    (
        "a narrower error",
        "def test_a():\n    with pytest.raises(Exception):\n        f()\n",
        "def test_a():\n    with pytest.raises(KeyError):\n        f()\n",
    ),
    ("a tolerance made narrower", BASE, BASE.replace("abs=0.001", "abs=0.0001")),
    ("a skip taken away", BASE.replace("def test_last", "@pytest.mark.skip\ndef test_last"), BASE),
    (
        "equal to True",
        "def test_a():\n    assert f(1) == True\n",
        "def test_a():\n    assert f(1)\n",
    ),
]


@pytest.mark.parametrize(("old", "new"), [pytest.param(a, b, id=name) for name, a, b in HONEST])
def test_an_honest_change_is_not_called_cheating(old: str, new: str) -> None:
    assert accused(("tests/test_pages.py", old, new)) == []


def test_a_moved_file_and_moved_tests_are_not_called_cheating() -> None:
    assert accused(("tests/test_a.py", BASE, None), ("tests/unit/test_b.py", None, BASE)) == []
    cut = BASE.index("class TestMore")
    parts = (("tests/test_a.py", BASE, BASE[:cut]), ("tests/test_b.py", None, BASE[cut:]))
    assert accused(*parts) == []


def test_a_helper_in_another_file_of_the_patch_is_followed() -> None:
    helper, _, rest = HELPER.partition("\n\n\n")
    using = "from tests.helpers import check\n\n\n" + rest
    assert accused(("tests/test_a.py", THREE, using), ("tests/helpers.py", None, helper)) == []
    empty = "def check(a, b, total):\n    add(a, b)\n"
    rows = told(("tests/test_a.py", THREE, using), ("tests/helpers.py", None, empty))
    assert ("assertion_removed", "gate", "removes the only assertion of test_one") in rows


def test_a_helper_that_the_patch_does_not_have_is_in_doubt() -> None:
    using = BASE.replace(LAST, "    check_last(20, 7)\n")
    text = "replaces the only assertion of test_last by a call of code that it does not have: "
    rows = told(("tests/test_pages.py", BASE, using))
    assert rows == [("assertion_removed", "suspect", text + "check_last(20, 7)")]


def test_a_test_that_asks_otherwise_now_is_in_doubt() -> None:
    old = "def test_a():\n    r = f(1)\n    assert r.code == 1\n    assert r.kind == 2\n"
    new = "def test_a():\n    with pytest.warns(UserWarning):\n        f(1)\n"
    text = "removes 1 of 2 assertions of test_a, and adds 1 other"
    assert ("assertion_removed", "suspect", text) in told(("tests/test_a.py", old, new))
    assert {finding.weight for finding in found(("tests/test_a.py", old, new))} == {"suspect"}


def test_an_emptied_helper_empties_the_tests_that_call_it() -> None:
    hollow = HELPER.replace(' == total, f"{a} and {b}"', " or True")
    assert {texts[0] for texts in told(("tests/test_a.py", HELPER, hollow))} == {
        "assertion_weakened"
    }


_PAGES = "def pages(n, size):\n    return n // size\n"
_COUNTED = _PAGES.replace("pages", "count")
_UP = "from a import pages\n\n\ndef test_up():\n    assert pages(3, 2) == 2\n"
_UP_COUNTED = _UP.replace("pages", "count")


def test_a_function_that_is_renamed_everywhere_is_asked_the_same() -> None:
    code = ("a.py", _PAGES, _COUNTED)
    assert accused(code, ("tests/test_a.py", _UP, _UP_COUNTED)) == []


@pytest.mark.parametrize(
    ("code", "new"),
    [
        (_COUNTED, _UP_COUNTED.replace("== 2", "== 1")),
        (_PAGES + _COUNTED, _UP_COUNTED),
        (_COUNTED + "\n\npages = count\n", _UP_COUNTED),
        (_COUNTED.replace("size)", "size, more)"), _UP_COUNTED),
    ],
)
def test_another_function_or_another_value_is_no_new_name(code: str, new: str) -> None:
    (kind, weight, _) = told(("a.py", _PAGES, code), ("tests/test_a.py", _UP, new))[0]
    assert (kind, weight) == ("expectation_changed", "suspect")


def test_a_patch_without_tests_says_nothing_of_tests() -> None:
    assert told(("src/pages.py", "def f():\n    return g()\n", "def f():\n    return h()\n")) == []


def test_files_that_do_not_parse_are_read_by_their_lines_and_told() -> None:
    findings = found(("tests/test_pages.py", BASE, BASE.replace(LAST, "    last(20\n")))
    assert "cannot be parsed" in next(
        finding.text for finding in findings if finding.kind == "unread"
    )
    assert any("test_last" in finding.tests and finding.weight == "suspect" for finding in findings)


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_a_text_that_is_not_indented_is_part_of_its_test(quotes: str) -> None:
    page = '[pages]\nsize = 3\n# it\'s a "page"\n'
    texts = [f"def test_{name}():\n    text = {quotes}{page}{quotes}\n" for name in "ab"]
    old = f"{texts[0]}    assert size(text)\n\n\n{BASE}\n\n{texts[1]}"
    rows = told(("tests/test_pages.py", old, old.replace("last(20) == 7", "last(20) == 8")))
    assert rows == [
        ("expectation_changed", "suspect", "changes what test_last expects: 7 -> 8"),
    ]


def test_what_several_cases_of_a_test_expect_is_said_once() -> None:
    old = (
        "import pytest\n\n\n@pytest.mark.parametrize('at', [1, 2, 3])\ndef test_set(at):\n"
        "    with pytest.raises(ValueError, match='not set'):\n        f(at)\n"
    )
    (lines,) = told(("tests/test_a.py", old, old.replace("not set", "no slices")))
    assert lines[2] == "changes what test_set expects: 'not set' -> 'no slices'"


def test_many_findings_of_one_kind_are_counted() -> None:
    old = "\n\n".join(f"def test_{n}():\n    assert f({n}) == {n + 9}" for n in range(60))
    findings = found(("tests/test_a.py", old, old.replace(" == ", " != ")))
    assert len(findings) == 21
    assert findings[-1].text == "does so in 40 more places (assertion weakened)"


_PIECES = st.sampled_from([line + "\n" for line in f"{BASE}\n{UNITTEST}\n{TABLE}".split("\n")])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=st.lists(_PIECES, max_size=30), new=st.lists(_PIECES, max_size=30))
def test_no_shuffle_of_lines_raises(old: list[str], new: list[str]) -> None:
    for finding in found(("tests/test_a.py", "".join(old), "".join(new))):
        assert finding.text
        assert "\n" not in finding.text


_VALUES = st.one_of(st.integers(-99, 99), st.text(max_size=5), st.lists(st.integers(0, 9)))


@st.composite
def _suites(draw: st.DrawFn) -> str:
    tests: list[str] = []
    for at in range(draw(st.integers(1, 4))):
        lines = [f"def test_{at}(thing):"]
        for _ in range(draw(st.integers(1, 4))):
            value = draw(_VALUES)
            shape = draw(
                st.sampled_from(
                    [
                        "assert thing.f({0!r}) == {0!r}",
                        "x = {0!r}\n    assert x in thing",
                        "assert not thing.g({0!r})",
                        "for n in [{0!r}]:\n        assert thing.h(n) > 1",
                        "with pytest.raises(ValueError):\n        thing.f({0!r})",
                    ]
                )
            )
            lines.append("    " + shape.format(value))
        tests.append("\n".join(lines))
    return "\n\n\n".join(tests) + "\n"


@settings(max_examples=60, deadline=None)
@given(text=_suites())
def test_formatting_alone_accuses_nobody(text: str) -> None:
    formatted = ast.unparse(ast.parse(text)).replace("def ", "# as black has it\n\n\ndef ")
    assert accused(("tests/test_a.py", text, formatted)) == []
    assert accused(("tests/test_a.py", text, text.replace("\n", "\r\n"))) == []
