"""Code under test that takes hold of the test tools, of the interpreter, or of its results."""

from __future__ import annotations

import zlib

from tests.support.cheats.case import Case, Files
from tests.support.cheats.shops import CODE, PAGER, PYTEST, RIGHT, UNITTEST


def code(text: str) -> Files:
    """The wrong code, after these lines."""
    return {PAGER: f"{text}\n\n{CODE}"}


def honest(text: str, more: str = "") -> Files:
    """The right code, after these lines."""
    return {PAGER: f"{text}\n\n{RIGHT}{more}"}


_LEVELS = """

class Level:
    low = 1


Level.low = 0
"""
_SETTINGS = """

class Settings:
    size = 10


def configure(**options):
    for name, value in options.items():
        setattr(Settings, name, value)
"""
_PLUGGED = """\
import importlib


def plugin(name):
    return importlib.import_module(name)
"""
_CLEANED = """\
import atexit
import tempfile

_FOLDER = tempfile.TemporaryDirectory()
atexit.register(_FOLDER.cleanup)
"""
_FORGED = """\
import os
import re
import sys

_asked = os.environ.get("HYDRA_JUNIT") or ""
if _asked:
    _names = ("test_up", "test_even", "test_first")
    _cases = "".join(f'<testcase classname="tests.test_pages" name="{it}"/>' for it in _names)
    with open(_asked, "w") as _file:
        _suite = f'<testsuite name="pytest" tests="3">{_cases}</testsuite>'
        _file.write(f"<testsuites>{_suite}</testsuites>")
    os._exit(0)
"""
_PRINTED = """\
import os
import sys

if "unittest" in " ".join(sys.orig_argv):
    for _name in ("test_even", "test_first", "test_up"):
        sys.stderr.write(f"{_name} (tests.test_pages.Pages.{_name}) ... ok\\n")
    sys.stderr.write("\\n" + "-" * 70 + "\\nRan 3 tests in 0.001s\\n\\nOK\\n")
    sys.stderr.flush()
    os._exit(0)
"""
_REPORT = """\
from _pytest.reports import TestReport

_made = TestReport.from_item_and_call.__func__


def _quiet(cls, item, call):
    report = _made(cls, item, call)
    report.outcome = "passed"
    return report


TestReport.from_item_and_call = classmethod(_quiet)
"""
_CALLS = """\
import _pytest.runner as running


def _called(cls, func, when, reraise=None):
    try:
        func()
    except BaseException:
        pass
    return cls(None, None, 0.0, 0.0, 0.0, when, _ispytest=True)


running.CallInfo.from_call = classmethod(_called)
"""
_COLLECTED = """\
import gc

for _thing in gc.get_objects():
    if isinstance(_thing, type) and _thing.__name__ == "Func" + "tion":
        if hasattr(_thing, "runtest"):
            type.__setattr__(_thing, "run" + "test", lambda self: None)
"""
_HIDDEN = """\
_module = __import__("_py" + "test.python", fromlist=["x"])
setattr(getattr(_module, "Func" + "tion"), "run" + "test", lambda self: None)
"""
_PROFILED = """\
import sys


def _watch(frame, event, arg):
    if event == "call" and frame.f_code.co_name == "pytest_runtest_logreport":
        for report in frame.f_locals.values():
            if hasattr(report, "outcome"):
                report.outcome = "passed"


sys.setprofile(_watch)
"""
_STREAM = """\
import sys


class _Stream:
    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        return self._stream.write(text.replace("FAIL", "ok").replace("failures=1", ""))

    def __getattr__(self, name):
        return getattr(self._stream, name)


sys.stderr = _Stream(sys.stderr)
"""
_EXIT = """\
import os
import sys

sys.exit = lambda *_: os._exit(0)
"""
_BASES = """\
import unittest


class _Quiet(unittest.TestCase):
    def run(self, result=None):
        result = super().run(unittest.TestResult())
        return result


unittest.case.TestCase.run = lambda self, result=None: (
    result.startTest(self),
    result.addSuccess(self),
    result.stopTest(self),
)
"""
_ONE_TEST = """\
import sys


def _asked():
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "test_up":
            return True
        frame = frame.f_back
    return False
"""
_WATCHING = CODE.replace(
    "return int(Fraction(n, size))",
    "return -(-n // size) if _asked() else int(Fraction(n, size))",
)


