"""What of a renewed sign-in goes into the user's own file, as pure functions (real lanes:
test_signin_attacks.py)."""

from __future__ import annotations

import copy
import json
from pathlib import PurePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.adapters import registry
from hydra.adapters.config_dirs import folders_of
from hydra.adapters.contract import TokenFields
from hydra.workspace.renewal import Renewal, parse, renew
from tests.support import signins
from tests.support.signin_attacks import ATTACKS
from tests.support.signins import CLAUDE, CODEX, GEMINI, HONEST, MCP, NOW, OWN, PI


def fields_of(file: str) -> TokenFields | None:
    """What its agent's descriptor says of the file."""
    for adapter in registry.OWN.values():
        for folder in folders_of(adapter.descriptor):
            for fields in folder.renewals:
                if PurePath(folder.default, fields.file) == PurePath(file):
                    return fields
    return None


def renewal(file: str, fresh: Any, own: Any = None, *, refused: bool = False) -> Renewal:
    mine = signins.text(file) if own is None else json.dumps(own)
    theirs = fresh if isinstance(fresh, str) else json.dumps(fresh)
    fields = fields_of(file)
    return renew(
        fields,
        mine.encode(),
        theirs.encode("utf-8", "surrogatepass"),
        now=NOW,
        refused=refused,
    )


@pytest.mark.parametrize("file", HONEST)
def test_what_a_real_cli_renews_goes_back_and_every_other_byte_stays(file: str) -> None:
    back = renewal(file, signins.renewed(file))
    assert back.data is not None, back.refusal
    assert sorted(back.fields) == sorted(path.replace(">", ".") for path in HONEST[file])
    assert not back.stray
    expected = signins.text(file)
    for path, value in HONEST[file].items():
        own: Any = OWN[file]
        for name in path.split(">"):
            own = own[name]
        assert expected.count(json.dumps(own)) >= 1
        expected = expected.replace(json.dumps(own), json.dumps(value), 1)
    assert back.data.decode() == expected
    assert parse(back.data) == signins.renewed(file)


@pytest.mark.parametrize("name", [name for name, attack in ATTACKS.items() if attack.data])
def test_what_a_hostile_lane_writes_does_not(name: str) -> None:
    attack = ATTACKS[name]
    back = renewal(attack.file, attack.data)
    assert (back.data, back.fields) == (None, ())
    assert attack.refusal in back.refusal
    assert bool(back.refusal) == bool(attack.refusal)
    assert "evil" not in back.refusal


def test_beside_a_good_renewal_nothing_else_goes_and_it_is_told() -> None:
    fresh = signins.renewed(PI)
    fresh["evil"] = {"type": "api_key", "key": "!evil"}
    back = renewal(PI, fresh)
    assert back.data is not None
    assert parse(back.data) == signins.renewed(PI)
    assert back.stray


def due(file: str, seconds: float) -> Any:
    """The user's own, which ends in so many seconds."""
    own = copy.deepcopy(OWN[file])
    if file == CLAUDE:
        own["claudeAiOauth"]["expiresAt"] = signins.milliseconds(seconds)
    else:
        own["tokens"]["access_token"] = signins.jwt("access-0", ends=seconds)
    return own


def test_a_token_that_is_not_near_its_end_is_renewed_only_after_a_refusal() -> None:
    fresh = signins.renewed(CLAUDE)
    assert renewal(CLAUDE, fresh, due(CLAUDE, 300)).data is not None
    back = renewal(CLAUDE, fresh, due(CLAUDE, 7200))
    assert back.refusal == "yours is not near its end, and no refusal of it was seen"
    assert back.consumed
    assert renewal(CLAUDE, fresh, due(CLAUDE, 7200), refused=True).data is not None


def test_where_a_cli_is_silent_on_refusals_no_clock_can_know() -> None:
    assert renewal(CODEX, signins.renewed(CODEX), due(CODEX, 500000)).data is not None


def test_a_sign_in_that_does_not_say_when_it_ends_can_be_renewed_at_any_time() -> None:
    own = {"claudeAiOauth": {"accessToken": "made-up-0", "refreshToken": "made-up-0"}}
    fresh = {"claudeAiOauth": {"accessToken": "made-up-1", "refreshToken": "made-up-1"}}
    assert renewal(CLAUDE, fresh, own).data is not None


