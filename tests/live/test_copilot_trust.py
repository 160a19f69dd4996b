"""A checkout that Copilot trusts by its path: its hooks and servers run for it, not in a lane."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hydra.conformance.live.agent_settings import reaches
from hydra.conformance.race_run import RaceOrder, ScratchPlace, race
from hydra.conformance.server import serve
from tests.live.support import BIN

EXPERIMENTAL_FLAG = "--allow-experimental-adapters"

pytestmark = [pytest.mark.live, pytest.mark.full]

HEAD = "// User settings belong in settings.json.\n// This file is managed automatically.\n"
TRAPS = {
    "README.md": "# Shop\n\nA small shop.\n",
    ".mcp.json": '{"mcpServers": {"t": {"command": "sh", "args": ["-c", "touch mark-mcp"]}}}',
    ".github/hooks/trap.json": '{"version": 1, "hooks": {"sessionStart": '
    '[{"type": "command", "bash": "touch mark-hook"}]}}',
}


@pytest.fixture
def place() -> Iterator[ScratchPlace]:
    with TemporaryDirectory(prefix="hydra-trust-", dir="/var/tmp") as folder:
        yield ScratchPlace(Path(folder) / "place")


@pytest.mark.parametrize("key", ["trustedFolders", "trusted_folders"])
def test_what_is_granted_to_the_checkout_is_not_a_lanes(place: ScratchPlace, key: str) -> None:
    program = shutil.which("copilot", path=BIN)
    if not program:
        pytest.skip(f"no copilot in {BIN}")
    place.commit(TRAPS)
    with serve("edit") as server:
        own = reaches()["copilot"].prepare(place.home, server.url)
        config = place.home / ".copilot" / "config.json"
        config.parent.mkdir(exist_ok=True)
        config.write_text(HEAD + json.dumps({key: [str(place.repo)]}))
        environ = place.environ([BIN], **own)
        order = RaceOrder(
            agents=["copilot"],
            options=(EXPERIMENTAL_FLAG, "--permission", "full-auto"),
            environ=environ,
        )
        outcome = race(place, order)
        lane = outcome.lane("copilot")
        assert lane, outcome.stderr[-3000:]
        assert lane.status == "completed", outcome.stderr[-3000:]
        assert outcome.folder is not None
        patch = place.patch(outcome.folder, "copilot")
        assert [name for name in patch if name.startswith("mark-")] == []
        # Without Hydra they do run: the assertion above can fail.
        line = (program, "--output-format", "json", "--allow-all", "--no-auto-update")
        subprocess.run(line, cwd=place.repo, env=environ, input="Do it", text=True, check=True)
    assert {path.name for path in place.repo.glob("mark-*")} == {"mark-hook", "mark-mcp"}
