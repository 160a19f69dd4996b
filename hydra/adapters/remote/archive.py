"""A lane's worktree as a tar on its way there, and what has changed on its way back.

What comes back was written by an agent that nothing of Hydra confined: no link of it is followed,
nothing is written but below the worktree, and nothing named `.git` at all.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from hydra.adapters.remote.shell import Scan, ShellChild, write_all
from hydra.adapters.remote.spec import WORK, RemoteSpec
from hydra.containment import folder_below

_FORMAT = tarfile.GNU_FORMAT
"""Long names, and any bytes in them, as GNU tar, busybox and bsdtar read it."""

_FILE, _PROGRAM = 0o644, 0o755


def files_of(root: Path) -> Iterator[str]:
    """Every file and link below `root` but what is called `.git`, by its path from there, and every
    folder without any, with a slash at its end; sorted."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        path = Path(folder)
        links = [name for name in folders if (path / name).is_symlink()]
        inner = path.relative_to(root)
        for name in sorted([*names, *links]):
            if name != ".git":
                yield str(inner / name)
        if not (folders or names) and path != root:
            yield f"{inner}/"


def pack(
    out: IO[bytes],
    root: Path,
    below: str,
    *,
    untracked: frozenset[str],
    more: Sequence[tuple[str, bytes]],
) -> None:
    """Writes `root` as `below` and `more` (path, bytes; for their user alone) as a tar.

    `out/tracked` in it names all but `untracked`. Owners are nobody's, times are whole seconds.
    """
    tracked = []
    with tarfile.open(fileobj=out, mode="w|", format=_FORMAT) as tar:
        for path in files_of(root):
            put = _put(tar, root / path, f"{below}/{path.rstrip('/')}")
            tracked += [path] if put and path not in untracked else []
        if not any(root.iterdir()) or not tracked:
            tar.addfile(_plain(tarfile.TarInfo(below), _PROGRAM, tarfile.DIRTYPE))
        named = [os.fsencode(path) for path in tracked if not path.endswith("/")]
        for path, data in (("out/tracked", b"\0".join([*named, b""]) if named else b""), *more):
            info = _plain(tarfile.TarInfo(path), 0o600, tarfile.REGTYPE)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def _put(tar: tarfile.TarFile, path: Path, name: str) -> bool:
    status = path.lstat()
    info = tarfile.TarInfo(name)
    info.mtime = int(status.st_mtime)
    if stat.S_ISLNK(status.st_mode):
        info = _plain(info, 0o777, tarfile.SYMTYPE)
        info.linkname = str(path.readlink())
        tar.addfile(info)
    elif stat.S_ISREG(status.st_mode):
        runs = status.st_mode & stat.S_IXUSR
        info = _plain(info, _PROGRAM if runs else _FILE, tarfile.REGTYPE)
        with path.open("rb") as source:
            info.size = os.fstat(source.fileno()).st_size
            tar.addfile(info, source)
    elif stat.S_ISDIR(status.st_mode):
        tar.addfile(_plain(info, _PROGRAM, tarfile.DIRTYPE))
    else:
        return False  # a FIFO, a socket: git knows none either
    return True


def _plain(info: tarfile.TarInfo, mode: int, kind: bytes) -> tarfile.TarInfo:
    info.mode, info.type = mode, kind
    return info


class Changes:
    """What came back, as the tar's members say it; to be `apply`d once all of it is here."""

    def __init__(self, source: IO[bytes], below: str, most: int = 10**9) -> None:
        self._tar = tarfile.open(  # noqa: SIM115  closed by its owner, who has the file
            fileobj=source, mode="r:", ignore_zeros=True, errorlevel=1
        )
        self._below = below
        self._room = most
        self._members = {member.name: member for member in self._tar.getmembers()}
        self.how = self._text("out/how").strip()
        """`changed`: what is gone is named; `all`: all that is there came; `lost`: it is gone."""

    def apply(self, worktree: Path, home: Path) -> list[str]:
        """Makes `worktree` as it is there; sentences on what could not be brought.

        Raises `OSError` where it would write more than `most` bytes: one file may stand there by
        many names.
        """
        notes = []
        infos = {
            path: member
            for name, member in self._members.items()
            if (path := _inside(name, self._below)) is not None and not member.isdir()
        }
        gone = self._deleted() if self.how == "changed" else set(files_of(worktree)) - set(infos)
        for path in sorted(gone - set(infos)):
            if _allowed(path):
                _remove(worktree, path.rstrip("/"))
        for path, member in infos.items():
            if not _allowed(path) or not self._bring(worktree, path, member):
                notes.append(f"not brought back: {path!r} is no file that git takes")
        for name, member in self._members.items():
            own = _inside(name, "home")
            if own is not None and member.isreg() and _allowed(own):
                self._bring(home, own, member)
        return notes

    def _deleted(self) -> set[str]:
        return set(filter(None, self._text("out/deleted").split("\0")))

    def _text(self, name: str) -> str:
        member = self._members.get(name)
        data = self._tar.extractfile(member) if member is not None and member.isreg() else None
        return os.fsdecode(data.read()) if data is not None else ""

    def _bring(self, root: Path, path: str, member: tarfile.TarInfo) -> bool:
        if not (member.isreg() or member.issym() or member.islnk()):
            return False
        # The second name of a file stands there as a link to the first.
        info = self._members.get(member.linkname) if member.islnk() else member
        if info is None or not (info.isreg() or info.issym()) or info.issparse():
            return False  # of a sparse one a few bytes say how large it is
        self._room -= info.size
        if self._room < 0:
            raise OSError(errno.EFBIG, "more has changed than a patch may hold")
        # What is no folder on the way there becomes one, for there it is.
        *folders, name = path.split("/")
        with folder_below(root, folders, make=True, clear=True) as parent:
            _clear(parent, name)
            if info.issym():
                os.symlink(info.linkname, name, dir_fd=parent)
                return True
            data = self._tar.extractfile(info)
            assert data is not None
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            mode = _PROGRAM if info.mode & stat.S_IXUSR else _FILE
            with os.fdopen(os.open(name, flags, mode, dir_fd=parent), "wb") as file:
                shutil.copyfileobj(data, file, 1024 * 1024)
        return True


