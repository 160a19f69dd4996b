"""Documents, and what golden screens (tests/support/screens.py) do not say of words and tables."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra import errors
from hydra.cli.streams import lines_width
from hydra.records.codec import dump
from hydra.records.events import AGENT_KINDS, decode, encode
from hydra.report import text
from hydra.report.document import plan_document
from hydra.report.runs import RaceCost, spending
from hydra.report.stream import JsonLines, PlainLines
from hydra.report.table import Column, StyledText, table
from tests.support import verdicts
from tests.support.rendering import Document, as_race, compare_text, race_end, summary, table_text
from tests.support.sample_race import PLAN, RESULT, Tape
from tests.support.screens import four

DOCS = Path(__file__).parent.parent / "docs" / "reference"
OWN = re.compile(
    r"mergeable|\bgates?\b|weigh|put back|base's own|usable|verdict|trial", re.IGNORECASE
)


@pytest.mark.parametrize("width", [80, 120, None])
def test_four_lanes_have_twelve_lines_and_no_word_of_hydras_own(width: int | None) -> None:
    shown = race_end(four(), width=width)
    assert len(shown.splitlines()) <= 12
    assert not OWN.search(shown)
    assert width is None or max(map(text.width, shown.splitlines())) <= width


@pytest.mark.parametrize("width", [60, 110])
def test_a_line_to_type_is_whole_in_the_column_of_reasons(width: int) -> None:
    document = four()
    lane = document["verdict"]["lanes"][1]
    line = "hydra check -r 20261121t203415-k3f --setup 'pip install -r requirements.txt'"
    why = f"its dependencies changed (requirements.txt) and were not installed: {line} tests them"
    lane |= {"state": "untested", "reason": why, "gates": []}
    lane["reasons"] = [verdicts.reason("base", why)]
    document["lanes"][1]["held_back"] = [why]
    for screen in (
        race_end(document, width=width),
        compare_text(document["verdict"], width=width),
        summary(document, width=width),
        table_text(document, width=width, color=False),
    ):
        assert line in screen, screen
        assert why in " ".join(screen.split()), screen


def test_a_table_in_a_pipe_is_never_cut() -> None:
    lines = table([["x" * 300, "y"]], [Column("a", least=4), Column("b", wraps=True)], None, False)
    assert lines == [f"  {'a':300}  b", f"  {'x' * 300}  y"]


def test_cells_are_cleaned_before_they_are_styled() -> None:
    (line,) = table([[StyledText("\x1b[2Jx", "bad")]], [Column("a")], 40, True, header=False)
    assert line == "  \x1b[31m^[[2Jx\x1b[0m"


def test_the_record_gives_the_same_summary() -> None:
    recorded = json.loads(dump(RESULT.document(PLAN)))
    assert summary(recorded, width=80) == summary(RESULT.document(PLAN), width=80)


def test_an_error_in_a_log_is_not_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")  # a runner of tests or jobs may set it
    with Path(os.devnull).open("w") as log:
        assert lines_width(log) is None


def attempt(stated: float | None, reckoned: float | None = None) -> Document:
    estimate = reckoned and {"cost_usd": reckoned, "prices_of": None, "source": ""}
    usage = {"cost_usd": stated}
    return {"attempt": 1, "status": "failed", "usage": usage, "usage_estimate": estimate}


@pytest.mark.parametrize(
    ("lanes", "total"),
    [
        ([], RaceCost(None, whole=True)),
        ([attempt(None)], RaceCost(None, whole=False)),
        ([attempt(0.5), attempt(0.25)], RaceCost(0.75, whole=True)),
        ([attempt(0.5), attempt(None)], RaceCost(0.5, whole=False)),
        ([attempt(0.5), attempt(None, 1.0)], RaceCost(1.5, whole=True, reckoned=True)),
        ([{"attempts": [attempt(0.5), attempt(0.5)]}], RaceCost(1.0, whole=True)),
    ],
)
def test_every_try_of_every_lane_counts(lanes: list[Document], total: RaceCost) -> None:
    race = {"lanes": [{"lane": "a", "status": "failed", **lane} for lane in lanes]}
    assert spending(as_race(race)) == total


def test_no_value_of_the_environment_is_in_a_document() -> None:
    for document in (RESULT.document(PLAN), plan_document(PLAN)):
        assert "value-never-shown" not in dump(document)
    lane = json.loads(dump(plan_document(PLAN)))["lanes"][0]
    assert lane["command"]["environment_set"] == ["CI"]
    assert lane["environment_passed"] == ["ANTHROPIC_API_KEY", "PATH"]
    assert lane["command"]["stdin"] is True


def test_a_hostile_message_stays_whole_and_ascii() -> None:
    line = "\x1b]52;c;x\x07\x7f\u202e\ud800\u2028"
    hostile = replace(RESULT.outcomes[0], message=line)
    text = dump(replace(RESULT, outcomes=(hostile,)).document(PLAN))
    assert all(name == "\n" or 0x20 <= ord(name) < 0x7F for name in text)
    assert json.loads(text)["lanes"][0]["message"] == line


def rows(page: str) -> set[str]:
    return set(re.findall(r"^\| `([A-Za-z_]+)` \|", (DOCS / page).read_text(), re.MULTILINE))


def test_every_kind_of_an_agents_events_is_documented() -> None:
    assert {*AGENT_KINDS} <= rows("events.md")
    assert len(AGENT_KINDS) == 7


def test_every_exit_code_and_error_kind_is_documented() -> None:
    text = (DOCS / "exit-codes.md").read_text()
    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert codes <= {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    assert set(errors.KINDS) <= rows("exit-codes.md")


def test_a_closing_line_is_told_when_it_is_said_and_not_again_at_the_end() -> None:
    e = Tape()
    lines: list[str] = []
    printer = PlainLines(lines.append)
    for fact in (
        e(1.0, "progress", "x", "closing", ok=True, text="done"),
        e(9.0, "completed", "x", text="done"),
        e(9.5, "agent_started", "x"),
        e(11.0, "completed", "x", text="done"),
    ):
        printer.event(fact)
    assert [line.split()[0] for line in lines if "says it is done" in line] == ["0:01", "0:11"]


def test_events_go_out_as_they_are_recorded() -> None:
    out = io.BytesIO()
    lines = JsonLines(out.write)
    hostile = Tape()(1.0, "message", "x", text="\x1b]52;c;x\x07\x7f\x9b\u202e\ud800\u2028\n")
    lines.event(hostile)
    lines.tick(1.0)
    lines.close()
    sent = out.getvalue()
    assert sent == encode(hostile)
    assert all(0x20 <= byte < 0x7F for byte in sent[:-1])
    assert decode(sent) == hostile
    lines.lines(sent + sent)
    assert out.getvalue() == sent * 3


def test_a_record_that_somebody_else_wrote_to_is_safe_on_a_terminal() -> None:
    out = io.BytesIO()
    output = encode(Tape()(1.0, "message", "x", text="ESC"))
    JsonLines(out.write).lines(output + output.replace(b"ESC", "\x7f\u202e\x9b".encode()))
    first, second = out.getvalue().splitlines(keepends=True)
    assert first == output
    assert second == output.replace(b"ESC", b"\\u007f\\u202e\\u009b")
