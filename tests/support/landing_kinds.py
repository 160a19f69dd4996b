"""Kinds of repositories to land in: each is the same small project, set up in another way.

A kind is a function that makes the repository at `scratch/shop` what it is, and says where the
user's work tree is. The agent's patch (`work`) and the user's own files (`users_own`) are the
same for all of them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.landing import transaction
from tests.conftest import git, make_repository
from tests.support.forks import forked
from tests.support.landings import Shelf, everything, leftovers

Build = Callable[[Path], Path]
"""Makes a kind of repository below a scratch folder; the work tree's top."""

KINDS: dict[str, Build] = {}


def kind(build: Build) -> Build:
    """Adds a kind under its function's name."""
    KINDS[build.__name__.replace("_", "-")] = build
    return build


def files_of(root: Path) -> None:
    """The project's files, beside those that every test repository has."""
    (root / "old").mkdir()
    (root / "old" / "gone.txt").write_text("goes\n")
    (root / "lines.txt").write_text("".join(f"line {n}\n" for n in range(1, 31)))
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "staged.txt").write_text("as committed\n")
    (root / "link").symlink_to("run.sh")
    (root / ".githooks").mkdir()
    (root / ".githooks" / "README").write_text("hooks\n")


def commit(root: Path, message: str = "Another commit") -> None:
    """Commits all that stands there."""
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


def shop(scratch: Path) -> Path:
    """The project as most have it."""
    root = make_repository(scratch / "shop")
    files_of(root)
    commit(root)
    return root


def work(tree: Path) -> None:
    """What the agent does: changes of every sort."""
    (tree / "src" / "pager.py").write_text("def pages(n, size):\n    return -(-n // size)\n")
    lines = (tree / "lines.txt").read_bytes()
    (tree / "lines.txt").write_bytes(lines.replace(b"line 3", b"three", 1))
    (tree / "old" / "gone.txt").unlink()
    (tree / "old").rmdir()
    (tree / "new").mkdir()
    (tree / "new" / "file.txt").write_text("new\nlines\n")
    (tree / "run.sh").rename(tree / "moved.sh")
    (tree / "link").unlink()
    (tree / "link").symlink_to("moved.sh")


TOUCHED = (
    *("link", "lines.txt", "moved.sh", "new/file.txt", "old/gone.txt", "run.sh", "src/pager.py"),
)
"""The paths that `work` changes."""


def users_own(root: Path) -> None:
    """The user's changes elsewhere: dirty, staged, both, untracked, ignored, stashed."""
    readme = root / "README.md"
    readme.write_text("stashed\n")
    subprocess.run(["git", "stash", "-q"], cwd=root, capture_output=True, check=False)
    readme.write_bytes(b"# Mine\r\nand so\n")
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    (root / "staged.txt").write_text("staged, then changed\n")
    (root / "untracked.txt").write_text("u\n")
    (root / ".env").write_text("SECRET=1\n")
    (root / "new.log").write_text("ignored\n")


OWN = ("README.md", "staged.txt", "untracked.txt", ".env", "new.log")
"""Their paths."""


@dataclass(frozen=True)
class Stand:
    """All of a repository that tells one state from another; the commit only by its tree, as a
    signature is another one each time."""

    files: dict[str, tuple[int, bytes]]
    index: str
    tree: str
    branch: str
    stash: str
    folders: tuple[str, ...]

    @classmethod
    def of(cls, root: Path) -> Stand:
        """As it stands now."""
        return cls(
            files=everything(root),
            index=raw(root, "ls-files", "--stage", "-v"),
            tree=git(root, "rev-parse", "HEAD^{tree}"),
            branch=git(root, "rev-parse", "--symbolic-full-name", "HEAD"),
            stash=git(root, "stash", "list"),
            folders=tuple(sorted(folders(root))),
        )


def folders(root: Path) -> Iterator[str]:
    """Every folder of the work tree; repositories inside are not looked into."""
    for top, names, _ in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        yield os.path.relpath(top, root)


def raw(root: Path, *args: str) -> str:
    """git's output, whatever bytes its names have."""
    done = subprocess.run(["git", *args], cwd=root, check=True, capture_output=True)
    return os.fsdecode(done.stdout)


def as_git_writes_it(root: Path, path: str) -> bytes:
    """The bytes that git itself gives a file of HEAD in this work tree."""
    terms = ("git", "cat-file", "--filters", f"HEAD:{path}")
    return subprocess.run(terms, cwd=root, check=True, capture_output=True).stdout


def unlike_git(root: Path, paths: tuple[str, ...] = TOUCHED) -> list[str]:
    """Those of these paths that do not stand in the tree as HEAD and a sparse checkout say."""
    entries = {
        entry.split("\t")[1]: entry.split(" ")[0]
        for entry in raw(root, "ls-tree", "-r", "-z", "HEAD").split("\0")[:-1]
    }
    tags = (entry.partition(" ") for entry in raw(root, "ls-files", "-t", "-z").split("\0"))
    skipped = {path for tag, _, path in tags if tag == "S"}
    wrong = []
    links = git(root, "config", "--type=bool", "--default=true", "core.symlinks") == "true"
    for path in paths:
        file = root / path
        mode = entries.get(path)
        if mode is None or path in skipped:
            fine = not os.path.lexists(file)
        elif mode == "120000" and links:
            fine = str(file.readlink()) == git(root, "cat-file", "blob", f"HEAD:{path}")
        else:
            fine = file.read_bytes() == as_git_writes_it(root, path)
        if not fine:
            wrong.append(path)
    return wrong


