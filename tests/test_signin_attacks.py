"""Hostile sign-in files, written by real processes in real lanes: none of it reaches HOME.

Every lane of one race attacks in a way of its own (tests/support/signins.py), as root and as an
ordinary user. What goes back of an honest renewal is compared byte for byte with the user's file.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import registry
from tests.support import fakes, signins, trust
from tests.support.command import Race
from tests.support.signin_attacks import ATTACKS, Attack
from tests.support.signins import CLAUDE, CODEX, HONEST, OWN, PI, PLAIN
from tests.support.trust import ACCOUNTS, AS_USER, BY_ACCOUNT, Exact, Place, exactly

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parents[1] / "fixtures" / "adapters"
CLIS = {
    "claude": "2.1.330",
    "codex": "0.169.0",
    "pi": "0.73.1",
    "opencode": "1.18.33",
    "gemini": "0.61.0",
    "qwen": "0.24.4",
    "hermes": "0.19.0",
    "droid": "0.215.0",
    "cursor-agent": "2026.10.01-e373342",
}
_RECORDED = {"exec_help": "exec-help.txt"}


def place_for(uid: int, stack: ExitStack) -> Place:
    """A HOME that is signed in to every agent; skips where its account confines nothing."""
    place = trust.place_for(uid, stack, confined=True)
    for file in (*OWN, *PLAIN):
        sign_in(place, file, signins.text(file))
    place.extra = {"ANTHROPIC_API_KEY": "", "CODEX_API_KEY": "", "HYDRA_SHOW": str(FIXTURES)}
    place.path = [place.scratch / "bin"]
    place.path[0].mkdir()
    return place


def sign_in(place: Place, file: str, text: str) -> Path:
    path = place.home / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


def install(place: Place, agent: str, scripts: Mapping[str, str]) -> None:
    """A CLI that answers what a recorded one answered, and in a lane runs that lane's script."""
    recorded = FIXTURES / agent / CLIS[agent]
    lines = ["#!/bin/sh", 'case "$*" in']
    for probe in registry.OWN[agent].descriptor.probes:
        answer = recorded / _RECORDED.get(probe.name, f"{probe.name}.txt")
        question = shlex.quote(" ".join(probe.args))
        lines.append(f"{question}) {f'cat {answer}' if answer.is_file() else ':'}; exit 0;;")
    lines += ["esac", 'T="$TMPDIR"', 'case "$HYDRA_LANE" in']
    lines += [f"{lane}) {script};;" for lane, script in scripts.items()]
    program = place.path[0] / agent
    program.write_text("\n".join([*lines, "esac", "echo tried > tried", ""]))
    program.chmod(0o755)


def script_of(attack: Attack) -> str:
    """What a lane does: its file is found as its agent finds it."""
    steps = [f'F="$HOME/{attack.file}"', 'D=$(dirname "$F")']
    encoded = base64.b64encode(attack.data.encode("utf-8", "surrogatepass")).decode()
    steps.append(attack.script or writing(encoded))
    return "\n".join(steps)


def writing(encoded: str) -> str:
    """In pieces: an argument has a limit of 128 KiB."""
    return f"base64 -d > $F <<'EOT'\n{encoded}\nEOT\n"


def lanes_of(attacks: Mapping[str, Attack]) -> dict[str, tuple[str, str]]:
    """Each attack's agent and lane: `pi`, `pi-2` ..."""
    numbers: Counter[str] = Counter()
    lanes = {}
    for name, attack in attacks.items():
        numbers[attack.agent] += 1
        number = numbers[attack.agent]
        lanes[name] = (attack.agent, attack.agent if number == 1 else f"{attack.agent}-{number}")
    return lanes


def prepared(place: Place, attacks: Mapping[str, Attack]) -> list[str]:
    """The CLIs are in place, and all of it is the account's: what is asked for."""
    lanes = lanes_of(attacks)
    for agent in {agent for agent, _ in lanes.values()}:
        names = [name for name, (key, _) in lanes.items() if key == agent]
        install(place, agent, {lanes[name][1]: script_of(attacks[name]) for name in names})
    if place.uid != os.geteuid():
        place.hand_over()
    return [option for agent, _ in lanes.values() for option in ("-a", agent)]


def race_of(place: Place, attacks: Mapping[str, Attack]) -> Race:
    options = prepared(place, attacks)
    return place.race(*options, "--allow-experimental-adapters", "--keep", "none")


@dataclass
class Siege:
    """What one race of all attacks left."""

    place: Place
    race: Race
    before: Exact
    after: Exact


@pytest.fixture(scope="module", params=AS_USER)
def siege(request: pytest.FixtureRequest) -> Iterator[Siege]:
    with ExitStack() as stack:
        place = place_for(request.param, stack)
        prepared(place, ATTACKS)
        before = exactly(place.home)
        race = race_of(place, ATTACKS)
        yield Siege(place, race, before, exactly(place.home))
        assert fakes.left(str(place.scratch)) == []


def test_home_is_byte_for_byte_as_it_was(siege: Siege) -> None:
    assert siege.after == siege.before
    assert not list(siege.place.home.rglob(".hydra-*"))


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_was_made_and_what_it_was_is_told(siege: Siege, name: str) -> None:
    attack = ATTACKS[name]
    _, lane = lanes_of(ATTACKS)[name]
    outcome = siege.race.lane(lane)
    assert siege.place.taken(siege.race.document["folder"], lane, "tried") == "tried"
    lines = [text for text in outcome["warnings"] if "renewed sign-in" in text]
    assert not any("went back" in text for text in lines)
    if attack.refusal:
        assert any(attack.refusal in text for text in lines), outcome["warnings"]
        events = [event for event in recorded(siege.race, lane) if "sign_in" in event]
        assert any(attack.refusal in event["sign_in"]["refusal"] for event in events)
    else:
        assert lines == []
    assert "evil" not in "".join(lines)


