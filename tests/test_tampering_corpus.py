"""What a patch did to the tests that were there: cheats are named, honest work is not.

The rows are data in fixtures/tampering/corpus.json: the files of a patch, before and after, whether
it is honest, and the answer to it. A text is written out, or is one of `texts`, or one of these
with a piece of it replaced.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.patches import found

CORPUS = json.loads(
    (Path(__file__).parents[1] / "fixtures/tampering/corpus.json").read_text("utf-8")
)
TEXTS = {name: "".join(f"{line}\n" for line in lines) for name, lines in CORPUS["texts"].items()}
KINDS = (
    "assertion_removed",
    "assertion_weakened",
    "expectation_changed",
    "skip_added",
    "expected_failure_added",
    "test_deleted",
)
Text = str | dict[str, str] | None


def text_of(text: Text) -> str | None:
    """A text of a row, written out."""
    if isinstance(text, dict):
        base = TEXTS[text["of"]]
        assert text["cut"] in base
        return base.replace(text["cut"], text["put"], 1)
    return TEXTS[text[6:]] if text and text.startswith("text: ") else text


@pytest.mark.parametrize("row", CORPUS["rows"], ids=[row["name"] for row in CORPUS["rows"]])
def test_the_answer_to_it(row: dict[str, Any]) -> None:
    files = [(path, text_of(old), text_of(new)) for path, old, new in row["files"]]
    findings = [finding for finding in found(*files) if finding.kind in KINDS]
    weights = {finding.weight for finding in findings}
    answer = next((weight for weight in ("gate", "suspect") if weight in weights), "")
    assert not (row["honest"] and answer == "gate")
    kinds = sorted({finding.kind for finding in findings if finding.weight == answer})
    assert (answer, kinds) == (row["answer"], row["kinds"]), findings
    assert all(finding.text and "\n" not in finding.text for finding in findings)
