"""What a Hydra leaves among the grounds of races that was killed before its race had a record, or
in a check after it; and the tree of links beside its lock."""

from __future__ import annotations

import os
import time
from pathlib import Path

from hydra.git.base_commit import read
from hydra.race.dependencies import Links
from hydra.race.recovery.retention import remove_strays
from hydra.records.store.files import take_lock

AN_HOUR_AGO = time.time() - 3600


def ground(state: Path, *folders: str, when: float = AN_HOUR_AGO) -> Path:
    """One with these folders, untouched since `when`."""
    for name in folders:
        (state / "g" / name).mkdir(parents=True)
    place = state / "g" / folders[0].partition("/")[0]
    os.utime(place, (when, when))
    return place


def test_what_no_lane_can_be_in_goes_after_a_minute(tmp_path: Path) -> None:
    for folder in (
        *("layer-x1y2z3/new/work/work", "0123abcd", "0123abcd/_frozen"),
        "0123abcd/_frozen.new/lock",
    ):
        place = ground(tmp_path, folder)
        assert remove_strays(tmp_path, set()) == 1, folder
        assert not place.exists()
    for folder in ("layer-x1y2z3/new", "0123abcd/_frozen"):  # a living Hydra has just made it
        ground(tmp_path, folder, when=time.time())
        assert remove_strays(tmp_path, set()) == 0, folder
        assert (tmp_path / "g" / folder).is_dir()


def test_a_lane_waits_for_its_record(tmp_path: Path) -> None:
    place = ground(tmp_path, "0123abcd/claude/shop")
    assert remove_strays(tmp_path, set()) == 0
    assert place.exists()


def test_the_worktree_of_a_look_goes_with_its_links(tmp_path: Path) -> None:
    place = ground(tmp_path, "0123abcd/_init/patches.git", "0123abcd/_frozen/links")
    lock = take_lock(place / "_frozen")
    assert lock is not None
    assert remove_strays(tmp_path, set()) == 0
    os.close(lock)
    assert remove_strays(tmp_path, set()) == 1
    assert not place.exists()


def test_a_shared_folder_may_be_called_as_the_lock_is(repo: Path, tmp_path: Path) -> None:
    (repo / "lock").mkdir()
    (repo / "lock" / "file").write_text("the user's\n")
    links = Links(read(repo), ["lock"], tmp_path / "g" / "x" / "_frozen", 0)
    try:
        dependencies = links.result(())
        assert dependencies.notes == ()
        assert (dependencies.frozen / "lock" / "file").read_text() == "the user's\n"
    finally:
        links.remove()
