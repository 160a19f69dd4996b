"""The libraries that a compiled program is linked with and that do not lie in the system's folders.

ELF as its specification has it (gABI, chapter 5): DT_NEEDED names libraries, DT_RPATH and
DT_RUNPATH the folders in which the loader looks for them, `$ORIGIN` the program's own.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from hydra.process.sandbox.lookups import first_bytes, is_file

_MAGIC = b"\x7fELF"
_LOAD, _DYNAMIC = 1, 2
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29
_MOST = 1 << 20
"""Bytes of a table; a larger one is no program's."""
_LIBRARIES = 400
"""Of one program so many are followed."""
_ORIGIN = re.compile(r"\$ORIGIN\b|\$\{ORIGIN\}")


class _DynamicSection(NamedTuple):
    needed: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class _Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


def is_elf(path: Path) -> bool:
    """Whether it begins as a compiled program or library does."""
    return is_file(path) and first_bytes(path) == _MAGIC


def needed_libraries(program: Path) -> Iterator[Path]:
    """Those that are there in a folder which the program or a library of its own names, and what
    they need in turn; `program` by its real name. Nothing for what is no ELF or a broken one."""
    folders: dict[Path, None] = {}
    names: dict[str, None] = {}
    todo, seen = [program], {program}
    while todo and len(seen) < _LIBRARIES:
        place = todo.pop()
        linking = _linking(place)
        folders |= dict.fromkeys(_folders(linking, place.parent))
        names |= dict.fromkeys(linking.needed)
        for library in (folder / name for name in names for folder in folders):
            if library not in seen and is_elf(library):
                seen.add(library)
                todo.append(library)
                yield library


def _folders(linking: _DynamicSection, origin: Path) -> Iterator[Path]:
    for entries in linking.folders:
        for entry in filter(None, entries.split(":")):
            folder = _ORIGIN.sub(lambda _: str(origin), entry)
            if folder.startswith("/"):
                yield Path(os.path.normpath(folder))


def _linking(path: Path) -> _DynamicSection:
    try:
        with path.open("rb") as file:
            return _read(file)
    except (OSError, struct.error, ValueError, OverflowError, StopIteration):
        return _DynamicSection()


def _read(file: BinaryIO) -> _DynamicSection:
    head = file.read(64)
    if head[:4] != _MAGIC:
        return _DynamicSection()
    order, wide = "<" if head[5] == 1 else ">", head[4] == 2
    segments = list(_segments(file, head, order, wide))
    dynamic = next((part for part in segments if part.kind == _DYNAMIC), None)
    if dynamic is None:
        return _DynamicSection()
    table = _bytes(file, dynamic.offset, dynamic.size)
    entry = struct.Struct(order + ("qQ" if wide else "iI"))
    rows = list(entry.iter_unpack(table[: len(table) // entry.size * entry.size]))
    address = next(value for tag, value in rows if tag == _STRINGS)
    strings = _strings(file, segments, address)
    return _DynamicSection(
        tuple(_text(strings, value) for tag, value in rows if tag == _NEEDED),
        tuple(_text(strings, value) for tag, value in rows if tag in (_RPATH, _RUNPATH)),
    )


def _segments(file: BinaryIO, head: bytes, order: str, wide: bool) -> Iterator[_Segment]:
    offset = struct.unpack_from(order + ("Q" if wide else "I"), head, 32 if wide else 28)[0]
    size, count = struct.unpack_from(order + "HH", head, 54 if wide else 42)
    for row in range(count):
        part = _bytes(file, offset + row * size, size)
        if wide:
            kind, _, at, address, _, length = struct.unpack_from(order + "IIQQQQ", part)
        else:
            kind, at, address, _, length = struct.unpack_from(order + "IIIII", part)
        yield _Segment(kind, at, address, length)


def _strings(file: BinaryIO, segments: list[_Segment], address: int) -> bytes:
    loaded = (part for part in segments if part.kind == _LOAD)
    holder = next(part for part in loaded if 0 <= address - part.address < part.size)
    start = address - holder.address
    return _bytes(file, holder.offset + start, min(holder.size - start, _MOST))


def _bytes(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(min(size, _MOST))


def _text(strings: bytes, at: int) -> str:
    end = strings.find(b"\0", at)
    return os.fsdecode(strings[at:end]) if 0 <= at < end else ""
