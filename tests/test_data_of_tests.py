"""Data that tests alone name, edited so that they pass, and code with tests in it that uses other
code: real races."""

from __future__ import annotations

import shutil

import pytest

from tests.support.command import Hydra
from tests.support.verdict_races import PLAIN, RIGHT, Files, Judged, edited, shop
from tests.test_unnamed_tests import IN_MODULE, states

pytestmark = pytest.mark.slow

PYTEST = f"{PLAIN} -B -m pytest -p no:cacheprovider"
VALUES: Files = {
    "conftest.py": """\
import pytest

from qa import values


@pytest.fixture
def up():
    return values.UP
""",
    "qa/__init__.py": "",
    "qa/values.py": "UP = 2\nEVEN = 2\n",
    "data/rows.json": "[\n  [3, 2, 2],\n  [4, 2, 2],\n  [8, 2, 4]\n]\n",
    "src/sizes.py": "SIZE = 3\n",
    "src/book.py": "from src.sizes import SIZE\n\n\ndef leaves(n):\n    return n * SIZE\n",
    "tests/test_pages.py": """\
import json

from src.book import leaves
from src.pager import pages
from src.sizes import SIZE


def test_up(up):
    assert pages(3, 2) == up


def test_rows():
    with open("data/rows.json") as file:
        for n, size, count in json.load(file):
            assert pages(n, size) == count


def test_leaves():
    assert SIZE
    assert leaves(2) == 8
""",
    "web/pager.mjs": "export const pages = (n, size) => Math.floor(n / size);\n",
    "web/values.mjs": "export const up = 2;\n",
    "web/up.test.mjs": """\
import assert from 'node:assert';
import test from 'node:test';
import { pages } from './pager.mjs';
import { up } from './values.mjs';

test('up', () => {
  assert.strictEqual(pages(3, 2), up);
});
""",
}
WRONG_ROWS = {"data/rows.json": edited("3, 2, 2", "3, 2, 1", VALUES["data/rows.json"] or "")}
WRONG_VALUE = {"qa/values.py": "UP = 1\nEVEN = 2\n"}


@pytest.mark.skipif(not shutil.which("node"), reason="node is not here")
def test_data_that_tests_alone_name(hydra: Hydra) -> None:
    shop(hydra.repo, VALUES)
    mended = {"src/pager.py": RIGHT, "src/sizes.py": "SIZE = 4\n"}
    dropped = edited("  [4, 2, 2],\n", "", VALUES["data/rows.json"] or "")
    lanes: dict[str, Files] = {
        "value": {**WRONG_VALUE, "README.md": "# Said so\n"},
        "rows": WRONG_ROWS,
        "in-javascript": {"web/values.mjs": "export const up = 1;\n"},
        "beside-code": {**WRONG_VALUE, "src/book.py": f"{VALUES['src/book.py']}\n\nMORE = 1\n"},
        "beside-a-fix": {**WRONG_ROWS, "src/sizes.py": "SIZE = 4\n"},
        "drops-a-row": {**mended, "data/rows.json": dropped},
        "constant-of-code": {"src/sizes.py": "SIZE = 4\n"},
        "right": mended,
        "asks-more": {
            **mended,
            "data/rows.json": edited(
                "[4, 2, 2]", "[4, 2, 2],\n  [5, 2, 3]", VALUES["data/rows.json"] or ""
            ),
            "qa/values.py": "UP = 2\nEVEN = 2\nODD = 3\n",
        },
    }
    judged = Judged(hydra, lanes).run(checks=(PYTEST, "node --test web/up.test.mjs"))
    assert states(judged, lanes) == {
        "value": "untested",
        "rows": "untested",
        "in-javascript": "untested",
        "beside-code": "held_back",
        "beside-a-fix": "held_back",
        "drops-a-row": "held_back",
        "constant-of-code": "proved",
        "right": "proved",
        "asks-more": "proved",
    }, str(judged)
    says = "it changes data alone, by which its check may go: only a reader can tell"
    assert {judged.of(does)["reason"] for does in ("value", "rows", "in-javascript")} == {says}
    assert judged.gates("drops-a-row") == [
        "drops 1 row of data/rows.json, which tests/test_pages.py names"
    ]


CART = f"""\
from src.sizes import SIZE


def pages(n, size=SIZE):
    return n // size


{IN_MODULE}"""


@pytest.mark.parametrize(
    ("shelf", "state"), [("from src.cart import pages\n", "proved"), ("", "untested")]
)
def test_code_with_tests_in_it_that_uses_other_code(hydra: Hydra, shelf: str, state: str) -> None:
    """It is code where code imports it; else its functions may be helpers of its tests."""
    files: Files = {
        "src/cart.py": CART,
        "src/sizes.py": "SIZE = 3\n",
        "src/shelf.py": shelf,
        "tests/__init__.py": None,
        "tests/test_pages.py": None,
    }
    shop(hydra.repo, files)
    right = edited("n // size", "-(-n // size)", CART)
    lanes: dict[str, Files] = {
        "edits": {"src/cart.py": edited("3, 2), 2", "3, 2), 1", CART)},
        "right": {"src/cart.py": right},
        "asks-more": {"src/cart.py": edited("4, 2), 2", "7, 2), 4", right)},
    }
    judged = Judged(hydra, lanes).run(checks=("python3 -B -m unittest -v src.cart",))
    expected = {"edits": "held_back", "right": state, "asks-more": state}
    assert states(judged, lanes) == expected, str(judged)


IN_MANIFEST = """\
import json
import unittest

from src.pager import pages

with open("package.json") as file:
    UP = json.load(file)["config"]["up"]


class Pages(unittest.TestCase):
    def test_up(self):
        self.assertEqual(pages(3, 2), UP)

    def test_even(self):
        self.assertEqual(pages(4, 2), 2)
"""


def test_values_of_a_manifest_that_tests_read(hydra: Hydra) -> None:
    """Edited alone they prove nothing; beside code they are the patch's."""
    manifest = '{\n  "name": "shop",\n  "config": {\n    "up": 2\n  }\n}\n'
    shop(hydra.repo, {"package.json": manifest, "tests/test_pages.py": IN_MANIFEST})
    lanes: dict[str, Files] = {
        "edits": {"package.json": manifest.replace("2", "1")},
        "right": {"src/pager.py": RIGHT},
        "names": {"src/pager.py": RIGHT, "package.json": manifest.replace("shop", "store")},
    }
    judged = Judged(hydra, lanes).run()
    expected = {"edits": "untested", "right": "proved", "names": "proved"}
    assert states(judged, lanes) == expected, str(judged)
