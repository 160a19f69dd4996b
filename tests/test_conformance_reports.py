"""What conformance found, in every form: a table, a document, Markdown, JUnit XML, progress."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from msgspec.structs import replace

from hydra.checks.junit import read_junit
from hydra.conformance.report import LISTED, Progress, conformance_text
from hydra.conformance.report_markup import LIMIT, conformance_junit, conformance_markdown
from hydra.conformance.results import (
    Case,
    CaseVerdict,
    Compared,
    Network,
    Report,
    VersionChange,
)
from hydra.records.codec import dump
from hydra.report.text import clean, width
from tests.test_compare_markdown import assert_inert, rendered
from tests.test_reporters_hostile import assert_harmless, nasty

PASSED, FAILED, SKIPPED = CaseVerdict.PASSED, CaseVerdict.FAILED, CaseVerdict.SKIPPED


def case(name: str, verdict: CaseVerdict = PASSED, **more: Any) -> Case:
    data = {"suite": "contract", "agent": "claude", "version": "2.1.330", "seconds": 0.25, **more}
    return Case(name=name, verdict=verdict, **data)


def change(name: str, line: str = "", **more: Any) -> VersionChange:
    values = {
        "agent": "codex",
        "old": "0.40.0",
        "new": "0.169.0",
        "what": "help",
        "how": "vanished",
    }
    mapping = {"text": f"help text: the option {name} vanished"}
    return VersionChange(name=name, minds=line, **{**values, **mapping, **more})


REPORT = Report(
    hydra="0.1.0",
    platform="linux",
    started=1_795_000_000.0,
    seconds=12.34,
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


def text(report: Report = REPORT, width: int | None = None) -> str:
    return conformance_text(report, width)


# --- the document --------------------------------------------------------------------------------


def test_the_document_has_every_field_and_is_json() -> None:
    data = json.loads(dump(REPORT.document()))
    assert data["schema"] == 1
    assert data["kind"] == "conformance"
    assert data["counts"] == {"passed": 4, "failed": 1, "skipped": 2}
    assert data["network"] == {"watched": True, "reason": None, "packets": 0, "tried": []}
    assert data["cases"][2]["differences"] == ["--json is gone", "and so is --color"]
    assert (data["folder"], data["recorded"], data["warnings"]) == (None, [], [])
    assert [row["minds"] for row in data["changes"]] == [None, "the lane would be refused"]
    besides = {"kind", "schema", "counts", "exit_code"}
    assert data.keys() == {*Report.__struct_fields__, *besides}


QUIET = replace(REPORT, cases=[], changes=[])


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (replace(REPORT, changes=[]), 1),
        (replace(REPORT, cases=[], changes=REPORT.changes[:1]), 0),
        (replace(REPORT, cases=[], changes=REPORT.changes[1:]), 1),
        (replace(REPORT, cases=[case("a"), case("b", SKIPPED)], changes=[]), 0),
        (replace(QUIET, network=Network(watched=True, packets=1)), 1),
        (replace(QUIET, network=Network(watched=True, tried=("example.invalid (DNS)",))), 1),
        (replace(QUIET, network=Network(watched=False, reason="no namespace")), 0),
    ],
)
def test_the_exit_code_is_that_of_the_record(report: Report, code: int) -> None:
    assert report.document()["exit_code"] == code


def test_packets_that_nobody_counted_are_unknown_and_not_none() -> None:
    unwatched = replace(REPORT, network=Network(watched=False, reason="no namespace"))
    assert unwatched.document()["network"]["packets"] is None
    assert replace(REPORT, network=None).document()["network"] is None


# --- for a person --------------------------------------------------------------------------------


def test_a_row_for_each_agent_and_suite() -> None:
    rows = [line.split() for line in text().splitlines()[1:5]]
    assert rows[0] == ["claude", "2", "versions", "contract", "2", "1", "0", "0.8", "s"]
    assert rows[1] == ["claude", "2.1.330", "live", "1", "0", "0", "3.0", "s"]
    assert rows[2] == ["codex", "2.1.330", "live", "0", "0", "2", "0.5", "s"]
    assert rows[3][:4] == ["toy", "(third", "party)", "-"]


def test_failures_skips_drift_network_and_the_next_step() -> None:
    line = text()
    assert "failed  claude 2.1.330, contract: lines.lost_flags\n        - --json is gone\n" in line
    assert "skipped codex: budget, turns: it has no flag for it\n" in line
    assert "drift   codex 0.40.0 -> 0.169.0: 2 changes, Hydra minds 1\n        ! help" in line
    assert line.index("the lane would be refused") < line.index("--old")
    assert "network 0 packets off loopback (watched)\n" in line
    assert "4 passed, 1 failed, 2 skipped, 2 changes (1 that Hydra minds) in 12 s\n" in line
    assert "next: hydra conformance --case lines.lost_flags claude " in line


def test_what_left_the_machine_is_named() -> None:
    tried = ("api.example.com (DNS)", "192.0.2.7:443 (TCP)")
    line = text(replace(REPORT, network=Network(watched=True, packets=1, tried=tried)))
    assert "1 packet off loopback (watched); tried: api.example.com (DNS), 192.0.2.7:443" in line
    line = text(replace(REPORT, network=Network(watched=False, reason="no namespaces here")))
    assert "network not watched: no namespaces here" in line
    assert "network" not in text(replace(REPORT, network=None))


def test_a_live_failure_is_tried_again_alone_and_a_kept_folder_is_named() -> None:
    item = case("edit", FAILED, suite="live", differences=("status is failed",))
    line = text(replace(REPORT, cases=[item], folder=Path("/var/tmp/it's")))
    assert "next: hydra conformance --live --keep --situation edit claude" in line
    assert """next: rm -rf '/var/tmp/it'"'"'s'""" in line


def test_a_cli_that_cannot_be_run_sends_nobody_to_a_situation_that_is_none() -> None:
    item = case("detect", FAILED, suite="live", differences=("it did not answer",))
    line = text(replace(REPORT, cases=[item]))
    assert "next: hydra doctor" in line
    assert "--situation detect" not in line


def test_many_changes_are_counted() -> None:
    many = [change(f"--option-{n}") for n in range(LISTED + 7)]
    line = text(replace(REPORT, changes=many))
    assert "and 7 more: --json has all" in line
    assert f"--option-{LISTED - 1} " in line
    assert f"--option-{LISTED} " not in line


def test_versions_between_which_nothing_has_changed_are_told_in_every_form() -> None:
    report = replace(REPORT, changes=[], compared=[Compared("claude", "2.1.329", "2.1.330")])
    pair = {"agent": "claude", "old": "2.1.329", "new": "2.1.330"}
    assert report.document()["compared"] == [pair]
    shown = text(report)
    assert "drift   claude 2.1.329 -> 2.1.330: nothing has changed\n" in shown
    markdown = conformance_markdown(report)
    assert "**claude 2\\.1.329 to 2\\.1.330: nothing has changed**" in markdown
    root = ElementTree.fromstring(conformance_junit(report))
    assert [element.get("name") for element in root[-2].iter("testcase")] == ["nothing has changed"]


def test_what_was_recorded_is_a_line_for_each_folder() -> None:
    files = ("fx/codex/1/a.txt", "fx/codex/1/b.txt", "fx/claude/2/c.txt")
    line = text(replace(REPORT, recorded=files))
    assert "recorded 2 files in fx/codex/1\nrecorded 1 file in fx/claude/2\n" in line


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_it_fits_the_terminal_but_for_lines_to_copy(columns: int) -> None:
    lines = text(width=columns).splitlines()
    assert all(width(line) <= columns for line in lines if not line.startswith("next: "))


@given(nasty)
def test_what_a_cli_said_is_harmless_in_every_form(said: str) -> None:
    report = Report(
        hydra="0.1.0",
        platform=said,
        started=0,
        versions={said: said},
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
        assert_harmless(text(report, columns), color=False)
    markdown = conformance_markdown(report)
    assert_harmless(markdown, color=False)
    assert_inert(rendered(markdown))
    data = conformance_junit(report)
    ElementTree.fromstring(data)
    assert_harmless(data.decode(), color=False)


# --- Markdown ------------------------------------------------------------------------------------


def test_markdown_marks_what_hydra_minds() -> None:
    line = conformance_markdown(REPORT)
    assert line.startswith("### Hydra conformance: 1 case failed, 1 change that Hydra minds\n")
    assert "| `claude` | 2 versions | contract | 2 | 1 | 0 | 0.8 s |" in line
    assert "vanished **Hydra minds:** the lane would be refused" in line
    assert "<summary>1 that Hydra does not mind</summary>" in line
    assert "<summary>2 skipped</summary>" in line
    assert "`hydra conformance --case lines.lost_flags claude" in line


def test_markdown_says_that_all_is_as_expected() -> None:
    line = conformance_markdown(replace(REPORT, cases=[case("a")], changes=[]))
    assert line.startswith("### Hydra conformance: as expected\n")


def test_markdown_in_a_cli_s_words_stays_text() -> None:
    hostile = "<img src=x> @ada #12 [a](https://evil.example) | `x` </summary>"
    item = case(hostile, FAILED, differences=(hostile,))
    report = replace(REPORT, cases=[item], changes=[change("--x", hostile, text=hostile)])
    page = rendered(conformance_markdown(report))
    assert_inert(page)
    assert page.whole.count(hostile) == 5  # the last in the command that tries it again


def test_markdown_keeps_within_what_an_issue_takes() -> None:
    long = [case(f"c{n}", FAILED, differences=("x" * 300,) * 60) for n in range(40)]
    line = conformance_markdown(replace(REPORT, cases=long))
    assert len(line) <= LIMIT
    assert "left out for the length" in line


# --- JUnit ---------------------------------------------------------------------------------------

ALLOWED = {
    "testsuites": {"name", "tests", "failures", "errors", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "skipped", "timestamp"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message"},
    "skipped": {"message"},
    "system-out": set(),
}
"""Of Jenkins' xUnit schema (junit-10.xsd), what is used here: it allows no other attributes."""


