"""Programs in HOME and folders on PATH: they run in a lane, and nobody's things beside them are
there to read. In many shapes, by what is computed and in a real race; and what is shown of each.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from hydra.process.sandbox.discovery import compute_view
from hydra.process.sandbox.view import View
from tests.attack.test_trust import DONE
from tests.conftest import commit
from tests.support import fakes
from tests.support.program_shapes import SHAPES, Shapes
from tests.support.trust import by_account, place_for

TRY = """
import json, os, re, subprocess, sys
named = json.load(open("places.json"))
walked = (os.path.join(top, name) for top, _, names in os.walk(sys.argv[1]) for name in names)
for path in (*named["secrets"], *walked):
    try:
        text = os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 1 << 16)
    except OSError:
        continue
    for secret in re.findall(rb"canary-[0-9]{4}-[0-9a-f]{8}", text):
        print("read", secret.decode(), path)
for program in named["programs"]:
    done = subprocess.run([program], capture_output=True, text=True)
    if done.returncode:
        print("fails", program, done.stderr)
print("ended whole")
"""


@pytest.fixture
def shapes(scratch: Path) -> Shapes:
    """An empty HOME."""
    (scratch / "home").mkdir()
    return Shapes(scratch / "home")


def view_of(shapes: Shapes, *path: str, agent: str = "") -> View:
    """What a lane would see of that HOME."""
    folders = [*map(str, shapes.path), *(f"{shapes.home}/{name}" for name in path)]
    environ = {"PATH": ":".join((*folders, "/usr/bin")), **shapes.variables}
    programs = [f"{shapes.home}/{agent}"] if agent else []
    return compute_view(shapes.home, environ, programs=programs)


def test_none_of_somebodys_things_beside_a_program_is_shown(shapes: Shapes) -> None:
    shapes.lay(SHAPES[::8])  # the race below takes all of them
    view = view_of(shapes)
    assert [str(path) for path in shapes.secrets.values() if view.is_visible(path)] == []
    assert [str(path) for path in shapes.programs if not view.is_visible(path)] == []


@pytest.mark.slow
@by_account
def test_no_program_brings_somebodys_things_into_a_lane(uid: int, stack: ExitStack) -> None:
    place = place_for(uid, stack, confined=True)
    shapes = Shapes(place.home)
    shapes.lay()
    assert len(SHAPES) >= 60
    assert len(shapes.secrets) > 600
    place.path += shapes.path
    place.extra |= {**shapes.variables, "HYDRA_SHOW": f"{place.scratch}/agents"}
    places = {"secrets": shapes.secrets.values(), "programs": shapes.programs}
    (place.repo / "places.json").write_text(json.dumps({k: [*map(str, places[k])] for k in places}))
    (place.repo / "try.py").write_text(TRY)
    commit(place.repo, "try")
    place.agent("claude", [fakes.shell("sh", "-c", f"python3 try.py {place.home} > out"), DONE])
    place.hand_over()
    race = place.race("-a", "claude")
    assert race.code == 0, race
    assert place.taken(race.document["folder"], "claude", "out") == "ended whole"


# What is shown of each kind


def test_of_a_program_elsewhere_nothing_is_shown_but_itself(shapes: Shapes) -> None:
    """What it needs besides, its user shows."""
    for step in ("elf a/bin/t", "link on/t a/bin/t", "file a/lib/part.so", "file a/share/t/data"):
        shapes.step(step)
    view = view_of(shapes, "on")
    assert view.is_visible(shapes.home / "a/bin/t")
    assert not view.is_visible(shapes.home / "a/lib/part.so")
    assert not view.is_visible(shapes.home / "a/share/t/data")


def test_of_a_path_folder_programs_alone_are_shown(shapes: Shapes) -> None:
    for step in ("run tools/t", "file tools/lib/part.sh", "file tools/part.sh"):
        shapes.step(step)
    view = view_of(shapes, "tools")
    assert view.is_visible(shapes.home / "tools/t")
    assert not view.is_visible(shapes.home / "tools/part.sh")
    assert not view.is_visible(shapes.home / "tools/lib/part.sh")


def test_a_pinned_pnpm_is_shown_wherever_pnpm_itself_lies(shapes: Shapes) -> None:
    """It fetches it there, and in a lane it cannot."""
    shapes.step("file .local/share/pnpm/.tools/pnpm/10.28.0/bin/pnpm")
    shapes.step("file .local/share/pnpm/rc")
    view = view_of(shapes)
    assert view.is_visible(shapes.home / ".local/share/pnpm/.tools/pnpm/10.28.0/bin/pnpm")
    assert not view.is_visible(shapes.home / ".local/share/pnpm/rc")
