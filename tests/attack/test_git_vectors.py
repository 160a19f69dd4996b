"""Ways in which a repository makes git run a program: an agent arms each, and Hydra runs none.

A lane a vector. After the race, every command that reads, checks or lands it is run; then all of
it again with a Hydra that is killed, so that the next command takes the patches. That each trap is
real is shown by plain git, as a person would type it in the lane's worktree: it runs what was
armed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.tables import table
from tests.support.trust import ORDINARY, Place, exactly, shared_place

DONE = fakes.finish("done")
EVIL = """
set -eu
E="$TMPDIR/evil"; G=$(git rev-parse --path-format=absolute --git-common-dir)
D=$(git rev-parse --absolute-git-dir)
evil() {  # It says that it ran, then does as a filter or a converter should.
    printf '#!/bin/sh\\n[ -e %s/armed ] && echo "$0 $*" >> %s\\n%s\\n' "$TMPDIR" "$RAN" "$1" > "$E"
    chmod +x "$E"
}
evil 'case "$1" in /*) cat "$1";; *) [ -t 0 ] || cat;; esac'
hooks() {
    mkdir -p "$1"
    for hook in pre-commit post-commit post-checkout post-index-change reference-transaction; do
        cp "$E" "$1/$hook"
    done
}
nested() {
    git init -q "$1"; git -C "$1" config user.name A; git -C "$1" config user.email a@example.com
    echo y > "$1/y"; git -C "$1" add y; git -C "$1" commit -qm y; echo z >> "$1/y"
}
missing() {
    evil 'exit 1'
    O=1234567812345678123456781234567812345678
    git config core.repositoryFormatVersion 1; git config extensions.partialClone origin
    git config remote.origin.promisor true; git config remote.origin.url "$1"
    git update-index --add --cacheinfo "100644,$O,gone.txt"; echo $O > "$G/refs/heads/gone"
}
second() {
    cp -r "$G" "$TMPDIR/second.git"; git -C "$TMPDIR/second.git" config core.fsmonitor "$E"
    git -C "$TMPDIR/second.git" config core.bare false
}
"""


@dataclass(frozen=True)
class Vector:
    """`arm` is what the agent types; `plain` what a person types who falls into it."""

    arm: str = ""
    plain: str = "git status"
    kind: str = "plain"
    setup: str = ""
    allow: tuple[str, ...] = ()
    needs: str = ""
    then: str = ""


TABLE = table("git_vectors")
VECTORS = {name: Vector(**row) for name, row in TABLE["vectors"].items()}
pytestmark = pytest.mark.timeout(1200)  # the first of them races with all vectors, twice

NAMES = list(VECTORS)
LANES = ["claude", *(f"claude-{number}" for number in range(2, len(NAMES) + 1))]

WALLS = [(os.geteuid(), True), (ORDINARY if os.geteuid() == 0 else os.geteuid(), False)]


@dataclass
class Trial:
    """What had been run when Hydra was done, and what plain git ran afterwards."""

    place: Place
    shown: list[str]
    by_hydra: dict[str, str]
    armed: dict[str, str]
    patched: dict[str, str]
    by_plain_git: frozenset[str]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(WALLS[0], id="confined"),
        pytest.param(WALLS[1], id="unconfined", marks=pytest.mark.full),
    ],
)
def trial(request: pytest.FixtureRequest) -> Iterator[Trial]:
    """Every vector in a lane of its own, in a race that ends and in one that is killed."""
    uid, confined = request.param
    with shared_place(uid, confined=confined, furnished=False) as (place, stack):
        yield tried(place, confined, stack)


def tried(place: Place, confined: bool, stack: ExitStack) -> Trial:
    ran = place.scratch / "ran"
    ran.mkdir()
    arrived = fakes.Fifo(place.scratch / "arrived")
    stack.callback(arrived.close)
    go = place.scratch / "go"
    place.agent(
        "claude",
        [DONE],
        cases=[
            (f"/{lane}/", steps(ran / name, vector, arrived.path, go))
            for lane, (name, vector) in zip(LANES, VECTORS.items(), strict=True)
        ],
    )
    if not confined:
        place.without("bwrap")
    pager = place.scratch / "pager"
    pager.write_text(f"#!/bin/sh\necho shown >> {place.scratch}/users-pager\ncat\n")
    pager.chmod(0o755)
    (place.home / ".gitconfig").write_text(f"[core]\n\tpager = {pager}\n")
    place.hand_over()
    half = len(LANES) // 2
    names = ("-a", f"{half}xclaude", "-a", f"{len(LANES) - half}xclaude")
    terms = ("race", "Do it", "-q", *names, "--keep", "all")
    go.touch()
    race = place.run(*terms, "--max-parallel", "8", timeout=300)
    assert race.returncode == 1, race.stderr
    folder = place.run("runs", "path").stdout.strip()
    armed = {name: place.taken(folder, lane, "armed.txt") for name, lane in pairs()}
    patched = {name: place.taken(folder, lane, "src/pager.py") for name, lane in pairs()}
    # What a patch's commands read is the same in every lane; all of them are tried in full.
    shown = LANES[::10] if confined else LANES
    for lane in shown:
        on_terminal(place, f"{place.python} -m hydra diff {lane}", place.repo)
    paths = {name: worktree(place, lane) for name, lane in pairs()}
    look_around(place, paths.values())
    land(place, shown)
    checked = place.run("check", "--check", "true", "-q", timeout=300)
    assert checked.returncode == 0, checked.stderr
    go.unlink()
    killed = place.start(*terms, "--max-parallel", str(len(LANES)))
    for number in range(2 * len(LANES)):
        assert arrived.take(b".", 120) is not None, number
    killed.kill()
    killed.communicate()
    process = place.run("runs", timeout=300)
    assert f"{len(LANES)} patches taken" in process.stderr
    look_around(place, [worktree(place, lane) for lane in LANES[:: 1 if not confined else 6]])
    by_hydra = {path.name: path.read_text() for path in ran.iterdir()}
    go.touch()
    for name, vector in VECTORS.items():
        on_terminal(place, vector.plain, paths[name])
    by_git = frozenset(path.name for path in ran.iterdir())
    return Trial(place, shown, by_hydra, armed, patched, by_git)


def pairs() -> Iterator[tuple[str, str]]:
    return zip(NAMES, LANES, strict=True)


def steps(ran: Path, vector: Vector, arrived: Path, go: Path) -> list[fakes.Step]:
    script = f"RAN='{ran}'\n{EVIL}\n{vector.arm}\ntouch \"$TMPDIR/armed\""
    # It says so itself: a trap that could not be laid must not pass for one that held.
    armed = fakes.shell("sh", "-c", f"{{ {script}\n}} >&2 && echo armed > armed.txt", show="arm")
    return [fakes.edit("src/pager.py", "fixed\n"), armed, fakes.touch(arrived), fakes.wait_for(go)]


def worktree(place: Place, lane: str) -> Path:
    """The newest one of that lane."""
    paths = place.state.glob(f"g/*/{lane}/shop")
    return max(paths, key=lambda path: path.parent.stat().st_ctime_ns)


def look_around(place: Place, value: object) -> None:
    """Every command that reads, in the user's repository and in what agents left."""
    for terms in (["runs"], ["runs", "show"], ["doctor"], ["diff", "claude", "--stat"]):
        place.run(*terms)
    users = place.repo
    for folder in list(value):  # type: ignore[call-overload]
        place.repo = folder
        assert place.run("runs").returncode == 3
    place.repo = users