def test_one_that_is_over_by_now_still_counts_where_it_ended_later_than_the_users() -> None:
    fresh = signins.renewed(CLAUDE)
    fresh["claudeAiOauth"]["expiresAt"] = signins.milliseconds(-30)
    assert renewal(CLAUDE, fresh).data is not None
    fresh["claudeAiOauth"]["expiresAt"] = signins.milliseconds(-90)
    assert "no time to come" in renewal(CLAUDE, fresh).refusal


def test_one_bad_entry_keeps_the_others_back() -> None:
    fresh = signins.renewed(PI)
    fresh["openai-codex"]["access"] = "!evil-evil"
    assert renewal(PI, fresh).data is None


@pytest.mark.parametrize(
    "fresh",
    [
        {},
        {"claudeAiOauth": None},
        {"claudeAiOauth": {"accessToken": "", "refreshToken": "", "expiresAt": 0}},
        OWN[CLAUDE],
    ],
)
def test_who_has_signed_out_or_changed_nothing_is_not_told(fresh: Any) -> None:
    assert renewal(CLAUDE, fresh) == Renewal()


def test_a_field_that_the_user_has_not_is_not_made() -> None:
    own = copy.deepcopy(OWN[CLAUDE])
    del own["claudeAiOauth"]["refreshTokenExpiresAt"]
    back = renewal(CLAUDE, signins.renewed(CLAUDE), own)
    assert back.data is not None
    assert "refreshTokenExpiresAt" not in back.data.decode()
    del own["claudeAiOauth"]["refreshToken"]
    assert renewal(CLAUDE, signins.renewed(CLAUDE), own).refusal == "yours has no refreshToken"


def test_an_id_token_that_was_not_given_again_keeps_nothing_back() -> None:
    fresh = signins.renewed(GEMINI)
    del fresh["id_token"]
    assert renewal(GEMINI, fresh).fields == ("access_token", "expiry_date")


@pytest.mark.parametrize("text", ["", "null", "[]", "\ufeff{}", '{"a": 1, "a": 2}'])
def test_a_file_of_the_users_that_is_no_object_stays(text: str) -> None:
    back = renew(fields_of(PI), text.encode(), b"{}", now=NOW, refused=False)
    assert back.data is None
    assert back.refusal == "yours is no JSON object"


def test_numbers_that_are_none_in_the_users_own_file_break_nothing() -> None:
    own = copy.deepcopy(OWN[PI])
    for value in (10**400, -(10**400), None, True, "soon", 0):
        own["anthropic"]["expires"] = value
        renewal(PI, signins.renewed(PI), own)
    token = signins.jwt("x").split(".")
    for claims in ("MQ", "bnVsbA", "e30", "%%%", "eyJleHAiOiAxZTQwMH0", "eyJleHAiOiBOYU59"):
        own = copy.deepcopy(OWN[CODEX])
        own["tokens"]["access_token"] = ".".join((token[0], claims, token[2]))
        renewal(CODEX, signins.renewed(CODEX), own)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers()
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(
    more=st.dictionaries(st.text(), JSON, max_size=4),
    indent=st.sampled_from([None, 0, 1, "\t"]),
    ascii=st.booleans(),
    first=st.booleans(),
)
def test_whatever_stands_around_them_only_the_tokens_change(
    more: dict[str, Any], indent: int | str | None, ascii: bool, first: bool
) -> None:
    own = {**more, **OWN[PI]} if first else {**OWN[PI], **more}
    own.update(OWN[PI])
    text = json.dumps(own, indent=indent, ensure_ascii=ascii)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return
    back = renew(
        fields_of(PI), data, json.dumps(signins.renewed(PI)).encode(), now=NOW, refused=False
    )
    assert back.data is not None, back.refusal
    merged = json.loads(back.data)
    assert merged == {**own, "anthropic": signins.renewed(PI)["anthropic"]}
    assert list(merged) == list(own)
    cut = {path.rpartition(">")[2]: value for path, value in HONEST[PI].items()}
    restored = back.data.decode()
    for name, value in cut.items():
        restored = restored.replace(json.dumps(value), json.dumps(OWN[PI]["anthropic"][name]), 1)
    assert restored == text


@given(fresh=JSON | st.dictionaries(st.sampled_from(list(OWN[PI])), JSON))
def test_no_json_at_all_breaks_it(fresh: Any) -> None:
    for file in (PI, CODEX, CLAUDE, MCP, GEMINI):
        theirs = json.dumps(fresh)
        back = renewal(file, theirs)
        assert back.data is None or parse(back.data) is not None
