"""What two versions have differently is named, and whether Hydra minds is found by trying it."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters import event_builders, registry
from hydra.adapters.claude import Claude
from hydra.adapters.json_fields import Object, number
from hydra.adapters.json_stream import JsonStream
from hydra.adapters.proofs import records
from hydra.adapters.proofs.records import Proof
from hydra.conformance.drift import commands, compare, option_values
from hydra.conformance.results import VersionChange
from hydra.errors import RecordError
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from tests.adapter_recordings import FIXTURES
from tests.support.golden_text import approved, section
from tests.support.sample_records import keep, record

NEWEST = {"claude": "2.1.330", "codex": "0.169.0"}
CASES = tomllib.loads((Path(__file__).parent / "data" / "drift.toml").read_text())["case"]


def live_ones(folder: str, names: list[str]) -> set[str]:
    """What `--record` wrote: these tests stand on the streams that were recorded by hand."""
    entries = [records.read(path) for path in Path(folder).glob("record.*.json")]
    owned = {proof.stream for record in entries for proof in record.situations.values()}
    stems = {file.removesuffix(".jsonl") for file in owned if file}
    return {name for name in names if ".".join(name.split(".")[:2]) in stems or "record." in name}


def pair(root: Path, agent: str) -> tuple[Path, Path]:
    """A version's recording, and a copy of it under another version's name that can be changed."""
    folders = root / agent / "1.0.0", root / agent / "2.0.0"
    for folder in folders:
        shutil.copytree(FIXTURES / agent / NEWEST[agent], folder, ignore=live_ones)
    return folders


def changed(folders: tuple[Path, Path], agent: str, edits: list[list[str]]) -> list[VersionChange]:
    """With these edits, which are taken back."""
    old, new = folders
    spoiled = set()
    for pattern, was, now in edits:
        files = [path for path in new.glob(pattern) if was in path.read_text()]
        assert files, (pattern, was)
        spoiled |= {*files}
        for path in files:
            path.unlink() if now == "gone" else path.write_text(path.read_text().replace(was, now))
    changes = compare(registry.get(agent), old, new)
    for path in spoiled:
        shutil.copy(old / path.name, path)
    return changes


def test_what_a_newer_version_has_differently_is_told_as_approved(scratch: Path) -> None:
    text = ""
    folders = {agent: pair(scratch, agent) for agent in NEWEST}
    for case in CASES:
        changes = changed(folders[case["agent"]], case["agent"], case["edits"])
        rows = [f"{'! ' + c.minds if c.minds else '-'} <- {c.text}" for c in changes]
        text += section(case["name"], "\n".join(rows) or "no change")
        # What Hydra minds comes first, and nothing twice.
        assert [not c.minds for c in changes] == sorted(not c.minds for c in changes)
        assert len(set(rows)) == len(rows)
    approved("drift.txt", text)


def test_values_that_are_listed_a_line_each() -> None:
    """clap's long form, in 0.134.0's help text."""
    old = (FIXTURES / "codex/0.134.0/help.txt").read_text()
    values = {"untrusted", "on-failure", "on-request", "never"}
    assert option_values(old)["--ask-for-approval"] == values
    assert "exec" in commands(old)


class Toy(JsonStream):
    """Reads a price by either of two names."""

    def take(self, line: Object) -> list[AgentEvent]:
        return event_builders.usage(cost_usd=number(line, "cost") or number(line, "price"))

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        return [event_builders.completed("done", denials=[], failed_items=0)]


class ToyAdapter(Claude):
    """Claude Code's answers, another stream."""

    def parser(self) -> Toy:
        return Toy()


@pytest.mark.parametrize(
    ("newer", "minds"), [({"price": 2}, []), ({"worth": 2}, ["usage.cost_usd is unknown"])]
)
def test_a_field_that_moved_to_where_hydra_reads_it_too(
    scratch: Path, newer: dict[str, int], minds: list[str]
) -> None:
    for version, more in (("1.0.0", {"cost": 2}), ("2.0.0", newer)):
        folder = scratch / "claude" / version
        folder.mkdir(parents=True)
        (folder / "stream.a.jsonl").write_text(json.dumps({"type": "end", **more}) + "\n")
    changes = compare(ToyAdapter(), scratch / "claude/1.0.0", scratch / "claude/2.0.0")
    assert {change.how for change in changes if change.what == "field"} == {"vanished", "appeared"}
    assert [change.minds for change in changes if change.minds] == minds


PASSED = Proof(passed=True, status="completed", exit={"code": 0}, events=("message", "usage"))
FAILED = replace(PASSED, passed=False)
ERROR = replace(FAILED, status="failed", error="AgentFailed", error_reason="network")
OTHER = replace(ERROR, exit={"code": 1}, events=("message",))
REFUSED = Proof(passed=True, status="not_started", error="UnsupportedFlag")
SEVERAL = {"edit": PASSED, "plan": PASSED, "only_here": PASSED}
OUTCOMES = {
    "it comes out otherwise": (SEVERAL, {"edit": OTHER, "plan": PASSED}),
    "it is another by now": ({"edit": replace(PASSED, definition="another")}, {"edit": FAILED}),
    "refused on both sides": ({"no_network": REFUSED}, {"no_network": REFUSED}),
    "it fails for what no record holds": (SEVERAL, {"edit": FAILED, "plan": FAILED}),
    "both expectations allow it": ({"edit": PASSED}, {"edit": replace(PASSED, exit={"code": 3})}),
}


def test_what_situations_have_differently_is_told_as_approved(scratch: Path) -> None:
    text = ""
    old, new = pair(scratch, "codex")
    for path in new.glob("stream.sandbox-broken.*"):
        path.unlink()
    for name, (before, now) in OUTCOMES.items():
        for folder, proofs in ((old, before), (new, now)):
            keep(scratch, record(folder.name, proofs, agent="codex"))
        rows = [f"{c.minds} <- {c.text}" for c in compare(registry.get("codex"), old, new)]
        text += section(name, "\n".join(rows))
    approved("drift-outcomes.txt", text)
    with pytest.raises(RecordError, match="nothing is recorded"):
        compare(registry.get("codex"), old, new.with_name("3.0.0"))
