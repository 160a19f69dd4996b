"""What records prove, agent by agent: what counts, and what does not any more."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.proofs import proven_capabilities
from hydra.adapters.proofs.records import Record
from hydra.commands import agent_rows as shown
from hydra.conformance import recorded
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.matrix import COLUMNS, GENERATE, Cell, Matrix, matrix
from hydra.errors import RecordError
from hydra.records.agent import Capability, CapabilitySet, Confidence, DetectResult, Origin
from hydra.report.document import agent_document
from hydra.report.listing import agent_text, agents_table
from tests.support.golden_text import approved, section
from tests.support.sample_records import keep, proof, record

CLAUDE = registry.get("claude")
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "agents.md"
VERIFIED, OBSERVED, UNKNOWN = Confidence.VERIFIED, Confidence.OBSERVED, Confidence.UNKNOWN
BROKEN = {"edit": proof("edit", passed=False)}
LINUX = "record.linux.0.1.0.json"


def whole(root: Path) -> Matrix:
    return matrix([ContractSubject(adapter, root) for adapter in registry.everyone()])


def helps(root: Path) -> Path:
    """Of Claude Code its help and its version alone are recorded below `root`."""
    folder = root / "claude" / "2.1.330"
    folder.mkdir(parents=True)
    for name in ("help.txt", "version.txt"):
        shutil.copy(recorded.root() / "claude" / "2.1.330" / name, folder)
    return folder


def test_nothing_is_known_without_a_record(tmp_path: Path) -> None:
    table = whole(tmp_path)
    assert [row.agent for row in table.rows] == list(registry.OWN)
    assert {cell for row in table.rows for cell in row.cells.values()} == {Cell()}
    assert all(tuple(row.cells) == COLUMNS for row in table.rows)
    with pytest.raises(KeyError):
        table.cell("claude", "speed")


REFUSED = replace(proof("network_off"), status="not_started")
NO, YES = proof("edit", passed=False), proof("edit")
CREATED = {"no_network": REFUSED, "create": proof("network_off")}
LOST = {"no_network": replace(REFUSED, passed=False), "create": proof("network_off")}
WINDOWS = record(platform="windows", situations={}, contract={"lines.model": True})
NEWER = record("2.1.399", {"delete": proof("delete")})
RECORDS: dict[str, tuple[Record, ...]] = {
    "one": (record(),),
    "a newer one that was not tried for it": (record(), NEWER),
    "a newer one in which it failed": (record(), NEWER, record("2.1.400", BROKEN)),
    "and a newer one in which it passed": (record("2.1.400", BROKEN), record("2.1.401")),
    "it failed": (record(situations=BROKEN),),
    "and passed with a newer Hydra": (
        *(record(situations=BROKEN), record(hydra="0.10.0")),
        record(hydra="0.9.0", situations={}),
    ),
    "one failure among several": (
        record(situations={"edit": YES, "delete": NO}),
        record(hydra="0.2.0", situations={"create": YES}),
    ),
    "one failure, and passed elsewhere": (
        record(situations={"edit": YES, "delete": NO}),
        record(platform="macos", hydra="0.2.0", situations={"create": YES}),
    ),
    "Hydra refuses it": (record(situations={"no_network": REFUSED}),),
    "Hydra refuses it, and another passed": (record(situations=CREATED),),
    "the refusal failed": (record(situations=LOST),),
    "platforms by their own records": (
        *(record(), WINDOWS),
        record(platform="macos", contract={"lines.model": False}),
    ),
}


def told(root: Path) -> str:
    """Of Claude Code each dimension of which something is known, or why not."""
    (row,) = [row for row in whole(root).rows if row.agent == "claude"]
    lines = [
        f"{name}: {item.confidence} {item.version} {item.platform} {item.evidence} {item.note}"
        for name, item in row.cells.items()
        if item != Cell()
    ]
    return "\n".join(lines)


def test_what_records_and_help_texts_prove_as_approved(tmp_path: Path) -> None:
    text = ""
    for number, (name, entries) in enumerate(RECORDS.items()):
        root = tmp_path / str(number)
        keep(root, *entries)
        text += section(name, told(root))
    # A flag in a recorded help text is observed and no more.
    root = tmp_path / "helps"
    folder = helps(root)
    text += section("a help text", told(root))
    page = folder / "help.txt"
    page.write_text(page.read_text().replace("--output-format", "--format"))
    text += section("a help text that lacks a flag", told(root))
    (folder / "NOTE.txt").write_text("Not recorded. Written from its documentation.\n")
    assert told(root) == ""
    approved("matrix-cells.txt", text)


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
    assert {cell.confidence for cell in matrix_row.cells.values()} == {UNKNOWN}
    keep(toy.recordings, record(agent="toy"))
    table = matrix([ContractSubject(CLAUDE, tmp_path), toy])
    assert [row.agent for row in table.rows if row.third_party] == ["toy"]
    assert table.cell("toy", "edit").confidence is VERIFIED
    page = table.markdown()
    assert "tier 1, third party" in page
    assert "(../fixtures/adapters/toy" not in page


# --- capabilities --------------------------------------------------------------------------------


def claims(capability: Capability) -> CapabilitySet:
    return CapabilitySet(**dict.fromkeys(CapabilitySet.__struct_fields__, capability))


def test_confidence_is_proved_and_never_typed() -> None:
    typed = claims(Capability(True, VERIFIED, "9.9", "a note"))
    bare = proven_capabilities.proven(typed, [])
    assert {item for _, item in bare.items()} == {Capability(True, UNKNOWN, "", "a note")}
    proved = proven_capabilities.proven(typed, [record()])
    assert proved.force_edit_mode == Capability(True, VERIFIED, "2.1.330", "a note")
    assert proved.json_stream.confidence is UNKNOWN
    gone = claims(Capability(False, note="its help shows no --print"))
    assert proven_capabilities.proven(gone, [record()]) == gone
    rows = [record(), record("2.1.400", BROKEN)]
    failed = proven_capabilities.proven(claims(Capability(True, note="by flag")), rows)
    assert failed.force_edit_mode == Capability(True, note="by flag; edit failed in 2.1.400")


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
    both = BROKEN | {"delete": proof("delete")}
    version = proven_capabilities.proved([record("2.1.197", both), record()], "2.1.197")
    assert version is not None
    assert (version.version, version.passed, version.failed) == ("2.1.197", 1, ("edit",))
    line = proven_capabilities.says(version, "2.1.197")
    assert "where edit failed, which is the one here" in line
    bare = record(situations={}, contract={"lines.x": True})
    assert proven_capabilities.proved([bare], "") is None


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Hydra looks for its own records, for this test."""
    monkeypatch.setattr(shown, "recordings_of", lambda adapter: tmp_path)
    return tmp_path


