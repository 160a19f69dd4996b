"""What is decided before anything runs: a variable that is replaced, and a race's title."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace

from hydra.race import plan
from hydra.race.lane_plan import PlanInputs
from tests.support.sample_race import PLAN


@pytest.mark.parametrize(
    ("value", "warned"), [('{"share": "disabled"}', True), ("1", False), ("/some/place", False)]
)
def test_a_variable_of_the_user_that_is_replaced_is_named_once(value: str, warned: bool) -> None:
    lane = PLAN.lanes[1]
    assert lane.built
    setting = replace(lane, built=replace(lane.built, env=(("TOY_X_Y", value), ("OWN", value))))
    inputs = cast(PlanInputs, SimpleNamespace(environment_names=("PATH", "TOY_X_Y")))
    warnings = plan._replaced(inputs, replace(PLAN, lanes=(setting, setting)))
    assert warnings == ["your TOY_X_Y is not used: Hydra sets it for Codex"] * warned


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("---\n# Add  retries\n\nAll calls should ...", "Add retries"),
        ("```python\nx = 1\n```\n- Mend `f`", "x = 1"),
        ("- ", "-"),
        ("word " * 40, "word " * 11 + "..."),
        ("x" * 200_000, "x" * 56 + " ..."),
        ("*" * 200_000, "*" * 56 + " ..."),
    ],
)
def test_a_title_is_the_task_s_first_line(prompt: str, text: str) -> None:
    assert plan.title(prompt) == text
