"""What conformance found, in every form: a table, a document, Markdown, JUnit XML, progress."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from msgspec.structs import replace

from hydra.conformance.report import LISTED, conformance_text
from hydra.conformance.report_markup import LIMIT, conformance_junit, conformance_markdown
from hydra.conformance.results import Case, CaseVerdict, Compared, Network, Report, VersionChange
from hydra.records.codec import dump
from hydra.report.text import width
from tests.support.golden_text import approved, section
from tests.test_compare_markdown import assert_inert, rendered
from tests.test_reporters_hostile import assert_harmless, nasty

PASSED, FAILED, SKIPPED = CaseVerdict.PASSED, CaseVerdict.FAILED, CaseVerdict.SKIPPED
ROW: dict[str, Any] = {
    "suite": "contract",
    "agent": "claude",
    "version": "2.1.330",
    "seconds": 0.25,
}
CHANGE: dict[str, Any] = {
    "agent": "codex",
    "old": "0.40.0",
    "new": "0.169.0",
    "what": "help",
    "how": "vanished",
}


def case(name: str, verdict: CaseVerdict = PASSED, **more: Any) -> Case:
    return Case(name=name, verdict=verdict, **ROW | more)


def change(name: str, line: str = "", **more: Any) -> VersionChange:
    text = {"text": f"help text: the option {name} vanished"}
    return VersionChange(name=name, minds=line, **CHANGE | text | more)


BASE: dict[str, Any] = {
    "hydra": "0.1.0",
    "platform": "linux",
    "started": 1_795_000_000.0,
    "seconds": 12.34,
}
REPORT = Report(
    **BASE,
    versions={"claude": "2.1.330", "codex": "0.169.0"},
    third_party=("toy",),
    cases=[
        case("streams.known"),
        case("streams.known", version="2.1.197"),
        case("lines.lost_flags", FAILED, differences=("--json is gone", "and so is --color")),
        case("edit", suite="live", seconds=3.0),
        case("budget", SKIPPED, agent="codex", suite="live", reason="it has no flag for it"),
        case("turns", SKIPPED, agent="codex", suite="live", reason="it has no flag for it"),
        case("names", agent="toy", version=""),
    ],
    changes=[change("--old"), change("--json", "the lane would be refused")],
    network=Network(watched=True),
)
QUIET = replace(REPORT, cases=[], changes=[])
LIVE: dict[str, Any] = {"suite": "live", "differences": ("it did not answer",)}
TRIED = ("api.example.com (DNS)", "192.0.2.7:443 (TCP)")
REPORTS = {
    "failures, skips and changes": REPORT,
    "all is as expected": replace(QUIET, cases=[case("a")]),
    "what left the machine": replace(QUIET, network=Network(watched=True, packets=1, tried=TRIED)),
    "nobody watched": replace(QUIET, network=Network(watched=False, reason="no namespaces here")),
    "no network": replace(QUIET, network=None),
    "a live failure, and a folder that was kept": replace(
        QUIET, cases=[case("edit", FAILED, **LIVE)], folder=Path("/var/tmp/it's")
    ),
    "a CLI that cannot be run": replace(QUIET, cases=[case("detect", FAILED, **LIVE)]),
    "many changes": replace(QUIET, changes=[change(f"--option-{n}") for n in range(LISTED + 7)]),
    "versions between which nothing has changed": replace(
        QUIET, compared=[Compared("claude", "2.1.329", "2.1.330")]
    ),
    "what was recorded": replace(
        QUIET, recorded=("fx/codex/1/a.txt", "fx/codex/1/b.txt", "fx/claude/2/c.txt")
    ),
}


@pytest.mark.parametrize("form", [conformance_text, conformance_markdown, conformance_junit])
def test_each_form_says_it_as_approved(form: Any) -> None:
    text = ""
    for title, report in REPORTS.items():
        if title in NOT_IN.get(form, ()):
            continue
        if form is conformance_text:
            shown = form(report, None)
            for columns in (40, 80, 120):
                lines = form(report, columns).splitlines()
                assert all(width(x) <= columns for x in lines if not x.startswith("next: "))
        elif form is conformance_markdown:
            shown = form(report)
        else:
            root = ElementTree.fromstring(form(report))
            ElementTree.indent(root)
            shown = ElementTree.tostring(root, "unicode")
            assert all(set(element.attrib) <= ALLOWED[element.tag] for element in root.iter())
        text += section(title, shown)
    approved(f"{form.__name__.replace('_', '-')}.txt", text)


SAME = ("all is as expected", "no network", "a CLI that cannot be run", "what was recorded")
NOT_IN: dict[Any, tuple[str, ...]] = {
    conformance_markdown: ("many changes",),
    conformance_junit: (*SAME, "many changes", "versions between which nothing has changed"),
}
"""Those in which a form has no element of another kind."""
ALLOWED = {
    "testsuites": {"name", "tests", "failures", "errors", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "skipped", "timestamp"},
    **{"properties": set(), "property": {"name", "value"}, "system-out": set()},
    **{"testcase": {"name", "classname", "time"}, "failure": {"message"}, "skipped": {"message"}},
}
"""Of Jenkins' xUnit schema (junit-10.xsd), what is used here: it allows no other attributes."""


