"""What an agent lacks for tier 1: each rule and stage by its evidence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import records
from hydra.conformance import notes, recorded, recording
from hydra.conformance import promotion as facts
from hydra.conformance.contract import suite
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.promotion import (
    CORE,
    Promotion,
    Promotions,
    Requirement,
    cycle,
    follows,
    promotion,
)
from hydra.conformance.results import Case, CaseVerdict
from hydra.records.agent import Tier
from hydra.report import text
from tests.support.golden_text import approved
from tests.support.sample_records import keep, of_today, proof, record
from tests.test_matrix import Toy

CLAUDE, CURSOR = registry.get("claude"), registry.get("cursor-agent")
NOTE = "## Shape\n\nA program.\n\n## Risks\n\nIt may change.\n"
GROUPS = (*facts.LINES, *facts.DETECTION, *facts.LIMITS, *facts.PARSER)
PASSED = {f"{group}.x": True for group in GROUPS}
SITUATIONS = {"edit": proof(*CORE, stream="stream.ok-edit.jsonl")}
LIVE = dict(of_today(record(situations=SITUATIONS)).situations)
FAILED, SKIPPED = CaseVerdict.FAILED, CaseVerdict.SKIPPED


def case(name: str, verdict: CaseVerdict = CaseVerdict.PASSED, agent: str = "claude") -> Case:
    return Case(suite="contract", agent=agent, name=name, verdict=verdict)


def whole(root: Path, agent: str = "claude") -> Path:
    """All that the rules ask for, for one agent; its newest version's folder."""
    folder = root / agent / "2.1.330"
    folder.mkdir(parents=True)
    (root / agent / "note.md").write_text(NOTE)
    (root / agent / "issues.toml").write_text("")
    for ending in ("jsonl", "expected.json"):
        name = f"stream.ok-edit.{ending}"
        shutil.copy(recorded.root() / "claude" / "2.1.330" / name, folder)
    for platform, situations in (("linux", LIVE), ("windows", {})):
        for hydra in ("0.1.0", "0.2.0"):
            about = {"agent": agent, "hydra": hydra, "platform": platform}
            keep(root, record("2.1.330", situations, contract=PASSED, **about))
    return folder


def promoted(root: Path, *adapters: Adapter, cases: Sequence[Case] = ()) -> Promotions:
    subjects = [
        ContractSubject(adapter, root, third_party=adapter.descriptor.third_party is not None)
        for adapter in adapters
    ]
    return promotion(subjects, cases)


def one(root: Path, *cases: Case) -> Promotion:
    return promoted(root, CLAUDE, cases=cases).agents[0]


def rule(item: Promotion, name: str) -> Requirement:
    return next(row for row in (*item.rules, *item.stages) if row.name == name)


def missing(item: Promotion) -> list[str]:
    return [row.name for row in (*item.rules, *item.stages) if not row.met]


def test_all_is_met_where_all_the_evidence_is_there_and_else_each_has_a_command(
    tmp_path: Path,
) -> None:
    bare = one(tmp_path)
    assert (bare.stage, bare.ready) == (0, False)
    assert all(row.says and row.command and not row.met for row in (*bare.rules, *bare.stages))
    whole(tmp_path)
    item = one(tmp_path)
    assert (missing(item), item.stage, item.ready) == ([], 6, True)
    assert item.says == "tier 1 by the owner's decision; 5 of 5 rules met, stage 6 of 6 reached"
    assert all(row.says and not row.command for row in (*item.rules, *item.stages))


@pytest.mark.parametrize(
    ("gone", "named"),
    [
        ("note.md", ["research"]),
        ("issues.toml", ["issues"]),
        ("2.1.330/stream.ok-edit.expected.json", ["parser", "replay"]),
        ("2.1.330/record.linux.0.1.0.json", ["linux"]),
        ("2.1.330/record.windows.0.2.0.json", ["windows"]),
    ],
)
def test_each_piece_of_evidence_is_missed_by_name(
    tmp_path: Path, gone: str, named: list[str]
) -> None:
    (whole(tmp_path).parent / gone).unlink()
    assert missing(one(tmp_path)) == named


@pytest.mark.parametrize(
    ("group", "named"),
    [
        (facts.LINES[0], ["command"]),
        (facts.DETECTION[0], ["doctor"]),
        (facts.LIMITS[0], ["timeouts"]),
        (facts.PARSER[0], ["parser", "replay"]),
    ],
)
def test_a_case_that_fails_now_counts_before_the_record(
    tmp_path: Path, group: str, named: list[str]
) -> None:
    whole(tmp_path)
    cases = [case(name) for name in PASSED]
    assert missing(one(tmp_path, *cases)) == []
    item = one(tmp_path, *cases, case(f"{group}.y", FAILED), case(f"{group}.y"))
    assert missing(item) == named  # on one version it failed
    assert all(rule(item, name).says == f"{group}.y failed" for name in named)


