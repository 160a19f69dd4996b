"""A patch that is the first in its repository to ask for Git LFS."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from tests.conftest import commit, git
from tests.support import fakes
from tests.support.command import Hydra

pytestmark = pytest.mark.slow

BIG = b"\0" * 2_000_000
POINTER = "version https://git-lfs.github.com/spec/v1"
RULE = "*.bin filter=lfs diff=lfs merge=lfs -text"
HOOK = "Git LFS is new here"


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A server for LFS on loopback: its address, and what it is asked for."""
    lines: list[str] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            lines.append(self.requestline)
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Refusing) as listening:
        Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/lfs", lines
        listening.shutdown()


def raced(hydra: Hydra, work: str) -> None:
    """A race whose one lane does that beside a large file, which a check then reads."""
    (hydra.repo / "old.bin").write_bytes(b"old" * 1000)
    commit(hydra.repo, "A raw file")
    whole = f"{work}; head -c {len(BIG)} /dev/zero > big.bin; git add -A; git commit -qm large"
    hydra.agent("claude", [fakes.shell("sh", "-c", whole), fakes.finish("done")])
    check = "large=test -n \"$(find . -name '.?*' -prune -o -size +1000k -print)\""
    race = hydra.run("race", "Do it", "-a", "claude", "--check", check)
    assert race.returncode == 0, race.stdout + race.stderr


@pytest.mark.parametrize("hooked", [pytest.param(False, marks=pytest.mark.full), True])
def test_its_files_land_as_pointers_and_what_lfs_keeps_comes_along(
    hydra: Hydra, hooked: bool
) -> None:
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not here")
    repo = hydra.repo
    git(repo, "lfs", "install", "--local", *(() if hooked else ("--skip-repo",)))
    raced(hydra, "git lfs track '*.bin'")
    assert git(repo, "status", "--porcelain") == ""
    landed = hydra.run("merge", "claude")
    assert landed.returncode == 0, landed.stdout + landed.stderr
    assert (HOOK in landed.stdout + landed.stderr) != hooked
    for name, data in (("big.bin", BIG), ("old.bin", b"old" * 1000)):
        assert git(repo, "show", f"HEAD:{name}").startswith(POINTER)
        assert (repo / name).read_bytes() == data
        os.utime(repo / name)  # git reads it again
    assert git(repo, "status", "--porcelain") == ""
    git(repo, "lfs", "fsck")
    assert hydra.run("merge", "--undo").returncode == 0
    assert git(repo, "show", "HEAD:old.bin") == "old" * 1000
    assert (repo / "old.bin").read_bytes() == b"old" * 1000
    assert not (repo / "big.bin").exists()
    assert git(repo, "status", "--porcelain") == ""


def test_a_server_that_a_patch_names_is_asked_for_nothing(
    hydra: Hydra, server: tuple[str, list[str]]
) -> None:
    """Its pointer leads to an object that nobody has."""
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not here")
    address, lines = server
    git(hydra.repo, "lfs", "install", "--local")
    git(hydra.repo, "config", "remote.origin.url", "https://example.invalid/shop")
    pointer = f"{POINTER}\noid sha256:{'ab' * 32}\nsize 12\n"
    rows = (
        ("lfs.url", address),
        ("remote.origin.lfsurl", address),
        (f"lfs.{address}.access", "none"),
    )
    named = [f"git config -f .lfsconfig {key} {value}" for key, value in rows]
    raced(hydra, "; ".join(["git lfs track '*.bin'", *named, f"printf '{pointer}' > made.bin"]))
    for more in ([], ["--no-commit"]):
        landed = hydra.run("merge", "claude", *more)
        assert landed.returncode == 5, landed.stdout + landed.stderr
        assert "made.bin" in landed.stderr
    assert hydra.run("diff", "claude").returncode == 0
    assert lines == []


def test_without_git_lfs_its_files_come_as_they_are_and_it_is_said(hydra: Hydra) -> None:
    hydra.agent("claude", [])
    hydra.without("git-lfs")
    raced(hydra, f"echo '{RULE}' > .gitattributes")
    landed = hydra.run("merge", "claude")
    assert landed.returncode == 0, landed.stdout + landed.stderr
    assert "asks for Git LFS, which was not set up for the race" in landed.stdout + landed.stderr
    assert git(hydra.repo, "cat-file", "-s", "HEAD:big.bin") == str(len(BIG))
