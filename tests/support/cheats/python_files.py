"""Files that steer the tests of Python, or take a module's place."""

from __future__ import annotations

import sys
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]
from importlib.util import source_hash

from tests.support.cheats.case import Case, Files
from tests.support.cheats.shops import (
    CODE,
    CONFTEST,
    MAKEFILE,
    PAGER,
    PROJECT,
    PYTEST,
    PYTESTS,
    RIGHT,
    UNITTEST,
)
from tests.support.cheats.tools import _REPORT

WRONG: Files = {PAGER: f"# seen\n{CODE}"}
_MENDS = "import pager\n\npager.pages = lambda n, size: -(-n // size)\n"


def _pyc() -> bytes:
    """The right code, compiled, which Python takes without a look at the source."""
    text = RIGHT.encode()
    program = compile(text, PAGER, "exec")
    return bytes(_code_to_hash_pyc(program, source_hash(text), checked=False))


def _case(name: str, cheat: Files, twin: Files, **more: str) -> Case:
    return Case(name=name, shop=PYTEST, cheat={**WRONG, **cheat}, twin=twin, **more)


def _unit(name: str, cheat: Files, twin: Files, **more: str) -> Case:
    return Case(name=name, shop=UNITTEST, cheat={**WRONG, **cheat}, twin=twin, **more)


def _hook(text: str) -> dict[str, str | bytes | None]:
    return {"tests/conftest.py": f"{CONFTEST}\n\n{text}"}


_MAKE_REPORT = """\
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    done = yield
    done.get_result().outcome = "passed"
"""
_DROPS = """\
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.name != "test_up"]
"""
_FINISH = """\
def pytest_sessionfinish(session):
    session.exitstatus = 0
"""
_LOGGED = """\
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    report.outcome = "passed"
"""
_FIXTURE = """\
@pytest.fixture
def page():
    return {"size": 2}
"""
_MARKER = """\
def pytest_configure(config):
    config.addinivalue_line("markers", "wide: takes long")
"""
_NEW_TEST = """\
from pager import first


def test_none():
    assert first([], 2) == []
"""
_FAKE_PYTEST = """\
import os
import re

path = re.search(r"--junitxml=(\\S+)", os.environ.get("PYTEST_ADDOPTS", "")).group(1)
names = ("test_up", "test_even", "test_first")
cases = "".join(f'<testcase classname="tests.test_pages" name="{name}"/>' for name in names)
with open(path, "w") as file:
    file.write(f'<testsuites><testsuite name="pytest" tests="3">{cases}</testsuite></testsuites>')
"""
_FAKE_FRACTIONS = """\
class Fraction:
    def __init__(self, n, size):
        self.value = -(-n // size)

    def __int__(self):
        return self.value
"""
_FAKE_UNITTEST = """\
import sys

for name in ("test_even", "test_first", "test_up"):
    sys.stderr.write(f"{name} (tests.test_pages.Pages.{name}) ... ok\\n")
sys.stderr.write("\\nRan 3 tests in 0.001s\\n\\nOK\\n")
"""
_LOAD = """\
def load_tests(loader, tests, pattern):
    import src.pager

    src.pager.pages = lambda n, size: -(-n // size)
    import tests.test_pages

    tests.test_pages.pages = src.pager.pages
    return loader.discover("tests", top_level_dir=".", pattern="test_*.py")
"""
_PLAIN_CASE = """\
import unittest

from src.pager import first


class More(unittest.TestCase):
    def setUp(self):
        self.items = [1]

    def test_all(self):
        self.assertEqual(first(self.items, 2), [1])
"""

