from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters.proofs import records
from hydra.adapters.proofs.records import Proof, Record, digest
from hydra.conformance import notes
from hydra.errors import ConfigError, RecordError
from tests.support.sample_records import keep, of_today, proof, record

WHOLE = of_today(
    record(
        situations={
            "edit": Proof(
                passed=True,
                status="completed",
                exit={"code": 0},
                events=("progress/session", "tool_call", "completed"),
                usage={"input_tokens": True, "cost_usd": False},
                patch={"src/a.py": "M"},
                stream="stream.edit.jsonl",
                proves=("edit", "stream"),
            ),
            "dropped": Proof(
                passed=False, status="failed", error="AgentFailed", error_reason="stream"
            ),
        },
        contract={"lines.model": True, "streams.cut": False},
    )
)


def test_a_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = records.write(tmp_path / "claude" / "2.1.330", WHOLE)
    assert path == tmp_path / "claude" / "2.1.330" / "record.linux.0.1.0.json"
    assert records.read_all(tmp_path, "claude") == [WHOLE]
    assert json.loads(path.read_text())["schema"] == 1
    assert [path.name for path in path.parent.iterdir()] == [path.name]


def test_what_was_met_in_another_situation_was_not_tried(tmp_path: Path) -> None:
    """The text of `outside` was another then; of `plan` it was not kept; there is no `gone` any
    more; `edit` is as it was."""
    names = ("edit", "outside", "plan", "gone")
    met = of_today(record(situations={name: proof("edit") for name in names}))
    situations = {
        "gone": met.situations["gone"],
        "edit": met.situations["edit"],
        "outside": replace(met.situations["outside"], definition="0123456789abcdef"),
        "plan": replace(met.situations["plan"], definition=""),
    }
    path = records.write(tmp_path / "claude" / "2.1.330", replace(met, situations=situations))
    (entry,) = records.read_all(tmp_path, "claude")
    assert list(entry.situations) == ["edit"]
    assert list(records.read(path).situations) == ["edit", "gone", "outside", "plan"]


def test_a_situation_is_another_by_what_is_done_or_expected_in_it() -> None:
    data = {"about": "a", "turn": [{"say": "A"}], "expect": {"exit": 0, "codex": {"exit": 1}}}
    was = digest(data, {}, {"codex"})
    assert digest({**data, "about": "b", "expect": {"exit": 0}}, {}, {"codex"}) == was
    assert digest({**data, "turn": [{"say": "B"}]}, {}, {"codex"}) != was
    assert digest({**data, "expect": {"exit": 2}}, {}, {"codex"}) != was
    assert digest(data, {"turn": [{"say": "A"}]}, {"codex"}) != was


def test_the_same_facts_are_the_same_bytes_in_whatever_order_they_came() -> None:
    turned = replace(
        WHOLE,
        situations=dict(reversed(list(WHOLE.situations.items()))),
        contract=dict(reversed(list(WHOLE.contract.items()))),
    )
    assert records.text(turned) == records.text(WHOLE)


def test_versions_are_ordered_as_numbers_and_a_beta_comes_before_its_release(
    tmp_path: Path,
) -> None:
    for version in ("2.1.9", "2.1.330", "2.1.330-beta.2", "10.0.0", "2.1.197"):
        keep(tmp_path, record(version))
    names = [entry.version for entry in records.read_all(tmp_path, "claude")]
    assert names == ["2.1.9", "2.1.197", "2.1.330-beta.2", "2.1.330", "10.0.0"]
    assert records.read_all(tmp_path, "codex") == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"schema": 2}, "from a newer Hydra (schema 2"),
        ({"agent": 3}, "Expected `str`, got `int` - at `$.agent`"),
        ({"situations": {"edit": {"status": "completed"}}}, "missing required field `passed`"),
        ({"situations": {"edit": {"passed": True, "proves": [1]}}}, "[...].proves[0]`"),
        ({"version": "2.1.331"}, "says that it is record.linux.0.1.0.json of 2.1.331"),
        ({"platform": "macos"}, "says that it is record.macos.0.1.0.json"),
    ],
)
def test_a_damaged_or_newer_record_is_named(
    tmp_path: Path, change: dict[str, object], text: str
) -> None:
    path = records.write(tmp_path / "claude" / "2.1.330", WHOLE)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(RecordError) as error:
        records.read_all(tmp_path, "claude")
    assert text in error.value.message
    assert "claude/2.1.330/record.linux.0.1.0.json" in error.value.message
    assert error.value.hint


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, "\udcff"])
def test_what_is_no_record_is_an_error_and_no_traceback(tmp_path: Path, text: str) -> None:
    path = records.write(tmp_path / "claude" / "2.1.330", WHOLE)
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(RecordError):
        records.read(path)


@pytest.mark.parametrize("field", ["agent", "version", "hydra", "platform"])
def test_a_name_that_leads_elsewhere_is_not_written(tmp_path: Path, field: str) -> None:
    for bad in ("../up", "a/b", "", ".hidden", "a b", "x" * 200):
        changed = {**{f: getattr(WHOLE, f) for f in WHOLE.__struct_fields__}, field: bad}
        with pytest.raises(RecordError):
            records.write(tmp_path / "2.1.330", Record(**changed))
    assert list(tmp_path.iterdir()) == []


def test_issues_are_a_list_or_unknown(tmp_path: Path) -> None:
    assert notes.issues(tmp_path, "claude") is None
    path = tmp_path / "claude" / "issues.toml"
    path.parent.mkdir()
    path.write_text("")
    assert notes.issues(tmp_path, "claude") == ()
    path.write_text('[[open]]\npriority = "P1"\ntitle = "It hangs"\nsince = 2026-11-22\n')
    assert notes.issues(tmp_path, "claude") == (
        notes.Issue(priority="P1", title="It hangs", since="2026-11-22"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "open",
        "open = [3]",
        '[[opened]]\npriority = "P1"\ntitle = "x"',
        '[[open]]\npriority = "high"\ntitle = "x"',
        '[[open]]\npriority = "P1"',
        '[[open]]\npriority = "P1"\ntitle = "x"\nprio = 1',
    ],
)
def test_a_list_of_issues_with_a_slip_is_an_error_and_never_no_issues(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "claude" / "issues.toml"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        notes.issues(tmp_path, "claude")
    assert "claude/issues.toml" in error.value.message


def test_a_note_has_something_under_each_heading(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    for text, whole in (
        ("## Shape\n\nx\n\n## Risks\n\ny\n", True),
        ("## Shape\n\n## Risks\n\ny\n", False),
        ("## Shape\n\nx\n\n## Risks\n", False),
        ("x\n\n## Risks\n\ny\n", False),
    ):
        (tmp_path / "toy" / "note.md").write_text(text)
        assert notes.noted(tmp_path, "toy") is whole
    assert not notes.noted(tmp_path, "other")
