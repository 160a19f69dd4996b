"""The tree of links of one race: its lock from the first instant, its removal in the end."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from hydra.git.base_commit import Repository, read
from hydra.race import dependencies
from hydra.race.dependencies import Links
from hydra.race.recovery.retention import remove_strays
from hydra.records.store.files import LOCK, alone, open_lock, take_lock
from hydra.workspace import tree
from hydra.workspace.dependencies import LINKS


@pytest.fixture
def project(repo: Path) -> Repository:
    (repo / "vendor").mkdir()
    (repo / "vendor/file").write_text("1")
    return read(repo)


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    return tmp_path / "state/g/ab12/_frozen"


def test_a_sweep_in_the_first_instant_takes_no_links(
    project: Repository, frozen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = frozen.parents[2]

    def take(folder: Path) -> int | None:
        with suppress(OSError):
            os.close(open_lock(folder))  # there, and nobody's yet
        remove_strays(state, set())
        return take_lock(folder)

    monkeypatch.setattr(dependencies, "take_lock", take)
    links = Links(project, ["vendor"], frozen, 0)
    assert list(map(str, links.result(()).folders)) == ["vendor"]
    with alone(frozen) as mine:
        assert not mine, "its lock is had"
    remove_strays(state, set())
    assert (frozen / LINKS / "vendor/file").exists()
    links.remove()
    assert [*frozen.parent.iterdir()] == []


def test_links_go_before_their_lock_by_which_a_sweep_finds_the_rest(
    project: Repository, frozen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = Links(project, ["vendor"], frozen, 0)
    links.result(())
    real, seen = tree.remove, list[tuple[bool, bool]]()

    def remove(top: Path) -> None:
        real(top)
        seen.append(((frozen / LINKS).exists(), (frozen / LOCK).exists()))

    monkeypatch.setattr(tree, "remove", remove)
    links.remove()
    assert seen == [(False, True), (False, False)]
