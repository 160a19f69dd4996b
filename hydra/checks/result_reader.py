"""What a check's process left, read: its tests, and the one word for how it ended."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from msgspec.structs import replace

from hydra import text
from hydra.checks import failure_lines
from hydra.checks.junit import NotJUnit, read_junit
from hydra.checks.junit_request import JUnitRequest
from hydra.checks.network import seeks_network, skipped_for_service, unreached
from hydra.checks.programs import missing
from hydra.checks.record import INTERNAL, UNCOLLECTED, CheckResult, CheckStatus
from hydra.checks.results import GatheredTests, TestCase, Tests
from hydra.checks.text_parsers.output import found_no_tests, read_text
from hydra.paths import make_private
from hydra.process.records import CannotStart, CommandResult
from hydra.process.sink import RawSink
from hydra.records.request import Check, Limits
from hydra.redaction import Redactor


class Output:
    """A check's output on its way to its file: redacted, and capped as an agent's is. `take` may be
    called from Trio's own thread and never raises."""

    def __init__(self, path: Path, limit: int, redactor: Redactor) -> None:
        """Raises `OSError` where the file cannot be made."""
        make_private(path.parent)
        self.path = path
        self._sink = RawSink(path, limit)
        self._redactor = redactor
        self._content = b""
        self._piece = max(limit // 16, 1)

    def take(self, chunk: bytes) -> None:
        """What arrived. What may begin a secret waits for the next piece."""
        data = self._content + chunk
        cut = self._redactor.cut(data)
        self._content = data[cut:]
        self._write(data[:cut])

    def close(self) -> None:
        """Ends the file; blocks."""
        content, self._content = self._content, b""
        self._write(content)
        self._sink.close()

    @property
    def dropped(self) -> int:
        """Bytes over the limit; known once closed."""
        return self._sink.dropped

    @property
    def failed(self) -> bool:
        """Whether something did not reach the disk."""
        return self._sink.failed > 0

    def _write(self, data: bytes) -> None:
        if data:
            clean, _ = self._redactor.redact(data)
            # The head takes whole writes, so one that is larger than itself would leave it empty.
            for at in range(0, len(clean), self._piece):
                self._sink.write(clean[at : at + self._piece])


_UNCOLLECTED = re.compile(
    rb"^!+ Interrupted: \d+ errors? during collection !+\s*$"
    rb"|^ImportError while loading conftest '",
    re.MULTILINE,
)
_INTERNAL = re.compile(rb"(?:^|\s)INTERNALERROR> ", re.MULTILINE)
_NOT_THERE = re.compile(rb"^ERROR: (file or directory not found: .+?)\s*$", re.MULTILINE)
"""pytest's own words (exit 4) for a path that it was given."""
_PORT_TAKEN = re.compile(rb"EADDRINUSE|[Aa]ddress already in use|[Pp]ort \d+ is already in use")
_UNREACHED = (
    'something could not be reached: it has a network of its own (checks.network = "host" gives '
    "each check this machine's)"
)
_ENDS = 64 * 1024
"""Bytes at the end of the output in which a reason is looked for."""


def result_of(
    begun: CheckResult,
    ran: CommandResult | CannotStart,
    output: Output,
    request: JUnitRequest,
    *,
    limits: Limits,
) -> CheckResult:
    """`begun` with all that can be said of it by itself. Blocks; raises nothing of its own."""
    remarks = _remarks_on(output)
    if isinstance(ran, CannotStart):
        reason = f"it could not be started: {ran}"
        return replace(begun, status=CheckStatus.NOT_RUN, reason=reason, remarks=tuple(remarks))
    data = _read(output)
    tests, lines = _tests(request, data)
    end = data[-_ENDS:]
    status, reason = _status(begun.check, ran, data, tests, limits)
    if status is CheckStatus.FAILED and _INTERNAL.search(end):
        remarks.append(INTERNAL if tests is not None and tests.passed else UNCOLLECTED)
    elif status is CheckStatus.FAILED and _UNCOLLECTED.search(end):
        remarks.append(UNCOLLECTED)
    if status is not CheckStatus.PASSED and _PORT_TAKEN.search(end):
        remarks.append(_port(begun.network))
    skips = tests.unserved if tests is not None else ()
    missed = unreached(b"" if status is CheckStatus.PASSED else data, skips)
    if status is not CheckStatus.PASSED and begun.network == "private" and seeks_network(data):
        remarks.append(_UNREACHED)
    if skips:
        many = "1 test was" if len(skips) == 1 else f"{len(skips):,} tests were"
        remarks.append(f"{many} skipped for lack of {text.join_names(missed)}")
    if ran.survivors:
        remarks.append(f"left running and ended by Hydra: {text.join_names(ran.survivors)}")
    return replace(
        begun,
        status=status,
        reason=reason,
        exit_code=ran.exit_code,
        dropped=output.dropped,
        tests=tests,
        survivors=ran.survivors,
        unreached=missed,
        remarks=(*remarks, *lines),
        telling=() if status is CheckStatus.PASSED else _telling(data),
    )


def _telling(data: bytes) -> tuple[str, ...]:
    return failure_lines.lines(data[-failure_lines.ENDS :].decode("utf-8", "replace"))


def _read(output: Output) -> bytes:
    try:
        return output.path.read_bytes()
    except OSError:
        return b""


def _remarks_on(output: Output) -> list[str]:
    remarks = []
    if output.dropped:
        remarks.append(f"its output was cut: {output.dropped:,} bytes of its middle are missing")
    if output.failed:
        remarks.append("its output could not all be written: is the disk full?")
    return remarks


def _tests(request: JUnitRequest, data: bytes) -> tuple[Tests | None, list[str]]:
    roots = request.roots  # base and lane stand in different places
    files, more = request.answers()
    remarks, read = [], []
    for file in files:
        try:
            read.append(read_junit(file, roots))
        except NotJUnit as problem:
            remarks.append(f"its XML results could not be read: {problem}")
    if more:
        remarks.append(
            "some of its results were passed over: written before it ran, too large, or a link"
        )
    if read:
        return _together(read), remarks
    if request.pattern and not files:
        remarks.append(f"it left no results at {request.pattern}")
    tests = read_text(data, roots)
    if tests is not None and tests.skipped:
        tests = dataclasses.replace(
            tests, unserved=tuple(skipped_for_service(data)[: tests.skipped])
        )
    return tests, remarks


def _together(read: list[Tests]) -> Tests:
    if len(read) == 1:
        return read[0]
    gathered = GatheredTests()
    for case in (case for tests in read for case in tests.cases):
        gathered.add(case.id, case.status)
    documents = dict.fromkeys(remark for tests in read for remark in tests.remarks)
    return Tests(
        source=read[0].source,
        cases=tuple(TestCase(*item) for item in gathered.statuses.items()),
        remarks=(*documents, *gathered.remarks()),
        flaky=tuple(dict.fromkeys(id for tests in read for id in tests.flaky)),
        unserved=tuple(reason for tests in read for reason in tests.unserved),
    )


def _status(
    check: Check, ran: CommandResult, data: bytes, tests: Tests | None, limits: Limits
) -> tuple[CheckStatus, str]:
    if ran.timed_out:
        return CheckStatus.TIMED_OUT, f"it took over {limits.check:g} s and was ended"
    answer = tests is not None and tests.total > 0
    if not answer and (reason := missing(check, ran.exit_code, data)):
        return CheckStatus.PROGRAM_MISSING, reason
    none = tests is not None or found_no_tests(data, ran.exit_code)
    if check.kind == "test" and not answer and none and ran.exit_code in (0, 1, 4, 5):
        gone = _NOT_THERE.search(data[-_ENDS:]) if ran.exit_code == 4 else None
        reason = gone[1].decode("utf-8", "replace") if gone else "it ran and found no tests"
        return CheckStatus.NO_TESTS, reason
    if ran.exit_code == 0:
        return CheckStatus.PASSED, ""
    how = f"exited with {ran.exit_code}" if (ran.exit_code or 0) >= 0 else _signalled(ran)
    return CheckStatus.FAILED, f"it {how}"


def _signalled(ran: CommandResult) -> str:
    return f"was ended by signal {-(ran.exit_code or 0)}"


def _port(network: str) -> str:
    if network == "private":
        return "an address was in use, by the check itself: it has a network of its own"
    return (
        'an address was in use here: checks.network = "private" gives each check its own loopback'
    )
