"""Whether a file or a folder is code or somebody's work: by suffixes, first bytes, what lies in it.

Measured on installations of Python, Node, Java, Rust, GCC and of the system: of what lies in their
`lib` and `include` more than half is code, and of a folder of documents next to nothing.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from hydra.process.sandbox.lookups import entries_of, exists, first_bytes, status_of

_SUFFIXES = frozenset(
    re.findall(
        r"\S+",
        ".sh .bash .zsh .fish .awk .sed .py .pyi .pyc .pyx .js .mjs .cjs .ts .mts .cts .map .node"
        " .rb .pl .pm .lua .php .tcl .jl .vim .el .elc .hs .hi .zig .go .rs .c .cc .cpp .h .hh .hpp"
        " .hxx .inc .s .S .def .m4 .cmake .pc .jar .class .jmod .beam .erl .hrl .ex .app .wasm"
        " .so .dylib .dll .a .la .o .rlib .rmeta .ld .mo",
    )
)
_LIBRARY = re.compile(r"\.so(\.\d+)*$")
_NOTICE = re.compile(
    r"^(readme|licen[cs]e|copying|notice|change(s|log)|history|authors|version|metadata|record"
    r"|package\.json)\b",
    re.I,
)
"""Files that come with code and tell nothing of a person: they count for neither."""

_DOCUMENTS = frozenset(
    re.findall(
        r"\S+",
        ".pdf .doc .docx .odt .rtf .pages .xls .xlsx .ods .csv .numbers .ppt .pptx .odp .eml .mbox"
        " .jpg .jpeg .heic .mov .mp4 .kdbx .gpg .md .org .tex .txt",
    )
)
_PUBLISHED = frozenset(("node_modules", "site-packages", "dist-packages"))
_CHECKOUT = (".git", ".hg", ".svn", ".jj", ".bzr", "_darcs")

_LEVELS = 3
_ENTRIES = 400


def is_code(path: Path) -> bool:
    """Whether a file's name or its first bytes say that it is a program, a library or source."""
    if path.suffix in _SUFFIXES or _LIBRARY.search(path.name):
        return True
    return first_bytes(path).startswith((b"\x7fELF", b"#!", b"MZ"))


def is_program_by_name(path: Path) -> bool:
    """Whether a file that may be executed is a program by its name, too: on disks of other systems
    everything may be executed."""
    return not path.suffix or is_code(path)


def code_in(folder: Path) -> Iterator[Path]:
    """Programs and code that lie in a folder itself."""
    for entry in files_in(folder):
        path, status = Path(entry.path), status_of(entry)
        runs = status is not None and bool(status.st_mode & 0o111)
        if is_program_by_name(path) if runs else is_code(path):
            yield path


def files_in(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Regular files of a folder itself."""
    return (entry for entry in entries_of(folder) if entry.is_file(follow_symlinks=False))


def folders_in(folder: Path) -> Iterator[Path]:
    """Folders that lie in a folder itself, and no links to such."""
    return (Path(entry.path) for entry in entries_of(folder) if entry.is_dir(follow_symlinks=False))


def is_code_folder(folder: Path) -> bool:
    """Whether at least half of what lies in it is code, and none of it is a checkout."""
    if folder.name in _PUBLISHED:
        return True
    files, is_whole = _files_below(folder)
    counted = [path for path in files if not _NOTICE.search(path.name)]
    if any(path.name in _CHECKOUT for path in (folder, *files)):
        return False
    return len([*filter(is_code, counted)]) * 2 >= len(counted) and bool(counted or is_whole)


def holds_documents(folder: Path) -> bool:
    """Whether a person's documents, or a checkout, lie in it."""
    files, is_whole = _files_below(folder)
    return not is_whole or any(map(is_work, files))


def is_work(path: Path) -> bool:
    """Whether a file's name is that of a person's document, or it is the mark of a checkout."""
    document = path.suffix in _DOCUMENTS and not _NOTICE.search(path.name)
    return document or path.name in _CHECKOUT


def is_in_checkout(path: Path, home: Path) -> bool:
    """Whether it lies in somebody's repository, below `home` or outside of it."""
    for parent in path.parents:
        if parent in (home, *home.parents):
            return False
        if any(exists(parent / name) for name in _CHECKOUT):
            return True
    return False


def _files_below(top: Path) -> tuple[list[Path], bool]:
    """Files and the marks of checkouts, the high ones first, and whether these are all."""
    todo, files, seen, is_whole = deque([(str(top), 1)]), [], 0, True
    while todo and seen < _ENTRIES:
        folder, level = todo.popleft()
        for entry in entries_of(folder):
            seen += 1
            if entry.name in _CHECKOUT or entry.is_file(follow_symlinks=False):
                files.append(Path(entry.path))
            elif entry.is_dir(follow_symlinks=False):
                deep = level == _LEVELS
                is_whole = is_whole and not deep
                todo.extend(() if deep else ((entry.path, level + 1),))
    return files, is_whole and not todo