def test_what_is_not_tried_now_counts_as_the_newest_record_has_it(tmp_path: Path) -> None:
    whole(tmp_path)
    others = case("lines.x", FAILED, "codex")
    assert missing(one(tmp_path, case("lines.x", SKIPPED), others)) == []
    keep(tmp_path, record("2.1.400", LIVE, hydra="0.2.0", contract={"detect.x": False}))
    item = one(tmp_path, *(case(name) for name in PASSED if not name.startswith("detect")))
    assert missing(item) == ["linux", "doctor"]
    # A case that the suite has no more is no longer held against it.
    item = one(tmp_path, *(case(name.replace("detect.x", "detect.y")) for name in PASSED))
    assert missing(item) == ["linux"]


def test_a_stream_that_was_written_by_hand_is_no_recording(tmp_path: Path) -> None:
    folder = whole(tmp_path)
    line = (folder / "stream.ok-edit.expected.json").rename(folder / "told.json").read_text()
    rows = {"lines": (folder / "stream.ok-edit.jsonl").read_text().splitlines()}
    (folder / "made.json").write_text(json.dumps({"ok-edit": rows}))
    (folder / "made.expected.json").write_text(f'{{"ok-edit": {line}}}')
    assert missing(one(tmp_path)) == ["parser", "replay"]
    (folder / "NOTE.txt").write_text("Not recorded.\n")
    assert rule(one(tmp_path), "command").says.endswith("that were written by hand")


@pytest.mark.parametrize("dimension", CORE)
def test_a_dimension_that_failed_live_takes_its_stage(tmp_path: Path, dimension: str) -> None:
    whole(tmp_path)
    broken = {"delete": proof(dimension, passed=False)}
    keep(tmp_path, record("2.1.400", broken, hydra="0.2.0", contract=PASSED))
    item = one(tmp_path)
    rows = {"edit": ["launch"], "stream": ["replay"], "limits": ["timeouts"]}
    assert sorted(missing(item)) == sorted(["linux", *rows.get(dimension, []), "clients"])
    assert rule(item, "clients").says == "delete failed in 2.1.400"
    assert item.stage == {"edit": 3, "stream": 4}.get(dimension, 5)


@pytest.mark.parametrize(
    ("releases", "met", "line"),
    [
        (["0.1.0", "0.1.9"], False, "in one release only (2.1.330 with Hydra 0.1)"),
        (["0.1.0", "0.3.0"], False, "in releases that do not follow each other"),
        (["0.1.0", "0.2.0"], True, "2.1.330 with Hydra 0.1, 2.1.330 with Hydra 0.2"),
        (["0.9.0", "0.10.0"], True, "2.1.330 with Hydra 0.9, 2.1.330 with Hydra 0.10"),
        (["0.9.0", "1.0.0"], True, "with Hydra 1.0"),
        (["0.1.0", "0.2.0", "0.4.0"], False, "do not follow each other"),
    ],
)
def test_two_releases_that_follow_each_other(
    tmp_path: Path, releases: list[str], met: bool, line: str
) -> None:
    for hydra in releases:
        keep(tmp_path, record(hydra=hydra))
    row = rule(one(tmp_path), "linux")
    assert (row.met, line in row.says) == (met, True)


def test_cycles() -> None:
    assert [cycle(name) for name in ("0.1.0", "0.12.3rc1", "1")] == [(0, 1), (0, 12), (1, 0)]
    assert follows((2, 0), (1, 7))
    assert not any(follows(*pair) for pair in (((0, 1), (0, 1)), ((2, 1), (1, 7))))


def test_a_release_passes_with_the_newest_cli_it_was_tried_with(tmp_path: Path) -> None:
    keep(tmp_path, record(situations={}), record(situations={}, hydra="0.2.0"))
    assert not rule(one(tmp_path), "linux").met  # a record of nothing is no pass
    broken = {"edit": proof("edit", passed=False)}
    keep(tmp_path, record(), record("2.1.197", broken, hydra="0.2.0"), record(hydra="0.2.0"))
    assert rule(one(tmp_path), "linux").met
    keep(tmp_path, record("2.1.400", {}, hydra="0.2.0", contract={"lines.x": False}))
    row = rule(one(tmp_path), "linux")
    assert (row.met, row.says) == (False, "something failed in 2.1.400 with Hydra 0.2 on Linux")


