"""The checkout's ignored folders without which its tests cannot run: environments and packages.

They are what a clone has not, and what takes minutes to make anew. A lane gets each at its own
place, copy-on-write over a tree of hard links, made once a race: what it installs the user never
sees, and what the user installs meanwhile breaks no lane.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from hydra.analysis.made_folders import PACKAGES
from hydra.containment import EscapeError, folder_below, locate, read_regular
from hydra.errors import UsageError
from hydra.git.base_commit import Repository, ignored, ignored_names, namesakes, tracked
from hydra.process.sandbox.layers import Layer
from hydra.workspace import tree
from hydra.workspace.copies import copy_exact
from hydra.workspace.hardlinks import LinkReport, NoRoom, TooManyFiles, link_file, link_tree

FOLDERS = PACKAGES | frozenset(
    (
        *("env", ".virtualenv", ".direnv", ".pixi", ".yarn", ".pnpm-store", "vendor", ".bundle"),
        *("Pods", "deps", "_build", "target", ".stack-work", "dist-newstyle"),
        *(".turbo", ".gradle", ".dart_tool", ".mypy_cache", ".ruff_cache", ".svelte-kit"),
    )
)
"""Names of folders that package managers and builds make; only where git ignores them."""

ENDINGS = (".egg-info", ".dist-info")
"""Of an editable install's folder beside its packages."""

BUILT = re.compile(r"(^|_)version(__)?\.py$|\.(so|pyd|dylib|mo)$")
"""Ignored files that a build lays among the code which loads them; only beside a module, and a
catalogue of translations only beside its source: without it, tests skip themselves."""

FROZEN = "_frozen"
"""Among a run's grounds, the folder of the tree of links and of the lock of who makes it: no
lane's name begins so, and who sweeps takes it."""

LOOK = "_init"
"""Beside it, what `hydra init` tries its guesses in, for as long as these links are there."""

LINKS = "links"
"""The tree itself, in there."""

MOST = 400_000
"""Entries of all of them: some 6 s of links. What is over is left out, and said."""

_MOUNTS = 200
"""Folders of one lane: bwrap reads the whole table of mounts for each."""

_NO_ROOM = "it would have to be copied, and the disk of Hydra's state has no room for that"

_WAITS = (0.2, 0.5, 1.0, 2.0)
"""Seconds for the user's own package manager to come to an end; a race waits no longer."""


class Dependencies(Struct, frozen=True, kw_only=True):
    """The folders of one race, from the checkout's top, and the frozen tree that holds them.

    `files` are single ones, which each lane gets as copies; `outside` are environments outside
    the checkout, by their whole paths. `notes` say what was left out.
    """

    frozen: Path
    folders: tuple[PurePosixPath, ...] = ()
    files: tuple[PurePosixPath, ...] = ()
    outside: tuple[PurePosixPath, ...] = ()
    notes: tuple[str, ...] = ()
    mounters: tuple[str, ...] = ()
    """What shows them copy-on-write here (`Confinement.mounters`); else they are read-only."""

    def layer(self, folder: Path, worktree: Path, place: Path) -> Layer | None:
        """For a lane whose `worktree` is seen at `place`, with a mount point in it for each folder
        that its base has not and that git ignores there, or that hides itself; None where there is
        none. `folder` is what it may change them in. Raises `OSError`."""
        absent = _absent(worktree, self.folders)
        ruled = ignored_names(worktree, absent)
        names = [at for at in absent if at in ruled or hides_itself(self.frozen / _entry(at))]
        if not (names or self.outside):
            return None
        for name in names:
            with folder_below(worktree, name.parts, make=True):
                pass
        places = {str(_entry(name)): place / name for name in (*names, *self.outside)}
        layer = Layer(lower=self.frozen, folder=folder, places=places)
        return layer.mounted(self.mounters) if self.mounters else layer

    def copy_files(self, worktree: Path) -> None:
        """Into a lane whose base has none of that name. Raises `Refused`, `OSError`."""
        names = ignored_names(worktree, _absent(worktree, self.files))
        copy_exact(self.frozen, worktree, list(map(str, names)))


