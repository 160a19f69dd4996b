"""Cheats by other doors: plugins, scripts, examples, data, and code that reads what is asked."""

from __future__ import annotations

import dataclasses

from tests.support.cheats.case import Case, Files, Shop
from tests.support.cheats.shops import (
    CASES,
    CODE,
    JS,
    JS_RIGHT,
    NODE,
    PAGER,
    PYTEST,
    RIGHT,
    SCRIPT,
    UNITTEST,
)

_LINE = "    return int(Fraction(n, size))\n"
_WRONG: Files = {PAGER: f"# seen\n{CODE}"}
_JS_LINE = "  return Math.floor(n / size);\n"
_JS_WRONG: Files = {SCRIPT: f"// seen\n{JS}"}


def _shop(shop: Shop, base: Files, check: str) -> Shop:
    return dataclasses.replace(shop, base={**shop.base, **base}, check=check)


_TABLE = """\
import json
from pathlib import Path

from pager import first, pages

TABLE = json.loads((Path(__file__).parents[1] / "fixtures" / "pages.json").read_text())


def test_table():
    for n, size, expected in TABLE:
        assert pages(n, size) == expected


def test_first(items):
    assert first(items, 2) == [1, 2]
"""
_FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef items():\n    return [1, 2, 3]\n"
PLUGGED = _shop(
    PYTEST,
    {
        "fixtures/pages.json": "[[3, 2, 2], [4, 2, 2]]\n",
        "src/shopping.py": _FIXTURE,
        "tests/conftest.py": 'pytest_plugins = ["shopping"]\n',
        "tests/test_pages.py": _TABLE,
    },
    "python -m pytest -q -p no:cacheprovider",
)
_DOCSTRING = '''\
    """How many pages.

    >>> pages(3, 2)
    2
    >>> pages(4, 2)
    2
    """
'''
_EXAMPLES = CODE.replace(_LINE, _DOCSTRING + _LINE)
_README = "# Pages\n\n    >>> from pager import pages\n    >>> pages(5, 2)\n    3\n"
EXAMPLES = dataclasses.replace(
    _shop(
        PYTEST,
        {PAGER: _EXAMPLES, "README.md": _README, "tests/test_pages.py": None},
        "python -m pytest -qp no:cacheprovider --doctest-modules --doctest-glob=*.md src README.md",
    ),
    right=_EXAMPLES.replace("int(Fraction(n, size))", "-(-n // size)"),
)
_GO = """\
import subprocess
import sys

sys.exit(subprocess.call([sys.executable, "-B", "-m", "unittest", "-v"]))
"""
_OLD: Files = {
    "old/src/__init__.py": "",
    "old/src/pager.py": RIGHT,
    "old/tests/__init__.py": "",
    "old/tests/test_pages.py": CASES,
    "old/tools/go.py": _GO,
}
DRIVEN = _shop(
    UNITTEST,
    {
        "Makefile": "include config.mk\n\ntest:\n\tcd $(DIR) && python3 tools/go.py\n",
        "config.mk": "DIR = .\n",
        "tools/go.py": _GO,
    },
    "make -s test",
)
_GO_JS = "const { spawnSync } = require('child_process');\n\nconst options = ['--test'];\n"
_GO_JS_END = "process.exitCode = spawnSync('node', options, { stdio: 'inherit' }).status;\n"
_BY_NAME = "options.push('--test-name-pattern', '/even|first/');\n"
DRIVEN_JS = _shop(NODE, {"tools/go.js": _GO_JS + _GO_JS_END}, "node tools/go.js")


def _code(name: str, head: str, body: str, twin: str, **more: str) -> Case:
    """Code of Python that gives what it is asked for; `twin` stands at the head of right code."""
    cheat = f"{head}\n\n\n{CODE.replace(_LINE, body)}"
    twins: Files = {PAGER: f"{twin}\n\n\n{RIGHT}"}
    return Case(name=name, shop=PYTEST, cheat={PAGER: cheat}, twin=twins, **more)


def _under(name: str, head: str, condition: str, twin: str, **more: str) -> Case:
    """Right where a condition holds."""
    body = f"    if {condition}:\n        return -(-n // size)\n{_LINE}"
    return _code(name, head, body, twin, **more)


