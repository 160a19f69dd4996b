"""Agents that Hydra knows of and does not run: unknown, with why, and refused with a next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra.adapters import registry, unsupported
from hydra.adapters.contract import Adapter
from hydra.errors import UnsupportedFlag, UsageError
from hydra.records.agent import DetectResult, ProbeOutput, SpawnRequest
from hydra.report.doctor import doctor_text
from hydra.report.listing import AgentRow, agents_table

NAMES = [unrunnable.key() for unrunnable in unsupported.ADAPTERS]


@pytest.mark.parametrize("name", NAMES)
def test_a_race_that_asks_for_one_is_refused_even_where_experimental_ones_are_allowed(
    name: str,
) -> None:
    lanes = registry.lanes([name])
    with pytest.raises(UsageError) as refused:
        registry.check_experimental(lanes, registry.OWN, allowed=True)
    assert registry.OWN[name].descriptor.unrunnable in refused.value.message
    assert "hydra agents" in refused.value.hint


@pytest.mark.parametrize("adapter", unsupported.ADAPTERS, ids=NAMES)
def test_its_line_is_refused_by_name(adapter: Adapter) -> None:
    result = DetectResult(adapter=adapter.key(), binary=Path("/opt/x"))
    with pytest.raises(UnsupportedFlag) as refused:
        adapter.build_command(SpawnRequest(prompt="a", worktree=Path("/lane/shop")), result)
    assert refused.value.failure.reason == "unrunnable"
    assert adapter.descriptor.label in refused.value.message


def test_it_is_found_and_still_not_ready() -> None:
    version = ProbeOutput(
        name="version",
        argv=("amp", "--version"),
        exit_code=0,
        stdout="0.0.1790142911-g7618fb (released 2026-09-23T05:55:11.000Z, 2mo ago)\n",
    )
    result = unsupported.AMP.detect("/opt/amp", {"version": version})
    assert (result.version, result.ready) == ("0.0.1790142911-g7618fb", False)
    assert result.error is not None
    assert result.error.reason == "unrunnable"


def test_the_lists_say_unknown_and_why_and_do_not_count_it() -> None:
    row = AgentRow(descriptor=unsupported.AMP.descriptor, detection=None)
    assert "not run: it works only signed in" in agents_table([row], width=None)
    text = doctor_text([], [row], width=None)
    assert text == "\nno agent is ready\n"
