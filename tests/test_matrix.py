from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.proofs import proven_capabilities, records
from hydra.commands import agent_rows as shown
from hydra.conformance import recorded
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.matrix import COLUMNS, GENERATE, MEANING, Cell, Matrix, matrix
from hydra.errors import RecordError
from hydra.records.agent import (
    Capability,
    CapabilitySet,
    Confidence,
    DetectResult,
    Origin,
)
from hydra.report import text
from hydra.report.agents_document import agent_document
from hydra.report.listing import agent_text, agents_table
from tests.support.sample_records import keep, proof, record

CLAUDE = registry.get("claude")
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "agents.md"
EDIT = "claude/2.1.330/stream.edit.jsonl"


def whole(root: Path) -> Matrix:
    return matrix([ContractSubject(adapter, root) for adapter in registry.everyone()])


def cell(root: Path, column: str, agent: str = "claude") -> Cell:
    return whole(root).cell(agent, column)


def helps(root: Path, version: str = "2.1.330") -> Path:
    """Only what Claude Code says of itself is recorded below `root`."""
    folder = root / "claude" / version
    folder.mkdir(parents=True)
    for name in ("help.txt", "version.txt"):
        shutil.copy(recorded.root() / "claude" / version / name, folder)
    return root


def test_nothing_is_known_without_a_record(tmp_path: Path) -> None:
    table = whole(tmp_path)
    assert [row.agent for row in table.rows] == list(registry.OWN)
    assert {cell for row in table.rows for cell in row.cells.values()} == {Cell()}
    assert all(tuple(row.cells) == COLUMNS for row in table.rows)
    with pytest.raises(KeyError):
        table.cell("claude", "speed")


def test_what_passed_live_is_verified_with_where_it_is_shown(tmp_path: Path) -> None:
    keep(tmp_path, record())
    item = Cell(Confidence.VERIFIED, "2.1.330", "2026-11-22", "linux", EDIT)
    assert cell(tmp_path, "edit") == item
    assert cell(tmp_path, "delete") == cell(tmp_path, "edit", "codex") == Cell()


def test_what_failed_in_the_newest_version_is_not_verified(tmp_path: Path) -> None:
    broken = {"edit": proof("edit", passed=False)}
    keep(tmp_path, record(), record("2.1.400", broken))
    item = cell(tmp_path, "edit")
    assert (item.confidence, item.note) == (Confidence.UNKNOWN, "edit failed in 2.1.400")
    keep(tmp_path, record("2.1.401"))
    assert cell(tmp_path, "edit").confidence is Confidence.VERIFIED


def test_an_old_failure_does_not_outlive_a_newer_hydra_of_the_same_version(tmp_path: Path) -> None:
    keep(tmp_path, record(situations={"edit": proof("edit", passed=False)}))
    assert cell(tmp_path, "edit").confidence is Confidence.UNKNOWN
    keep(tmp_path, record(hydra="0.10.0"), record(hydra="0.9.0", situations={}))
    assert cell(tmp_path, "edit").confidence is Confidence.VERIFIED


@pytest.mark.parametrize("platform", ["linux", "macos"])
def test_one_failure_outweighs_all_that_passed(tmp_path: Path, platform: str) -> None:
    keep(
        tmp_path,
        record(situations={"edit": proof("edit"), "delete": proof("edit", passed=False)}),
        record(platform=platform, hydra="0.2.0", situations={"create": proof("edit")}),
    )
    assert cell(tmp_path, "edit").note == "delete failed in 2.1.330"


def test_a_dimension_that_the_newest_version_was_not_tried_for_keeps_its_older_proof(
    tmp_path: Path,
) -> None:
    keep(tmp_path, record(), record("2.1.400", {"delete": proof("delete")}))
    assert cell(tmp_path, "edit").version == "2.1.330"
    assert cell(tmp_path, "delete").version == "2.1.400"