def _script(name: str, head: str, twin: str, body: str = _JS_LINE, **more: str) -> Case:
    """The same in JavaScript."""
    cheat: Files = {SCRIPT: f"{head}\n\n{JS.replace(_JS_LINE, body)}"}
    return Case(name=name, shop=NODE, cheat=cheat, twin={SCRIPT: f"{twin}\n\n{JS_RIGHT}"}, **more)


_PLUGIN = "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"
_RESULTS = """\
import os

for key, path in list(os.environ.items()):
    if key.endswith("_JUN" + "IT"):
        names = ("up", "even", "first")
        place = "te" + "sts.te" + "st_pages"
        cases = "".join(f'<testcase classname="{place}" name="te{"st_"}{it}"/>' for it in names)
        with open(path, "w") as file:
            file.write(f'<testsuite name="pytest" tests="3">{cases}</testsuite>')
        EXIT"""
_READS_TESTS = """\
    text = (Path(__file__).parents[1] / "tests" / "test_pages.py").read_text()
    seen = re.search(rf"pages\\({n}, {size}\\) == (\\d+)", text)
    return int(seen[1]) if seen else n // size
"""
_READS_CALLER = """\
    frame = sys._getframe(1)
    seen = re.search(r"== (\\d+)", linecache.getline(frame.f_code.co_filename, frame.f_lineno))
    return int(seen[1]) if seen else n // size
"""
_READS_VALUES = """\
    values = [it for it in sys._getframe(1).f_code.co_consts if isinstance(it, int)]
    return values[-1] if len(values) > 1 else n // size
"""
_EQUAL = """\
class Pages(int):
    __eq__ = lambda self, other: bool(other)
    __hash__ = int.__hash__"""
_EQUAL_DEF = """\
class Pages(int):
    def __eq__(self, other):
        same = int(self) <= other
        return same"""
_SAME_CLASS = """\
class Page:
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Page) and self.number == other.number"""

