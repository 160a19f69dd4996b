"""Real projects, out of the box: Hydra's words and order are right, and what the user had stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.real.projects import Checkout, Project, table
from tests.support import fakes
from tests.support.trust import by_account, exactly, place_for
from tests.support.verdict_races import Judged

pytestmark = pytest.mark.real

PROJECTS = [
    pytest.param(row, id=row.name, marks=[pytest.mark.slow] if row.slow else []) for row in table()
]
by_project = pytest.mark.parametrize("project", PROJECTS)


@pytest.fixture
def checkout(uid: int, project: Project) -> Iterator[Checkout]:
    """The project in a place of its own, installed."""
    with ExitStack() as stack:
        place = place_for(uid, stack, confined=True, furnished=False)
        checkout = Checkout(project, place)
        checkout.lay()
        yield checkout
        assert fakes.left(str(place.scratch)) == []


def lanes(checkout: Checkout) -> dict[str, list[fakes.Step]]:
    """What the scripted agents do; who mends also ruins what was installed, in its own lane."""
    file, project = checkout.project.file, checkout.project
    meddle = fakes.shell("sh", "-c", f"({project.meddle}) >/dev/null 2>&1; true")
    done = fakes.finish("done")
    return {
        "breaks": [fakes.edit(file, project.breaks), done],
        "idles": [done],
        "mends": [fakes.edit(file, checkout.right), meddle, done],
    }


def users_own(top: Path) -> dict[str, object]:
    """All that the user has there; a hard link to a file is not a change of it."""
    entries = {name: [*entry] for name, entry in exactly(top).items() if not _of_git(name)}
    for entry in entries.values():
        del entry[3]
    return {name: tuple(entry) for name, entry in entries.items()}


def everything(checkout: Checkout) -> dict[str, object]:
    """Also what of its environments lies in HOME."""
    places = [checkout.place.home / name for name in checkout.project.outside]
    assert all(any(place.iterdir()) for place in places)
    outside = {f"{top}/{name}": it for top in places for name, it in users_own(top).items()}
    return users_own(checkout.top) | outside


def _of_git(name: str) -> bool:
    return name == ".git" or name.startswith(".git/")


@by_account
@by_project
def test_the_right_patch_is_first_and_proved(checkout: Checkout) -> None:
    before = everything(checkout)
    judged = Judged(checkout.place, lanes(checkout))
    try:
        judged.run(checks=())
    finally:
        print(judged.race and f"{judged.race.stdout}\n{judged.race.stderr}")
    states = {row["lane"].removeprefix("claude-"): row["state"] for row in judged.document["lanes"]}
    assert states == {"mends": "proved", "breaks": "broken", "idles": "held_back"}, str(judged)
    assert judged.top() == "mends", str(judged)
    after = everything(checkout)
    assert {name for name in before | after if before.get(name) != after.get(name)} == set()
