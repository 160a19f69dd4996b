"""Wrappers around the real CLIs, each with one thing differently: it is found and named, and a race
goes on or ends as docs/reference/agents/README.md says."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hydra.conformance.live.agent_settings import reaches
from hydra.conformance.race_run import RaceOrder, race
from hydra.conformance.race_run import ScratchPlace as Scene
from hydra.conformance.server import serve
from tests.live.support import AGENTS, BIN, hydra_program, unmet
from tests.support.command import completed
from tests.support.wrappers import Difference, wrap

pytestmark = [pytest.mark.live, pytest.mark.full]

BANNER = "Welcome! A newer version is there.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is different, and what is to come of it, by agent where that is not the same.

    `sentences` are patterns, each of one of the live run's; `changes` are names in the drift
    report; `warnings` patterns of the race's own warnings.
    """

    build: Mapping[str, Difference]
    sentences: Mapping[str, tuple[str, ...]]
    changes: Mapping[str, tuple[str, str]]
    status: str = "completed"
    error: str = ""
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


def both(difference: Difference) -> dict[str, Difference]:
    return dict.fromkeys(AGENTS, difference)


KINDS = {
    "an optional flag is gone": Kind(
        build={
            "claude": Difference(flag="--disallowedTools"),
            "codex": Difference(flag="--config"),
        },
        sentences={
            "claude": (r"no longer has --disallowedTools",),
            "codex": (r"no longer has --config",),
        },
        changes={
            "claude": ("vanished", "--disallowedTools"),
            "codex": ("vanished", "--config"),
        },
        warnings={
            "claude": (r"no longer has --disallowedTools",),
            "codex": (r"no longer has --config",),
        },
    ),
    "a vital event has another name": Kind(
        build={
            "claude": Difference(event="result", renamed="outcome"),
            "codex": Difference(event="turn.completed", renamed="turn.finished"),
        },
        sentences={
            "claude": (r'unknown event type "outcome/success"', r"without its closing event"),
            "codex": (r'unknown event type "turn.finished"', r"without its closing event"),
        },
        changes={
            "claude": ("vanished", "result/success"),
            "codex": ("vanished", "turn.completed"),
        },
        status="failed",
        error="StreamParseError",
        unknown={"claude": "outcome/success", "codex": "turn.finished"},
    ),
    "a field is gone": Kind(
        build={
            "claude": Difference(field="result/total_cost_usd"),
            "codex": Difference(field="turn.completed/usage"),
        },
        sentences={
            "claude": (r"cost_usd is missing",),
            "codex": (r"input_tokens is missing", r"output_tokens is missing"),
        },
        changes={
            "claude": ("vanished", "total_cost_usd"),
            "codex": ("vanished", "usage"),
        },
    ),
    "a new event type": Kind(
        build=both(Difference(new="weather")),
        sentences=dict.fromkeys(AGENTS, (r'unknown event type "weather" once',)),
        changes=dict.fromkeys(AGENTS, ("appeared", "weather")),
        unknown=dict.fromkeys(AGENTS, "weather"),
    ),
    "a banner before the stream": Kind(
        build=both(Difference(banner=BANNER)),
        sentences=dict.fromkeys(AGENTS, (r"stream: 1 line is no JSON.*Welcome! A newer version",)),
        changes=dict.fromkeys(AGENTS, ("appeared", "not JSON")),
        warnings=dict.fromkeys(AGENTS, (r"could not be parsed",)),
    ),
    "another version text": Kind(
        build={
            "claude": Difference(version="Claude Code, spring edition"),
            "codex": Difference(version="Codex, spring edition"),
        },
        sentences=dict.fromkeys(AGENTS, (r"version text was not understood \('C.*spring edition",)),
        changes=dict.fromkeys(AGENTS, ("changed", "--version")),
        warnings=dict.fromkeys(AGENTS, (r"version text was not understood",)),
    ),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What one `hydra conformance --live` said, and the race's own result for each agent."""

    exit_code: int
    document: Mapping[str, Any]
    lanes: Mapping[str, Mapping[str, Any]]
    events: Mapping[str, list[Mapping[str, Any]]]

    def sentences(self, agent: str) -> list[str]:
        cases = [c for c in self.document["cases"] if (c["suite"], c["agent"]) == ("live", agent)]
        return [sentence for case in cases for sentence in case["differences"]]

    def changes(self, agent: str) -> list[Mapping[str, Any]]:
        return [change for change in self.document["changes"] if change["agent"] == agent]


def conformance(scratch: Path, *options: str, path: Path) -> Found:
    """`hydra conformance --live` in one situation, with the CLIs of the folder `path`."""
    if not BIN.is_dir():
        pytest.skip("HYDRA_LIVE_BIN names no folder with the real CLIs")
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    ran = completed(
        [
            *(hydra_program(), "conformance", "--live", "--situation", "edit", "--keep", "--json"),
            *(*options, *AGENTS),
        ],
        env={"PATH": f"{path}:{_system()}", "HOME": str(home), "LANG": "C.UTF-8"},
    )
    try:
        document = json.loads(ran.stdout)
    except ValueError:
        pytest.fail(f"exit {ran.returncode}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}")
    assert document["kind"] != "error", f"{document}\n{ran.stderr[-2000:]}"
    folder = Path(document["folder"])
    try:
        return _found(ran.returncode, document, folder / "situations")
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # where nothing was run none is kept


def _found(code: int, document: Mapping[str, Any], folder: Path) -> Found:
    runs = {agent: _run(folder / f"{agent}.edit") for agent in AGENTS}
    lanes = {
        agent: next(iter(json.loads((run / "result.json").read_text())["lanes"]))
        for agent, run in runs.items()
        if run
    }
    events = {
        agent: [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
        for agent, run in runs.items()
        if run
    }
    return Found(code, document, lanes, events)


def _run(place: Path) -> Path | None:
    return next((path.parent for path in place.glob("state/*/runs/*/result.json")), None)


def _system() -> str:
    node = shutil.which("node")
    folders = [*([str(Path(node).parent)] if node else []), "/usr/bin", "/bin"]
    return ":".join(folders)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the real CLIs do in this situation, recorded once."""
    if not BIN.is_dir():
        pytest.skip("HYDRA_LIVE_BIN names no folder with the real CLIs")
    folder = tmp_path_factory.mktemp("recorded")
    root = folder / "fixtures"
    item = conformance(folder, "--record", "--fixtures", str(root), path=BIN)
    assert item.exit_code == 0, item.document
    if not item.document["network"]["watched"]:
        # Codex without --config asks for an address outside (its analytics): not from here.
        unmet(str(item.document["network"]["reason"]))
    return root


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_named_and_a_race_goes_on_or_ends_as_it_should(
    kind: str, recorded: Path, scratch: Path
) -> None:
    expected = KINDS[kind]
    for agent in AGENTS:
        wrap(scratch / "bin", BIN / agent, expected.build[agent])

    item = conformance(scratch, "--drift", str(recorded), path=scratch / "bin")

    assert item.exit_code == 1, item.document
    for agent in AGENTS:
        sentences, lane = item.sentences(agent), item.lanes[agent]
        for pattern in expected.sentences[agent]:
            assert any(re.search(pattern, sentence) for sentence in sentences), sentences
        how, name = expected.changes[agent]
        named = [(change["how"], change["name"]) for change in item.changes(agent)]
        assert any(h == how and name in n for h, n in named), named
        _held(lane, item.events[agent], expected, agent)


def _held(
    lane: Mapping[str, Any], events: list[Mapping[str, Any]], expected: Kind, agent: str
) -> None:
    """The race half: how it ended, that its work is kept, and what it was said to lack."""
    assert lane["status"] == expected.status, lane
    assert (lane["error"] or {"kind": ""})["kind"] == expected.error, lane
    assert lane["patch"]["files"] == 2, lane
    for pattern in expected.warnings.get(agent, ()):
        assert any(re.search(pattern, text) for text in lane["warnings"]), lane["warnings"]
    unknown = [e["data"].get("type") for e in events if e["sub"] == "unknown"]
    assert unknown == ([expected.unknown[agent]] if agent in expected.unknown else [])


REQUIRED = {"claude": "--setting-sources", "codex": "--json"}


def test_a_required_flag_that_is_gone_is_named_and_nothing_is_raced(
    scratch: Path, recorded: Path
) -> None:
    for agent, flag in REQUIRED.items():
        wrap(scratch / "bin", BIN / agent, Difference(flag=flag))

    item = conformance(scratch, "--drift", str(recorded), path=scratch / "bin")

    assert item.exit_code == 1, item.document
    assert item.lanes == {}
    for agent, flag in REQUIRED.items():
        (sentence,) = item.sentences(agent)
        assert flag in sentence
        (change,) = [change for change in item.changes(agent) if change["minds"]]
        assert (change["how"], change["name"]) == ("vanished", flag)


@pytest.mark.parametrize("broken", AGENTS)
def test_a_lane_without_a_required_flag_is_not_started(broken: str, scratch: Path) -> None:
    """The other lane races; the flag is named, and the program was asked for help only."""
    if not BIN.is_dir():
        pytest.skip("HYDRA_LIVE_BIN names no folder with the real CLIs")
    flag, whole = REQUIRED[broken], next(agent for agent in AGENTS if agent != broken)
    program = wrap(scratch / "bin", BIN / broken, Difference(flag=flag))
    scene = Scene(scratch / "scene")
    scene.commit({"README.md": "# Shop\n"})
    with serve("edit") as server:
        led: dict[str, str] = {}
        for agent in AGENTS:
            led |= reaches()[agent].prepare(scene.home, server.url)
        scene.settings.write_text(f'[agents.{broken}]\npath = "{program}"\n')
        outcome = race(scene, RaceOrder(agents=AGENTS, environ=scene.environ([BIN], **led)))
    lane = outcome.lane(broken)
    assert (lane["status"], lane["error"]["kind"]) == ("not_started", "UnsupportedFlag"), outcome
    assert flag in lane["error"]["message"]
    assert outcome.lane(whole)["status"] == "completed", outcome
    assert {request.agent for request in server.requests if request.agent} == {whole}


def test_a_wrapper_without_a_difference_makes_none(scratch: Path, recorded: Path) -> None:
    """Otherwise the tests above might find the wrapper, and not what it changes."""
    for agent in AGENTS:
        wrap(scratch / "bin", BIN / agent, Difference())
    item = conformance(scratch, "--drift", str(recorded), path=scratch / "bin")
    assert item.exit_code == 0, item.document
    for agent in AGENTS:
        assert item.sentences(agent) == []
        assert item.changes(agent) == []
