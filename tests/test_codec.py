"""Records to JSON and back: whole, whatever stands in them; nothing of another shape is taken."""

from __future__ import annotations

import json
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from hydra.adapters.proofs.records import Record
from hydra.checks.cross.record import _Run
from hydra.checks.cross.trial import NotTried
from hydra.checks.record import CheckFile
from hydra.errors import Failure, RecordError
from hydra.landing.completion import StandingLanding
from hydra.landing.journal import Journal, LandingStore
from hydra.landing.record import LandingRecord, landings
from hydra.process.identity import ProcessIdentity
from hydra.race.recovery import history
from hydra.race.verdict import recorded_verdict
from hydra.ranking.model import EndedRace, Verdict
from hydra.records.codec import as_json, dump, parse, shaped
from hydra.records.events import Event, decode, encode
from hydra.records.outcome import Outcome, Status, Usage
from hydra.records.plan import LanePlan, RaceManifest, RacePlan
from hydra.records.store.reader import RunRecord, as_record
from tests.support.documents import ANYTHING, documents, fits, places, put
from tests.support.earlier import ARCHIVES
from tests.support.sample_race import PLAN

RECORDS: tuple[type[Any], ...] = (
    RaceManifest,
    RacePlan,
    Event,
    Outcome,
    EndedRace,
    Verdict,
    CheckFile,
    _Run,
    NotTried,
    Journal,
    LandingRecord,
    StandingLanding,
    ProcessIdentity,
    Record,
)
"""Whatever is written and read back, of a run, of a landing and of a CLI that was tried."""


def read_back(document: dict[str, Any], kind: type[Any]) -> Any:
    return shaped(parse(dump(document).encode("ascii")), kind)


@pytest.mark.parametrize("kind", RECORDS)
@settings(max_examples=30)
@given(st.data())
def test_a_record_comes_back_whole(kind: type[Any], data: st.DataObject) -> None:
    record = shaped(data.draw(documents(kind)), kind)
    document = as_json(record)
    again = read_back(document, kind)
    assert again == record
    assert as_json(again) == document


@given(documents(Event))
def test_an_event_is_one_line_that_comes_back_whole(document: dict[str, Any]) -> None:
    event = shaped({**document, "v": 1}, Event)
    line = encode(event)
    assert line.isascii()
    assert line.splitlines(keepends=True) == [line]
    assert decode(line) == event


@settings(max_examples=50)
@given(documents(Outcome))
def test_an_outcome_comes_back_whole(document: dict[str, Any]) -> None:
    outcome = replace(shaped(document, Outcome), others=())
    document = outcome.document()
    again = read_back(document, Outcome)
    assert again == replace(outcome, attempts=again.attempts)
    assert again.document() == document


@settings(max_examples=50)
@given(documents(RacePlan))
def test_a_plan_comes_back_whole_but_for_what_is_in_memory_alone(document: dict[str, Any]) -> None:
    plan = shaped(document, RacePlan)
    document = plan.document()
    again = read_back(document, RacePlan)
    memory = {"promises": (), "mounters": (), "refused_network": "", "refused_layers": ""}
    assert again == replace(
        plan,
        prompt="",
        confinement=replace(plan.confinement, **memory),
        lanes=tuple(replace(lane, built=None) for lane in plan.lanes),
    )
    assert again.document() == document


def test_a_plan_shows_no_value_and_not_the_prompt() -> None:
    document = PLAN.document()
    assert "value-never-shown" not in dump(document)
    assert PLAN.prompt not in dump({**document, "title": "", "lanes": []})


@pytest.mark.parametrize("kind", RECORDS)
@settings(max_examples=60)
@given(st.data())
def test_what_is_of_another_type_is_taken_as_right_nowhere(
    kind: type[Any], data: st.DataObject
) -> None:
    document = as_json(shaped(data.draw(documents(kind)), kind))
    put(document, data.draw(st.sampled_from(list(places(document)))), data.draw(ANYTHING))
    message = ""
    try:
        shaped(document, kind)
    except ValueError as damage:
        message = str(damage)
    assert len(message.splitlines()) == 1 if message else fits(document, kind)


# --- documents as an earlier Hydra has written them, damaged ---------------------------------