def test_what_hydra_refuses_by_name_is_not_verified_though_the_situation_passed(
    tmp_path: Path,
) -> None:
    refused = replace(proof("network_off"), status="not_started")
    keep(tmp_path, record(situations={"no_network": refused}))
    item = cell(tmp_path, "network_off")
    assert (item.confidence, item.note) == (Confidence.UNKNOWN, "Hydra refuses it")
    keep(tmp_path, record(situations={"no_network": refused, "create": proof("network_off")}))
    assert cell(tmp_path, "network_off").confidence is Confidence.VERIFIED
    failed = replace(refused, passed=False)
    keep(tmp_path, record(situations={"no_network": failed, "create": proof("network_off")}))
    assert cell(tmp_path, "network_off").note == "no_network failed in 2.1.330"


def test_a_flag_in_a_recorded_help_text_is_observed_and_no_more(tmp_path: Path) -> None:
    helps(tmp_path)
    item = cell(tmp_path, "stream")
    assert item == Cell(Confidence.OBSERVED, "2.1.330", evidence="claude/2.1.330")
    assert cell(tmp_path, "interrupt") == Cell()
    page = tmp_path / "claude" / "2.1.330" / "help.txt"
    page.write_text(page.read_text().replace("--output-format", "--format"))
    assert cell(tmp_path, "stream") == Cell()
    assert cell(tmp_path, "plan").confidence is Confidence.OBSERVED


def test_a_help_text_that_nobody_recorded_shows_nothing(tmp_path: Path) -> None:
    note = helps(tmp_path) / "claude" / "2.1.330" / "NOTE.txt"
    note.write_text("Not recorded. Written from its documentation.\n")
    assert cell(tmp_path, "stream") == Cell()
    assert whole(recorded.root()).cell("cursor-agent", "stream") == Cell()


def test_platforms_stand_on_their_own_records(tmp_path: Path) -> None:
    keep(
        tmp_path,
        record(),
        record(platform="windows", situations={}, contract={"lines.model": True}),
        record(platform="macos", contract={"lines.model": False}),
    )
    cells = [cell(tmp_path, name) for name in ("linux", "macos", "windows")]
    assert [item.confidence for item in cells] == [
        Confidence.VERIFIED,
        Confidence.UNKNOWN,
        Confidence.OBSERVED,
    ]
    assert cells[1].note == "lines.model failed in 2.1.330"
    assert cells[2].evidence == "claude/2.1.330/record.windows.0.1.0.json"


class Toy:
    """Claude's adapter by another's name."""

    descriptor = replace(CLAUDE.descriptor, key="toy", third_party=Origin("toy:ADAPTER"))
    detect, build_command, parser = CLAUDE.detect, CLAUDE.build_command, CLAUDE.parser
    capabilities = CLAUDE.capabilities

    def key(self) -> str:
        return "toy"


def test_a_third_party_has_a_row_where_it_has_records(tmp_path: Path) -> None:
    toy = ContractSubject(Toy(), tmp_path / "elsewhere", third_party=True)
    assert matrix([toy]).rows == ()
    (matrix_row,) = matrix([toy], all=True).rows  # by name: that nothing is proved
    assert {cell.confidence for cell in matrix_row.cells.values()} == {Confidence.UNKNOWN}
    keep(toy.recordings, record(agent="toy"))
    table = matrix([ContractSubject(CLAUDE, tmp_path), toy])
    assert [row.agent for row in table.rows if row.third_party] == ["toy"]
    assert table.cell("toy", "edit").confidence is Confidence.VERIFIED
    page = table.markdown()
    assert "tier 1, third party" in page
    assert "(../fixtures/adapters/toy" not in page


def test_a_damaged_record_is_said(tmp_path: Path) -> None:
    keep(tmp_path, record())
    (tmp_path / "claude" / "2.1.330" / "record.linux.0.1.0.json").write_text("{")
    with pytest.raises(RecordError):
        whole(tmp_path)


def test_every_dimension_has_one_name_and_a_meaning() -> None:
    assert set(proven_capabilities.BEHIND) == set(CapabilitySet.__struct_fields__)
    assert {name for names in proven_capabilities.BEHIND.values() for name in names} <= set(
        records.DIMENSIONS
    )
    assert set(MEANING) == set(COLUMNS)


def claims(capability: Capability) -> CapabilitySet:
    return CapabilitySet(**dict.fromkeys(CapabilitySet.__struct_fields__, capability))


