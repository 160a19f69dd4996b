"""JUnit XML, as far as test runners agree on it, to `Tests`.

The file was written by code that the patch may have changed: it is a claim, and it is read as
hostile. A DTD is refused (no entities, no external files), the size, depth and numbers are
capped, and what is readable of a damaged file counts, with a remark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from hydra.checks.ids import stable
from hydra.checks.network import names_service
from hydra.checks.results import CASES, GatheredTests, ResultCounts, Status, TestCase, Tests

BYTES = 32 * 1024 * 1024
DEPTH = 64
ELEMENTS = 2_000_000
NAME = 10_000
"""Characters of a test's names that are looked at at all."""

_ROOTS = ("testsuites", "testsuite")
_FAILED = frozenset({"failure", "error"})
_FLAKY = frozenset({"flakyFailure", "flakyError"})
_SKIPPING = frozenset({"skipped", "disabled", "ignored", "notrun", "not run", "pending"})

# What XML 1.0 cannot hold, and tools write all the same when a test prints it.
_CONTROLS = bytes(code for code in range(32) if code not in (9, 10, 13))
_REFERENCE = re.compile(rb"&#(?:x[0-9a-fA-F]{1,8}|[0-9]{1,8});")
_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""")


class NotJUnit(ValueError):
    """The bytes are not JUnit XML that can be read; the message is a sentence why."""


class _Enough(Exception):
    """A cap was reached: what was read so far stands."""


def read_junit(data: bytes, roots: Sequence[str] = ()) -> Tests:
    """The tests in `data`, ids relative to `roots` (the folders the check ran in).

    Raises `NotJUnit` where there is nothing to be read: not XML, another kind of XML, a DTD,
    over `BYTES` bytes or `DEPTH` levels.
    """
    if len(data) > BYTES:
        raise NotJUnit(f"it has {len(data):,} bytes, more than {BYTES:,}")
    if not data.strip(b"\x00\t\r\n "):
        raise NotJUnit("it is empty")
    reader = _read(data)
    if reader.damage and (mended := _mended(data)) != data:
        again = _read(mended)
        if not again.damage or len(again.cases) > len(reader.cases):
            reader = again
            reader.damage = reader.damage or "held bytes that XML does not allow"
    if not reader.root or (reader.damage and not reader.cases and not reader.closed):
        raise NotJUnit(f"it is not XML: {reader.damage}" if reader.damage else "it is not XML")
    return reader.tests(roots)


def _read(data: bytes) -> _Reader:
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.buffer_text = False
    parser.StartDoctypeDeclHandler = _refuse_dtd
    parser.EntityDeclHandler = _refuse_dtd
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code) or "damaged"
        reader.damage = f"{what} in line {error.lineno:,}"
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, NotJUnit):
            raise
        reader.damage = "its encoding is not known"
    except _Enough as reached:
        reader.remarks.append(str(reached))
    return reader


def _refuse_dtd(*_: object) -> None:
    raise NotJUnit("it has a DTD, which no test runner writes: refused")


def _mended(data: bytes) -> bytes:
    """`data` without what XML 1.0 cannot hold; UTF-16 and other encodings stay as they are."""
    if b"\x00" in data[:64]:
        return data
    declared = _ENCODING.match(data.removeprefix(b"\xef\xbb\xbf"))
    if declared is None or declared[1].lower() in (b"utf-8", b"utf8", b"us-ascii", b"ascii"):
        data = data.decode("utf-8", "replace").encode()
        data = data.replace(b"\xef\xbf\xbe", b"?").replace(b"\xef\xbf\xbf", b"?")
        if declared is not None and declared[1].lower().endswith(b"ascii"):
            data = data.replace(declared[1], b"utf-8", 1)
    return _REFERENCE.sub(_reference, data.translate(None, _CONTROLS))


def _reference(match: re.Match[bytes]) -> bytes:
    digits = match[0][2:-1]
    code = int(digits[1:], 16) if digits.startswith(b"x") else int(digits)
    allowed = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE
    return match[0] if allowed or 0x10000 <= code < 0x110000 else b"?"


@dataclass
class _Case:
    """One `testcase` while it is open, and what stands in it."""

    name: str
    depth: int
    status: Status = "passed"
    flaky: bool = False
    expected: bool = False
    """Whether it may fail, as what node calls todo."""
    reason: str = ""
    """Why it was skipped."""


@dataclass
class _Reader:
    root: str = ""
    closed: bool = False
    damage: str = ""
    remarks: list[str] = field(default_factory=list)
    cases: list[tuple[str, Status, bool]] = field(default_factory=list)
    unserved: list[str] = field(default_factory=list)
    doubled: int = 0
    _names: set[str] = field(default_factory=set)
    _left_out: int = 0
    _claimed: int = 0
    _failures: int = 0
    _elements: int = 0
    _depth: int = 0
    _suites: list[tuple[int, str]] = field(default_factory=list)
    _open: _Case | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        self._depth += 1
        if self._depth > DEPTH:
            raise NotJUnit(f"it is nested deeper than {DEPTH} levels")
        if self._elements > ELEMENTS:
            raise _Enough(f"the XML has more than {ELEMENTS:,} elements: the rest was left out")
        tag = tag.rpartition(":")[2]
        if not self.root:
            if tag not in _ROOTS:
                raise NotJUnit(f"its root is <{tag[:40]}>, not <testsuites> or <testsuite>")
            self.root = tag
        if tag in _ROOTS:
            self._claim(attributes)
        if tag == "testsuite":
            self._suites.append((self._depth, attributes.get("name", "")[:NAME]))
        elif tag == "testcase" and self._open is None:
            self._open = _Case(self._named(attributes), self._depth)
            if attributes.get("status", attributes.get("result", "")).lower() in _SKIPPING:
                self._open.status = "skipped"
            elif attributes.get("status", "").lower() in ("fail", "failed", "error"):
                self._open.status = "failed"
        elif self._open is not None and self._depth == self._open.depth + 1:
            self._inside(self._open, tag, attributes)
        elif tag in _FAILED and self._open is None and self._suites:
            self._failures += 1
            self._keep(_Case(self._suites[-1][1].strip() or "(no name)", self._depth, "failed"))

    def _claim(self, attributes: dict[str, str]) -> None:
        """What a suite says of itself: the greatest claim is the whole file's."""
        numbers = (attributes.get(term, "") for term in ("failures", "errors"))
        claimed = sum(int(n) for n in numbers if n.isascii() and n.isdigit() and len(n) < 10)
        self._claimed = max(self._claimed, claimed)

    def _inside(self, case: _Case, tag: str, attributes: dict[str, str]) -> None:
        if tag in _FAILED:
            case.status = "skipped" if case.expected else "failed"
            self._failures += 1
        elif tag == "skipped" and case.status != "failed":
            # ctest says so of a test whose program could not be started.
            message = attributes.get("message", "")[:NAME]
            missing = message.startswith("Unable to find executable")
            case.status = "failed" if missing else "skipped"
            case.reason = "" if attributes.get("type") == "pytest.xfail" else message
            case.expected = attributes.get("type") == "todo"
        elif tag in _FLAKY:
            case.flaky = True

    def end(self, tag: str) -> None:
        if self._open is not None and self._depth == self._open.depth:
            self._keep(self._open)
            self._open = None
        elif self._suites and self._depth == self._suites[-1][0]:
            self._suites.pop()
        self._depth -= 1
        self.closed = self.closed or not self._depth

    def _keep(self, case: _Case) -> None:
        if case.name in _OF_PYTEST and self._is_pytest():
            return
        if case.name in self._names:
            self.doubled += 1
        elif len(self._names) >= CASES:
            self._left_out += 1
            return
        self._names.add(case.name)
        self.cases.append((case.name, case.status, case.flaky))
        if case.status == "skipped" and names_service(case.reason.encode("utf-8", "replace")):
            self.unserved.append(case.reason)

    def _named(self, attributes: dict[str, str]) -> str:
        name = attributes.get("name", "")[:NAME].strip()
        group = attributes.get("classname", attributes.get("class", ""))[:NAME].strip()
        file = attributes.get("file", "")[:NAME].strip()
        suite = self._suites[-1][1].strip() if self._suites else ""
        if self._is_pytest():
            return _pytest_id(file, group, name)
        if group == "test":  # node's, whose suites are those of the code: as its text has it
            path = " > ".join((*(suite.strip() for _, suite in self._suites), name))
            return f"{file}::{path}" if file else path
        return _generic_id(file, group or suite, name)

    def _is_pytest(self) -> bool:
        return any(name == "pytest" for _, name in self._suites)

    def tests(self, roots: Sequence[str]) -> Tests:
        """What was read."""
        names = stable((name for name, _, _ in self.cases), roots)
        gathered = GatheredTests()
        for raw, status, flaky in self.cases:
            gathered.add(names[raw], status)
            if flaky:
                gathered.flaky[names[raw]] = None
        remarks = list(self.remarks)
        if self.damage:
            remarks.append(f"the XML is damaged ({self.damage}): what was readable counts")
        if self.doubled:
            results = "1 result has" if self.doubled == 1 else f"{self.doubled:,} results have"
            remarks.append(f"{results} the name of another: the worst of them stands")
        if self._left_out:
            remarks.append(
                f"{self._left_out:,} results beyond the first {CASES:,} tests were left out"
            )
        if self._claimed > self._failures:
            remarks.append(
                f"the XML counts {self._claimed:,} failures and names {self._failures:,}"
            )
        # Nothing could be built: that is not the same as having no tests.
        unbuilt = not self.cases and self._claimed
        statuses = gathered.statuses
        return Tests(
            source="junit",
            cases=tuple(TestCase(name, status) for name, status in statuses.items()),
            remarks=tuple(remarks),
            counts=ResultCounts(0, self._claimed, 0) if unbuilt else None,
            unnamed=frozenset({"failed"}) if unbuilt else frozenset(),
            flaky=tuple(name for name in gathered.flaky if statuses[name] == "passed"),
            unserved=tuple(self.unserved),
        )


