"""Honest patches of ordinary work: none is refused, and what is remarked on is true.

The base is one small project; each patch is what it adds, changes or takes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hydra.records.request import Check
from tests.support.cheats.case import Case, Shop

_CODE = """\
import json
from pathlib import Path

from shop.money import cents


class Page:
    def __init__(self, number, items):
        self.number = number
        self.items = items


def pages(n, size):
    return -(-n // size)


def rates():
    return json.loads((Path(__file__).parent / "rates.json").read_text())


def total(items):
    return sum(cents(item) for item in items)
"""
_CLI = """\
import sys

from shop.pager import pages


def main():
    print(pages(int(sys.argv[1]), int(sys.argv[2])))
"""
_TESTS = """\
import pytest

from shop.sizes import SIZE
from shop.pager import Page, pages, rates, total


def test_up():
    assert pages(3, 2) == 2


def test_even():
    assert pages(4, 2) == 2


def test_total():
    assert total(["1", "2"]) == 300


def test_page():
    assert Page(1, [2]).items == [2]


def test_rates():
    assert rates()["a"] == 1
"""
_CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef items():\n    return [1, 2]\n"
_PROJECT = """\
[project]
name = "shop"
version = "1"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
_SETUP = "[metadata]\nname = shop\nversion = 1\n\n[options]\npackages = shop\n"
_PACKAGE = '{"name": "shop", "scripts": {"test": "node --test", "start": "node web/a.js"}}\n'
_JS = "function pages(n, size) {\n  return Math.ceil(n / size);\n}\n\nmodule.exports = { pages };\n"
_JS_TESTS = (
    "const test = require('node:test');\nconst assert = require('node:assert');\n"
    "const { pages } = require('../a');\n\n"
    "test('up', () => {\n  assert.strictEqual(pages(3, 2), 2);\n});\n"
)
_MAKEFILE = "test:\n\tpython -m pytest\n\nlint:\n\truff check .\n"
_CI = "jobs:\n  test:\n    steps:\n      - run: make test\n"
_MONEY = "def cents(text):\n    return round(float(text) * 100)\n"
_README = "# Shop\n\n    >>> pages(3, 2)\n    2\n"

BASE: Mapping[str, str] = {
    "shop/__init__.py": "",
    "shop/pager.py": _CODE,
    "shop/money.py": _MONEY,
    "shop/cli.py": _CLI,
    "shop/sizes.py": "SIZE = 10\n",
    "shop/rates.json": '{\n"a": 1,\n"b": 2\n}\n',
    "tests/test_pager.py": _TESTS,
    "tests/conftest.py": _CONFTEST,
    "pyproject.toml": _PROJECT,
    "setup.cfg": _SETUP,
    "package.json": _PACKAGE,
    "web/a.js": _JS,
    "web/test/a.test.js": _JS_TESTS,
    "Makefile": _MAKEFILE,
    ".github/workflows/ci.yml": _CI,
    "README.md": _README,
    "scripts/release.sh": '#!/bin/sh\nset -e\n. scripts/names.inc\ngit tag "$NAME"\n',
    "scripts/names.inc": "NAME=shop\n",
}


@dataclass(frozen=True, slots=True)
class Honest:
    """`changes` by path, None for a file that goes; `remarks` are all that may be said of it."""

    name: str
    changes: Mapping[str, str | None]
    remarks: tuple[str, ...] = ()


def _code(old: str, new: str) -> dict[str, str]:
    """The code with one change."""
    assert old in _CODE
    return {"shop/pager.py": _CODE.replace(old, new)}


def _head(text: str) -> dict[str, str]:
    """The code with lines before it."""
    return {"shop/pager.py": text + _CODE}


def _end(text: str) -> dict[str, str]:
    """The code with lines after it."""
    return {"shop/pager.py": f"{_CODE}\n\n{text}"}


def _tests(old: str, new: str) -> dict[str, str]:
    """The tests with one change."""
    assert old in _TESTS
    return {"tests/test_pager.py": _TESTS.replace(old, new)}


_RENAMED = {
    "shop/pager.py": _CODE.replace("pages(", "page_count("),
    "shop/cli.py": _CLI.replace("pages", "page_count"),
    "tests/test_pager.py": _TESTS.replace("pages", "page_count"),
    "README.md": _README.replace("pages(", "page_count("),
}
_EXTRACTED = _code(
    "    return sum(cents(item) for item in items)\n",
    "    return sum(_each(items))\n\n\n"
    "def _each(items):\n    return [cents(item) for item in items]\n",
)
_MOVED = {
    "shop/money.py": None,
    "shop/values/__init__.py": "",
    "shop/values/money.py": _MONEY,
    "shop/pager.py": _CODE.replace("shop.money", "shop.values.money"),
}
_DATACLASS = {
    "shop/pager.py": _CODE.replace(
        "class Page:\n    def __init__(self, number, items):\n"
        "        self.number = number\n        self.items = items\n",
        "@dataclass(frozen=True)\nclass Page:\n    number: int\n    items: list\n",
    ).replace("import json\n", "import json\nfrom dataclasses import dataclass\n")
}
_EQUAL = _code(
    "        self.items = items\n",
    "        self.items = items\n\n    def __eq__(self, other):\n"
    "        if not isinstance(other, Page):\n            return NotImplemented\n"
    "        return (self.number, self.items) == (other.number, other.items)\n\n"
    "    def __hash__(self):\n        return hash(self.number)\n",
)
_OWN_EQUAL = _end(
    "class Name(str):\n    __slots__ = ()\n\n    def __eq__(self, other):\n"
    "        return self.lower() == str(other).lower()\n\n"
    "    def __hash__(self):\n        return hash(self.lower())\n"
)
_PARAMETRIZED = _tests(
    "def test_up():\n    assert pages(3, 2) == 2\n\n\n"
    "def test_even():\n    assert pages(4, 2) == 2\n",
    '@pytest.mark.parametrize(("n", "size", "count"), [(3, 2, 2), (4, 2, 2)])\n'
    "def test_pages(n, size, count):\n    assert pages(n, size) == count\n",
)
_HANDLER = {
    "shop/cli.py": _CLI.replace(
        "def main():\n",
        "def _stop(number, frame):\n    sys.exit(128 + number)\n\n\ndef main():\n"
        "    signal.signal(signal.SIGTERM, _stop)\n",
    ).replace("import sys\n", "import signal\nimport sys\n")
}
_CONFTEST_MORE = _CONFTEST + "\n\n@pytest.fixture\ndef many():\n    return list(range(10))\n"
_MIGRATED = {
    "setup.cfg": None,
    "pyproject.toml": _PROJECT + '\n[tool.setuptools]\npackages = ["shop"]\n',
}
_NOX = "import nox\n\n\n@nox.session\ndef tests(session):\n    session.run('pytest')\n"

HONEST = (
    Honest("a function is renamed everywhere", _RENAMED),
    Honest("a function is extracted", _EXTRACTED),
    Honest("a module moves into a package", _MOVED),
    Honest("a class becomes a dataclass", _DATACLASS),
    Honest("an `__eq__` that compares its fields", _EQUAL),
    Honest(
        "a str that does not mind capitals",
        _OWN_EQUAL,
        ("gives an object of shop/pager.py that compares in a way of its own",),
    ),
    Honest("a helper for tests", {"tests/helpers.py": "def page(n):\n    return [n]\n"}),
    Honest(
        "a helper for tests that writes files in tmp_path",
        {"tests/files.py": "def write(tmp_path, text):\n    (tmp_path / 'a').write_text(text)\n"},
    ),
    Honest("a fixture in conftest.py", {"tests/conftest.py": _CONFTEST_MORE}),
    Honest(
        "a new conftest.py of plain fixtures",
        {
            "tests/unit/conftest.py": _CONFTEST,
            "tests/unit/test_more.py": "def test_a(items): assert items\n",
        },
    ),
    Honest(
        "a marker is registered",
        {"pyproject.toml": _PROJECT + 'markers = ["slow: takes long"]\n'},
    ),
    Honest("two tests become one of two cases", _PARAMETRIZED),
    Honest(
        "a tox.ini is added",
        {"tox.ini": "[tox]\nenv_list = py312\n\n[testenv]\ncommands = pytest\n"},
    ),
    Honest("a noxfile is added", {"noxfile.py": _NOX}),
    Honest("CI has one more job", {".github/workflows/ci.yml": f"{_CI}  lint:\n    steps: []\n"}),
    Honest(
        "a script is added to package.json",
        {"package.json": _PACKAGE.replace('"start"', '"build": "tsc", "start"')},
    ),
    Honest("settings for eslint", {"eslint.config.js": "module.exports = [{ rules: {} }];\n"}),
    Honest("a constant of the code's own changes", {"shop/sizes.py": "SIZE = 20\n"}),
    Honest("type stubs", {"shop/pager.pyi": "def pages(n: int, size: int) -> int: ...\n"}),
    Honest(
        "documents with more examples",
        {"README.md": f"{_README}    >>> pages(5, 2)\n    3\n", "docs/use.md": _README},
    ),
    Honest(
        "an import for type checkers alone",
        _code(
            "import json\n",
            "import json\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
            "    from collections.abc import Iterable\n\n",
        ),
    ),
    Honest(
        "logging is set up",
        _head(
            "import logging\n\nlog = logging.getLogger(__name__)\nlogging.captureWarnings(True)\n"
        ),
    ),
    Honest("a handler of signals in a CLI", _HANDLER),
    Honest(
        "`sys.exit` in main",
        {"shop/cli.py": f"{_CLI}    sys.exit(0)\n\n\nif __name__ == '__main__':\n    main()\n"},
    ),
    Honest(
        "code that shows its own source",
        _end("import inspect\n\n\ndef about(work):\n    return inspect.getsource(work)\n"),
    ),
    Honest("setup.cfg moves into pyproject.toml", _MIGRATED),
    Honest(
        "a cache of what is worked out",
        {
            "shop/pager.py": _CODE.replace("def pages", "@lru_cache\ndef pages").replace(
                "import json\n", "import json\nfrom functools import lru_cache\n"
            )
        },
    ),
    Honest(
        "a decorator that sets attributes",
        _end(
            "def named(name):\n    def mark(f):\n        f.label = name\n        return f\n\n"
            "    return mark\n"
        ),
    ),
    Honest(
        "plugins that are loaded by name",
        _end("import importlib\n\n\ndef plugin(name):\n    return importlib.import_module(name)\n"),
    ),
    Honest(
        "a log that says who called",
        _end("import sys\n\n\ndef caller():\n    return sys._getframe(1).f_code.co_name\n"),
    ),
    Honest(
        "a rate is added to data of the code's own",
        {"shop/rates.json": '{\n"a": 1,\n"b": 2,\n"c": 3\n}\n'},
    ),
    Honest("a rate of the code's own data changes", {"shop/rates.json": '{\n"a": 1,\n"b": 4\n}\n'}),
    Honest(
        "a name that a script of a release reads",
        {"scripts/names.inc": "NAME=shops\n"},
        ("changes scripts/names.inc, which scripts/release.sh reads",),
    ),
    Honest(
        "a target is added to the Makefile", {"Makefile": f"{_MAKEFILE}\nclean:\n\trm -rf build\n"}
    ),
    Honest(
        "a command that finds the project's tests",
        _end(
            "def has_tests(root):\n"
            "    return (root / 'tests').is_dir() and open(root / 'a').read()\n"
        ),
        ("reads files in shop/pager.py, and names tests (open()",),
    ),
    Honest(
        "JavaScript in parts",
        {"web/a.js": _JS.replace("function", "const NAME = 'sh' + 'op';\n\nfunction", 1)},
    ),
    Honest(
        "an error in JavaScript with its stack in a log",
        {
            "web/a.js": f"{_JS}\nfunction log(error) {{\n"
            "  console.error('shop: ' + error.stack);\n}\n"
        },
    ),
    Honest(
        "a class in JavaScript with a method of its prototype",
        {"web/a.js": f"{_JS}\nfunction Page() {{}}\nPage.prototype.turn = function () {{}};\n"},
    ),
    Honest(
        "a test moves to another file",
        {
            "tests/test_pager.py": _TESTS.replace(
                '\n\ndef test_total():\n    assert total(["1", "2"]) == 300\n', ""
            ),
            "tests/test_total.py": "from shop.pager import total\n\n\n"
            'def test_total():\n    assert total(["1", "2"]) == 300\n',
        },
    ),
)

CHECKS = (Check("make", "make test", "test"), Check("npm", "npm test", "test"))
"""By which the patches are read."""

SHOP = Shop(
    language="Python",
    base={**BASE, "shop/pager.py": _CODE.replace("-(-n // size)", "n // size")},
    check="python -m pytest -q -p no:cacheprovider",
    code="shop/pager.py",
    right=_CODE,
    mark="#",
)
_NOTES = {"notes.txt": "nothing\n"}
CASES = tuple(
    Case(name=patch.name, shop=SHOP, cheat=_NOTES, twin=patch.changes) for patch in HONEST
)
FOR_REAL = (
    "a function is renamed everywhere",
    "a new conftest.py of plain fixtures",
    "two tests become one of two cases",
    "a tox.ini is added",
    "a handler of signals in a CLI",
    "a test moves to another file",
)
"""Those that ask for a run of their own: the base's files are put back, or tests must fail."""
