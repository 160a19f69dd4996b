"""Programs in HOME and folders on PATH: they run in a lane, and nobody's things beside them are
there to read. In 75 shapes, by what is computed and in a real race; and what each kind is shown of.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from hydra.process.sandbox.code import is_code_folder
from hydra.process.sandbox.discovery import compute_view
from hydra.process.sandbox.elf import needed_libraries
from hydra.process.sandbox.view import View
from tests.conftest import git
from tests.support import fakes
from tests.support.program_shapes import SHAPES, Shapes
from tests.support.trust import by_account, place_for
from tests.test_trust import DONE

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is here")

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
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


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
    git(place.repo, "add", "-A")
    git(place.repo, "commit", "-qm", "try")
    place.agent("claude", [fakes.shell("sh", "-c", f"python3 try.py {place.home} > out"), DONE])
    place.hand_over()
    race = place.race("-a", "claude")
    assert race.code == 0, race
    assert place.taken(race.document["folder"], "claude", "out") == "ended whole"


# What is shown of each kind


def test_libraries_are_followed_as_the_loader_does(shapes: Shapes) -> None:
    for step in ("linked a/t", "lib b/libpart.so", "link a/libpart.so ../b/libpart.so"):
        shapes.step(step)
    shapes.step("pipe c/libpart.so")
    shapes.step("linked c/t")
    home = shapes.home
    assert [*needed_libraries(home / "a/t")] == [home / "a/libpart.so"]
    assert [*needed_libraries(home / "c/t")] == []  # and does not wait for the pipe
    view = compute_view(home, {"PATH": f"{home}/on"}, programs=[str(home / "a/t")])
    assert view.is_visible(home / "b/libpart.so")


def test_of_a_broken_program_no_library_is_shown_and_nothing_is_raised(shapes: Shapes) -> None:
    shapes.step("linked a/t")
    shapes.step("lib a/libpart.so")
    whole = (shapes.home / "a/t").read_bytes()
    torn = shapes.home / "a/torn"
    for cut in (*range(0, 200, 7), *range(200, len(whole), 499)):
        torn.write_bytes(whole[:cut])
        list(needed_libraries(torn))
        torn.write_bytes(whole[:cut] + b"\xff" * 64 + whole[cut + 64 :])
        assert {*needed_libraries(torn)} <= {shapes.home / "a/libpart.so"}


@pytest.mark.parametrize(
    ("steps", "shown", "hidden"),
    [
        ("elf a/t; file a/t.runtimeconfig.json; file a/t.dll", "t.dll", "letter.txt"),
        ("elf a/t; file a/icudtl.dat; file a/resources/app.asar", "resources/app.asar", "plan"),
        ("elf a/t; file a/_internal/base_library.zip", "_internal/base_library.zip", "plan"),
        ("elf a/t; file a/lib/std/std.zig", "lib/std/std.zig", "letter.txt"),
        ("elf a/AppRun; file a/usr/share/data; link a/t a/AppRun", "usr/share/data", "plan"),
        ("run a/bin/t; link a/t a/bin/t; file a/product-info.json; file a/jbr/release", "jbr", "x"),
        (
            "run a/bin/tool; link a/t a/bin/tool; file a/share/tool-2/data",
            "share/tool-2",
            "share/x",
        ),
        ("run a/bin/t; link a/t a/bin/t; file a/lib/x.so", "lib", "share"),
    ],
)
def test_of_an_unpacked_application_its_own_parts_are_shown(
    shapes: Shapes, steps: str, shown: str, hidden: str
) -> None:
    for step in (*steps.split(";"), "link on/t a/t", f"secret a/{hidden}"):
        shapes.step(step)
    view = view_of(shapes, "on")
    assert view.is_visible(shapes.home / "a" / shown)
    assert not view.is_visible(shapes.home / "a" / hidden)


def test_of_a_racing_agents_folder_the_code_beside_it_is_shown(shapes: Shapes) -> None:
    for step in ("run a/agent", "file a/index.js", "file a/parts/x.js", "work a"):
        shapes.step(step)
    view = view_of(shapes, agent="a/agent")
    assert all(view.is_visible(shapes.home / "a" / name) for name in ("index.js", "parts/x.js"))
    assert not any(map(view.is_visible, shapes.secrets.values()))


@pytest.mark.parametrize(
    ("entry", "beside", "seen"),
    [("tools", "tools/lib/part.sh", True), ("work/bin", "work/bin/lib/part.sh", False)],
)
def test_code_in_folders_of_a_path_folder_is_shown_unless_it_is_a_checkouts(
    shapes: Shapes, entry: str, beside: str, seen: bool
) -> None:
    for step in (f"run {entry}/t", f"file {beside}", "file work/.git/HEAD"):
        shapes.step(step)
    view = view_of(shapes, entry)
    assert view.is_visible(shapes.home / entry / "t")
    assert view.is_visible(shapes.home / beside) is seen


def test_libraries_of_this_python_are_code_and_papers_are_not(shapes: Shapes) -> None:
    assert is_code_folder(Path(os.__file__).parent)
    shapes.step("work papers")
    shapes.step("file empty/x/README.md")
    assert not is_code_folder(shapes.home / "papers")
    assert is_code_folder(shapes.home / "empty")
