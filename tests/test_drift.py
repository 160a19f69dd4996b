"""What two versions have differently is named, and whether Hydra minds is found by trying it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

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
from tests.support.sample_records import keep, record

NEWEST = {"claude": "2.1.330", "codex": "0.169.0"}
Edit = Callable[[dict[str, Any]], object]


def live_ones(folder: str, names: list[str]) -> set[str]:
    """What `--record` wrote: the tests below stand on the streams that were recorded by hand."""
    entries = [records.read(path) for path in Path(folder).glob("record.*.json")]
    owned = {proof.stream for record in entries for proof in record.situations.values()}
    stems = {file.removesuffix(".jsonl") for file in owned if file}
    return {name for name in names if ".".join(name.split(".")[:2]) in stems or "record." in name}


class Pair:
    """A version's recording, and a copy of it under another version's name that can be changed."""

    def __init__(self, root: Path, agent: str) -> None:
        self.agent = agent
        self.old, self.new = root / agent / "1.0.0", root / agent / "2.0.0"
        for folder in (self.old, self.new):
            shutil.copytree(FIXTURES / agent / NEWEST[agent], folder, ignore=live_ones)

    def compare(self) -> list[VersionChange]:
        return compare(registry.get(self.agent), self.old, self.new)

    def only_change(self) -> VersionChange:
        (change,) = self.compare()
        return change

    def replace(self, file: str, was: str, now: str) -> None:
        path = self.new / file
        text = path.read_text()
        assert was in text
        path.write_text(text.replace(was, now))

    def lines(self, edit: Edit) -> None:
        """Each JSON line of each of the newer streams, changed in place; None takes it out."""
        for path in self.new.glob("stream.*.jsonl"):
            names = []
            for raw in path.read_text().split("\n"):
                if not raw.startswith("{"):
                    names.append(raw)
                    continue
                document = json.loads(raw)
                if edit(document) is not GONE:
                    names.append(json.dumps(document))
            path.write_text("\n".join(names))

    def record(self, folder: Path, **proofs: Proof) -> None:
        keep(folder.parent.parent, record(folder.name, proofs, agent=self.agent))


GONE = object()


@pytest.fixture
def claude(scratch: Path) -> Pair:
    return Pair(scratch, "claude")


@pytest.fixture
def codex(scratch: Path) -> Pair:
    return Pair(scratch, "codex")


@pytest.mark.parametrize("agent", NEWEST)
def test_a_version_has_not_drifted_from_itself(scratch: Path, agent: str) -> None:
    assert Pair(scratch, agent).compare() == []


# help texts


def test_a_required_flag_that_is_gone_refuses_the_agent(claude: Pair) -> None:
    claude.replace("help.txt", "--setting-sources", "--other-sources")
    minded, appeared = claude.compare()
    assert (minded.what, minded.how, minded.name) == ("help", "vanished", "--setting-sources")
    assert minded.minds.startswith("refused: this Claude Code does not show --setting-sources")
    assert (appeared.how, appeared.name, appeared.minds) == ("appeared", "--other-sources", "")


def test_a_flag_that_can_be_left_out_says_what_that_costs(claude: Pair) -> None:
    claude.replace("help.txt", "--disallowedTools", "--deniedTools")
    (minded,) = [change for change in claude.compare() if change.minds]
    assert minded.name == "--disallowedTools"
    assert "sandbox_controls is lost" in minded.minds
    assert "may open worktrees of its own" in minded.minds


def test_flags_that_hydra_never_uses_are_one_line_without_a_worry(codex: Pair) -> None:
    codex.replace("exec-help.txt", "--ephemeral", "--fleeting")
    codex.replace("exec-help.txt", "--output-schema", "--schema")
    appeared, vanished = sorted(codex.compare(), key=lambda change: change.how)
    assert vanished.text == "exec help text: 2 options vanished: --ephemeral, --output-schema"
    assert appeared.text == "exec help text: 2 options appeared: --fleeting, --schema"
    assert not vanished.minds
    assert not appeared.minds


def test_a_value_that_is_not_listed_any_more(codex: Pair) -> None:
    codex.replace("exec-help.txt", "possible values: read-only, ", "possible values: look-only, ")
    change = codex.only_change()
    assert change.text == (
        "exec help text: --sandbox no longer lists read-only and now lists look-only"
    )
    assert "--permission plan is refused" in change.minds
    assert "edit" not in change.minds


def test_values_that_are_listed_a_line_each() -> None:
    """clap's long form, in 0.134.0's help text."""
    old = (FIXTURES / "codex/0.134.0/help.txt").read_text()
    values = {"untrusted", "on-failure", "on-request", "never"}
    assert option_values(old)["--ask-for-approval"] == values
    assert "exec" in commands(old)


def test_a_command_that_hydra_uses_and_one_that_it_does_not(codex: Pair) -> None:
    codex.replace("help.txt", "  sandbox  ", "  jail     ")
    codex.replace("help.txt", "  review  ", "  inspect ")
    minded, appeared, vanished = sorted(codex.compare(), key=lambda c: (not c.minds, c.how))
    assert minded.text == "help text: command sandbox vanished"
    assert minded.minds == "Hydra runs or asks it by `sandbox`"
    assert vanished.text == "help text: one command vanished: review"
    assert appeared.text == "help text: 2 commands appeared: inspect, jail"


def test_an_answer_that_is_bad_now(codex: Pair) -> None:
    for path in codex.new.glob("sandbox.ok.*"):
        path.unlink()
    change = codex.only_change()
    assert change.text == "the answers as a whole let Hydra do less"
    assert change.minds.startswith("refused: Codex's own sandbox does not start here")


@pytest.mark.parametrize("both", [False, True])
def test_two_flags_of_which_one_would_do(claude: Pair, both: bool) -> None:
    """One alone is no loss of full-auto; both together are."""
    claude.replace("help.txt", "--permission-mode", "--mode")
    if both:
        claude.replace("help.txt", "--dangerously-skip-permissions", "--skip")
    minded = "; ".join(change.minds for change in claude.compare())
    assert ("--permission full-auto is refused" in minded) is both


def test_a_version_text_of_another_shape(codex: Pair) -> None:
    codex.replace("version.txt", "codex-cli", "codex version")
    change = codex.only_change()
    assert (change.name, change.how) == ("--version", "changed")
    assert "'codex version N.N.N'" in change.text
    assert "not understood" in change.minds
    (codex.new / "version.txt").write_text("codex-cli 3.0.0\n")
    assert codex.compare() == []


# events


def rename(kind: str, other: str) -> Edit:
    return lambda document: document.update(type=other) if document["type"] == kind else None


def test_an_event_with_another_name(claude: Pair) -> None:
    claude.lines(rename("result", "final"))
    changes = claude.compare()
    (gone,) = [c for c in changes if c.name == "result/success"]
    assert (gone.what, gone.how) == ("event", "vanished")
    assert {"completed is unknown", "usage.cost_usd is unknown"} <= {c.minds for c in changes}
    (come,) = [c for c in changes if c.name == "final/success"]
    assert come.text == "event final/success appeared: passed over, counted as unknown"
    assert not come.minds


def test_an_event_that_hydra_only_notes_may_go(codex: Pair) -> None:
    codex.lines(lambda document: GONE if document["type"] == "turn.started" else None)
    change = codex.only_change()
    assert (change.what, change.how, change.name) == ("event", "vanished", "turn.started")
    assert change.minds == ""


def test_a_banner_before_the_json(codex: Pair) -> None:
    path = codex.new / "stream.ok-edit.jsonl"
    path.write_text("Welcome to Codex!\n" + path.read_text())
    change = codex.only_change()
    assert change.text == (
        "event text that is not JSON appeared: passed over, counted as malformed"
    )


def test_a_new_type_of_event(claude: Pair) -> None:
    path = claude.new / "stream.ok-edit.jsonl"
    path.write_text('{"type":"weather","sky":"blue"}\n' + path.read_text())
    change = claude.only_change()
    assert (change.how, change.name, change.minds) == ("appeared", "weather", "")
    assert change.text.endswith("passed over, counted as unknown")


# fields


def without(*path: str) -> Edit:
    def edit(document: dict[str, Any]) -> None:
        *holders, last = path
        for key in holders:
            inner = document.get(key)
            document = inner if isinstance(inner, dict) else {}
        document.pop(last, None)

    return edit


def blocks(document: dict[str, Any]) -> list[dict[str, Any]]:
    message = document.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def minds(changes: list[VersionChange]) -> list[str]:
    return [change.minds for change in changes if change.minds]


def test_a_field_that_is_read(claude: Pair) -> None:
    claude.lines(without("total_cost_usd"))
    lost, gone = claude.compare()
    assert (lost.what, lost.how, lost.minds) == ("outcome", "vanished", "usage.cost_usd is unknown")
    assert "ok-edit" in lost.text
    assert (gone.what, gone.how, gone.minds) == ("field", "vanished", "")
    assert gone.text.endswith(": one field vanished: total_cost_usd")


def test_fields_that_nobody_reads_are_one_line_for_all_their_events(claude: Pair) -> None:
    claude.lines(
        lambda document: (without("duration_api_ms")(document), without("subagent_stats")(document))
    )
    (both,) = claude.compare()
    assert both.text.startswith("result/error_during_execution, result/error_max_budget_usd, ")
    assert both.text.endswith("result/success: 2 fields vanished: duration_api_ms, subagent_stats")


def test_a_field_inside_an_entry_of_a_list(claude: Pair) -> None:
    def edit(document: dict[str, Any]) -> None:
        for block in blocks(document):
            if block["type"] == "tool_use":
                block["tool"] = block.pop("name")

    claude.lines(edit)
    changes = claude.compare()
    assert minds(changes) == ["tool_call.name is unknown"]
    paths = {change.how: change.text for change in changes if change.what == "field"}
    assert "message.content[tool_use].name" in paths["vanished"]
    assert "message.content[tool_use].tool" in paths["appeared"]


def test_a_field_that_is_of_another_type(codex: Pair) -> None:
    def edit(document: dict[str, Any]) -> None:
        if "usage" in document:
            document["usage"]["input_tokens"] = str(document["usage"]["input_tokens"])

    codex.lines(edit)
    lost, change = codex.compare()
    assert lost.minds == "usage.input_tokens is unknown"
    assert (change.how, change.name) == ("changed", "turn.completed")
    assert change.text.endswith("usage.input_tokens (number is now string)")


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
    ("newer", "text"),
    [({"price": 2}, ""), ({"worth": 2}, "usage.cost_usd is unknown")],
)
def test_a_field_that_moved_to_where_hydra_reads_it_too(
    scratch: Path, newer: dict[str, int], text: str
) -> None:
    for version, more in (("1.0.0", {"cost": 2}), ("2.0.0", newer)):
        folder = scratch / "claude" / version
        folder.mkdir(parents=True)
        (folder / "stream.a.jsonl").write_text(json.dumps({"type": "end", **more}) + "\n")
    changes = compare(ToyAdapter(), scratch / "claude/1.0.0", scratch / "claude/2.0.0")
    assert {change.how for change in changes if change.what == "field"} == {"vanished", "appeared"}
    assert minds(changes) == ([text] if text else [])


def test_models_as_keys_are_no_fields(claude: Pair) -> None:
    def edit(document: dict[str, Any]) -> None:
        for name in ("modelUsage", "model_usage_since_last_result"):
            if name in document:
                document[name] = {f"next-{key}": value for key, value in document[name].items()}

    claude.lines(edit)
    assert claude.compare() == []


def test_what_a_tool_takes_is_no_field(claude: Pair) -> None:
    def edit(document: dict[str, Any]) -> None:
        for block in blocks(document):
            if block.get("name") == "Bash":
                block["input"]["a_new_word"] = True

    claude.lines(edit)
    assert claude.compare() == []


# situations


def test_an_event_of_a_situation_that_one_side_lacks_is_no_drift(codex: Pair) -> None:
    for path in codex.new.glob("stream.sandbox-broken.*"):
        path.unlink()
    (codex.new / "stream.brand-new.jsonl").write_text('{"type":"weather"}\n')
    gone, come = codex.compare()
    assert gone.text == "not compared, only 1.0.0 has: a stream recorded by hand"
    assert come.text == "not compared, only 2.0.0 has: a stream recorded by hand"


PASSED = Proof(passed=True, status="completed", exit={"code": 0}, events=("message", "usage"))


def test_a_situation_that_comes_out_otherwise(codex: Pair) -> None:
    other = Proof(
        passed=False,
        status="failed",
        error="AgentFailed",
        error_reason="network",
        exit={"code": 1},
        events=("message",),
    )
    codex.record(codex.old, edit=PASSED, plan=PASSED, only_here=PASSED)
    codex.record(codex.new, edit=other, plan=PASSED)
    minded, not_compared, short = codex.compare()
    assert minded.text == (
        "situation edit: it ends as failed (AgentFailed/network), it was completed; the CLI ends"
        " with exit 1, it was exit 0; Hydra sees no usage any more"
    )
    assert minded.minds == "it does not go as Hydra expects"
    assert "only_here" in not_compared.text
    assert short.text == "events not compared, a side has kept no stream: edit, plan"


def test_a_situation_that_is_another_by_now_is_not_held_against_the_old_one(codex: Pair) -> None:
    codex.record(codex.old, edit=replace(PASSED, definition="another"))
    codex.record(codex.new, edit=replace(PASSED, passed=False, status="failed"))
    before, now = codex.compare()
    assert before.text == "not compared, only 1.0.0 has: edit as it was"
    assert now.text == "not compared, only 2.0.0 has: edit"


def test_what_was_refused_on_both_sides_is_not_missed(codex: Pair) -> None:
    refused = Proof(passed=True, status="not_started", error="UnsupportedFlag")
    codex.record(codex.old, no_network=refused)
    codex.record(codex.new, no_network=refused)
    assert codex.compare() == []


def test_situations_that_fail_for_what_no_record_holds_are_one_line(codex: Pair) -> None:
    codex.record(codex.old, edit=PASSED, plan=PASSED)
    failed = replace(PASSED, passed=False)
    codex.record(codex.new, edit=failed, plan=failed)
    change = next(change for change in codex.compare() if change.minds)
    assert change.text.endswith("not as expected any more: edit, plan")


def test_a_situation_that_both_expectations_allow_is_not_minded(codex: Pair) -> None:
    codex.record(codex.old, edit=PASSED)
    codex.record(codex.new, edit=Proof(passed=True, status="completed", exit={"code": 3}))
    change = next(change for change in codex.compare() if change.name == "edit")
    assert "exit 3" in change.text
    assert change.minds == ""


def test_what_hydra_minds_comes_first_and_nothing_twice(claude: Pair) -> None:
    claude.lines(without("total_cost_usd"))
    claude.lines(without("fast_mode_state"))
    claude.replace("help.txt", "--verbose", "--chatty")
    changes = claude.compare()
    answers = [bool(change.minds) for change in changes]
    assert answers == sorted(answers, reverse=True)
    assert len(set(changes)) == len(changes)
    assert changes == claude.compare()
    assert not any("\n" in change.text or "\n" in change.minds for change in changes)


def test_a_folder_that_is_not_there(claude: Pair) -> None:
    with pytest.raises(RecordError, match="nothing is recorded"):
        compare(registry.get("claude"), claude.old, claude.new.with_name("3.0.0"))


def recorded_versions() -> Iterator[tuple[str, str, str]]:
    for agent in NEWEST:
        names = sorted(path.name for path in (FIXTURES / agent).glob("*/"))
        yield from ((agent, old, new) for old in names for new in names if old != new)


@pytest.mark.parametrize(("agent", "old", "new"), list(recorded_versions()))
def test_any_two_recorded_versions_can_be_compared(agent: str, old: str, new: str) -> None:
    changes = compare(registry.get(agent), FIXTURES / agent / old, FIXTURES / agent / new)
    assert changes
    assert len({change.text for change in changes}) == len(changes)
