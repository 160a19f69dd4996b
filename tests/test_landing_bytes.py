"""A file's bytes after a landing and its undo, where git keeps fewer than the user's tree has."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hydra.errors import LandingRefused
from hydra.landing import transaction
from hydra.race.recovery import startup
from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.forks import forked
from tests.support.landings import RUN, Shelf, everything, leftovers

Lay = Callable[[Path], None]
"""Has a repository convert contents, and lays files into its tree as git would not lay them."""

DISPLACED = ("src/pager.py", "old/gone.txt", "lines.txt")


def in_crlf(repo: Path) -> None:
    for name in DISPLACED:
        data = (repo / name).read_bytes().replace(b"\n", b"\r\n")
        (repo / name).write_bytes(data)


def lf_under_autocrlf(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")


def lf_under_an_attribute(repo: Path) -> None:
    (repo / ".gitattributes").write_text("* text eol=crlf\n")
    kinds.commit(repo)


def crlf_under_autocrlf_input(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "input")
    in_crlf(repo)


def crlf_under_an_attribute(repo: Path) -> None:
    (repo / ".gitattributes").write_text("* text=auto\n")
    kinds.commit(repo)
    in_crlf(repo)


def another_ident(repo: Path) -> None:
    (repo / ".gitattributes").write_text("* ident\n")
    for name in DISPLACED:
        (repo / name).write_text((repo / name).read_text() + "# $Id$\n")
    kinds.commit(repo)
    for name in DISPLACED:
        (repo / name).write_text((repo / name).read_text().replace("$Id$", "$Id: mine $"))


def another_encoding(repo: Path) -> None:
    (repo / ".gitattributes").write_text(
        "".join(f"{name} working-tree-encoding=UTF-16\n" for name in DISPLACED[1:])
    )
    for name in DISPLACED[1:]:
        text = (repo / name).read_text()
        (repo / name).write_bytes(text.encode("utf-16"))
    kinds.commit(repo)
    for name in DISPLACED[1:]:
        text = (repo / name).read_bytes().decode("utf-16")
        big = b"\xfe\xff" + text.encode("utf-16-be")
        (repo / name).write_bytes(big)


def unsmudged(repo: Path) -> None:
    git(repo, "config", "filter.rot.clean", "tr a-zA-Z n-za-mN-ZA-M | tr A-Z a-z")
    git(repo, "config", "filter.rot.smudge", "tr a-zA-Z n-za-mN-ZA-M")
    (repo / ".gitattributes").write_text("*.py filter=rot\n*.txt filter=rot\n")
    git(repo, "add", "--renormalize", ".")
    kinds.commit(repo)
    for name in DISPLACED:
        (repo / name).write_text((repo / name).read_text().upper())


WAYS: tuple[Lay, ...] = (
    lf_under_autocrlf,
    lf_under_an_attribute,
    crlf_under_autocrlf_input,
    crlf_under_an_attribute,
    another_ident,
    another_encoding,
    unsmudged,
)


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Shelf:
    """One lane's work on a project whose files git sees as unchanged, whatever their bytes are."""
    repo = kinds.shop(scratch)
    request.param(repo)
    git(repo, "add", "--renormalize", ".")
    assert git(repo, "status", "--porcelain") == ""
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch, ("rot",) if request.param is unsmudged else ())
    shelf.lane("claude", edit)
    return shelf


def edit(tree: Path) -> None:
    """What the agent does: two files changed, one gone."""
    (tree / "src/pager.py").write_bytes(b"# anew\n")
    text = (tree / "lines.txt").read_bytes()
    (tree / "lines.txt").write_bytes(text + text)
    (tree / "old/gone.txt").unlink()


every_way = pytest.mark.parametrize("shelf", WAYS, ids=lambda way: way.__name__, indirect=True)


@pytest.mark.slow
@every_way
@pytest.mark.parametrize("commit", [True, False], ids=["commit", "no-commit"])
def test_an_undo_brings_every_byte_back(shelf: Shelf, commit: bool) -> None:
    before = everything(shelf.repo)
    shelf.merge("claude", commit=commit)
    landed = everything(shelf.repo)
    assert landed != before
    shelf.undo()
    assert everything(shelf.repo) == before
    assert git(shelf.repo, "status", "--porcelain") == ""
    shelf.merge("claude", commit=commit)
    assert everything(shelf.repo) == landed
    shelf.undo()
    assert everything(shelf.repo) == before
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("shelf", [lf_under_autocrlf], indirect=True)
@pytest.mark.parametrize("place", ["journaled moving", "taken", "given", "ref set"])
def test_an_undo_brings_every_byte_back_after_a_kill(
    shelf: Shelf, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(shelf.repo)

    def landing() -> None:
        monkeypatch.setattr(transaction, "moment", lambda name: name == place and os._exit(9))
        shelf.merge("claude")

    assert forked(landing) == 9
    startup.recover(shelf.environ, lambda _: None)
    if place == "ref set":
        shelf.undo()
    assert everything(shelf.repo) == before
    assert leftovers(shelf.repo) == []


@pytest.mark.parametrize("shelf", [lf_under_autocrlf], indirect=True)
def test_an_undo_whose_bytes_are_gone_touches_nothing(shelf: Shelf) -> None:
    shelf.merge("claude")
    landed = everything(shelf.repo)
    for file in bytes_of(shelf):
        file.unlink()
    with pytest.raises(LandingRefused, match="nothing was undone"):
        shelf.undo()
    assert everything(shelf.repo) == landed
    assert leftovers(shelf.repo) == []


def bytes_of(shelf: Shelf) -> list[Path]:
    """What is kept for the undo, as the record has it."""
    folder = shelf.race.patches.parent / "landings"
    assert shelf.race.patches.parent.name == RUN
    records = [json.loads(file.read_text()) for file in folder.glob("*.json")]
    assert len(records) == 1
    files = sorted(folder.glob("*.exact/*"))
    assert {file.name for file in files} == set(records[0]["exact"].values())
    return files
