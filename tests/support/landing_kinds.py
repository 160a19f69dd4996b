"""Kinds of repositories to land in: each is the same small project, set up in another way
(tests/data/landing_kinds.toml).

The agent's patch (`work`) and the user's own files (`users_own`) are the same for all of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hydra.git.patches import commit_tree
from tests import conftest
from tests.conftest import git, make_repository
from tests.support.landings import Shelf, everything, leftovers
from tests.support.tables import table

Build = Callable[[Path], Path]
"""Makes a kind of repository below a scratch folder; the work tree's top."""

_FUNCTIONS = """
commit() { git add -A; git commit -qm more; }
again() { git rm -rq --cached .; git reset -q --hard; }
me() { git config user.name Ada; git config user.email ada@example.com; }
docs() { mkdir -p docs/deep; echo there > docs/deep/a.md; commit; }
"""


def build(kind: str, scratch: Path) -> Path:
    """Makes one; the top of its work tree."""
    row = table("landing_kinds")[kind]
    line = ["sh", "-ec", _FUNCTIONS + row.get("make", "")]
    done = subprocess.run(line, cwd=shop(scratch), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return scratch / str(row.get("at", "shop"))


KINDS: dict[str, Build] = {kind: partial(build, kind) for kind in table("landing_kinds")}


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
    conftest.commit(root, message)


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
    commit = commit_tree(store, tree=run("write-tree"), base=base, message="Do it")
    run("update-ref", f"refs/heads/{lane}", commit)
    shelf.lanes.append(lane)
    shelf._record()


def aged(repo: Path) -> None:
    """As if all had been checked out an hour ago, which git knows."""
    then = time.time() - 3600
    for path in git(repo, "ls-files", "-z").split("\0")[:-1]:
        os.utime(repo / path, (then, then), follow_symlinks=False)
    git(repo, "update-index", "-q", "--refresh")


def clean(root: Path) -> bool:
    """Whether a landing left nothing behind and the repository is sound."""
    git(root, "fsck", "--strict", "--no-dangling")
    return leftovers(root) == []


@contextmanager
def signing(how: str, root: Path, scratch: Path) -> Iterator[Path]:
    """The user signs by `gpg` or `ssh`, by a key of the test's own; gpg's process ends with it."""
    if how == "ssh":
        yield signing_ssh(root, scratch)
        return
    home = Path("/tmp") / f"hydra-gpg-{os.getpid()}-{scratch.name[-6:]}"  # a socket's path is short
    home.mkdir(mode=0o700)
    program = scratch / "gpg"
    program.write_text(f'#!/bin/sh\nexec gpg --homedir {home} --batch --no-tty "$@"\n')
    program.chmod(0o755)
    terms = ("--passphrase", "", "--quick-generate-key", "Ada <ada@example.com>", "ed25519")
    try:
        subprocess.run([program, *terms], check=True, capture_output=True)
        _configure(root, {"gpg.program": str(program), "user.signingKey": "ada@example.com"})
        yield root
    finally:
        subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=False)
        shutil.rmtree(home, ignore_errors=True)


def signing_ssh(root: Path, scratch: Path) -> Path:
    """The user signs by an SSH key."""
    key, allowed = scratch / "id_ed25519", scratch / "allowed"
    terms = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    subprocess.run(terms, check=True, capture_output=True)
    allowed.write_text(f"ada@example.com {key.with_suffix('.pub').read_text()}")
    settings = {"gpg.format": "ssh", "user.signingKey": str(key)}
    _configure(root, {**settings, "gpg.ssh.allowedSignersFile": str(allowed)})
    return root


def _configure(root: Path, settings: dict[str, str]) -> None:
    for name, value in {**settings, "commit.gpgSign": "true"}.items():
        git(root, "config", name, value)
