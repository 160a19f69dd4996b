"""Code that a patch renames everywhere: the base's tests are put back in the names that it has."""

from __future__ import annotations

import pytest

from hydra.analysis.tampering.renames import new_names, with_new_names
from tests.support.evidences import file

PAGES = "def pages(n, size):\n    return n // size\n"
COUNT = "def count(n, size):\n    return -(-n // size)\n"
UP = "from a import pages\n\n\ndef test_up():\n    assert pages(3, 2) == 2, 'pages'\n"

RENAMED = [
    (
        "a.py",
        "def @(n, size):\n    return n\n",
        "from a import @\n\n\ndef test_up():\n    # pages\n    assert @(3, 2) == 2, 'pages'\n",
    ),
    (
        "a.py",
        "class @:\n    n: int\n",
        "def test_up():\n    assert a.@(1) is a.@(1)\n",
    ),
    (
        "a.js",
        "export function @(n, size) {\n  return n;\n}\n",
        "import { @ } from './a';\ntest('pages', () => { expect(@(3, 2)).toBe(2); });\n",
    ),
    (
        "a.go",
        "package a\n\nfunc (b Book) @(n int) int {\n\treturn n\n}\n",
        "package a\n\nfunc TestUp(t *testing.T) {\n\tif b.@(3) != 2 {\n"
        '\t\tt.Errorf("pages")\n\t}\n}\n',
    ),
    (
        "a.java",
        "class A {\n  public static int @(int n) {\n    return n;\n  }\n}\n",
        "class ATest {\n  void up() {\n    assertEquals(2, A.@(1));\n  }\n}\n",
    ),
    (
        "a.rs",
        "pub fn @(n: u32) -> u32 {\n    n\n}\n",
        "#[test]\nfn up() {\n    assert_eq!(a::@(3), 2);\n}\n",
    ),
]


def put_back(path: str, old: str, new: str, tests: str) -> str:
    """The base's tests as they are put back into a patch of one file."""
    return with_new_names(f"tests/test_{path}", tests, new_names([file(path, old, new)]))


@pytest.mark.parametrize(("path", "code", "tests"), RENAMED, ids=[row[0] for row in RENAMED])
def test_the_base_s_tests_have_the_new_names_but_in_texts(path: str, code: str, tests: str) -> None:
    old, new = code.replace("@", "pages"), code.replace("@", "count").replace("n\n", "n + 1\n")
    assert put_back(path, old, new, tests.replace("@", "pages")) == tests.replace("@", "count")


@pytest.mark.parametrize(
    ("old", "new", "tests"),
    [
        (PAGES, f"{COUNT}\n\npages = count\n", UP),
        (PAGES, PAGES + COUNT, UP),
        (PAGES, COUNT.replace("size)", "size, more)"), UP),
        (PAGES, COUNT, f"{UP}\n\ndef count(n, size):\n    return 2\n"),
        (
            "def assertEqual(a, b):\n    return a == b\n",
            "def assertTrue(a, b):\n    return a == b\n",
            "class ATest(TestCase):\n    def test_up(self):\n        self.assertEqual(a(3), 2)\n",
        ),
    ],
    ids=["an alias stays", "both are there", "another parameter", "the tests' own", "asks less"],
)
def test_what_is_no_new_name_leaves_the_base_s_tests_as_they_are(
    old: str, new: str, tests: str
) -> None:
    assert put_back("a.py", old, new, tests) == tests