def test_confidence_is_earned_and_never_typed() -> None:
    typed = claims(Capability(True, Confidence.VERIFIED, "9.9", "a note"))
    bare = proven_capabilities.proven(typed, [])
    assert {capability for _, capability in bare.items()} == {
        Capability(True, Confidence.UNKNOWN, "", "a note")
    }
    capability_set = proven_capabilities.proven(typed, [record()])
    assert capability_set.force_edit_mode == Capability(
        True, Confidence.VERIFIED, "2.1.330", "a note"
    )
    assert capability_set.json_stream.confidence is Confidence.UNKNOWN


def test_approval_needs_both_of_its_dimensions_and_says_the_older_version() -> None:
    plan, denied = {"plan": proof("plan")}, {"denied": proof("denials")}
    capability_set = claims(Capability(True))
    half = proven_capabilities.proven(capability_set, [record(situations=plan)]).approval_controls
    assert half.confidence is Confidence.UNKNOWN
    whole = proven_capabilities.proven(
        capability_set, [record(situations=plan), record("2.1.400", denied)]
    )
    assert whole.approval_controls == Capability(True, Confidence.VERIFIED, "2.1.330")


def test_a_capability_that_is_gone_or_failed_is_not_verified() -> None:
    gone = claims(Capability(False, note="its help shows no --print"))
    assert proven_capabilities.proven(gone, [record()]) == gone
    failed = [record(), record("2.1.400", {"edit": proof("edit", passed=False)})]
    capability = proven_capabilities.proven(
        claims(Capability(True, note="by flag")), failed
    ).force_edit_mode
    assert capability == Capability(True, note="by flag; edit failed in 2.1.400")


def test_a_flag_that_the_installed_help_shows_is_observed() -> None:
    probes = recorded.Recording(recorded.root() / "claude" / "2.1.330").probes()
    result = CLAUDE.detect("claude", probes)
    tied = proven_capabilities.tied(CLAUDE, result.flags)
    assert "json_stream" in tied
    assert proven_capabilities.tied(CLAUDE, frozenset()) == frozenset()
    capability_set = proven_capabilities.proven(
        result.capabilities, [], shown=tied, shown_in="2.1.330"
    )
    assert capability_set.json_stream.confidence is Confidence.OBSERVED
    assert capability_set.json_stream.seen_in == "2.1.330"


@pytest.mark.parametrize(
    ("installed", "term", "line"),
    [
        ("2.1.330", "same", ", which is the one here"),
        ("2.1.400", "newer", "; this one, 2.1.400, is newer"),
        ("2.1.99", "older", "; this one, 2.1.99, is older"),
        ("", "unknown", ""),
        ("odd", "unknown", "; this one is odd"),
    ],
)
def test_the_installed_version_is_held_against_the_proven_one(
    installed: str, term: str, line: str
) -> None:
    version = proven_capabilities.proved([record("2.1.197"), record()], installed)
    assert version is not None
    value = f"verified in 2.1.330 (linux, 2026-11-22){line}"
    assert (version.installed, proven_capabilities.says(version, installed)) == (term, value)


