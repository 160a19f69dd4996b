"""Sentences of docs/ that a run shows and no other test holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.command import Hydra
from tests.support.grounds import fingerprint


@pytest.mark.slow
def test_a_race_leaves_nothing_in_home_but_hydras_own_two_folders(
    scratch: Path, repo: Path
) -> None:
    """docs/why/trust.md: where nothing moves them, the cache and the state lie in HOME."""
    hydra = Hydra(scratch, repo, extra={"HYDRA_STATE_DIR": "", "HYDRA_CACHE_DIR": ""})
    hydra.agent("claude", [fakes.edit("a.txt", "x\n"), fakes.finish("done")])
    (hydra.home / ".claude").mkdir()
    (hydra.home / ".claude" / "settings.json").write_text("{}\n")
    for folder in (".cache", ".local/state"):
        (hydra.home / folder).mkdir(parents=True)
    before = fingerprint(hydra.home)
    race = hydra.race()
    assert race.code == 0, race.document
    after = fingerprint(hydra.home)
    own = (".cache/hydra", ".local/state/hydra")
    new = {name for name in after if name not in before}
    assert new
    assert {name for name in new if not name.startswith(own)} == set()
    assert {name for name in new if name.endswith("probes.json")} == {".cache/hydra/probes.json"}
    assert before == {name: looks for name, looks in after.items() if name in before}
    assert Path(race.document["folder"]).is_relative_to(hydra.home / own[1])


ROOT = Path(__file__).parent.parent


# --- words of which the list is closed -----------------------------------------------------------


def json_row(name: str, section: str) -> set[str]:
    """The values that docs/reference/json.md has in a field's row: what is in backticks there."""
    text = (ROOT / "docs/reference/json.md").read_text().partition(f"\n{section}\n")[2]
    row = re.findall(rf"^\| `{name}` \| [^|]* \| (.*) \|$", text, re.MULTILINE)[0]
    return set(re.findall(r"`([^`]+)`", row.partition(";")[0].partition(": [")[0]))


def first_column(page: str, heading: str) -> set[str]:
    """The words in the first column of a section's table."""
    text = (ROOT / "docs" / page).read_text().partition(f"\n## {heading}\n")[2]
    cells = re.findall(r"^\| ([^|]+?) \|", text.partition("\n## ")[0], re.MULTILINE)
    return {name.strip("` ") for cell in cells for name in cell.split(", ")}


def test_statuses_and_states_are_those_of_the_code() -> None:
    from hydra.adapters.probe.health import HealthState
    from hydra.checks.record import CheckStatus
    from hydra.records.agent import Confidence
    from hydra.records.outcome import Status

    assert json_row("status", "## A lane") == set(Status)
    assert json_row("status", "## A check") == set(CheckStatus)
    assert json_row("health", "## `hydra agents --json`") == set(HealthState)
    assert set(HealthState) <= first_column("reference/doctor.md", "Health")
    assert set(Confidence) <= json_row("capabilities", "## `hydra agents --json`")
    ended = {term.replace(" ", "_") for term in first_column("reference/checks.md", "How it ends")}
    assert {status.replace("setup", "set-up") for status in CheckStatus} - ended == {"no_tests"}


def test_remarks_are_of_the_kinds_that_both_pages_name() -> None:
    from hydra.analysis.notices.places import PLACES

    documented = json_row("kind", "## Remark")
    assert set(PLACES) <= documented
    assert documented <= first_column("reference/landing.md", "A word on every patch")
    code = "".join(path.read_text() for path in (ROOT / "hydra/analysis/notices").glob("*.py"))
    assert {kind for kind in documented if f'"{kind}"' not in code} == set()
