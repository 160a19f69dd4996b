"""Over ACP: agents that Hydra has no row for, named in hydra.toml."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import tomli_w

from hydra.conformance.live.agent_settings import reaches
from hydra.conformance.live.scenario_run import orphans
from hydra.conformance.live.situation import FILES
from hydra.conformance.race_run import RaceOrder, ScratchPlace, race
from hydra.conformance.server import serve
from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.support import BIN

EXPERIMENTAL_FLAG = "--allow-experimental-adapters"

pytestmark = [pytest.mark.live, pytest.mark.full]

AGENTS = {"gemini": "--acp", "opencode": "acp", "qwen": "--acp"}
"""Programs, each with the word that makes it speak the protocol."""

FOLDERS = {
    "gemini": ["~/.gemini"],
    "qwen": ["~/.qwen"],
    "opencode": [
        f"~/{place}/opencode" for place in (".config", ".cache", ".local/share", ".local/state")
    ],
}


@pytest.fixture
def place() -> Iterator[ScratchPlace]:
    with TemporaryDirectory(prefix="hydra-acp-", dir="/var/tmp") as folder:
        yield ScratchPlace(Path(folder) / "place")


@pytest.mark.parametrize("agent", AGENTS)
def test_any_agent_that_speaks_the_protocol_edits_a_file(place: ScratchPlace, agent: str) -> None:
    text = shutil.which(agent, path=BIN)
    if not text:
        pytest.skip(f"no {agent} in {BIN}")
    place.commit(FILES)
    before = fingerprint(place.repo)
    with serve("edit") as server:
        own = reaches()[agent].prepare(place.home, server.url)
        settings = {
            "path": text,
            "args": [AGENTS[agent]],
            "environment": sorted(own),
            "folders": FOLDERS[agent],
        }
        place.settings.write_text(tomli_w.dumps({"agents": {"acp": settings}}))
        outcome = race(
            place,
            RaceOrder(
                agents=["acp"],
                options=(EXPERIMENTAL_FLAG,),
                environ=place.environ([BIN], **own),
            ),
        )
    lane = outcome.lane("acp")
    assert lane, outcome.stderr[-3000:]
    assert (lane.status, lane.failure) == ("completed", None), outcome.stderr[-3000:]
    assert outcome.folder is not None
    assert place.patch(outcome.folder, "acp") == {f"created-by-{agent}.txt": "A", "README.md": "M"}
    assert not apart_from_pins(changes(before, fingerprint(place.repo)))
    assert not orphans(place.root)
