"""What a plan says of flags that nothing proves: by this version's help and the versions that were
tried, for every adapter by one function."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.flag_proof import unproved_flags
from hydra.adapters.plugins import problem
from hydra.conformance.contract.requests import EXTRA, REQUESTS, request
from hydra.conformance.recorded import Recording, recordings, root
from hydra.errors import AgentError
from hydra.records.agent import BuiltCommand, DetectResult
from hydra.records.plan import Confinement
from tests.support import fakes
from tests.support.command import Hydra
from tests.test_plan import Toy, known

RUNNABLE = registry.everyone()
TRIED = [adapter for adapter in RUNNABLE if adapter.descriptor.minimum_version]


def newest(adapter: Adapter) -> Recording:
    return recordings(root(), adapter.key())[-1]


def detected(adapter: Adapter, recording: Recording | None = None) -> DetectResult:
    descriptor = adapter.descriptor
    answers = (recording or newest(adapter)).probes(descriptor.probes)
    return adapter.detect(f"/bin/{descriptor.binaries[0]}", answers)


def lines(adapter: Adapter, result: DetectResult) -> Iterator[tuple[str, BuiltCommand]]:
    """Every line that it builds, by what was asked for."""
    for name, changes in REQUESTS.items():
        if changes.get("effort", "") and not adapter.descriptor.efforts:
            continue
        try:
            yield name, adapter.build_command(request(**changes), result)
        except AgentError:
            continue


@pytest.mark.parametrize("adapter", TRIED, ids=Adapter.key)
def test_all_flags_of_the_newest_tried_version_are_proved(adapter: Adapter) -> None:
    """Whatever is asked for: no plan of a version that was tried cries wolf."""
    result = detected(adapter)
    asked_for = 0
    for name, built in lines(adapter, result):
        own = [arg for arg in built.args if arg not in EXTRA]
        assert unproved_flags(adapter, result, own) == [], name
        asked_for += 1
    assert asked_for >= 10


@pytest.mark.parametrize("adapter", TRIED, ids=Adapter.key)
def test_a_flag_that_its_help_does_not_show_is_named(adapter: Adapter) -> None:
    result = detected(adapter)
    built = adapter.build_command(request(extra_args=EXTRA), result)
    (warning,) = unproved_flags(adapter, result, built.args)
    assert "does not show --made-up-extra in its help" in warning
    assert adapter.descriptor.label in warning


@pytest.mark.parametrize("adapter", TRIED, ids=Adapter.key)
@pytest.mark.parametrize("version", ["0.0.1", ""])
def test_of_a_version_that_was_not_tried_the_flags_that_carry_anything_are_named(
    adapter: Adapter, version: str
) -> None:
    """By what the adapter's own capabilities lose without them; those that carry none are not."""
    result = replace(detected(adapter), version=version)
    built = adapter.build_command(request(), result)
    carried = [
        flag
        for flag in result.flags
        if adapter.capabilities(result.flags) != adapter.capabilities(result.flags - {flag})
    ]
    shown = {arg.partition("=")[0] for arg in built.args}
    warned = " ".join(unproved_flags(adapter, result, built.args))
    for flag in carried:
        assert (re.search(rf"{flag}[, ]", warned) is not None) == (flag in shown), flag


def test_one_that_nobody_has_run_is_warned_of_by_the_same_rule() -> None:
    """Cursor's adapter has no list of its own for that: it names no version that was tried."""
    adapter = registry.get("cursor-agent")
    result = detected(adapter)
    built = adapter.build_command(request(), result)
    assert unproved_flags(adapter, result, built.args) == [
        "--print, --output-format, --force of Cursor Agent 2026.10.01-e373342 may not work:"
        " no version of it was tried"
    ]
    assert not any("tried" in warning for warning in built.warnings)


@pytest.mark.parametrize(
    ("version", "warned"),
    [("2.1.197", 0), ("2.1.330", 0), ("2.1.331", 1), ("2.1.196", 2), ("", 2)],
)
def test_a_hidden_flag_is_proved_for_the_versions_in_which_it_was_seen_to_work(
    version: str, warned: int
) -> None:
    adapter = registry.get("claude")
    result = replace(detected(adapter), version=version)
    args = adapter.build_command(request(**REQUESTS["a budget"]), result).args
    assert "--max-turns" in args
    warnings = unproved_flags(adapter, result, args)
    assert len(warnings) == warned
    assert all("--max-turns" in warning for warning in warnings[:1])


def test_what_follows_two_dashes_or_is_a_text_is_no_flag() -> None:
    adapter = registry.get("claude")
    result = detected(adapter)
    args = ["--print", "--", "--no-such-flag", "-x", "--odd text"]
    assert unproved_flags(adapter, result, args) == []
    assert unproved_flags(adapter, result, ["--odd text", "--x=--y"]) == [
        "Claude Code 2.1.330 does not show --x in its help: not known to work in it"
    ]


def test_a_third_partys_table_of_hidden_flags_is_looked_at() -> None:
    toy = Toy("toy")
    toy.descriptor = replace(toy.descriptor, hidden_flags={"--x": "1.0"})  # type: ignore[dict-item]
    assert "hidden_flags" in problem(toy, "toy")


def test_a_required_flag_that_is_gone_refuses_its_lane_only() -> None:
    """Nothing is warned of there: the lane will not start, and says why."""
    from hydra.race.plan import make

    adapters = {key: registry.get(key) for key in ("claude", "codex")}
    results = {key: detected(adapter) for key, adapter in adapters.items()}
    without = {flag for flag in results["claude"].flags if not flag.startswith("--output-format")}
    results["claude"] = replace(results["claude"], flags=frozenset(without))
    toys = known(Toy("claude"), Toy("codex"), confinement=Confinement(kind="bwrap"))
    plan = make(replace(toys, adapters=adapters, detections=results))
    assert [lane.failure and lane.failure.kind for lane in plan.lanes] == ["UnsupportedFlag", None]
    assert [lane.warnings for lane in plan.lanes] == [(), ()]


# --- as a person meets it ------------------------------------------------------------------------


@pytest.mark.slow
def test_it_is_said_in_the_plan_as_the_race_begins_and_in_json(scratch: Path, repo: Path) -> None:
    hydra = Hydra(scratch, repo)
    steps = [fakes.edit("a.txt", "x\n"), fakes.finish("done")]
    hydra.agent("claude", steps, checks_options=False)
    (hydra.home / "hydra.toml").write_text('[agents.claude]\nargs = ["--new-thing"]\n')
    sentence = "does not show --new-thing in its help: not known to work in it"
    planned = hydra.run("race", "Do it", "--dry-run")
    assert sentence in " ".join(planned.stdout.split())
    race = hydra.race()
    assert sentence in race.stderr
    assert [text for text in race.lane("claude")["warnings"] if sentence in text]
    warned = [event["data"]["text"] for event in hydra.events() if event["kind"] == "lane_warning"]
    assert [text for text in warned if sentence in text]
