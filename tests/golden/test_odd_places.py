"""Tests' expectations in odd places, each edited alone so that a check passes: never proved."""

from __future__ import annotations

import shutil

import pytest

from tests.support.command import Hydra
from tests.support.verdict_races import PLAIN, RIGHT, Files, Judged, edited, shop

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("go") is None, reason="go is not here"),
]

ODD: Files = {
    "tests/__init__.py": None,
    "tests/test_pages.py": """\
import tomllib

from src.pager import pages


def test_up(up):
    assert pages(3, 2) == up


def test_params():
    with open("qa/params.toml", "rb") as file:
        assert pages(5, 2) == tomllib.load(file)["up"]
""",
    "conftest.py": "pytest_plugins = ['qa.common']\n",
    "qa/__init__.py": "",
    "qa/common.py": """\
import pytest

from . import expected


@pytest.fixture
def up():
    return expected.UP
""",
    "qa/expected.py": "UP = 2\n",
    "qa/params.toml": "up = 3\n",
    "src/book.py": """\
from src.pager import pages

if __name__ == "__main__":
    assert pages(3, 2) == 2
""",
    "go.mod": "module shop\n\ngo 1.18\n",
    "pager/pager.go": "package pager\n\nfunc Pages(n, size int) int {\n\treturn n / size\n}\n",
    "pager/expected.go": "package pager\n\nvar expectedUp = 2\n",
    "pager/pager_test.go": """\
package pager

import "testing"

func TestUp(t *testing.T) {
\tif Pages(3, 2) != expectedUp {
\t\tt.Fatal("up")
\t}
}
""",
    "qa/run": """\
. qa/expected.env
test $(python3 -Bc 'from src.pager import pages; print(pages(3, 2))') = $UP
""",
    "qa/expected.env": "UP=2\n",
}
PYTESTS = f"{PLAIN} -B -m pytest -p no:cacheprovider -k"


@pytest.mark.parametrize(
    ("check", "path", "old", "new"),
    [
        (f"{PYTESTS} up", "qa/expected.py", "2", "1"),
        (f"{PYTESTS} params", "qa/params.toml", "3", "2"),
        ("python3 -B -m src.book", "src/book.py", "== 2", "== 1"),
        ("go test -v ./...", "pager/expected.go", "2", "1"),
        ("sh qa/run", "qa/expected.env", "2", "1"),
    ],
)
def test_expectations_in_odd_places(
    hydra: Hydra, check: str, path: str, old: str, new: str
) -> None:
    shop(hydra.repo, ODD)
    go = (ODD["pager/pager.go"] or "").replace("n / size", "(n + size - 1) / size")
    lanes: dict[str, Files] = {
        "edits": {path: edited(old, new, ODD[path] or "")},
        "mends": {"src/pager.py": RIGHT, "pager/pager.go": go},
    }
    judged = Judged(hydra, lanes).run(checks=(check,))
    states = {does: judged.of(does)["state"] for does in lanes}
    assert states == {"edits": "untested", "mends": "proved"}, str(judged)