@pytest.fixture(scope="module")
def run() -> Iterator[Path]:
    """The folder of a run whose landing was broken off, its journal beside its documents; of its
    events the first."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(ARCHIVES / "half-landed.tar.xz") as tar:
            names = (name for name in tar.getnames() if name.endswith((".json", ".jsonl")))
            tar.extractall(folder, list(map(tar.getmember, names)), filter="tar")
        (run,) = Path(folder).glob("state/*/runs/2*")
        (journal,) = Path(folder).glob("state/*/landing/journal.json")
        journal.rename(run / "journal.json")
        events = (run / "events.jsonl").read_bytes()
        (run / "events.jsonl").write_bytes(events.splitlines()[0])
        yield run


def whole_result(run: Path) -> Verdict | None:
    result = RunRecord(run).result
    return recorded_verdict(as_record(run / "result.json", result, EndedRace))


class Result(Struct):
    """What result.json is to one or another reader."""

    lanes: tuple[Outcome, ...]
    verdict: Verdict | UnsetType | None = UNSET


READ: Mapping[str, tuple[Callable[[Path], object], *tuple[type[Any], ...]]] = {
    "manifest.json": (lambda run: RunRecord(run).manifest, RaceManifest),
    "plan.json": (history.plan, RacePlan),
    "result.json": (whole_result, EndedRace, Result),
    "events.jsonl": (lambda run: list(RunRecord(run).events()), Event),
    "journal.json": (lambda run: LandingStore(run).read(), Journal),
}
"""Who reads each document, and what it is."""

NO_NUMBERS = ("NaN", "-Infinity", "1e999", "9" * 400, "9" * 5000)


def damaged(data: st.DataObject, how: str, document: dict[str, Any]) -> str:
    draw = data.draw
    spot = draw(st.sampled_from(list(places(document))))
    match how:
        case "cut":
            text = json.dumps(document)
            return text[: draw(st.integers(0, len(text) - 1))]
        case "no number":
            put(document, spot, "\0")
            literal = draw(st.sampled_from(NO_NUMBERS))
            return json.dumps(document).replace(json.dumps("\0"), literal)
        case "newer":
            name = "v" if "v" in document else "schema"
            return json.dumps({**document, name: document[name] + draw(st.integers(1, 99))})
        case "more":
            return json.dumps({**document, "colour": draw(ANYTHING)})
    put(document, spot, draw(ANYTHING))
    return json.dumps(document)


@pytest.mark.parametrize("how", ["cut", "no number", "newer", "more", "another value"])
@pytest.mark.parametrize("name", READ)
@settings(max_examples=30)
@given(st.data())
def test_a_damaged_document_is_one_error_or_right(
    name: str, how: str, run: Path, data: st.DataObject
) -> None:
    path = run / name
    read, *kinds = READ[name]
    was = path.read_bytes()
    text = damaged(data, how, json.loads(was))
    path.write_text(f"{text}\n")
    error: RecordError | None = None
    try:
        read(run)
    except RecordError as raised:
        error = raised
    finally:
        path.write_bytes(was)
    if error is None:
        assert how in ("more", "another value")
        assert [kind for kind in kinds if not fits(json.loads(text), kind)] == []
    else:
        assert how != "more"
        assert error.exit_code == 6
        assert len(error.message.splitlines()) == 1
        assert error.hint
        assert how != "newer" or "newer Hydra" in error.message


DAMAGES = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00",
    "another value": b"[]",
    "too deep": b"[" * 200_000,
    "no schema": b"{}",
    "a schema of another type": b'{"schema": "1"}',
    "a schema that is a word": b'{"schema": true}',
}


@pytest.mark.parametrize("data", DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.parametrize("name", READ)
def test_damage_is_one_error_whatever_it_is(run: Path, name: str, data: bytes) -> None:
    path = run / name
    was = path.read_bytes()
    path.write_bytes(data + b"\n")
    try:
        with pytest.raises(RecordError) as raised:
            READ[name][0](run)
    finally:
        path.write_bytes(was)
    assert raised.value.exit_code == 6
    assert name.partition(".")[0] in raised.value.message
    assert raised.value.hint


def test_a_value_that_is_none_of_ours_is_told_in_a_line() -> None:
    with pytest.raises(ValueError, match="Invalid enum value") as raised:
        shaped({"lane": "a", "attempt": 1, "status": "x\nhint: y\n" * 90}, Outcome)
    message = str(raised.value)
    assert len(message) == 200
    assert "\n" not in message
    assert message.endswith(" - at `$.status`")


@pytest.mark.parametrize("name", ["/a\0b", "/a\ud800"])
@pytest.mark.parametrize("kind", [RaceManifest, EndedRace])
def test_what_no_disk_can_bear_is_no_name(kind: type[Any], name: str) -> None:
    assert shaped({"repository": "/a\udcff"}, kind).repository == "/a\udcff"
    with pytest.raises(ValueError, match=r"at `\$.repository`"):
        shaped({"repository": name}, kind)


def test_a_record_in_itself_thousands_of_times_is_damage() -> None:
    document: dict[str, Any] = {"check": "a", "status": "passed"}
    for _ in range(20_000):
        document = {"check": "a", "status": "passed", "again": document}
    with pytest.raises(ValueError, match="recursion"):
        shaped(document, CheckFile)


def test_a_landing_that_a_newer_hydra_has_recorded_is_left_out(run: Path) -> None:
    document = json.loads((run / "journal.json").read_bytes())["document"]
    (run / "landings").mkdir()
    for schema in (1, 2):
        path = run / "landings" / f"{schema}.json"
        path.write_text(json.dumps({**document, "schema": schema}))
    assert [landing.schema for landing in landings(run)] == [1]


def test_what_a_later_hydra_adds_is_passed_over() -> None:
    document = {**PLAN.document(), "colour": "blue"}
    document["lanes"][0]["mood"] = {"good": True}
    again = read_back(document, RacePlan)
    assert isinstance(again.lanes[0], LanePlan)
    assert again.document() == PLAN.document()


def test_a_number_that_is_none_is_null() -> None:
    outcome = Outcome(
        lane="a",
        attempt=1,
        status=Status.FAILED,
        failure=Failure(kind="k", message="m", numbers={"limit": float("nan")}),
        usage=Usage(cost_usd=float("inf")),
    )
    document = outcome.document()
    assert document["error"]["numbers"] == {"limit": None}
    assert document["usage"]["cost_usd"] is None
    assert read_back(document, Outcome).failure.numbers == {"limit": None}
