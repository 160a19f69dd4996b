"""Records to JSON and back: whole, whatever stands in them; nothing of another shape is taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import convert
from msgspec.structs import replace

from hydra.errors import Failure, RecordError
from hydra.landing.journal import LandingStore
from hydra.records.agent import Origin
from hydra.records.codec import dump, parse, shaped
from hydra.records.outcome import (
    Estimate,
    ExitStatus,
    Outcome,
    Patch,
    Remark,
    Status,
    Usage,
)
from hydra.records.plan import CheckPlan, LanePlan, RacePlan, Rates, RemotePlace
from hydra.records.request import Budget, Check, Limits, Permission, Retry, TrialCap
from hydra.records.store.reader import read_record
from tests.support.sample_race import PLAN, lane_plan

text = st.text(st.characters(exclude_categories=()), max_size=8)  # lone surrogates too
texts = st.lists(text, max_size=3).map(tuple)
path = text.map(lambda name: Path("/") / name.replace("\0", "").replace("/", ""))
number = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
limit = st.none() | number

failures = st.builds(
    Failure,
    kind=text,
    message=text,
    adapter=text,
    command=texts,
    stderr=text,
    hint=text,
    reason=text,
    numbers=st.dictionaries(text, number, max_size=2),
)
patches = st.builds(
    Patch,
    commit=text,
    base=text,
    files=st.integers(0, 3),
    incomplete=text,
    notes=texts,
    left_behind=st.integers(0, 2),
    stranded=texts,
    remarks=st.lists(st.builds(Remark, text, text, text), max_size=2).map(tuple),
)
outcomes = st.builds(
    Outcome,
    lane=text,
    attempt=st.integers(1, 9),
    status=st.sampled_from(Status),
    held_back=texts,
    checks=st.lists(st.dictionaries(text, text, max_size=2), max_size=2).map(tuple),
    failure=st.none() | failures,
    patch=st.none() | patches,
    usage=st.builds(Usage, input_tokens=st.none() | st.integers(), cost_usd=limit),
    usage_estimate=st.none() | st.builds(Estimate, number, st.none() | text, text),
    seconds=st.floats(0, 1e9),
    session=text,
    message=text,
    plan=st.none() | text,
    exit=st.none() | st.builds(ExitStatus, code=st.none() | st.integers(0, 255), survivors=texts),
    warnings=texts,
)
lanes = st.builds(
    replace,
    st.sampled_from([lane_plan("claude", "claude"), lane_plan("codex", "codex")]),
    id=text,
    model=st.none() | text,
    profile=st.none() | text,
    origin=st.none() | st.builds(Origin, text, st.none() | text, st.none() | text),
    worktree=path,
    remote=st.none() | st.builds(RemotePlace, text, text, text, text),
    budget=st.builds(Budget, turns=st.none() | st.integers(0), cost_usd=limit),
    rates=st.none() | st.builds(Rates, number, number, limit, st.none() | st.integers(), text),
    env_names=texts,
    failure=st.none() | failures,
    warnings=texts,
)
checks = st.builds(Check, text, text, text, st.booleans(), text, st.booleans())
plans = st.builds(
    replace,
    st.just(PLAN),
    repository=path,
    title=text,
    network=st.none() | st.booleans(),
    left_out=st.lists(failures, max_size=2).map(tuple),
    promises=texts,
    lanes=st.lists(lanes, min_size=1, max_size=2).map(tuple),
    permission=st.sampled_from(Permission),
    limits=st.builds(Limits, idle=number, raw_bytes=st.integers()),
    copies=texts,
    python_path=texts,
    setup=texts,
    checking=st.builds(
        CheckPlan,
        commands=st.lists(checks, max_size=2).map(tuple),
        on_host=texts,
        trials=st.builds(TrialCap, st.integers(), number),
    ),
    retry=st.builds(Retry, times=st.integers(), on=texts, wait=number),
    warnings=texts,
)


def read_back(document: dict[str, Any], kind: type[Any]) -> Any:
    return shaped(parse(dump(document).encode("ascii")), kind)


@given(outcomes)
def test_an_outcome_comes_back_whole(outcome: Outcome) -> None:
    document = outcome.document()
    again = read_back(document, Outcome)
    assert again == replace(outcome, attempts=again.attempts)
    assert again.document() == document


@given(plans)
def test_a_plan_comes_back_whole_but_for_what_is_in_memory_alone(plan: RacePlan) -> None:
    document = plan.document()
    again = read_back(document, RacePlan)
    assert again == replace(
        plan,
        prompt="",
        confinement=replace(plan.confinement, promises=()),
        lanes=tuple(replace(lane, built=None) for lane in plan.lanes),
    )
    assert again.document() == document
    assert "value-never-shown" not in dump(document)
    assert plan.prompt not in dump({**document, "title": "", "lanes": []})


def anything() -> st.SearchStrategy[Any]:
    values = st.none() | st.booleans() | number | text
    return st.recursive(
        values, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2)
    )


def places(value: object, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a document, its lists and objects too."""
    rows = list(enumerate(value)) if isinstance(value, list) else []
    inner = list(value.items()) if isinstance(value, dict) else rows
    return [here, *(place for key, part in inner for place in places(part, (*here, key)))]


