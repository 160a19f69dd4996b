"""Records to JSON and back: whole, whatever stands in them; nothing of another shape is taken."""

from __future__ import annotations

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
from hydra.records.request import Budget, Check, Limits, Retry, TrialCap
from tests.support.sample_race import PLAN, RESULT

ODD = "a\ud800 \u2028\x00"
FAILURE = Failure(
    kind=ODD,
    message=ODD,
    adapter=ODD,
    command=(ODD, ""),
    stderr=ODD,
    hint=ODD,
    reason=ODD,
    numbers={"limit": 0.5, ODD: 2**53},
)
OUTCOME = Outcome(
    lane=ODD,
    attempt=9,
    status=Status.FAILED,
    held_back=(ODD,),
    checks=({"says": ODD},),
    failure=FAILURE,
    patch=Patch(
        commit="c",
        base="b",
        files=3,
        incomplete=ODD,
        notes=(ODD,),
        left_behind=2,
        stranded=(ODD,),
        remarks=(Remark(ODD, "", ODD),),
    ),
    usage=Usage(input_tokens=2**60, cost_usd=1e-9),
    usage_estimate=Estimate(0.25, None, ODD),
    seconds=1e9,
    message=ODD,
    plan=ODD,
    exit=ExitStatus(code=255, survivors=(ODD,)),
    warnings=(ODD,),
)


def read_back(document: dict[str, Any], kind: type[Any]) -> Any:
    return shaped(parse(dump(document).encode("ascii")), kind)


def test_an_outcome_comes_back_whole() -> None:
    for outcome in (*RESULT.outcomes, OUTCOME):
        document = outcome.document()
        again = read_back(document, Outcome)
        assert again == replace(outcome, attempts=again.attempts)
        assert again.document() == document


def test_a_plan_comes_back_whole_but_for_what_is_in_memory_alone() -> None:
    lane = replace(
        PLAN.lanes[0],
        model=ODD,
        profile="reviewer",
        origin=Origin("pkg", None, "1.0"),
        remote=RemotePlace("ssh", "gpubox", ODD, ""),
        budget=Budget(turns=3, cost_usd=0.25),
        rates=Rates(1, 0.5, None, 9, ODD),
        failure=FAILURE,
    )
    plan = replace(
        PLAN,
        title=ODD,
        network=False,
        left_out=(FAILURE,),
        lanes=(lane, *PLAN.lanes[1:]),
        limits=Limits(idle=0.5, raw_bytes=9),
        copies=(ODD,),
        checking=CheckPlan(
            commands=(Check("unit", ODD, "test", False, "r/*.xml", True),),
            on_host=("unit",),
            trials=TrialCap(3, 1.5),
        ),
        retry=Retry(times=2, on=("rate_limit",), wait=0.5),
    )
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
    text = st.text(st.characters(exclude_categories=()), max_size=8)  # lone surrogates too
    number = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
    return st.recursive(
        st.none() | st.booleans() | number | text,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
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


def test_what_a_later_hydra_adds_is_passed_over() -> None:
    document = {**PLAN.document(), "colour": "blue"}
    document["lanes"][0]["mood"] = {"good": True}
    again = read_back(document, RacePlan)
    assert isinstance(again.lanes[0], LanePlan)
    assert again.document() == PLAN.document()


def test_a_number_that_is_none_is_null() -> None:
    failure = Failure(kind="k", message="m", numbers={"limit": float("nan")})
    outcome = replace(OUTCOME, failure=failure, usage=Usage(cost_usd=float("inf")))
    document = outcome.document()
    assert document["error"]["numbers"] == {"limit": None}
    assert document["usage"]["cost_usd"] is None
    assert read_back(document, Outcome).failure.numbers == {"limit": None}


def test_a_damaged_journal_of_a_landing_is_one_error(scratch: Path) -> None:
    store = LandingStore(scratch)
    for text in ("", "[]", '{"schema": "1"}', '{"schema": 2, "id": 3}', '{"schema": 9}'):
        store.file.write_text(text)
        why = "written by a newer Hydra" if "9" in text else "cannot be read"
        with pytest.raises(RecordError, match=why):
            store.read()
