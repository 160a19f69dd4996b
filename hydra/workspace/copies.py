"""Copies into a lane: bounded and contained, or exact."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from hydra.containment import ContainedEntry, EscapeError, entry_below, open_folder
from hydra.errors import Refused

_FILE = 16 * 1024**2
_TOTAL = 128 * 1024**2
_ENTRIES = 20_000
"""Settings, skills and plugins are far smaller; what is over is left out and named."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 1024**2


def copy_bounded(pairs: Iterable[tuple[Path, Path]], inside: Sequence[Path]) -> list[str]:
    """Copies files and folders of settings: 0700 and 0600, no larger than the limits.

    A symlink is followed (and becomes what it names) where that lies in one of `inside`, else it
    is left out. Gives a sentence for each thing left out.
    """
    roots = tuple(Path(os.path.realpath(root)) for root in inside)
    waiting = list(pairs)[::-1]
    notes: list[str] = []
    remaining, entries = _TOTAL, _ENTRIES
    walked: set[str] = set()
    while waiting:
        source, target = waiting.pop()
        real = Path(os.path.realpath(source))
        try:
            result = real.stat()
        except OSError:
            continue
        entries -= 1
        if not any(real.is_relative_to(root) for root in roots):
            notes.append(f"settings not copied, a link out of the home folder: {source}")
        elif stat.S_ISDIR(result.st_mode) and str(real) not in walked and entries > 0:
            walked.add(str(real))  # a link to a folder above would go round for ever
            target.mkdir(parents=True, exist_ok=True, mode=0o700)
            waiting += ((source / path.name, target / path.name) for path in real.iterdir())
        elif stat.S_ISREG(result.st_mode):
            if result.st_size > min(_FILE, remaining) or entries <= 0:
                notes.append(f"settings not copied, too large: {source}")
                continue
            remaining -= result.st_size
            _copy_file(real, target, 0o700 if result.st_mode & stat.S_IXUSR else 0o600)
    return notes


def copy_exact(root: Path, worktree: Path, names: Sequence[str]) -> None:
    """Copies files or folders of the user's tree to the same place in a worktree.

    Symlinks stay symlinks, and what stands at a copy's place in the worktree gives way. Raises
    `Refused` where a name leads out of either through a link (a repository's, an agent's), for
    what is neither file, folder nor link, and where the disk does not take it.
    """
    for name in names:
        with (
            _refusal(name),
            _named(root, name, "the repository") as source,
            _named(worktree, name, "the worktree", make=True) as target,
        ):
            _copy_entry(source, target)


@contextmanager
def _refusal(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, RecursionError) as error:
        raise Refused(f"{name} could not be copied into the lane: {error}") from error


@contextmanager
def _named(top: Path, name: str, place: str, *, make: bool = False) -> Iterator[ContainedEntry]:
    try:
        with entry_below(top, name, make=make) as entry:
            yield entry
    except EscapeError as error:
        raise Refused(f"{name} is not copied: outside {place}, {error}") from error


def _copy_entry(source: ContainedEntry, target: ContainedEntry) -> None:
    status = os.stat(source.name, dir_fd=source.folder, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        _copy_folder(source, target)
    elif stat.S_ISLNK(status.st_mode):
        _clear(target)
        os.symlink(
            os.readlink(source.name, dir_fd=source.folder), target.name, dir_fd=target.folder
        )
    else:
        _clear(target)
        _copy_regular(source, target)


def _copy_folder(source: ContainedEntry, target: ContainedEntry) -> None:
    with (
        _opened(open_folder(source)) as inner,
        _opened(open_folder(target, make=True, clear=True)) as outer,
    ):
        for name in os.listdir(inner):  # noqa: PTH208  a descriptor
            _copy_entry(ContainedEntry(inner, name), ContainedEntry(outer, name))
        _stamp(outer, os.fstat(inner))


def _copy_regular(source: ContainedEntry, target: ContainedEntry) -> None:
    # Looked at by its descriptor: a FIFO of that name would wait for ever.
    with _opened(os.open(source.name, _READ, dir_fd=source.folder)) as inner:
        status = os.fstat(inner)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{source.name} is neither a file, a folder nor a link")
        with _opened(os.open(target.name, _NEW, 0o600, dir_fd=target.folder)) as outer:
            with open(inner, "rb", closefd=False) as data, open(outer, "wb", closefd=False) as out:
                shutil.copyfileobj(data, out, _BLOCK)
            _stamp(outer, status)


def _stamp(descriptor: int, status: os.stat_result) -> None:
    os.fchmod(descriptor, status.st_mode & 0o777)
    os.utime(descriptor, ns=(status.st_atime_ns, status.st_mtime_ns))


def _clear(entry: ContainedEntry) -> None:
    with suppress(FileNotFoundError):
        os.unlink(entry.name, dir_fd=entry.folder)


@contextmanager
def _opened(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy_file(source: Path, target: Path, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as out, source.open("rb") as data:
        os.fchmod(descriptor, mode)
        shutil.copyfileobj(data, out)