def land(place: Place, lanes: list[str]) -> None:
    """Each of these lanes' patches is landed, taken back and exported."""
    before = exactly(place.repo / "src")
    for lane in lanes:
        landed = place.run("merge", lane, "--no-check")
        assert landed.returncode == 0, landed.stderr
        undone = place.run("merge", "--undo")
        assert undone.returncode == 0, undone.stderr
        assert "def pages" in place.run("diff", lane, "--mbox").stdout
    assert place.git("status", "--porcelain") == ""
    assert {name: entry[-1] for name, entry in exactly(place.repo / "src").items()} == {
        name: entry[-1] for name, entry in before.items()
    }


def on_terminal(place: Place, script: str, cwd: Path) -> bytes:
    """A shell command whose output is a terminal: there git and Hydra start pager and editor."""
    environ = place.environ | {"GIT_CONFIG_NOSYSTEM": "1"}
    environ.pop("HYDRA_CONFIG")
    return place.on_terminal(["timeout", "60", "sh", "-c", script], environ, cwd=cwd)[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_an_agent_armed_is_run_by_plain_git_and_by_no_command_of_hydra(
    trial: Trial, name: str
) -> None:
    assert (trial.armed[name], trial.patched[name]) == ("armed", "fixed")
    assert trial.by_hydra.get(name) is None
    assert name in trial.by_plain_git


@pytest.mark.slow
def test_the_users_own_pager_is_the_one_that_shows_a_diff(trial: Trial) -> None:
    shown = (trial.place.scratch / "users-pager").read_text().splitlines()
    assert len(shown) >= len(trial.shown)