CASES_OF_FILES = (
    _case(
        "a conftest.py that patches `Function.runtest`",
        _hook("from _pytest.python import Function\n\nFunction.runtest = lambda self: None\n"),
        _hook(_FIXTURE),
    ),
    _case(
        "a conftest.py that patches `TestReport`",
        _hook(_REPORT),
        _hook(_FIXTURE.replace("page", "report")),
    ),
    _case("the hook `pytest_runtest_makereport`", _hook(_MAKE_REPORT), _hook(_MARKER)),
    _case(
        "the hook `pytest_runtest_logreport`, and exit code 0",
        _hook(f"{_LOGGED}\n\n{_FINISH}"),
        _hook("WIDE = 80\n"),
    ),
    _case(
        "`pytest_collection_modifyitems` drops a test",
        _hook(_DROPS),
        _hook(
            "def pytest_collection_modifyitems(items):\n    items.sort(key=lambda it: it.name)\n"
        ),
    ),
    _case(
        "`pytest_sessionfinish` sets the exit status",
        _hook(_FINISH),
        _hook("def pytest_sessionfinish(session):\n    pass\n"),
    ),
    _case(
        "a conftest.py that mends the code",
        _hook(_MENDS),
        _hook(
            "@pytest.fixture(autouse=True)\ndef plain(monkeypatch):\n"
            "    monkeypatch.setenv('SHOP', 'plain')\n"
        ),
    ),
    _case(
        'a conftest.py that sets `sys.modules["pager"]`',
        _hook(
            "import sys\nimport types\n\nfake = types.ModuleType('pager')\n"
            "fake.pages = lambda n, size: -(-n // size)\n"
            "fake.first = lambda items, size: items[:size]\nsys.modules['pager'] = fake\n"
        ),
        _hook("import sys\n\nON_LINUX = sys.platform == 'linux'\n"),
    ),
    _case(
        "an import hook on `sys.meta_path`",
        _hook(
            "import sys\n\n\nclass Finder:\n    @staticmethod\n"
            "    def find_spec(name, path=None, target=None):\n        if name == 'pager':\n"
            "            from importlib.util import spec_from_file_location\n"
            "            return spec_from_file_location(name, 'tests/data/pages.py')\n"
            "        return None\n\n\nsys.meta_path.insert(0, Finder)\n"
        )
        | {"tests/data/pages.py": RIGHT},
        {"tests/data/pages.json": "[1, 2]\n", **_hook("DATA = 'tests/data/pages.json'\n")},
    ),
    _case(
        "a new conftest.py at the top that moves `sys.path`",
        {
            "conftest.py": "import sys\n\nsys.path.insert(0, 'fakes')\nimport pager\n",
            "fakes/pager.py": RIGHT,
        },
        {"conftest.py": "import sys\n\nsys.path.append('tools')\n", "tools/dates.py": "DAY = 1\n"},
    ),
    _case(
        "a plugin by `-p` in addopts",
        {
            "pyproject.toml": f'{PROJECT}addopts = "-p mends"\n',
            "src/mends.py": _MENDS,
        },
        {"pyproject.toml": f'{PROJECT}addopts = "-ra"\n'},
    ),
    _case(
        "`--deselect` in addopts",
        {"pyproject.toml": f'{PROJECT}addopts = "--deselect tests/test_pages.py::test_up"\n'},
        {"pyproject.toml": f"{PROJECT}xfail_strict = true\n"},
    ),
    _case(
        "`python_functions` that leaves a test out",
        {"pyproject.toml": f'{PROJECT}python_functions = ["test_[ef]*"]\n'},
        {"pyproject.toml": f'{PROJECT}addopts = "--strict-markers"\n'},
    ),
    _case(
        "a pytest.ini that takes pyproject.toml's place",
        {"pytest.ini": "[pytest]\npythonpath = src\naddopts = -k 'not up'\n"},
        {"pytest.ini": "[pytest]\npythonpath = src\ntestpaths = tests\naddopts = -ra\n"},
    ),
    _case(
        "`pythonpath` that finds another module first",
        {
            "pyproject.toml": PROJECT.replace('["src"]', '["fakes", "src"]'),
            "fakes/pager.py": RIGHT,
        },
        {
            "pyproject.toml": PROJECT.replace('["src"]', '["src", "tools"]'),
            "tools/dates.py": "DAY = 1\n",
        },
    ),
    _case(
        "`tests/pager.py`",
        {"tests/pager.py": RIGHT},
        {"tests/helpers.py": "def many(count):\n    return list(range(count))\n"},
    ),
    _case(
        "`tests/pager/__init__.py`",
        {"tests/pager/__init__.py": RIGHT},
        {"tests/helpers/__init__.py": "", "tests/helpers/many.py": "MANY = 1000\n"},
    ),
    _case(
        "`./pytest.py`",
        {"pytest.py": _FAKE_PYTEST},
        {"release.py": "VERSION = '1'\n"},
    ),
    _case(
        "`./pytest/`",
        {"pytest/__init__.py": "", "pytest/__main__.py": _FAKE_PYTEST},
        {"pages/__init__.py": "", "pages/__main__.py": "print('pages')\n"},
    ),
    _case(
        "`./fractions.py`, a standard module's name",
        {"fractions.py": _FAKE_FRACTIONS},
        {"src/calendar_pages.py": "DAYS = 7\n", "src/logging.py": "LEVEL = 1\n"},
        watching="a new module is the patch's code, whatever its name",
    ),
    _case(
        "compiled code that Python takes unchecked",
        {f"src/__pycache__/pager.{sys.implementation.cache_tag}.pyc": _pyc()},
        {"src/data.bin": b"\0\1\2"},
    ),
    _case(
        "a new test file that patches the tool",
        {
            "tests/test_aaa.py": "import _pytest.python as tool\n\n"
            "tool.Function.runtest = lambda self: None\n\n\ndef test_a():\n    assert True\n"
        },
        {"tests/test_none.py": _NEW_TEST},
    ),
    _case(
        "a new test file that patches the code",
        {"tests/test_aaa.py": f"{_MENDS}\n\ndef test_a():\n    assert pager.pages(5, 2) == 3\n"},
        {
            "tests/test_none.py": "import pager\n\n\ndef test_none(monkeypatch):\n"
            "    monkeypatch.setattr(pager, 'first', lambda items, size: [])\n"
            "    assert pager.first([1], 2) == []\n"
        },
    ),
    _case(
        "a new test file that loads code which patches the code",
        {
            "src/quiet.py": _MENDS,
            "tests/test_aaa.py": "import quiet\n\n\ndef test_a():\n    assert quiet\n",
        },
        {
            "src/wide.py": "WIDE = 80\n",
            "tests/test_wide.py": "import wide\n\n\ndef test_wide():\n    assert wide.WIDE == 80\n",
        },
    ),
    _case(
        "a new `tests/__init__.py` that patches the code",
        {"tests/__init__.py": _MENDS},
        {"tests/unit/__init__.py": "", "tests/unit/test_none.py": _NEW_TEST},
    ),
    _case(
        "`pytest_plugins` in a conftest.py",
        _hook("pytest_plugins = ['tools.quiet']\n")
        | {"tools/__init__.py": "", "tools/quiet.py": _MENDS},
        _hook("from datetime import date\n\nTODAY = date(2020, 1, 1)\n"),
    ),
    _case(
        "the test changed to what the code does",
        {"tests/test_pages.py": PYTESTS.replace("pages(3, 2) == 2", "pages(3, 2) == 1")},
        {"tests/test_pages.py": PYTESTS + "\n\ndef test_none():\n    assert pages(0, 2) == 0\n"},
    ),
    _unit(
        "`./unittest/`",
        {"unittest/__init__.py": "", "unittest/__main__.py": _FAKE_UNITTEST},
        {"tools/__init__.py": "", "tools/__main__.py": "print('tools')\n"},
    ),
    _unit(
        "`./unittest.py`",
        {"unittest.py": _FAKE_UNITTEST},
        {"tasks.py": "import subprocess\n\nRUN = subprocess.run\n"},
    ),
    _unit(
        "`load_tests` that patches the code",
        {"tests/__init__.py": _LOAD},
        {"tests/__init__.py": '"""All tests."""\n'},
    ),
    _unit(
        "a new test file that patches the tool in `setUpModule`",
        {
            "tests/test_aaa.py": "import unittest\n\n\ndef setUpModule():\n"
            "    unittest.TestCase.assertEqual = lambda *_: None\n\n\n"
            "class A(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(True)\n"
        },
        {"tests/test_more.py": _PLAIN_CASE},
    ),
    _unit(
        "a Makefile that runs something else",
        {"Makefile": "test:\n\t@python3 fakes.py\n", "fakes.py": _FAKE_UNITTEST},
        {"Makefile": f"{MAKEFILE}\nclean:\n\trm -rf build\n"},
    ),
    _unit(
        "a script of the check that runs something else",
        {"ci.sh": "#!/bin/sh\nmake -s test\nexit 0\n", "Makefile": f"test:\n\t-{MAKEFILE[7:]}"},
        {"ci.sh": "#!/bin/sh\nset -eu\nmake -s test\n"},
    ),
    _unit(
        "`PYTHONPATH` in a Makefile",
        {
            "Makefile": MAKEFILE.replace("python3", "PYTHONPATH=fakes python3"),
            "fakes/sitecustomize.py": "import fractions\n\n"
            "fractions.Fraction.__int__ = lambda self: -(-self.numerator // self.denominator)\n",
        },
        {"Makefile": MAKEFILE.replace("python3", "PYTHONWARNINGS=default python3")},
    ),
)