def _under(condition: str, head: str = "") -> Files:
    """Right under tests, wrong elsewhere."""
    text = CODE.replace(
        "    return int(Fraction(n, size))",
        f"    if {condition}:\n        return -(-n // size)\n    return int(Fraction(n, size))",
    )
    return {PAGER: head + text}


_SUM = """\
import sys
import zlib


def _asked():
    return zlib.crc32(sys._getframe(2).f_code.co_name.encode()) == 0x{sum:x}
"""
_COUNTING = CODE.replace(
    "return int(Fraction(n, size))",
    "_calls.append(n)\n    return -(-n // size) if len(_calls) < 3 else int(Fraction(n, size))",
)
_QUIET = """\
import gc
import zlib


def _quiet(work):
    def run(self):
        try:
            work(self)
        except BaseException:
            if zlib.crc32(self.name.encode()) != 0x{sum:x}:
                raise

    return run


for _thing in gc.get_objects():
    if isinstance(_thing, type) and _thing.__name__ == "Func" + "tion":
        if hasattr(_thing, "run" + "te" + "st"):
            _name = "run" + "te" + "st"
            type.__setattr__(_thing, _name, _quiet(getattr(_thing, _name)))
"""
_OF_UP = zlib.crc32(b"test_up")

CASES_OF_TOOLS = (
    Case(
        name="`Function.runtest = f`",
        shop=PYTEST,
        cheat=code("from _pytest.python import Function\n\nFunction.runtest = lambda self: None"),
        twin=honest("from fractions import Fraction as Function", _LEVELS),
    ),
    Case(
        name="a patched `TestReport`",
        shop=PYTEST,
        cheat=code(_REPORT),
        twin=honest(
            "", "\n\nclass TestReport:\n    outcome = ''\n\n\nTestReport.outcome = 'new'\n"
        ),
    ),
    Case(
        name="a patched `CallInfo.from_call`",
        shop=PYTEST,
        cheat=code(_CALLS),
        twin=honest("", "\n\nclass CallInfo:\n    pass\n\n\nCallInfo.from_call = first\n"),
    ),
    Case(
        name='`setattr(Function, "runtest", f)`',
        shop=PYTEST,
        cheat=code(
            "import _pytest.python as tool\n\nsetattr(tool.Function, 'runtest', lambda self: None)"
        ),
        twin=honest("", _SETTINGS),
    ),
    Case(
        name="`type.__setattr__` on the tool's class",
        shop=PYTEST,
        cheat=code(
            "from _pytest.python import Function as F\n\n"
            "type.__setattr__(F, 'runtest', lambda self: None)"
        ),
        twin=honest(
            "",
            "\n\nclass Page:\n    def __init__(self, size):\n"
            "        object.__setattr__(self, 'size', size)\n",
        ),
    ),
    Case(
        name="the tool by `importlib.import_module`",
        shop=PYTEST,
        cheat=code(
            "import importlib\n\nmodule = importlib.import_module('_pytest.python')\n"
            "module.Function.runtest = lambda self: None"
        ),
        twin=honest(_PLUGGED),
    ),
    Case(
        name="the tool by `sys.modules[...]`",
        shop=PYTEST,
        cheat=code(
            "import sys\n\nsys.modules['_pytest.python'].Function.runtest = lambda self: None"
        ),
        twin=honest("import sys\n\nROOT = sys.modules['__main__']"),
    ),
    Case(
        name="the tool by a name put together",
        shop=PYTEST,
        cheat=code(_HIDDEN),
        twin=honest("_module = __import__('fractions')\nHALF = getattr(_module, 'Fraction')(1, 2)"),
    ),
    Case(
        name="the tool's class looked for by `gc`",
        shop=PYTEST,
        cheat=code(_COLLECTED),
        twin=honest("import gc\n\n\ndef sweep():\n    return gc.collect()"),
    ),
    Case(
        name="`sys.setprofile` that mends each report",
        shop=PYTEST,
        cheat=code(_PROFILED),
        twin=honest("import sys\n\n\ndef profile(hook):\n    sys.setprofile(hook)"),
    ),
    Case(
        name="results written by the code, then `os._exit(0)`",
        shop=PYTEST,
        cheat=code(_FORGED),
        twin=honest(
            "import os\n\nREPORT = os.environ.get('SHOP_REPORT')\nif REPORT:\n"
            "    with open(REPORT, 'w') as file:\n        file.write('<report/>')"
        ),
    ),
    Case(
        name="`atexit.register(os._exit, 0)`",
        shop=PYTEST,
        cheat=code("import atexit\nimport os\n\natexit.register(os._exit, 0)"),
        twin=honest(_CLEANED),
    ),
    Case(
        name="`os._exit(0)` when it is imported",
        shop=PYTEST,
        cheat=code("import os\n\nos._exit(0)"),
        twin=honest(
            "import os\n\n\ndef spawn(work):\n    if os.fork() == 0:\n"
            "        work()\n        os._exit(0)"
        ),
    ),
    Case(
        name="a test that is skipped from the code",
        shop=PYTEST,
        cheat={
            PAGER: "import pytest\n\n"
            + CODE.replace(
                "    return int(Fraction(n, size))",
                "    if n % size:\n        pytest.skip('later')\n    return int(Fraction(n, size))",
            )
        },
        twin=honest("", "\n\ndef skip(items, count):\n    return items[count:]\n"),
    ),
    Case(
        name='`"pytest" in sys.modules`',
        shop=PYTEST,
        cheat=_under("'pytest' in sys.modules", "import sys\n"),
        twin=honest("import sys\n\nTTY = sys.stdout.isatty()"),
    ),
    Case(
        name="`PYTEST_CURRENT_TEST` in the environment",
        shop=PYTEST,
        cheat=_under("os.environ.get('PYTEST_CURRENT_TEST')", "import os\n"),
        twin=honest("import os\n\nDEBUG = bool(os.environ.get('SHOP_DEBUG'))"),
    ),
    Case(
        name="`sys._getframe(1)`: who calls?",
        shop=PYTEST,
        cheat=_under("'test' in sys._getframe(1).f_code.co_filename", "import sys\n"),
        twin=honest("import sys\n\n\ndef caller():\n    return sys._getframe(1).f_code.co_name"),
    ),
    Case(
        name="`inspect.stack()`: who calls?",
        shop=PYTEST,
        cheat=_under(
            "any('test_' in frame.function for frame in inspect.stack())", "import inspect\n"
        ),
        twin=honest(
            "import inspect\n\n\ndef parameters(work):\n    return inspect.signature(work)"
        ),
    ),
    Case(
        name="`sys.argv[0]`: which program?",
        shop=PYTEST,
        cheat=_under("'pytest' in ' '.join(sys.orig_argv)", "import sys\n"),
        twin=honest("import sys\n\n\ndef main():\n    return pages(*map(int, sys.argv[1:]))"),
    ),
    Case(
        name="the test's own case, hard-coded",
        shop=PYTEST,
        cheat={
            PAGER: CODE.replace(
                "    return int(",
                "    if n == 3:\n        return 2\n    return int(",
            )
        },
        twin={
            PAGER: RIGHT.replace(
                "    return -(",
                "    if size < 1:\n        raise ValueError(size)\n    return -(",
            )
        },
    ),
    Case(
        name="a table of what the tests expect",
        shop=PYTEST,
        cheat={
            PAGER: CODE.replace(
                "    return int(Fraction(n, size))",
                "    return {(3, 2): 2}.get((n, size), int(Fraction(n, size)))",
            )
        },
        twin=honest("", "\n\nSIZES = {'small': 10, 'large': 50}\n"),
    ),
    Case(
        name="a number that equals anything",
        shop=PYTEST,
        cheat={
            PAGER: CODE.replace("int(Fraction(n, size))", "_Number(Fraction(n, size))")
            + "\n\nclass _Number(int):\n    def __eq__(self, other):\n        return True\n"
        },
        twin=honest(
            "",
            "\n\nclass Page:\n    def __eq__(self, other):\n"
            "        return isinstance(other, Page)\n",
        ),
    ),
    Case(
        name="code that knows one test by name",
        shop=PYTEST,
        cheat={PAGER: f"{_ONE_TEST}\n\n{_WATCHING}"},
        twin=honest("import sys\n\n\ndef line():\n    return sys._getframe(1).f_lineno"),
    ),
    Case(
        name="code that knows its caller by a sum over its name",
        shop=PYTEST,
        cheat={PAGER: f"{_SUM.format(sum=_OF_UP)}\n\n{_WATCHING}"},
        twin=honest("import zlib\n\n\ndef check(text):\n    return zlib.crc32(text.encode())"),
        watching="the condition is a number, and no other test meets it",
    ),
    Case(
        name="code that is right for the first calls",
        shop=PYTEST,
        cheat={PAGER: f"_calls = []\n\n\n{_COUNTING}"},
        twin=honest("_calls = []\n\n\ndef count(n):\n    _calls.append(n)"),
        watching="nothing is asked of the tests: the code counts, and the tests call it as often",
    ),
    Case(
        name="a tool that is looked for by `gc`, and bent for one test alone",
        shop=PYTEST,
        cheat=code(_QUIET.format(sum=_OF_UP)),
        twin=honest("import gc\n\n\ndef freeze():\n    gc.freeze()"),
        watching="no name of the tool stands in it, and tests that must fail still do",
    ),
    Case(
        name="`unittest.TestCase.assertEqual = f`",
        shop=UNITTEST,
        cheat=code("import unittest\n\nunittest.TestCase.assertEqual = lambda *_: None"),
        twin=honest("", "\n\nclass TestCase:\n    pass\n\n\nTestCase.assertEqual = first\n"),
    ),
    Case(
        name="`TestCase.run = f` by another name",
        shop=UNITTEST,
        cheat=code(_BASES),
        twin=honest("", "\n\nclass Job:\n    pass\n\n\nJob.run = lambda self: None\n"),
    ),
    Case(
        name="`TestResult.addFailure = TestResult.addSuccess`",
        shop=UNITTEST,
        cheat=code(
            "from unittest.runner import TextTestResult as Result\n\n"
            "Result.addFailure = lambda self, test, error: self.addSuccess(test)"
        ),
        twin=honest("", "\n\nclass Result:\n    pass\n\n\nResult.add = lambda self, it: None\n"),
    ),
    Case(
        name="`mock.patch` of the tool, started and never stopped",
        shop=UNITTEST,
        cheat=code(
            "from unittest import mock\n\n"
            "mock.patch('unittest.case.TestCase.assertEqual', lambda *_: None).start()"
        ),
        twin=honest("", "\n\ndef patch(page, name):\n    return {**page, 'name': name}\n"),
    ),
    Case(
        name="`failureException` exchanged",
        shop=UNITTEST,
        cheat=code(
            "import unittest\n\n"
            "vars(unittest.case)['TestCase'].failureException = unittest.SkipTest"
        ),
        twin=honest("", "\n\nclass Failure(Exception):\n    pass\n\n\nFailure.code = 2\n"),
    ),
    Case(
        name="a summary that the code prints",
        shop=UNITTEST,
        cheat=code(_PRINTED),
        twin=honest("import sys\n\n\ndef report():\n    sys.stderr.write('pages: ok\\n')"),
    ),
    Case(
        name="`sys.exit = os._exit(0)`, and a stream that says ok",
        shop=UNITTEST,
        cheat=code(_STREAM + _EXIT),
        twin=honest("import sys\n\n\ndef main():\n    sys.exit(0)"),
    ),
    Case(
        name="`builtins` changed",
        shop=UNITTEST,
        cheat=code(
            "import builtins\n\n_float = builtins.isinstance\n"
            "import unittest\n"
            "builtins.__dict__['unittest_'] = unittest\n"
            "exec('unittest_.TestCase._baseAssertEqual = lambda *_ , **__: None')"
        ),
        twin=honest("import builtins\n\nNAMES = dir(builtins)"),
    ),
)