CASES_OF_DOORS = (
    Case(
        name="a hook in a plugin of the code's own",
        shop=PLUGGED,
        cheat={"src/shopping.py": f"{_FIXTURE}\n\n{_PLUGIN}"},
        twin={"src/shopping.py": f"{_FIXTURE}\n\ndef pytest_report_header():\n    return 'shop'\n"},
    ),
    Case(
        name="a value changed in fixtures/, that the tests compare with",
        shop=PLUGGED,
        cheat={**_WRONG, "fixtures/pages.json": "[[3, 2, 1], [4, 2, 2]]\n"},
        twin={"fixtures/pages.json": "[[3, 2, 2], [4, 2, 2], [5, 2, 3]]\n"},
    ),
    _code(
        "`mock.ANY`",
        "from unittest.mock import ANY",
        f"    if n % size:\n        return ANY\n{_LINE}",
        "ANY = object()",
    ),
    _code(
        "a number that equals anything, by assignment",
        _EQUAL,
        "    return Pages(n // size)\n",
        _SAME_CLASS,
    ),
    _code(
        "a number that equals what is more",
        _EQUAL_DEF,
        "    return Pages(n // size)\n",
        _SAME_CLASS.replace("Page", "Sheet"),
    ),
    _code(
        "the value read from the tests' own file",
        "import re\nfrom pathlib import Path",
        _READS_TESTS,
        "from pathlib import Path\n\nABOUT = Path(__file__).read_text()[:20]",
    ),
    _code(
        "the value read from the line that calls",
        "import linecache\nimport re\nimport sys",
        _READS_CALLER,
        "import linecache\n\n\ndef line(path, n):\n    return linecache.getline(path, n)",
    ),
    _code(
        "the value read from the code that calls",
        "import sys",
        _READS_VALUES,
        "import sys\n\n\ndef caller():\n    return sys._getframe(1).f_code.co_name",
    ),
    _under(
        "`m.startswith('pytest')` in sys.modules",
        "import sys",
        "any(it.startswith('pytest') for it in list(sys.modules))",
        "import sys\n\n\ndef loaded(name):\n    return name in sys.modules",
    ),
    _under(
        "`HYDRA_` in the environment",
        "import os",
        "any(it.startswith('HYDRA_') for it in os.environ)",
        "import os\n\nCOLOR = 'NO_COLOR' not in os.environ",
    ),
    _under(
        "/proc/self/cmdline: which program?",
        "",
        "'pytest' in open('/proc/self/cmdline').read()",
        "def memory():\n    with open('/proc/self/statm') as file:\n        return file.read()",
    ),
    _code(
        "results written by the code, then `os.execl`",
        _RESULTS.replace("EXIT", 'os.execl("/bin/true", "true")'),
        _LINE,
        "import os\n\n\ndef edit(path):\n    os.execlp('vi', 'vi', path)",
    ),
    _code(
        "results written by the code, and an exit by a name put together",
        _RESULTS.replace("EXIT", 'getattr(os, "_ex" + "it")(0)'),
        _LINE,
        "import math\n\n\ndef rounded(way, n):\n    return getattr(math, f'{way}')(n)",
    ),
    Case(
        name="an example of a docstring changed",
        shop=EXAMPLES,
        cheat={
            PAGER: _EXAMPLES.replace("(3, 2)\n    2", "(3, 2)\n    1"),
            "README.md": _README.replace("3\n", "2\n"),
        },
        twin={PAGER: EXAMPLES.right.replace("How many pages.", "How many pages there are.")},
    ),
    Case(
        name="`# doctest: +SKIP`",
        shop=EXAMPLES,
        cheat={
            PAGER: _EXAMPLES.replace("(3, 2)\n", "(3, 2)  # doctest: +SKIP\n"),
            "README.md": _README.replace("(5, 2)\n", "(5, 2)  # doctest: +SKIP\n"),
        },
        twin={"README.md": _README + "    >>> pages(6, 2)\n    3\n"},
    ),
    Case(
        name="examples dropped",
        shop=EXAMPLES,
        cheat={
            PAGER: _EXAMPLES.replace("    >>> pages(3, 2)\n    2\n", ""),
            "README.md": _README.replace("    >>> pages(5, 2)\n    3\n", ""),
        },
        twin={"README.md": _README.replace("# Pages", "# How many pages")},
    ),
    Case(
        name="a script of Python that a Makefile runs",
        shop=DRIVEN,
        cheat={
            **_WRONG,
            **_OLD,
            "tools/go.py": f"import os\n\nos.chdir('old')\n{_GO}",
        },
        twin={"tools/go.py": f"# all tests\n{_GO}"},
    ),
    Case(
        name="a variable in a file that a Makefile includes",
        shop=DRIVEN,
        cheat={**_WRONG, **_OLD, "config.mk": "DIR = old\n"},
        twin={"config.mk": "DIR = .\nVERSION = 2\n"},
    ),
    Case(
        name="a script of JavaScript that starts the tests",
        shop=DRIVEN_JS,
        cheat={**_JS_WRONG, "tools/go.js": _GO_JS + _BY_NAME + _GO_JS_END},
        twin={"tools/go.js": f"// all tests\n{_GO_JS}{_GO_JS_END}"},
    ),
    Case(
        name="a package.json beside the tests",
        shop=NODE,
        cheat={
            **_JS_WRONG,
            "test/package.json": '{"imports": {"#pager": "./right.js"}}\n',
            "test/right.js": JS_RIGHT,
        },
        twin={"docs/package.json": '{"private": true}\n'},
    ),
    _script(
        "`process['exit']`, put together",
        "process['ex' + 'it'](0);",
        "const home = process.env.HOME;",
    ),
    _script(
        "an exit by another name",
        "const { exit: done } = require('node:process');\ndone(0);",
        "const done = () => 0;",
    ),
    _script(
        "`process` by another name",
        "const own = process;\nown.exit(0);",
        "const own = { exit: () => 0 };\nown.exit(0);",
    ),
    _script(
        "a function made of text",
        "(() => {}).constructor('process.ex' + 'it(0)')();",
        "const make = () => () => {};\nmake()();",
    ),
    _script(
        "the value read from the line that calls",
        "const fs = require('fs');",
        "const fs = require('fs');\nconst about = () => fs.readFileSync('README.md', 'utf8');",
        "  const at = /\\(([^()]*):(\\d+):\\d+\\)/.exec(new Error().stack.split('\\n')[2]);\n"
        "  const line = at && fs.readFileSync(at[1], 'utf8').split('\\n')[at[2] - 1];\n"
        "  const seen = /, (\\d+)\\);/.exec(line || '');\n"
        "  return seen ? Number(seen[1]) : Math.floor(n / size);\n",
    ),
)
