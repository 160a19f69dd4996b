"""The user's repository as it stands before the race: read once, never written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hydra.errors import Refused
from hydra.git.background import Later
from hydra.git.runner import Result, run, split

_ALTERNATES_DEPTH = 5
"""git itself follows alternates of alternates this far (object-file.c)."""

_STATES = (
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One repository with a work tree.

    `objects` are all its objects folders, its alternates' among them; `state` is what is under
    way ("" or merge, rebase, am, cherry-pick, revert, bisect); `linked` says that `root` is a
    linked worktree, `partial` that objects may be missing, `head` the commit of HEAD. `config` is
    what git holds to be set here: system, user, repository, includes; keys as git prints them.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    objects: tuple[Path, ...]
    object_format: str
    head: str
    branch: str | None
    state: str
    shallow: bool
    linked: bool
    partial: bool = False
    config: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)

    @property
    def all_objects(self) -> tuple[Path, ...]:
        """`objects` and those of the submodules that lie below its gitdirs, which lanes borrow."""
        git_dirs = dict.fromkeys((self.common_dir, self.git_dir))
        inner = (place for git_dir in git_dirs for place in modules(git_dir / "modules"))
        near = (place for module in inner for place in objects_folders(module))
        return tuple(dict.fromkeys((*self.objects, *near)))


def read(start: Path, *, home: Path | None = None, state: Path | None = None) -> Repository:
    """The repository that `start` lies in.

    `home` (default `$HOME`) may not be its root, and `state`, Hydra's folder, lies neither in it
    nor around it. Raises `Refused` for these and for: no repository, a bare one, one without a
    commit, one of another owner.
    """
    text = _ask(
        start,
        "--is-inside-work-tree",
        "--is-bare-repository",
        "--is-inside-git-dir",
        "--show-object-format",
        "--is-shallow-repository",
        "--absolute-git-dir",
    )
    inside, bare, in_git_dir, object_format, shallow, folder = text.split("\n", 5)
    if inside != "true":
        raise _no_work_tree(bare == "true", in_git_dir == "true")
    git_dir = Path(folder)
    common = Later(partial(_ask, start, "--path-format=absolute", "--git-common-dir"))
    top = Later(partial(_ask, start, "--show-toplevel"))
    head, branch = Later(partial(_head, start)), Later(partial(_branch, start))
    config = Later(partial(_config, start))
    common_dir, root = Path(common.result()), Path(top.result())
    _refuse_places(root, home, state)
    refuse_windows_disk(root)
    return Repository(
        root=root,
        git_dir=git_dir,
        common_dir=common_dir,
        objects=tuple(dict.fromkeys(objects_folders(common_dir / "objects"))),
        object_format=object_format,
        head=head.result(),
        branch=branch.result(),
        state=next((term for name, term in _STATES if (git_dir / name).exists()), ""),
        shallow=shallow == "true",
        linked=git_dir != common_dir,
        partial=any(_is_promise(key, value) for key, value in config.result().items()),
        config=config.result(),
    )


def top(start: Path) -> Path:
    """The top of the work tree that `start` lies in, also without a commit. Raises `Refused`."""
    questions = ("--is-inside-work-tree", "--is-bare-repository", "--is-inside-git-dir")
    inside, bare, in_git_dir = _ask(start, *questions).split("\n")
    if inside != "true":
        raise _no_work_tree(bare == "true", in_git_dir == "true")
    return Path(_ask(start, "--show-toplevel"))


def _ask(start: Path, *questions: str) -> str:
    answer = run("rev-parse", *questions, cwd=start, check=False)
    if answer.code != 0:
        raise _unreadable(start, answer)
    return answer.line


def _unreadable(start: Path, answer: Result) -> Refused:
    if b"dubious ownership" in answer.stderr:
        return Refused(
            f"the repository at {start} belongs to somebody else",
            hint="run hydra as its owner, or add it to git's safe.directory if you trust it",
        )
    if b"not a git repository" in answer.stderr:
        return Refused(
            f"{start} is not in a git repository",
            hint="go into one, or make one: git init && git add -A && git commit -m start",
        )
    return Refused(f"git cannot read the repository at {start}: {answer.reason}")


def _no_work_tree(bare: bool, in_git_dir: bool) -> Refused:
    if bare:
        return Refused(
            "this repository is bare: it has no work tree",
            hint="run this in a work tree: git worktree add ../work, then go there",
        )
    where = "inside a .git folder" if in_git_dir else "outside its work tree"
    return Refused(f"this is {where}", hint="run this in the work tree")


def _refuse_places(root: Path, home: Path | None, state: Path | None) -> None:
    named = home or (Path(os.environ["HOME"]) if os.environ.get("HOME") else None)
    if named is not None and root == _real(named):
        raise Refused(
            f"the repository is your home folder itself ({root})",
            hint="each lane would hold a copy of all of it: run this in a project's repository",
        )
    if state is not None and (
        root.is_relative_to(_real(state)) or _real(state).is_relative_to(root)
    ):
        raise Refused(
            f"the state folder {state} and the repository {root} lie in each other",
            hint="set HYDRA_STATE_DIR to a folder outside the repository",
        )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _head(start: Path) -> str:
    result = run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", cwd=start, check=False)
    if result.code != 0:
        raise Refused(
            "this repository has no commit yet",
            hint="make a first commit: git add -A && git commit -m start",
        )
    return result.line


def _branch(start: Path) -> str | None:
    # Not --short: beside a tag of that name it is `heads/NAME`.
    ref = run("symbolic-ref", "--quiet", "HEAD", cwd=start, check=False).line
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else None


def _config(start: Path) -> dict[str, str]:
    # Listing runs nothing, and Hydra's own hardening must not show up in it.
    plain = {"GIT_CONFIG_COUNT": "0"}
    listed = run("config", "--list", "-z", "--includes", cwd=start, extra_env=plain).stdout
    values: dict[str, str] = {}
    for entry in split(listed):
        key, named, value = entry.partition(b"\n")
        # `[commit] gpgSign` with no value at all is true.
        values[os.fsdecode(key)] = os.fsdecode(value) if named else "true"
    return values


def _is_promise(key: str, value: str) -> bool:
    """Whether a setting makes git itself take the clone as partial: a pack that says so may have
    come along with a copy of it that has everything."""
    if key == "extensions.partialclone":
        return True
    return key.startswith("remote.") and key.endswith(".promisor") and value != "false"


def objects_folders(folder: Path, depth: int = 0) -> Iterator[Path]:
    """An objects folder and all that it borrows from, near ones first."""
    yield folder
    listing = folder / "info" / "alternates"
    if depth >= _ALTERNATES_DEPTH or not listing.is_file():
        return
    for line in listing.read_bytes().split(b"\n"):
        if line and not line.startswith(b"#"):
            path = Path(os.path.normpath(folder / os.fsdecode(_unquote(line))))
            if path.is_dir():
                yield from objects_folders(path, depth + 1)


def _unquote(line: bytes) -> bytes:
    if not line.startswith(b'"'):
        return line
    # git's C quoting is Python's but for non-ASCII, which git writes as octal bytes.
    return line.strip().strip(b'"').decode("unicode_escape").encode("latin-1")


def modules(folder: Path) -> Iterator[Path]:
    """The objects folders of the gitdirs below .git/modules; names there may hold slashes."""
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if (entry / "objects").is_dir():
            yield entry / "objects"
            yield from modules(entry / "modules")
        elif entry.is_dir():
            yield from modules(entry)


# ---- Whether a folder lies on a Windows disk that WSL shows (`/mnt/c`).

_DRIVER = b"drvfs"
"""How WSL 1 names the file system, WSL 2 the options (9p) or the source (virtiofs) of its mount."""


def refuse_windows_disk(root: Path) -> None:
    """Raises `Refused` for a checkout on such a disk: it keeps neither modes nor links as git and
    the agents' tools need them, and each file takes many times as long."""
    with suppress(OSError):  # no /proc: no WSL
        if _mounted_from(root, Path("/proc/self/mountinfo").read_bytes()):
            raise Refused(
                f"{root} lies on a Windows disk, which is too slow and too different for a race",
                hint=f"clone it into WSL's own file system: git clone {root} ~/{root.name}",
            )


def _mounted_from(root: Path, mounts: bytes) -> bool:
    device = root.stat().st_dev
    number = b"%d:%d" % (os.major(device), os.minor(device))
    # 36 35 98:0 /root /mount options - type source options
    rows = (line.split(b" ") for line in mounts.splitlines() if _DRIVER in line)
    return any(row[2:3] == [number] and _names_driver(row) for row in rows)


def _names_driver(row: list[bytes]) -> bool:
    return any(_DRIVER in field for field in row[row.index(b"-") + 1 :]) if b"-" in row else False
