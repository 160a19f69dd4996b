"""Tests that must fail, put beside the base's own: where one passes, what runs them is bent.

Pure. Each asks in the way of the tests that stand in its file, so that whatever a patch has done
to the tool is done to it, too. Its names hold a token of the run's own: code cannot know them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from hydra.analysis.tampering.bending import language_of
from hydra.analysis.tampering.test_files import is_tests
from hydra.checks.record import CheckResult, CheckStatus

_PYTHON = """


def test_plain_{token}():
    assert "{token}" == "must fail"


class Test_{token}(__import__("unittest").TestCase):
    def test_text_{token}(self):
        self.assertEqual("{token}", "must fail")

    def test_number_{token}(self):
        self.assertEqual(len("{token}"), 0)

    def test_list_{token}(self):
        self.assertEqual(["{token}"], [])

    def test_true_{token}(self):
        self.assertTrue("", "{token}")

    def test_in_{token}(self):
        self.assertIn("must fail", "{token}")

    def test_raises_{token}(self):
        with self.assertRaises(ValueError, msg="{token}"):
            pass
"""
_RUNS = re.compile(r"^\s*(test|it)(?:\.\w+)?\(", re.M)
_ASSERTS = re.compile(
    r"\b(?P<tool>assert|t|expect)(?:\.(?P<how>strictEqual|deepStrictEqual|equal|deepEqual|ok|is))?\("
)


def candidates(paths: Iterable[str], language: str, near: Collection[str]) -> list[str]:
    """Files of the base's tests in a language, those first whose names have to do with `near`."""
    stems = {PurePosixPath(path).stem.lower() for path in near} - {"__init__", "index"}
    tests = [path for path in paths if is_tests(path) and language_of(path) == language]
    named = [path for path in tests if "test" in PurePosixPath(path).name or "spec" in path]
    return sorted(named, key=lambda path: (not any(stem in path.lower() for stem in stems), path))


def with_canaries(path: str, text: str, token: str) -> str | None:
    """A file of tests with some more that must fail; None where it is not known how."""
    if path.endswith(".py"):
        return text.rstrip("\n") + _PYTHON.format(token=token)
    runs, asserts = _RUNS.search(text), list(_ASSERTS.finditer(text))
    if runs is None:
        return None
    failing = "\n".join(
        f"{runs[1]}('{token} {at}', () => {{ {statement} }});"
        for at, statement in enumerate(_statements(asserts, text, token))
    )
    return f"{text.rstrip(chr(10))}\n\n{failing}\n"


def _statements(asserts: list[re.Match[str]], text: str, token: str) -> Iterator[str]:
    """The way in which most assertions of a file are made: a check that names no tests is known
    by its exit alone, and one that fails would hide another that passes."""
    ways = [(path["tool"], path["how"]) for path in asserts if path["tool"] != "t"]
    if not ways:
        yield f"throw new Error('{token}');"
        return
    tool, how = max(dict.fromkeys(ways), key=ways.count)
    if tool == "expect":
        chai = ".to." in text
        yield f"expect('{token}').{'to.equal' if chai else 'toBe'}('must fail');"
    elif how in (None, "ok", "is"):
        yield f"assert{'.ok' if how == 'ok' else ''}(false, '{token}');"
    elif how.startswith("deep"):
        yield f"assert.{how}(['{token}'], ['must fail']);"
    else:
        yield f"assert.{how}('{token}', 'must fail');"


def works(result: CheckResult, output: bytes, token: str) -> bool:
    """Whether the check ran them on the base, and they failed there."""
    if result.status is not CheckStatus.FAILED:
        return False
    if result.tests is not None:
        return any(token in name for name in _ending(result, "failed"))
    return token.encode() in output


def passing(result: CheckResult, token: str) -> tuple[str, ...]:
    """What passes although it cannot: tests, or the check itself."""
    if result.status is CheckStatus.PASSED:
        return (result.check.name,)
    return tuple(name for name in _ending(result, "passed") if token in name)


def _ending(result: CheckResult, status: str) -> Iterator[str]:
    cases = result.tests.by_id if result.tests is not None else {}
    yield from (name for name, ended in cases.items() if ended == status)