def test_the_installed_version_s_own_record_counts_before_a_newer_one() -> None:
    broken = {"edit": proof("edit", passed=False), "delete": proof("delete")}
    version = proven_capabilities.proved([record("2.1.197", broken), record()], "2.1.197")
    assert version is not None
    assert (version.version, version.passed, version.failed) == ("2.1.197", 1, ("edit",))
    assert "where edit failed, which is the one here" in proven_capabilities.says(
        version, "2.1.197"
    )
    assert (
        proven_capabilities.proved([record(situations={}, contract={"lines.x": True})], "") is None
    )


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Hydra looks for its own records, for this test."""
    monkeypatch.setattr(shown, "recordings_of", lambda adapter: tmp_path)
    return tmp_path


def test_hydra_agents_shows_what_the_records_prove(own: Path) -> None:
    result = DetectResult(
        adapter="claude",
        binary=Path("/usr/bin/claude"),
        version="2.1.400",
        capabilities=CLAUDE.descriptor.capabilities,
    )
    assert "never tried live; hydra conformance --live does" in agent_text(
        shown.row(CLAUDE, result), (), width=None
    )
    keep(own, record())
    row = shown.row(CLAUDE, result)
    lines = agent_text(row, (), width=None).split("\n")
    newer = "verified in 2.1.330 (linux, 2026-11-22); this one, 2.1.400, is newer"
    assert f"  tried        {newer}" in lines
    assert any(re.fullmatch(r"  force_edit_mode +yes  verified  2\.1\.330 .*", x) for x in lines)
    assert re.search(r"claude .* 2\.1\.400  2\.1\.330 ", agents_table([row], width=96))
    document = agent_document(row)
    assert json.loads(json.dumps(document))["proved"] == {
        "version": "2.1.330",
        "hydra": "0.1.0",
        "platform": "linux",
        "date": "2026-11-22",
        "passed": 1,
        "failed": [],
        "installed": "newer",
    }
    assert row.detection is not None
    for capability_set in (row.descriptor.capabilities, row.detection.capabilities):
        assert capability_set.force_edit_mode.confidence is Confidence.VERIFIED


def test_hydra_agents_calls_observed_what_the_installed_help_shows(own: Path) -> None:
    probes = recorded.Recording(recorded.root() / "claude" / "2.1.330").probes()
    row = shown.row(CLAUDE, CLAUDE.detect("claude", probes))
    assert row.detection is not None
    capability = row.detection.capabilities.json_stream
    assert (capability.confidence, capability.seen_in) == (Confidence.OBSERVED, "2.1.330")
    assert row.descriptor.capabilities.json_stream.confidence is Confidence.UNKNOWN


def test_a_damaged_record_takes_no_list_of_agents_away(own: Path) -> None:
    keep(own, record())
    (own / "claude" / "2.1.330" / "record.linux.0.1.0.json").write_text("{")
    row = shown.row(CLAUDE, None)
    assert row.proof is None
    assert row.proved.startswith("unknown: the record claude/2.1.330/record.linux.0.1.0.json")
    assert row.descriptor.capabilities.force_edit_mode.confidence is Confidence.UNKNOWN


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_keeps_to_the_width_and_names_what_failed(tmp_path: Path, width: int) -> None:
    keep(tmp_path, record(), record("2.1.400", {"edit": proof("edit", passed=False)}))
    table = whole(tmp_path).text(width)
    assert max(map(text.width, table.split("\n"))) <= width
    wide = whole(tmp_path).text(None)
    assert re.search(r"^  edit +unknown \(edit failed in 2\.1\.400\) ", wide, re.MULTILINE)


def test_the_document_has_every_cell(tmp_path: Path) -> None:
    keep(tmp_path, record())
    document = json.loads(json.dumps(whole(tmp_path).document()))
    assert (document["schema"], document["kind"]) == (1, "matrix")
    assert [list(agent["cells"]) for agent in document["agents"]] == [document["columns"]] * len(
        registry.OWN
    )
    assert document["agents"][0]["cells"]["edit"] == {
        "confidence": "verified",
        "version": "2.1.330",
        "date": "2026-11-22",
        "platform": "linux",
        "evidence": EDIT,
        "note": None,
    }
    assert document["agents"][1]["cells"]["edit"]["version"] is None


def test_the_page_in_docs_is_the_one_that_the_records_give() -> None:
    line = whole(recorded.root()).markdown()
    value = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    assert value == line, f"docs/reference/agents.md is out of date; make it anew: {GENERATE}"


def test_every_evidence_is_there_and_no_platform_but_linux_is_verified() -> None:
    table = whole(recorded.root())
    for row in table.rows:
        for name, item in row.cells.items():
            assert not item.evidence or (recorded.root() / item.evidence).exists(), item.evidence
            assert item.confidence is not Confidence.VERIFIED or item.platform == "linux", name
    assert COLUMNS[-3:] == records.PLATFORMS


def test_a_name_in_a_record_that_is_no_situations_is_not_on_the_page(tmp_path: Path) -> None:
    keep(tmp_path, record(situations={"x|<b>@ada": proof("edit", passed=False)}))
    page = whole(tmp_path).markdown()
    line = next(line for line in page.split("\n") if line.startswith("| edit |"))
    assert "failed in" not in line
