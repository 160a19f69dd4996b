"""What has changed there, brought here: kept whole in a file first, then put into the worktree."""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from hydra.adapters.remote.archive import Changes
from hydra.adapters.remote.names import WORK
from hydra.adapters.remote.shell import Scan, ShellChild, write_all
from hydra.adapters.remote.spec import RemoteSpec

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