def recorded(race: Race, lane: str) -> list[dict[str, Any]]:
    events = Path(race.document["folder"], "events.jsonl").read_text().splitlines()
    return [
        event["data"]
        for event in map(json.loads, events)
        if event["lane"] == lane and event["kind"] == "lane_warning"
    ]


by_account = pytest.mark.parametrize("place", BY_ACCOUNT, indirect=True)


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """The ordinary user's, where nothing else is asked for."""
    with ExitStack() as stack:
        place = place_for(getattr(request, "param", ACCOUNTS[-1]), stack)
        yield place
        assert fakes.left(str(place.scratch)) == []


def honest(file: str) -> Attack:
    return Attack(file, data=json.dumps(signins.renewed(file), indent=2))


@by_account
def test_each_real_files_renewal_comes_home_and_nothing_else_changes(place: Place) -> None:
    own = {file: (place.home / file).read_text() for file in HONEST}
    attacks = {file: honest(file) for file in HONEST if file != signins.MCP}
    race = race_of(place, attacks)
    for file, attack in attacks.items():
        text = (place.home / file).read_text()
        assert json.loads(text) == signins.renewed(file), race
        assert restored(file, text) == own[file]
        assert (place.home / file).stat().st_mode & 0o777 == 0o600
        assert (place.home / file).stat().st_uid == place.uid
        (line,) = [text for text in race.lane(attack.agent)["warnings"] if "sign-in" in text]
        assert line.startswith(f"its renewed sign-in went back to {place.home / file} (")
        (event,) = [event for event in recorded(race, attack.agent) if "sign_in" in event]
        assert event["sign_in"]["fields"] != []


def restored(file: str, text: str) -> str:
    """The user's text, with each renewed value made the old one again."""
    for path, value in HONEST[file].items():
        own: Any = OWN[file]
        for name in path.split(">"):
            own = own[name]
        text = text.replace(json.dumps(value), json.dumps(own), 1)
    return text


def early(place: Place) -> None:
    own = json.loads(signins.text(CLAUDE))
    own["claudeAiOauth"]["expiresAt"] = signins.milliseconds(7200)
    sign_in(place, CLAUDE, json.dumps(own))


def test_another_whole_sign_in_is_refused_before_the_users_own_is_near_its_end(
    place: Place,
) -> None:
    early(place)
    own = (place.home / CLAUDE).read_bytes()
    race = race_of(place, {"early": honest(CLAUDE)})
    assert (place.home / CLAUDE).read_bytes() == own
    lane = race.lane("claude")
    assert lane["warnings"][-2:] == [
        f"its renewed sign-in did not go back to {place.home / CLAUDE}: yours is not near its end,"
        " and no refusal of it was seen; if yours no longer works, run `claude` once and sign in"
        " with /login, or set ANTHROPIC_API_KEY",
        f"the sign-in that could not be given back stays beside {lane['worktree']}",
    ]
    beside = Path(lane["worktree"]).parent / "home" / CLAUDE
    assert json.loads(beside.read_text()) == signins.renewed(CLAUDE)


def test_it_goes_back_once_its_service_has_refused_the_users_own(place: Place) -> None:
    early(place)
    retry = {"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": 401}
    script = f"echo {shlex.quote(json.dumps({**retry, 'session_id': 's'}))}\n"
    attack = honest(CLAUDE)
    script += f'F="$HOME/{CLAUDE}"\n'
    script += writing(base64.b64encode(attack.data.encode()).decode())
    race = race_of(place, {"refused": Attack(CLAUDE, script=script)})
    assert json.loads((place.home / CLAUDE).read_text()) == signins.renewed(CLAUDE), race


def test_the_users_own_file_in_dotfiles_stays_a_link(place: Place) -> None:
    own, real = place.home / PI, place.home / "dotfiles" / "pi.json"
    real.parent.mkdir()
    own.rename(real)
    own.symlink_to(real)
    race_of(place, {"honest": honest(PI)})
    assert own.is_symlink()
    assert json.loads(real.read_text()) == signins.renewed(PI)


def test_what_one_lane_renewed_comes_to_the_other_without_what_it_laid_beside_it(
    place: Place,
) -> None:
    laid = signins.renewed(CODEX)
    laid["OPENAI_API_KEY"] = "evil-evil"
    waits = "until grep -q rt_made-up-1 $F; do sleep 0.1; done; cat $F > seen"
    attacks = {
        "lays": Attack(CODEX, data=json.dumps(laid)),
        "waits": Attack(CODEX, script=waits),
    }
    race = race_of(place, attacks)
    seen = place.taken(race.document["folder"], "codex-2", "seen")
    assert json.loads(seen) == signins.renewed(CODEX)
    (line,) = [text for text in race.lane("codex")["warnings"] if "sign-in" in text]
    assert line.endswith("; what else it changed there did not")


@pytest.mark.full
@by_account
def test_unconfined_the_same_holds(place: Place) -> None:
    place.without("bwrap")
    place.extra["PATH"] = f"{place.path[0]}:{place.extra['PATH']}"
    before = {file: (place.home / file).read_bytes() for file in OWN}
    attack = ATTACKS["claude_account"]
    script = script_of(attack).replace("$HOME/.claude", "$CLAUDE_CONFIG_DIR")
    install(place, "claude", {"claude": script})
    if place.uid != os.geteuid():
        place.hand_over()
    race = place.race("-a", "claude")
    assert {file: (place.home / file).read_bytes() for file in OWN} == before
    assert any(attack.refusal in text for text in race.lane("claude")["warnings"])
