"""What an agent closes in its lane (`chmod 0`) costs none of its work: root reads all of it anyway,
an ordinary user has to open it first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.trust import Place, by_ordinary, place

__all__ = ["place"]

pytestmark = pytest.mark.slow

WHO = "git config user.name a; git config user.email b"
STASH = f"{WHO}; echo work > x; git stash -qu"
OWN = "G=$(git rev-parse --git-common-dir)"
LINKED = 'git worktree add -q --detach "$TMPDIR/w/w"; echo work > "$TMPDIR/w/w/x"'
NESTED = f"git init -q n; cd n; {WHO}; echo a > a; git add a; git commit -qm a; {STASH}; cd .."
CLOSED = {
    "claude": (f'{OWN}; {STASH}; chmod 0 "$G"', "stash^3:x"),
    "claude-2": (f'{OWN}; {STASH}; chmod 0 "$G/refs" "$G/logs" "$G/objects"', "stash^3:x"),
    "claude-3": (f'{OWN}; {STASH}; find "$G" -depth -exec chmod 0 {{}} +', "stash^3:x"),
    "claude-4": (f"{NESTED}; chmod 0 n/.git", "nested/n/stash^3:x"),
    "claude-5": (f'{LINKED}; chmod 0 "$TMPDIR/w"', "worktrees/w/files:x"),
}
"""What an agent does in a lane of its own, and where its work is then to be found."""


@by_ordinary
def test_what_an_agent_has_closed_is_opened_and_its_work_kept(place: Place) -> None:
    cases = (f"{lane}) {script} ;;" for lane, (script, _) in CLOSED.items())
    script = "\n".join(("set -e", "case $HYDRA_LANE in", *cases, "esac"))
    shell = fakes.shell("sh", "-c", script)
    place.agent("claude", [shell, fakes.edit("src/pager.py", "fixed\n"), fakes.finish("done")])
    place.hand_over()
    race = place.race("-a", f"{len(CLOSED)}xclaude", "--no-check")
    patches = Path(race.document["folder"], "patches.git")
    for lane, (_, where) in CLOSED.items():
        patch = race.lane(lane)["patch"]
        assert not patch["incomplete"], lane
        assert not patch["left_behind"], patch["notes"]
        assert place.git("show", f"{lane}:src/pager.py", cwd=patches) == "fixed"
        assert place.git("show", f"refs/left/{lane}/1/{where}", cwd=patches) == "work"
        assert any("made readable" in note for note in patch["notes"]) == (lane != "claude-5")