def _generic_id(file: str, group: str, name: str) -> str:
    """`file::class::name`, with nothing said twice."""
    if group.startswith(file) or (file and file.rpartition(".")[0].replace("/", ".") == group):
        file = "" if group.startswith(file) else file
    if group == "Test suite failed to run":
        return name  # jest-junit, of a file
    parts = [file, "" if group == name else group, name]
    if not name:
        parts = [file, group or "(no name)"]
    return "::".join(dict.fromkeys(part for part in parts if part))


_OF_PYTEST = ("pytest.py::internal", ".py")
"""What pytest writes where it ended itself, as by a module that exits when it is imported
(`INTERNALERROR`): an error that the suite counts, and no test; a test without name and result."""

_MODULE = re.compile(r"_*[^A-Z_.][^.]*|_+")


def _pytest_id(file: str, group: str, name: str) -> str:
    """pytest's own node id, which can be given to pytest again.

    xunit1 names the file. xunit2 does not: the class is what begins with a capital at the end of
    the dotted name. A name without a class is a module that could not be collected.
    """
    if not group:
        is_known = name.endswith(".py") or "/" in name or " " in name
        return name if is_known else f"{name.replace('.', '/')}.py"
    parts = group.split(".")
    if file:
        module = len(file.removesuffix(".py").split("/"))
    else:
        module = len(parts)
        while module > 1 and not _MODULE.fullmatch(parts[module - 1]):
            module -= 1
        file = "/".join(parts[:module]) + ".py"
    return "::".join((file, *parts[module:], name))