def test_the_document_has_every_field_and_the_exit_code_is_that_of_the_record() -> None:
    data = json.loads(dump(REPORT.document()))
    assert (data["schema"], data["kind"]) == (1, "conformance")
    assert data["counts"] == {"passed": 4, "failed": 1, "skipped": 2}
    assert data["network"] == {"watched": True, "reason": None, "packets": 0, "tried": []}
    assert (data["folder"], data["recorded"], data["warnings"]) == (None, [], [])
    assert [row["minds"] for row in data["changes"]] == [None, "the lane would be refused"]
    assert data.keys() == {*Report.__struct_fields__, "kind", "schema", "counts", "exit_code"}
    for report, code in (
        (replace(REPORT, changes=[]), 1),
        (replace(QUIET, changes=REPORT.changes[:1]), 0),
        (replace(QUIET, changes=REPORT.changes[1:]), 1),
        (replace(QUIET, cases=[case("a"), case("b", SKIPPED)]), 0),
        (replace(QUIET, network=Network(watched=True, packets=1)), 1),
        (replace(QUIET, network=Network(watched=True, tried=("example.invalid (DNS)",))), 1),
        (replace(QUIET, network=Network(watched=False, reason="no namespace")), 0),
    ):
        assert report.document()["exit_code"] == code
    unwatched = replace(REPORT, network=Network(watched=False, reason="no namespace"))
    assert unwatched.document()["network"]["packets"] is None  # nobody counted


@given(nasty)
def test_what_a_cli_said_is_harmless_in_every_form(said: str) -> None:
    base: dict[str, Any] = {**BASE, "platform": said, "versions": {said: said}}
    report = Report(
        **base,
        cases=[
            case(said, FAILED, agent=said, differences=(said,), evidence=said),
            case(said, SKIPPED, agent=said, reason=said, version=said),
        ],
        changes=[change(said, said, agent=said, old=said, new=said), change(said)],
        network=Network(watched=True, packets=2, tried=(said,)),
        recorded=[said],
        warnings=[said],
        folder=Path(said),
    )
    for columns in (None, 60):
        assert_harmless(conformance_text(report, columns), color=False)
    markdown = conformance_markdown(report)
    assert_harmless(markdown, color=False)
    assert_inert(rendered(markdown))
    data = conformance_junit(report)
    ElementTree.fromstring(data)
    assert_harmless(data.decode(), color=False)


def test_markdown_in_a_cli_s_words_stays_text_and_keeps_within_what_an_issue_takes() -> None:
    hostile = "<img src=x> @ada #12 [a](https://evil.example) | `x` </summary>"
    item = case(hostile, FAILED, differences=(hostile,))
    report = replace(REPORT, cases=[item], changes=[change("--x", hostile, text=hostile)])
    page = rendered(conformance_markdown(report))
    assert_inert(page)
    assert page.whole.count(hostile) == 5  # the last in the command that tries it again
    long = [case(f"c{n}", FAILED, differences=("x" * 300,) * 60) for n in range(40)]
    text = conformance_markdown(replace(REPORT, cases=long))
    assert len(text) <= LIMIT
    assert "left out for the length" in text