@settings(max_examples=200)
@given(st.data())
def test_what_is_of_another_type_is_taken_as_right_nowhere(data: st.DataObject) -> None:
    lane = replace(PLAN.lanes[0], failure=Failure(kind="a", message="b", numbers={"limit": 1.0}))
    document = replace(PLAN, lanes=(lane,)).document()
    place = data.draw(st.sampled_from(places(document)[1:]))
    value, target = data.draw(anything()), document
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    try:
        again = shaped(document, RacePlan)
    except ValueError:
        return
    # What was taken is of the type that stands in the record's own line.
    assert convert(again, RacePlan) is again
    read = again.document()
    for key in place:
        if isinstance(read, dict) and key not in read:
            return  # a field that no record has
        read = read[key]
    if not isinstance(value, dict):  # what an object has not is as the record begins
        assert read == value


DAMAGES = {
    "nothing": b"",
    "a half": dump(PLAN.document()).encode()[:300],
    "no text": b"\xff\xfe\x00",
    "another value": b"[]",
    "too deep": b"[" * 200_000,
    "5,000 digits": b'{"schema": ' + b"9" * 5000 + b"}",
    "no schema": b"{}",
    "a schema of another type": b'{"schema": "1"}',
    "newer": json.dumps({**PLAN.document(), "schema": 2}).encode(),
    "no lanes": json.dumps({k: v for k, v in PLAN.document().items() if k != "lanes"}).encode(),
    "lanes of another shape": json.dumps({**PLAN.document(), "lanes": [{"no": 1}]}).encode(),
    "a path that is a number": json.dumps({**PLAN.document(), "repository": 3}).encode(),
}


@pytest.mark.parametrize("data", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_one_error_whatever_it_is(scratch: Path, data: bytes) -> None:
    (scratch / "plan.json").write_bytes(data)
    with pytest.raises(RecordError) as raised:
        read_record(scratch / "plan.json", RacePlan)
    assert raised.value.exit_code == 6
    assert raised.value.message.startswith(f"plan.json of run {scratch.name} ")
    assert raised.value.hint


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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"schema": "1"}', "cannot be read"),
        ('{"schema": 2, "id": 3}', "cannot be read"),
        ('{"schema": 9}', "written by a newer Hydra"),
    ],
)
def test_a_damaged_journal_of_a_landing_is_one_error(scratch: Path, text: str, why: str) -> None:
    store = LandingStore(scratch)
    store.file.write_text(text)
    with pytest.raises(RecordError, match=why):
        store.read()
