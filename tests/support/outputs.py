"""What is read of every output that is kept, and of two runs that are held against each other.

Recordings are fixtures/checks/*/*.txt and *.xml; shorter outputs and runs are in tests/data/checks.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra.checks.comparison import reconcile
from hydra.checks.junit import NotJUnit, read_junit
from hydra.checks.record import CheckResult
from hydra.checks.regressions import base_worth_again, compare_to_baseline, mends, worth_again
from hydra.checks.results import Comparison, Tests
from hydra.checks.text_parsers.output import found_no_tests, read_text
from hydra.records.request import Check
from tests.check_recordings import FIXTURES
from tests.support.golden_text import alike
from tests.support.races import ENDS, result_of

DATA = Path(__file__).parents[1] / "data" / "checks"
ROOTS = ("/lane/shop",)
SIGNS = {status: sign for sign, status in ENDS.items()}
RECORDINGS = sorted(
    path
    for path in FIXTURES.glob("*/*.*")
    if path.suffix in (".txt", ".xml") and path.parent.name != "samples"
)


def exit_code(path: Path) -> int | None:
    """What the recorded program ended with."""
    codes = path.with_name("exits.json")
    code: int | None = json.loads(codes.read_text()).get(path.stem) if codes.exists() else None
    return code


def outputs() -> str:
    """What is read of each output; those that read alike have one entry."""
    return alike((name, "".join(_reading(data, code))) for name, data, code in _outputs())


def _outputs() -> Iterator[tuple[str, bytes, int | None]]:
    for path in RECORDINGS:
        yield f"{path.parent.name}/{path.name}", path.read_bytes(), exit_code(path)
    for row in tomllib.loads((DATA / "outputs.toml").read_text("utf-8"))["output"]:
        yield row["name"], row["text"].encode(), row.get("code")


def _reading(data: bytes, code: int | None) -> Iterator[str]:
    tests: Tests | None
    try:
        is_xml = data.lstrip().startswith(b"<")
        tests = read_junit(data, ROOTS) if is_xml else read_text(data, ROOTS)
    except NotJUnit as refused:
        yield f"  refused: {refused}\n"
        return
    if found_no_tests(data, code):
        yield "  no tests\n"
    if tests is None:
        yield "  nothing\n"
        return
    yield f"  {tests.passed} passed, {tests.failed} failed, {tests.skipped} skipped\n"
    yield from (
        f"  {SIGNS[case.status]} {case.id}\n"
        for case in sorted(tests.cases, key=lambda case: case.id)
    )
    lists = {"not all named": sorted(tests.unnamed), "flaky": tests.flaky, "remark": tests.remarks}
    lists["no service"] = tests.unserved
    lists["file"] = [f"{path} {tuple(many)}" for path, many in tests.files.items()]
    for what, texts in lists.items():
        yield from (f"  {what}: {text}\n" for text in texts)


def comparisons() -> str:
    """What comes of each run that is held against the base's."""
    data = tomllib.loads((DATA / "comparisons.toml").read_text("utf-8"))
    checks = {row["name"]: Check(**row) for row in data["check"]}
    return alike((row["name"], _compared(row, checks)) for row in data["run"])


def _compared(row: Mapping[str, Any], checks: Mapping[str, Check]) -> str:
    now, base, put_back = (
        result_of(row[name], checks) if name in row else None
        for name in ("now", "base", "put_back")
    )
    assert now is not None
    judged = compare_to_baseline(now, base, put_back=put_back)
    return "".join(_judged(now, base, judged))


def _judged(now: CheckResult, base: CheckResult | None, judged: CheckResult) -> Iterator[str]:
    yield f"  {judged.says}\n"
    values = {"held back": judged.held_back, "untested": judged.untested}
    yield from (f"  {what}: {text}\n" for what, text in values.items() if text)
    yield from (f"  remark: {remark}\n" for remark in judged.remarks)
    sentences = reconcile(now.tests, now.exit_code, base.tests if base else None)
    yield from (f"  {text}\n" for text in sentences if text not in judged.remarks)
    if judged.comparison is not None:
        yield from _lists(judged.comparison)
    more = {
        "to be run once more": worth_again(now, base),
        "may be luck": mends(now, base),
        "the base once more": base is not None and base_worth_again(base),
    }
    yield from (f"  {what}\n" for what, holds in more.items() if holds)


def _lists(comparison: Comparison) -> Iterator[str]:
    for name in comparison.__struct_fields__:
        value = getattr(comparison, name)
        if name == "breaks_nothing":
            yield "  breaks nothing\n" if value else "  may break something\n"
        elif value:
            yield f"  {name.replace('_', ' ')}: {', '.join(value)}\n"
