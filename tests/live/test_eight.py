"""Eight different agents in one race: each a patch or an honest outcome, and nothing left."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hydra.adapters import registry
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.conformance.live.agent_settings import reaches
from hydra.conformance.live.orphans import orphans
from hydra.conformance.race_run import RaceOrder, ScratchPlace, race
from hydra.conformance.script import parse
from hydra.conformance.server import serve
from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.support import BIN

pytestmark = [pytest.mark.live, pytest.mark.full]

EIGHT = ("gemini", "qwen", "opencode", "aider", "copilot", "pi", "droid", "cline")

SCRIPT = parse(
    "eight",
    {
        "about": "each writes a file of its own",
        "turn": [
            {
                "tool": [
                    {
                        "kind": "write_file",
                        "path": "made-by-{agent}.txt",
                        "text": "made by {agent}\n",
                    }
                ]
            },
            {"say": "Done."},
        ],
    },
)


@pytest.fixture
def place() -> Iterator[ScratchPlace]:
    with TemporaryDirectory(prefix="hydra-eight-", dir="/var/tmp") as folder:
        yield ScratchPlace(Path(folder) / "place")


def programs() -> list[str]:
    """Those of the eight that are installed; without any it is another folder's turn."""
    names = [key for key in EIGHT if (BIN / registry.OWN[key].descriptor.binaries[0]).exists()]
    if not names:
        pytest.skip(f"none of {', '.join(EIGHT)} is in {BIN}")
    return names


def test_eight_agents_at_once_leave_their_patches_and_nothing_else(place: ScratchPlace) -> None:
    agents = programs()
    place.commit({"README.md": "# Shop\n"})
    before = fingerprint(place.repo)
    with serve(SCRIPT) as server:
        own: dict[str, str] = {}
        for agent in agents:
            own |= reaches()[agent].prepare(place.home, server.url)
        outcome = race(
            place,
            RaceOrder(
                agents=agents,
                prompt="Make the file",
                options=(EXPERIMENTAL_FLAG, "--max-parallel", "8", "--idle-timeout", "5m"),
                environ=place.environ([BIN], **own),
                longest=600,
            ),
        )
    assert not outcome.hung
    lanes = {agent: outcome.lane(agent) for agent in agents}
    rows = {agent: (lane.get("status"), lane.get("error")) for agent, lane in lanes.items()}
    assert outcome.exit_code == 1, f"{rows}\n{outcome.stderr[-3000:]}"
    for lane in lanes.values():
        # An outcome that is not a patch says what it is; none is called completed without one.
        done = lane["status"] == "completed"
        assert done == bool(lane["patch"] and lane["patch"]["files"] and not lane["error"]), rows
        assert done or lane["error"], rows
    assert {agent for agent, lane in lanes.items() if lane["status"] == "completed"} == set(agents)
    assert outcome.folder is not None
    for agent in agents:
        assert place.patch(outcome.folder, agent) == {f"made-by-{agent}.txt": "A"}
    assert orphans(place.root) == []
    assert apart_from_pins(changes(before, fingerprint(place.repo))) == {}
    git = subprocess.run(
        ["git", "-C", str(place.repo), "status", "--porcelain", "--ignored"],
        capture_output=True,
        check=True,
    )
    assert git.stdout == b""
