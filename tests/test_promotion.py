"""What an agent lacks for tier 1: each rule and stage by its evidence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import records
from hydra.adapters.proofs.records import Record
from hydra.conformance import notes, recorded, recording
from hydra.conformance import promotion as facts
from hydra.conformance.contract import suite
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.promotion import CORE, Promotion, Promotions, Requirement, promotion
from hydra.conformance.results import Case, CaseVerdict
from hydra.records.agent import Tier
from hydra.report import text
from tests.support.golden_text import approved, section
from tests.support.sample_records import keep, of_today, proof, record
from tests.unit.test_matrix import Toy

CLAUDE, CURSOR = registry.get("claude"), registry.get("cursor-agent")
NOTE = "## Shape\n\nA program.\n\n## Risks\n\nIt may change.\n"
GROUPS = (*facts.LINES, *facts.DETECTION, *facts.LIMITS, *facts.PARSER)
PASSED = {f"{group}.x": True for group in GROUPS}
SITUATIONS = {"edit": proof(*CORE, stream="stream.ok-edit.jsonl")}
LIVE = dict(of_today(record(situations=SITUATIONS)).situations)
FAILED, SKIPPED = CaseVerdict.FAILED, CaseVerdict.SKIPPED
Scenario = Callable[[Path], list[Case]]
"""Lays evidence into a folder; the cases that are tried now."""


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


def without(*names: str) -> Scenario:
    def scene(root: Path) -> list[Case]:
        folder = whole(root)
        for name in names:
            (folder.parent / name).unlink()
        return []

    return scene


def kept(*entries: Record, cases: Sequence[Case] = (), bare: bool = False) -> Scenario:
    """These records beside all else, or alone."""

    def scene(root: Path) -> list[Case]:
        if not bare:
            whole(root)
        keep(root, *entries)
        return list(cases)

    return scene


def releases(*names: str) -> Scenario:
    return kept(*(record(hydra=name) for name in names), bare=True)


def issue(priority: str) -> Scenario:
    def scene(root: Path) -> list[Case]:
        issues = whole(root).parent / "issues.toml"
        issues.write_text(f'[[open]]\npriority = "{priority}"\ntitle = "It hangs"\n')
        return []

    return scene


def by_hand(root: Path) -> list[Case]:
    """A stream that was written by hand is no recording."""
    folder = whole(root)
    line = (folder / "stream.ok-edit.expected.json").rename(folder / "told.json").read_text()
    rows = {"lines": (folder / "stream.ok-edit.jsonl").read_text().splitlines()}
    (folder / "made.json").write_text(json.dumps({"ok-edit": rows}))
    (folder / "made.expected.json").write_text(f'{{"ok-edit": {line}}}')
    return []


NEWER = record("2.1.400", LIVE, hydra="0.2.0", contract={"detect.x": False})
OLD = record("2.1.197", {"edit": proof("edit", passed=False)}, hydra="0.2.0")
SCENARIOS: dict[str, Scenario] = {
    "nothing": lambda root: [],
    "everything": without(),
    "no note": without("note.md"),
    "no list of issues": without("issues.toml"),
    "no expectation": without("2.1.330/stream.ok-edit.expected.json"),
    "no record of a release on Linux": without("2.1.330/record.linux.0.1.0.json"),
    "no record of a release on Windows": without("2.1.330/record.windows.0.2.0.json"),
    # On one version of two, now: that counts before the record.
    "a case that fails now: lines": kept(
        cases=[*map(case, PASSED), case("lines.y", FAILED), case("lines.y")]
    ),
    "others fail, and one was skipped": kept(
        cases=[case("lines.x", SKIPPED), case("lines.x", FAILED, "codex")]
    ),
    "a newer record with a failure, tried again": kept(
        NEWER, cases=[case(name) for name in PASSED if not name.startswith("detect")]
    ),
    "its case is no more": kept(
        NEWER, cases=[case(name.replace("detect.x", "detect.y")) for name in PASSED]
    ),
    "streams by hand": by_hand,
    f"{CORE[0]} failed live": kept(
        record("2.1.400", {"delete": proof(CORE[0], passed=False)}, hydra="0.2.0", contract=PASSED)
    ),
    **{f"an open issue: {priority}": issue(priority) for priority in ("P1", "P2")},
    "releases: one": releases("0.1.0", "0.1.9"),
    "releases: 0.9 and 0.10": releases("0.9.0", "0.10.0"),
    "releases: two, and a gap": releases("0.1.0", "0.2.0", "0.4.0"),
    "releases: records of nothing": kept(
        record(situations={}), record(situations={}, hydra="0.2.0"), bare=True
    ),
    "releases: an older CLI failed": kept(record(), OLD, record(hydra="0.2.0"), bare=True),
    "releases: the newest CLI failed": kept(
        *(record(), record(hydra="0.2.0")),
        record("2.1.400", {}, hydra="0.2.0", contract={"lines.x": False}),
        bare=True,
    ),
}


def test_each_piece_of_evidence_is_missed_by_name_as_approved(tmp_path: Path) -> None:
    text = ""
    for number, (name, scene) in enumerate(SCENARIOS.items()):
        root = tmp_path / str(number)
        root.mkdir()
        item = one(root, *scene(root))
        rows = [f"{item.says}; stage {item.stage}, ready: {item.ready}"]
        wanted = [row for row in (*item.rules, *item.stages) if not row.met]
        if name.startswith("releases: "):
            wanted = [rule(item, "linux")]
        rows += [f"{row.name} ({'met' if row.met else 'missing'}): {row.says}" for row in wanted]
        assert all(bool(row.command) is not row.met for row in (*item.rules, *item.stages))
        text += section(name, "\n".join(rows))
    approved("promotion-rules.txt", text.replace(str(tmp_path), "/root"))


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
