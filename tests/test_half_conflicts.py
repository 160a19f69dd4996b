"""What is left of a conflict that was resolved by half."""

from __future__ import annotations

import pytest

from hydra.analysis.tampering.conflict_markers import conflict_markers
from tests.support.evidences import file
from tests.support.tables import table

TABLE = table("half_conflicts")


def told(path: str, old: str | None, new: str) -> list[str]:
    return [finding.text for finding in conflict_markers([file(path, old, new)])]


@pytest.mark.parametrize(("path", "new"), TABLE["left"])
def test_a_marker_that_was_left_in_code_is_told(path: str, new: str) -> None:
    assert told(path, "", new) == [f"leaves a conflict marker in {path}"]
    assert told(path, new, new + "\n") == []


@pytest.mark.parametrize(("path", "new"), TABLE["none_left"])
def test_an_underline_and_a_quotation_are_no_markers(path: str, new: str) -> None:
    assert told(path, "", new) == []