def junit(report: Report = REPORT) -> ElementTree.Element:
    return ElementTree.fromstring(conformance_junit(report))


def test_junit_has_only_what_readers_agree_on() -> None:
    for element in junit().iter():
        assert set(element.attrib) <= ALLOWED[element.tag], element.tag


def test_junit_is_read_back_as_it_was_meant() -> None:
    tests = read_junit(conformance_junit(REPORT))
    names = {test_case.id: test_case.status for test_case in tests.cases}
    # No two have one name; the network is one more.
    assert len(names) == len(REPORT.cases) + len(REPORT.changes) + 1
    assert tests.remarks == ()
    statuses = sorted(names.values())
    assert statuses == ["failed"] * 2 + ["passed"] * 6 + ["skipped"] * 2
    failing = {name.rpartition("::")[2] for name, status in names.items() if status == "failed"}
    assert failing == {"lines.lost_flags [2.1.330]", "help --json vanished"}


def test_junit_counts_and_tells() -> None:
    root = junit()
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == [
        *("claude contract", "claude live", "codex live", "toy contract", "codex drift"),
        "network",
    ]
    assert (root.get("tests"), root.get("failures")) == ("10", "2")
    assert suites["codex live"].get("skipped") == "2"
    assert suites["claude live"].get("timestamp") == "2026-11-18T11:06:40"
    lines = {
        element.get("name"): element.get("value")
        for element in suites["codex drift"].iter("property")
    }
    assert lines["version"] == "0.169.0"
    assert (lines["old"], lines["new"], lines["hydra"], lines["platform"]) == (
        *("0.40.0", "0.169.0", "0.1.0", "linux"),
    )
    toy = {
        element.get("name"): element.get("value")
        for element in suites["toy contract"].iter("property")
    }
    assert toy["third_party"] == "true"
    failure = next(suites["claude contract"].iter("failure"))
    assert (failure.get("message"), failure.text) == (
        *("--json is gone", "--json is gone\nand so is --color"),
    )