def test_hydra_agents_shows_what_the_records_and_the_help_text_prove(own: Path) -> None:
    result = DetectResult(
        adapter="claude",
        binary=Path("/usr/bin/claude"),
        version="2.1.400",
        capabilities=CLAUDE.descriptor.capabilities,
    )
    never = "never tried live; hydra conformance --live does"
    assert never in agent_text(shown.row(CLAUDE, result), (), width=None)
    keep(own, record())
    row = shown.row(CLAUDE, result)
    lines = agent_text(row, (), width=None).split("\n")
    newer = "verified in 2.1.330 (linux, 2026-11-22); this one, 2.1.400, is newer"
    assert f"  tried        {newer}" in lines
    assert any(re.fullmatch(r"  force_edit_mode +yes  verified  2\.1\.330 .*", x) for x in lines)
    assert re.search(r"claude .* 2\.1\.400  2\.1\.330 ", agents_table([row], width=96))
    proved = json.loads(json.dumps(agent_document(row)))["proved"]
    expected = {"version": "2.1.330", "hydra": "0.1.0", "platform": "linux", "failed": []}
    assert proved == {**expected, "date": "2026-11-22", "passed": 1, "installed": "newer"}
    probes = recorded.Recording(recorded.root() / "claude" / "2.1.330").probes()
    observed = shown.row(CLAUDE, CLAUDE.detect("claude", probes))
    assert observed.detection is not None
    capability = observed.detection.capabilities.json_stream
    assert (capability.confidence, capability.seen_in) == (OBSERVED, "2.1.330")
    assert observed.descriptor.capabilities.json_stream.confidence is UNKNOWN


def test_a_damaged_record_is_said_and_takes_no_list_of_agents_away(own: Path) -> None:
    keep(own, record())
    (own / "claude" / "2.1.330" / LINUX).write_text("{")
    with pytest.raises(RecordError):
        whole(own)
    row = shown.row(CLAUDE, None)
    assert row.proof is None
    assert row.proved.startswith(f"unknown: the record claude/2.1.330/{LINUX}")
    assert row.descriptor.capabilities.force_edit_mode.confidence is UNKNOWN


# --- how it is told ------------------------------------------------------------------------------


def test_the_page_in_docs_is_the_one_that_the_records_give() -> None:
    table = whole(recorded.root())
    value = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    assert value == table.markdown(), f"{PAGE.name} is out of date; make it anew: {GENERATE}"
    for name, item in ((name, item) for row in table.rows for name, item in row.cells.items()):
        assert not item.evidence or (recorded.root() / item.evidence).exists(), item.evidence
        assert item.confidence is not VERIFIED or item.platform == "linux", name
