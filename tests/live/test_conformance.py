"""Every situation with the real CLIs is as expected."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hydra.adapters import registry
from hydra.conformance.live.observed import Observed
from hydra.conformance.live.run import observe
from hydra.conformance.live.situation import Situation, load_all
from tests.live.support import AGENTS, BIN, unmet

pytestmark = pytest.mark.live

SITUATIONS = load_all()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="hydra-live-", dir="/var/tmp"))
    yield root
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def met(folder: Path) -> Mapping[tuple[str, str], Observed]:
    """All of them, run once."""
    if not BIN.is_dir():
        pytest.skip("HYDRA_LIVE_BIN names no folder with the real CLIs")
    adapters = [registry.get(agent) for agent in AGENTS]
    programs = {agent: BIN / agent for agent in AGENTS}
    all_met = observe(adapters, programs, folder=folder / "all")
    return {(one.agent, one.situation): one for one in all_met}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.name)
def test_a_situation_is_as_expected(
    met: Mapping[tuple[str, str], Observed], situation: Situation, agent: str
) -> None:
    one = met[agent, situation.name]
    if agent in situation.skip:
        assert one.reason == situation.skip[agent]
        return
    if one.reason:
        unmet(one.reason)
    assert one.differences == ()
    assert one.version
    refused = one.status == "not_started"
    assert refused or (one.stdout and one.stdout.is_file() and one.events)
