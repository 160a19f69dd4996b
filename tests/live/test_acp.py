"""Over ACP: an agent that Hydra has no row for, and one that hooks are hidden from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import tomli_w

from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.conformance.live.agent_settings import reaches
from hydra.conformance.live.orphans import orphans
from hydra.conformance.live.situation import FILES
from hydra.conformance.race_run import RaceOrder, ScratchPlace, race
from hydra.conformance.script import parse
from hydra.conformance.server import serve
from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.support import BIN

pytestmark = [pytest.mark.live, pytest.mark.full]

AGENTS = {"gemini-acp": ("gemini", "--acp"), "opencode-acp": ("opencode", "acp")}
"""Agents that speak it, started here as nobody's in particular."""

FOLDERS = {
    "gemini": ["~/.gemini"],
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
    program, *terms = AGENTS[agent]
    text = shutil.which(program, path=BIN)
    if not text:
        pytest.skip(f"no {program} in {BIN}")
    place.commit(FILES)
    before = fingerprint(place.repo)
    with serve("edit") as server:
        own = reaches()[agent].prepare(place.home, server.url)
        settings = {
            "path": text,
            "args": terms,
            "environment": sorted(own),
            "folders": FOLDERS[program],
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
    assert (lane["status"], lane["error"]) == ("completed", None), outcome.stderr[-3000:]
    assert outcome.folder is not None
    assert place.patch(outcome.folder, "acp") == {f"created-by-{agent}.txt": "A", "README.md": "M"}
    assert not apart_from_pins(changes(before, fingerprint(place.repo)))
    assert not orphans(place.root)


COMMITS = parse(
    "commits",
    {
        "about": "it commits all that it sees",
        "turn": [
            {
                "tool": [
                    {
                        "kind": "shell",
                        "command": "echo new > a.txt && git add -A && git commit -qm all"
                        " && git ls-files > listed.txt",
                    }
                ]
            },
            {"say": "Done."},
        ],
    },
)


def test_what_is_hidden_from_an_agent_stays_though_it_commits_without_it(
    place: ScratchPlace,
) -> None:
    if not shutil.which("copilot", path=BIN):
        pytest.skip(f"no copilot in {BIN}")
    hook = '{"hooks": {"sessionStart": [{"type": "command", "bash": "touch mark-hook"}]}}'
    place.commit({"README.md": "# Shop\n", ".github/hooks/trap.json": hook})
    with serve(COMMITS) as server:
        own = reaches()["copilot-acp"].prepare(place.home, server.url)
        order = RaceOrder(
            agents=["copilot-acp"],
            options=(EXPERIMENTAL_FLAG,),
            environ=place.environ([BIN], **own),
        )
        outcome = race(place, order)
    lane = outcome.lane("copilot-acp")
    assert (lane["status"], lane["error"]) == ("completed", None), outcome.stderr[-3000:]
    assert [text for text in lane["warnings"] if text.startswith("hidden from GitHub Copilot CLI")]
    assert outcome.folder is not None
    assert place.patch(outcome.folder, "copilot-acp") == {"a.txt": "A", "listed.txt": "A"}
    listed = place.git("show", "copilot-acp:listed.txt", cwd=outcome.folder / "patches.git")
    assert listed.split() == ["README.md", "a.txt"], "the hook was in its sight"