def _inside(name: str, below: str) -> str | None:
    return name[len(below) + 1 :] if name.startswith(f"{below}/") else None


def _allowed(path: str) -> bool:
    parts = path.rstrip("/").split("/")
    return all(part not in ("", ".", "..") and part.lower() != ".git" for part in parts)


def _clear(parent: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return
    except OSError:  # a folder here, and a file there
        shutil.rmtree(name, dir_fd=parent)


def _remove(root: Path, path: str) -> None:
    """Removes a file and the folders that it leaves empty; none where something else stands."""
    *folders, name = path.split("/")
    with suppress(OSError):  # gone already, or not empty: both are as they should be
        with folder_below(root, folders) as folder, suppress(IsADirectoryError):
            os.unlink(name, dir_fd=folder)
        while folders:
            name = folders.pop()
            with folder_below(root, folders) as folder:
                os.rmdir(name, dir_fd=folder)


# ---- What has changed there, brought here: kept whole in a file first, then put into the worktree.

_CHUNK = 1024 * 1024
_TAIL = 200
"""Bytes in which the last line stands."""


def fetch(
    line: ShellChild, spec: RemoteSpec, nonce: bytes, gone: Callable[[str], Exception]
) -> list[str]:
    """Reads it all from `line`, then makes the worktree as it is there; what was left out.

    Raises what `gone` makes of a sentence: then nothing was put into the worktree, or (where some
    files could not be read there, or written here) not all.
    """
    line.hear_errors()
    with tempfile.TemporaryFile(dir=spec.scratch) as file:
        try:
            code = _whole(line, spec, nonce, file.fileno(), gone)
            changes = Changes(file, f"{WORK}/{spec.name}", spec.most)
            if changes.how == "lost":
                raise gone(f"its worktree is no longer there on {spec.remote.target}")
            notes = changes.apply(Path(spec.worktree), Path(spec.home))
        except (OSError, tarfile.TarError) as problem:
            raise gone(f"its work could not be put into the lane: {problem}") from problem
        finally:
            line.close()
    if code != b"0":
        line.settle()
        raise gone(f"not all of its work could be read on {spec.remote.target}: {line.why}")
    return notes


def _whole(
    line: ShellChild, spec: RemoteSpec, nonce: bytes, file: int, gone: Callable[[str], Exception]
) -> bytes:
    """Copies what stands between the two lines of Hydra's own; the code in the second."""
    size, tail = 0, b""
    for chunk in _after(Scan(nonce), line.stdout.fileno()):
        size += len(chunk)
        if size > spec.most:
            line.process.kill()
            raise gone(f"over {spec.most:,} bytes of it have changed, the limit of a patch")
        write_all(file, chunk)
        tail = (tail + chunk)[-_TAIL:]
    _, mark, last = tail.rpartition(nonce + b" done ")
    if not mark or not last.endswith(b"\n"):
        line.settle()
        raise gone(f"its work did not come back from {spec.remote.target}: {line.why}")
    os.truncate(file, size - len(mark) - len(last))
    os.lseek(file, 0, os.SEEK_SET)
    return last.strip()


def _after(scan: Scan, source: int) -> Iterator[bytes]:
    """What comes after the first line that begins with the mark."""
    begun = False
    while chunk := os.read(source, _CHUNK):
        if not begun:
            if scan.is_present:
                scan.rest += chunk
            else:
                scan.feed(chunk)
            if not scan.is_present or b"\n" not in scan.rest:
                continue
            begun, chunk = True, scan.rest.split(b"\n", 1)[1]
        yield chunk