def lane_of_entries(shelf: Shelf, lane: str, entries: str) -> None:
    """A lane whose patch is these lines of `update-index --index-info`: no work tree has a part."""
    store, base = shelf.race.patches, shelf.race.base
    index = {**os.environ, "GIT_DIR": str(store), "GIT_INDEX_FILE": str(store / "made")}

    def run(*args: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", *args], env=index, input=stdin, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    run("read-tree", base)
    run("update-index", "--index-info", stdin=entries)
    who = ("-c", "user.name=Hydra", "-c", "user.email=h@localhost")
    commit = run(*who, "commit-tree", "-p", base, "-m", "Do it", run("write-tree"))
    run("update-ref", f"refs/heads/{lane}", commit)
    shelf.lanes.append(lane)
    shelf._record()


def aged(repo: Path) -> None:
    """As if all had been checked out an hour ago, which git knows."""
    then = time.time() - 3600
    for path in git(repo, "ls-files", "-z").split("\0")[:-1]:
        os.utime(repo / path, (then, then), follow_symlinks=False)
    git(repo, "update-index", "-q", "--refresh")


def watch(act: Callable[[str], object]) -> None:
    """Calls that at each moment of a landing, by its name."""

    def call(name: str) -> None:
        act(name)

    transaction.moment = call


def quiet() -> None:
    """No seam is watched any more."""
    transaction.moment = lambda name: None


def killed_at(act: Callable[[], Any], number: int) -> bool:
    """Forks a child that acts and is killed at its `number`th moment; whether it was."""
    left = number

    def count(name: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def landing() -> None:
        transaction.moment = count
        act()

    return forked(landing) < 0


def clean(root: Path) -> bool:
    """Whether a landing left nothing behind and the repository is sound."""
    git(root, "fsck", "--strict", "--no-dangling")
    return leftovers(root) == []


# The kinds


@kind
def plain(scratch: Path) -> Path:
    return shop(scratch)


@kind
def linked_worktree(scratch: Path) -> Path:
    git(shop(scratch), "worktree", "add", "-q", "-b", "side", str(scratch / "linked"))
    return scratch / "linked"


@kind
def sparse_cone(scratch: Path) -> Path:
    return _sparse(scratch, "--cone", "src", "old", ".githooks")


@kind
def sparse_patterns(scratch: Path) -> Path:
    return _sparse(scratch, "--no-cone", "/*", "!/docs/", "!*.bin")


@kind
def sparse_index(scratch: Path) -> Path:
    return _sparse(scratch, "--cone", "--sparse-index", "src", "old", ".githooks")


def _sparse(scratch: Path, *args: str) -> Path:
    root = shop(scratch)
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "docs" / "deep" / "a.md").write_text("there\n")
    commit(root)
    git(root, "sparse-checkout", "set", *args)
    assert not (root / "docs").exists()
    return root


@kind
def sha256(scratch: Path) -> Path:
    root = scratch / "shop"
    git(scratch, "init", "-q", "-b", "main", "--object-format=sha256", "shop")
    _me(root)
    (root / "src").mkdir()
    (root / "README.md").write_text("# Shop\n")
    (root / "src" / "pager.py").write_text("def pages(n, size):\n    return n // size\n")
    (root / ".gitignore").write_text("*.log\n.env\n")
    files_of(root)
    commit(root)
    return root


@kind
def autocrlf(scratch: Path) -> Path:
    root = shop(scratch)
    git(root, "config", "core.autocrlf", "true")
    _check_out_again(root)
    assert b"\r\n" in (root / "lines.txt").read_bytes()
    return root


@kind
def eol_crlf(scratch: Path) -> Path:
    root = shop(scratch)
    (root / ".gitattributes").write_text("* text=auto\n*.txt eol=crlf\n*.sh eol=lf\n")
    commit(root)
    _check_out_again(root)
    assert b"\r\n" in (root / "lines.txt").read_bytes()
    return root


@kind
def utf16(scratch: Path) -> Path:
    root = shop(scratch)
    (root / ".gitattributes").write_text("src/*.py working-tree-encoding=UTF-16LE eol=crlf\n")
    text = (root / "src" / "pager.py").read_text().replace("\n", "\r\n")
    (root / "src" / "pager.py").write_bytes(text.encode("utf-16-le"))
    commit(root)
    return root


def signing_gpg(root: Path, scratch: Path) -> Path:
    """The user signs by gpg, with a key and a program of the test's own."""
    home = Path("/tmp") / f"hydra-gpg-{os.getpid()}-{scratch.name[-6:]}"  # a socket's path is short
    home.mkdir(mode=0o700)
    program = scratch / "gpg"
    program.write_text(f'#!/bin/sh\nexec gpg --homedir {home} --batch --no-tty "$@"\n')
    program.chmod(0o755)
    terms = ("--passphrase", "", "--quick-generate-key", "Ada <ada@example.com>", "ed25519")
    subprocess.run([program, *terms], check=True, capture_output=True)
    git(root, "config", "gpg.program", str(program))
    git(root, "config", "user.signingKey", "ada@example.com")
    git(root, "config", "commit.gpgSign", "true")
    return root


@contextmanager
def signing(how: str, root: Path, scratch: Path) -> Iterator[Path]:
    """The user signs by `gpg` or `ssh`; gpg's own process goes at the end."""
    if how == "ssh":
        yield signing_ssh(root, scratch)
        return
    try:
        yield signing_gpg(root, scratch)
    finally:
        end_gpg(scratch)


def end_gpg(scratch: Path) -> None:
    """gpg keeps a process for its keys: it goes with them."""
    terms = (scratch / "gpg").read_text().split()
    home = terms[terms.index("--homedir") + 1]
    subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)
    shutil.rmtree(home, ignore_errors=True)


