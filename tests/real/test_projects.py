"""Real projects, out of the box: Hydra's words and order are right, and what the user had stays."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest

from tests.real.projects import Checkout, Project, table
from tests.support import fakes
from tests.support.trust import ACCOUNTS, by_user, exactly, name_of, place_for
from tests.support.verdict_races import Judged

pytestmark = pytest.mark.real

PROJECTS = [
    pytest.param(row, id=row.name, marks=[] if row.gates else [pytest.mark.full]) for row in table()
]
by_project = pytest.mark.parametrize("project", PROJECTS)
by_editable = pytest.mark.parametrize(
    "project", [row for row in PROJECTS if cast(Project, row.values[0]).unconfined]
)


@pytest.fixture
def checkout(uid: int, project: Project) -> Iterator[Checkout]:
    """The project in a place of its own, installed."""
    with ExitStack() as stack:
        place = place_for(uid, stack, confined=True, furnished=False)
        checkout = Checkout(project, place)
        checkout.lay()
        yield checkout
        assert fakes.left(str(place.scratch)) == []


@pytest.fixture
def gate(checkout: Checkout) -> Iterator[fakes.Barrier]:
    """Where the agents wait while the user installs."""
    gate = fakes.Barrier(checkout.place.scratch, "meanwhile")
    for path in (gate.path, gate.path.parent):
        os.chown(path, checkout.place.uid, checkout.place.uid)
    yield gate
    gate.close()


def lanes(checkout: Checkout) -> dict[str, list[fakes.Step]]:
    """What the scripted agents do."""
    file, done = checkout.project.file, fakes.finish("done")
    return {
        "breaks": [fakes.edit(file, checkout.project.breaks), done],
        "idles": [done],
        "mends": [fakes.edit(file, checkout.right), done],
    }


def busy_lanes(checkout: Checkout, gate: fakes.Barrier) -> dict[str, list[fakes.Step]]:
    """Who mends also ruins what was installed, in its own lane; who idles has a patch if what it
    sees installed changes behind its back."""
    chosen = lanes(checkout)
    meddle = fakes.shell("sh", "-c", f"({checkout.project.meddle}) >/dev/null 2>&1; true")
    look, look_again = (fakes.shell("sh", "-c", line) for line in _looks(checkout))
    chosen["idles"][:0] = [look, *gate.stop(), look_again]
    chosen["mends"][1:1] = [meddle, *gate.stop()]
    return chosen


def _looks(checkout: Checkout) -> tuple[str, str]:
    places = [*checkout.project.folders, *(f"~/{name}" for name in checkout.project.outside)]
    digests = f"find {' '.join(places)} -type f -print0 | sort -z | xargs -0 -r sha256sum"
    return (
        f"{digests} > $TMPDIR/seen; [ -s $TMPDIR/seen ] || touch nothing",
        f"{digests} | cmp -s - $TMPDIR/seen || touch changed",
    )


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
    outside = {f"{top}/{name}": value for top in places for name, value in users_own(top).items()}
    return users_own(checkout.top) | outside


def _of_git(name: str) -> bool:
    return name == ".git" or name.startswith(".git/")


@pytest.mark.parametrize(
    "uid",
    [
        pytest.param(uid, id=name_of(uid), marks=[pytest.mark.full] if uid != ACCOUNTS[-1] else [])
        for uid in ACCOUNTS
    ],
)
@by_project
def test_the_right_patch_is_first_and_proved(checkout: Checkout, gate: fakes.Barrier) -> None:
    """While a lane ruins what it has installed, and the user installs something else."""
    before = everything(checkout)
    checkout.place.users_at_work = True
    judged = Judged(checkout.place, busy_lanes(checkout, gate))
    with ThreadPoolExecutor() as pool:
        race = pool.submit(judged.run, checks=())
        race.add_done_callback(lambda _: gate.path.write_text(".."))
        try:
            gate.wait(2, timeout=120)
            assert not race.done()
            assert changed(before, everything(checkout)) == set()
            checkout.run(checkout.project.meanwhile)
            installed = everything(checkout)
        finally:
            gate.open()
            print(race.exception(), judged.race and f"{judged.race.stdout}\n{judged.race.stderr}")
    race.result()
    assert changed(before, installed)
    assert_right(judged)
    assert changed(installed, everything(checkout)) == set()


@pytest.mark.full
@by_user
@by_editable
def test_where_nothing_confines_it_is_proved_or_refused(checkout: Checkout) -> None:
    """The check that it names and does not run cannot start, which is said before an agent does, or
    proves nothing; with the environment active patches are judged and not the checkout."""
    place = checkout.place
    place.refused_bwrap("setting up uid map: Permission denied")
    judged = Judged(place, lanes(checkout))
    plan = place.run("race", "Do it", "-a", "claude:mends", "--dry-run")
    (check,) = re.findall(r"to run it: --check (.*)", plan.stdout + plan.stderr)
    done = place.run("race", "Do it", "-a", "claude:mends", "--check", *shlex.split(check))
    print(done.stdout, done.stderr)
    assert done.returncode in (1, 3)
    if done.returncode == 3:
        assert len(re.findall("^error: your tests cannot run here", done.stderr, re.M)) == 1
        assert [*place.state.glob("*/runs/*")] == []
    environment = checkout.run(checkout.project.unconfined).strip()
    place.extra["VIRTUAL_ENV"] = environment
    place.path.insert(0, Path(environment, "bin"))
    judged.run(checks=("python -m pytest -q",))
    print(judged.race)
    assert_right(judged)


@pytest.mark.full
@by_user
@pytest.mark.parametrize("name", ["itsdangerous", "flat"])
def test_in_a_fresh_clone_the_set_up_that_is_offered_makes_the_tests_run(
    uid: int, name: str
) -> None:
    """Its packages were never installed here: the race stops, and its own line is then pasted."""
    (project,) = (row for row in table() if row.name == name)
    with ExitStack() as stack:
        place = place_for(uid, stack, confined=True, furnished=False)
        checkout = Checkout(dataclasses.replace(project, install=[], tools=[]), place)
        checkout.lay()
        chosen = lanes(checkout)
        judged = Judged(place, {does: chosen[does] for does in ("mends", "breaks")})
        done = place.run("race", "Do it", "-a", "claude:mends")
        assert (done.returncode, [*place.state.glob("*/runs/*")]) == (3, []), done.stderr
        assert "error: your tests cannot run here: " in done.stderr
        (line,) = re.findall(r"or --setup ('[^']+'|\"[^\"]+\"|\S+);", " ".join(done.stderr.split()))
        judged.run("--setup", *shlex.split(line), checks=())
        states = {
            row["lane"].removeprefix("claude-"): row["state"] for row in judged.document["lanes"]
        }
        assert (states, judged.top()) == ({"mends": "proved", "breaks": "broken"}, "mends"), judged


def assert_right(judged: Judged) -> None:
    """Of each lane what it is, and who mends is first."""
    states = {row["lane"].removeprefix("claude-"): row["state"] for row in judged.document["lanes"]}
    assert states == {"mends": "proved", "breaks": "broken", "idles": "held_back"}, str(judged)
    assert judged.top() == "mends", str(judged)


def changed(before: dict[str, object], after: dict[str, object]) -> set[str]:
    """The names of what is not as it was."""
    return {name for name in before | after if before.get(name) != after.get(name)}