def test_junit_holds_what_xml_cannot() -> None:
    line = "a\x00b\x1b[31mc\ud800\ufffe]]>&<"
    root = junit(replace(REPORT, cases=[case("x", FAILED, differences=(line,))], changes=[]))
    failure = next(root.iter("failure"))
    assert failure.text == clean(line, multiline=True)
    assert "\x1b" not in (failure.text or "")


# --- progress ------------------------------------------------------------------------------------


def test_progress_in_a_log_is_a_line_for_what_takes_time() -> None:
    lines: list[str] = []
    progress = Progress(lines.append, None)
    progress.began("contract", 0)
    for verdict in (PASSED, FAILED):
        progress.ended(
            case(
                "streams.known",
                verdict,
                agent="claude",
                suite="contract",
                version="",
                seconds=0.1,
            )
        )
    progress.began("live", 2)
    progress.ended(case("edit", PASSED, suite="live", version="", seconds=2.54))
    progress.ended(
        case(
            "e\x1b[2Jvil",
            FAILED,
            agent="claude",
            suite="live",
            version="",
            seconds=31,
        )
    )
    progress.close()
    assert "".join(lines) == (
        "contract: 2 cases, 1 failed\n 2.5 s  claude  edit\n  31 s  claude  e^[[2Jvil: failed\n"
    )


def test_progress_on_a_terminal_is_one_line_that_goes() -> None:
    pieces: list[str] = []
    progress = Progress(pieces.append, lambda: 30)
    progress.began("live", 12)
    progress.ended(
        case(
            "a_situation_with_a_long_name",
            FAILED,
            agent="claude",
            suite="live",
            version="",
            seconds=3,
        )
    )
    progress.close()
    assert all(piece.startswith("\r\x1b[K") for piece in pieces)
    assert all(width(piece.removeprefix("\r\x1b[K")) < 30 for piece in pieces)
    assert pieces[1].startswith("\r\x1b[Klive  1 of 12, 1 failed  cla")
    assert pieces[-1] == "\r\x1b[K"


def test_what_left_the_machine_is_a_failed_test_of_its_own() -> None:
    def network(network: Network) -> ElementTree.Element:
        root = ElementTree.fromstring(conformance_junit(replace(QUIET, network=network)))
        element = root.find("testsuite[@name='network']/testcase")
        assert element is not None
        return element

    tried = network(Network(watched=True, packets=2, tried=("192.0.2.7:443 (TCP)",)))
    failure = tried.find("failure")
    assert failure is not None
    assert "192.0.2.7:443" in ElementTree.tostring(failure, encoding="unicode")
    assert network(Network(watched=False, reason="no namespace")).find("skipped") is not None
    assert list(network(Network(watched=True))) == []