def test_what_is_recorded_without_a_race_counts_for_its_platform(tmp_path: Path) -> None:
    answers = recorded.Recording(recorded.root() / "claude" / "2.1.330").probes()
    tried = [case("descriptor.names"), case("lines.x"), case("limits.idle", SKIPPED)]
    recording.record(tmp_path, [], tried, {"claude": answers}, adapters=[CLAUDE])
    (entry,) = records.read_all(tmp_path, "claude")
    assert entry.contract == {"descriptor.names": True, "lines.x": True}
    assert "one release only (2.1.330 with Hydra" in rule(one(tmp_path), "linux").says
    keep(tmp_path, live := replace(entry, situations=LIVE))
    recording.record(tmp_path, [], tried[:1], {"claude": answers}, adapters=[CLAUDE])
    assert records.read_all(tmp_path, "claude") == [live]


def test_a_cli_that_cannot_be_raced_leaves_no_record_of_a_pass(tmp_path: Path) -> None:
    answers = dict(recorded.Recording(recorded.root() / "claude" / "2.1.330").probes())
    lost = answers["help"].stdout.replace("--setting-sources", "--sources")
    answers["help"] = replace(answers["help"], stdout=lost)
    recording.record(tmp_path, [], [case("lines.x")], {"claude": answers}, adapters=[CLAUDE])
    assert (tmp_path / "claude" / "2.1.330" / "help.txt").is_file()
    assert records.read_all(tmp_path, "claude") == []


@pytest.mark.parametrize(("priority", "met"), [("P0", False), ("P1", False), ("P2", True)])
def test_open_issues_by_their_priority(tmp_path: Path, priority: str, met: bool) -> None:
    issues = whole(tmp_path).parent / "issues.toml"
    issues.write_text(f'[[open]]\npriority = "{priority}"\ntitle = "It hangs"\n')
    row = rule(one(tmp_path), "issues")
    assert (row.met, "It hangs" in row.says) == (met, not met)


def test_a_third_party_is_never_ready_and_an_experimental_one_may_be(tmp_path: Path) -> None:
    whole(tmp_path, "toy")
    whole(tmp_path, "cursor-agent")
    bare = Toy()
    bare.descriptor = replace(Toy.descriptor, third_party=None, sign_in_hint="")
    toy, cursor, (hintless,) = (
        *promoted(tmp_path, Toy(), CURSOR).agents,
        promoted(tmp_path, bare).agents,
    )
    assert (missing(toy), toy.third_party) == (["clients"], True)
    assert toy.says.startswith("a third party's, which stays experimental; 5 of 5 rules met")
    assert cursor.says.startswith("nothing is missing: the owner may make it tier 1")
    assert missing(hintless) == ["doctor"]
    assert rule(hintless, "doctor").says == "its descriptor lacks a sign-in hint"


def test_today_says_that_tier_1_is_the_owner_s_decision_and_windows_has_no_record() -> None:
    agents = promoted(recorded.root(), *registry.everyone()).agents
    promotions = {item.agent: item for item in agents}
    assert set(promotions) == set(registry.OWN)
    for agent in ("claude", "codex"):
        item = promotions[agent]
        assert (item.tier, item.ready) == (Tier.TIER1, False)
        assert item.says.startswith("tier 1 by the owner's decision, not by these rules")
        assert rule(item, "windows").says == "no record of a run on Windows"
        assert (rule(item, "research").met, rule(item, "issues").met) == (True, True)
    assert promotions["cursor-agent"].says.startswith("stays experimental")
    for key in registry.OWN:
        assert notes.noted(recorded.root(), key)
        assert notes.issues(recorded.root(), key)
    assert {name.partition(".")[0] for name in suite.names()} >= set(GROUPS)


def test_the_text_the_document_and_the_page_say_the_same(tmp_path: Path) -> None:
    (whole(tmp_path).parent / "note.md").write_text("## Shape\n\nA program.\n")
    promotions = promoted(tmp_path, CLAUDE)
    (agent,) = json.loads(json.dumps(promotions.document()))["agents"]
    assert (agent["ready"], agent["stage"]) == (False, 0)  # no stage is skipped
    assert [row["met"] for row in agent["stages"]] == [False, *[True] * 5]
    for width in (60, 100):
        assert max(map(text.width, promotions.text(width).split("\n"))) <= width
    shown = promotions.text(100) + "\n" + promotions.markdown()
    approved("promotion.txt", shown.replace(str(tmp_path), "/root"))