def hides_itself(*layers: Path) -> bool:
    """Whether git ignores all that is in a folder by a file that lies in there: of its layers, the
    first that has one decides."""
    rules = (layer / ".gitignore" for layer in layers)
    file = next((path for path in rules if os.path.lexists(path)), None)
    return b"*" in ((read_regular(file, _LARGEST) if file else None) or b"").splitlines()


_LARGEST = 64 * 1024

_OUTSIDE = "_outside"


def _entry(name: PurePosixPath) -> PurePosixPath:
    """Where the frozen tree has it: what lies outside the checkout in a folder of its own."""
    return PurePosixPath(_OUTSIDE, *name.parts[1:]) if name.is_absolute() else name


def _absent(worktree: Path, names: Iterable[PurePosixPath]) -> list[PurePosixPath]:
    """Those that its base has not."""
    return [name for name in names if not os.path.lexists(worktree / name)]


DependencySource = Callable[[], Dependencies]
"""Gives those of a race, waiting for them where they are still being linked."""


def dependency_names(repository: Repository, share: Sequence[str] = ()) -> tuple[str, ...]:
    """Which there are: folders of which none lies in another, then the files that code loads, then
    where links among the folders lead to, as whole paths. `share` has passed `check_shared`.
    """
    names = [os.fsdecode(name) for name in ignored(repository)]
    links = _links(repository, names)
    folders = (PurePosixPath(name) for name in (*names, *links) if name.endswith("/"))
    paths = [name for name in folders if _is_known(repository.root, name)]
    files = [name for name in names if BUILT.search(name) and _is_module(repository.root, name)]
    shared = map(str, _outermost((*paths, *map(PurePosixPath, share))))
    return (*shared, *sorted(files), *_environments_behind(repository.root, links))


def _links(repository: Repository, names: Sequence[str]) -> list[str]:
    """Links to folders that git ignores and that may be followed; and known ones at the top that it
    would ignore as folders, which a pattern like `node_modules/` means. Each with a `/` at its end.
    """
    root = repository.root
    known_links = [
        name for name in sorted(FOLDERS) if (root / name).is_symlink() and name not in names
    ]
    unknown = set(known_links).difference(tracked(repository, known_links))
    links = (name for name in (*names, *sorted(unknown)) if (root / name).is_symlink())
    return [f"{name}/" for name in links if (root / name).is_dir() and _may_follow(root, name)]


def _may_follow(root: Path, name: str) -> bool:
    """Whether lanes get what a link leads to. Outside the checkout no name tells packages from a
    person's own things, but `node_modules`; an environment says itself that it is one."""
    real = Path(os.path.realpath(root / name))
    if real.is_relative_to(root):
        return real != root and ".git" not in real.relative_to(root).parts
    return Path(name).name == "node_modules" or (real / "pyvenv.cfg").is_file()


def _environments_behind(root: Path, links: Sequence[str]) -> Iterator[str]:
    """The Python environments outside the checkout that links lead to: their programs name the
    environment by its own path."""
    for place in dict.fromkeys(os.path.realpath(root / name) for name in links):
        if Path(place, "pyvenv.cfg").is_file() and not Path(place).is_relative_to(root):
            yield place


def _is_module(root: Path, name: str) -> bool:
    """Whether it lies among the modules that would import it, or beside what it was made from."""
    path = root / name
    if path.is_symlink() and not _may_follow(root, name):
        return False
    if path.suffix == ".mo":
        return path.with_suffix(".po").is_file()
    others = (other for other in path.parent.glob("*.py") if other != path)
    return not path.is_dir() and any(others)


