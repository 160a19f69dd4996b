"""The same work in a lane at the checkout's path and in a plain worktree makes the same patch."""

from __future__ import annotations

import pytest

from tests.support import fakes
from tests.support.trust import Place, by_ordinary, needs_bwrap, place

__all__ = ["place"]

pytestmark = pytest.mark.slow

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A"), ("EMAIL", "a@example.com"), ("DATE", "1700000000 +0000"))
}
VARIABLES = "".join(f"export {name}='{value}'\n" for name, value in IDENTITY.items())


@by_ordinary
def test_a_recovery_knows_where_the_lane_had_its_tree(place: Place) -> None:
    needs_bwrap(place.uid)
    gate = fakes.Barrier(place.scratch, "worked")
    work = f"{VARIABLES}git init -q --separate-git-dir=$PWD/s.log n; echo a > n/a; git -C n add a"
    stash = "git -C n commit -qm a; echo work > n/a; git -C n stash -q"
    place.agent("claude", [fakes.shell("sh", "-c", f"{work}; {stash}"), *gate.stop()])
    place.hand_over()
    killed = place.start("race", "Do it", "-q", "-a", "claude", "--no-check")
    gate.wait()
    killed.kill()
    killed.communicate()
    gate.close()
    assert "recovered" in place.run("runs").stderr
    (patches,) = place.state.glob("*/runs/*/patches.git")
    assert place.git("show", "refs/left/claude/1/nested/n/stash:a", cwd=patches) == "work"