def signing_ssh(root: Path, scratch: Path) -> Path:
    """The user signs by an SSH key."""
    key = scratch / "id_ed25519"
    terms = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    subprocess.run(terms, check=True, capture_output=True)
    public = key.with_suffix(".pub").read_text()
    (scratch / "allowed").write_text(f"ada@example.com {public}")
    git(root, "config", "gpg.format", "ssh")
    git(root, "config", "user.signingKey", str(key))
    git(root, "config", "gpg.ssh.allowedSignersFile", str(scratch / "allowed"))
    git(root, "config", "commit.gpgSign", "true")
    return root


@kind
def fsmonitor_and_untracked_cache(scratch: Path) -> Path:
    root = shop(scratch)
    watcher = scratch / "watcher"
    watcher.write_text("#!/bin/sh\nprintf 'token\\0/\\0'\n")
    watcher.chmod(0o755)
    git(root, "config", "core.fsmonitor", str(watcher))
    git(root, "config", "core.untrackedCache", "true")
    git(root, "update-index", "--fsmonitor", "--force-untracked-cache")
    git(root, "status")
    return root


@kind
def index_version_4(scratch: Path) -> Path:
    root = shop(scratch)
    git(root, "config", "index.version", "4")
    git(root, "update-index", "--index-version", "4")
    return root


@kind
def no_file_modes(scratch: Path) -> Path:
    root = shop(scratch)
    git(root, "config", "core.fileMode", "false")
    (root / "staged.txt").chmod(0o755)
    (root / "src").chmod(0o700)
    return root


@kind
def no_symlinks(scratch: Path) -> Path:
    root = shop(scratch)
    git(root, "config", "core.symlinks", "false")
    (root / "link").unlink()
    (root / "link").write_text("run.sh")
    git(root, "update-index", "--refresh")
    return root


@kind
def with_alternates(scratch: Path) -> Path:
    shop(scratch)
    git(scratch, "clone", "-q", "--shared", "shop", "clone")
    _me(scratch / "clone")
    return scratch / "clone"


@kind
def partial_clone(scratch: Path) -> Path:
    """Without the blobs that no checkout needed: one outside of the sparse work tree."""
    root = shop(scratch)
    (root / "docs").mkdir()
    (root / "docs" / "a.md").write_text("there\n")
    commit(root)
    git(root, "config", "uploadpack.allowFilter", "true")
    terms = ("--filter=blob:none", "--sparse", f"file://{root}", "clone")
    git(scratch, "clone", "-q", *terms)
    _me(scratch / "clone")
    git(scratch / "clone", "sparse-checkout", "set", "src", "old", ".githooks")
    return scratch / "clone"


@kind
def git_dir_elsewhere(scratch: Path) -> Path:
    root = shop(scratch)
    git(root, "init", "-q", "--separate-git-dir", str(scratch / "elsewhere.git"))
    return root


@kind
def allowed_filter(scratch: Path) -> Path:
    root = shop(scratch)
    git(root, "config", "filter.rot.clean", "tr a-z n-za-m")
    git(root, "config", "filter.rot.smudge", "tr n-za-m a-z")
    (root / ".gitattributes").write_text("*.txt filter=rot\n")
    # Else git asks the filter only about files that are racy: what it holds is a matter of time.
    git(root, "add", "--renormalize", ".")
    commit(root)
    return root


@kind
def submodule(scratch: Path) -> Path:
    root = shop(scratch)
    inner = make_repository(scratch / "inner")
    terms = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    git(root, *terms, str(inner), "vendor")
    commit(root)
    return root


def _me(root: Path) -> None:
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.com")


def _check_out_again(root: Path) -> None:
    git(root, "rm", "-rq", "--cached", ".")
    git(root, "reset", "-q", "--hard")