def check_shared(repository: Repository, share: Iterable[str]) -> None:
    """Raises `UsageError` for a name that is no real folder inside the checkout."""
    for name in share:
        problem = _problem(repository.root, name)
        if problem:
            exists = os.path.lexists(repository.root / name)
            near = [] if exists else namesakes(repository, PurePosixPath(name).name)
            hint = f"did you mean {' or '.join(near)}?" if near else "name a folder of the checkout"
            raise UsageError(f"{name} cannot be shared: {problem}", hint=hint)


def _problem(root: Path, name: str) -> str:
    path = root / name
    try:
        real = root / locate(root, name)
    except EscapeError as error:
        return str(error)
    if real != Path(os.path.normpath(path)) or path.is_symlink():
        return "a link is on the way"
    if not path.is_dir():
        return "it is no folder"
    return "it is all of the checkout" if real == root else ""


def is_installed(name: PurePosixPath) -> bool:
    """Whether package managers and builds make it, by its name; also a part of such a folder of
    which git holds the rest (a patched package)."""
    return bool(FOLDERS.intersection(name.parts)) or name.name.endswith(ENDINGS)


def _is_known(root: Path, name: PurePosixPath) -> bool:
    if is_installed(name):
        return True
    return (root / name / "pyvenv.cfg").is_file() or _is_strict_install(root / name)


def _is_strict_install(folder: Path) -> bool:
    """Where setuptools puts the links of an editable install (editable_mode=strict)."""
    return folder.name == "build" and any(folder.glob("__editable__.*"))


def _outermost(names: Iterable[PurePosixPath]) -> Iterator[PurePosixPath]:
    last: PurePosixPath | None = None
    for name in sorted(set(names), key=lambda name: name.parts):
        if last is None or last not in name.parents:
            last = name
            yield name


def freeze(
    repository: Repository, names: Sequence[str], frozen: Path, *, floor: int = 0
) -> Dependencies:
    """Links each of `names` below `frozen`, which has none of them yet: from the checkout's top,
    or the whole path of what lies outside it. What has to be copied and would leave its disk under
    the `floor` (`below_minimum`) is left out. Raises `OSError`."""
    linked: list[PurePosixPath] = []
    files: list[PurePosixPath] = []
    notes, room = list[str](), MOST
    for name in map(PurePosixPath, names):
        target = frozen / _entry(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        source = Path(os.path.realpath(repository.root / name))
        try:
            if not source.is_dir():
                if not name.is_absolute() and link_file(source, target, floor=floor):
                    files.append(name)
                continue
            if len(linked) == _MOUNTS:
                notes.append(f"of over {_MOUNTS} folders of dependencies the last are not shown")
                continue
            result = _link_steadily(source, target, room, floor)
        except TooManyFiles:
            tree.remove(target)
            notes.append(f"{name} is not shown: with it there would be over {MOST} files")
            continue
        except NoRoom:
            tree.remove(target)
            notes.append(f"{name} is not shown: {_NO_ROOM}")
            continue
        linked.append(name)
        notes += _notes(name, result)
        room -= result.entries
    return Dependencies(
        frozen=frozen,
        folders=tuple(name for name in linked if not name.is_absolute()),
        outside=tuple(name for name in linked if name.is_absolute()),
        files=tuple(files),
        notes=tuple(dict.fromkeys(notes)),
    )


def _link_steadily(source: Path, target: Path, most: int, floor: int) -> LinkReport:
    """Half of an installation is no environment: again, for a while, where one is under way."""
    for wait in (*_WAITS, None):
        result = link_tree(source, target, most=most, floor=floor)
        if not result.moving or wait is None:
            return result
        time.sleep(wait)
        tree.remove(target)
    raise AssertionError("the last one is given")


def _notes(name: PurePosixPath, result: LinkReport) -> Iterator[str]:
    if result.moving:
        yield f"{name} was changed all the time while it was linked: it may be half of what it is"
    if result.missing:
        yield f"{result.missing} entries of {name} are not shown: they cannot be read"
