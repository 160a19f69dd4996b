"""What holds of each call of the command line, whatever it is for: asserted once, by what calls it
(tests/support/command.py), and said again by no test.

Nothing that it prints is a traceback or moves a terminal; a document is ASCII; no line is wider
than it may be; and the user's tree, index, refs, stash and settings are as before, unless it lands.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

Standing = dict[str, object]

EXIT_BUG = 70
RAW = re.compile(
    r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\x1b(?!\[[0-9;]*m)"
)
_TYPED = re.compile(r"\bhydra |[`/$\\]|--\w|https?:")
"""What has to stay whole for its reader: a line to type, a path, an option."""
LANDING = frozenset({"merge", "init", "demo"})
_MOST = 3000
"""Entries of a tree that are looked at: more take longer than what they are looked at for."""


def check_output(args: Sequence[str], code: int, stdout: str, stderr: str, columns: str) -> None:
    """Of one command that has ended."""
    check_words(args, code, stdout, stderr)
    if {"--json", "--events"} & {*args} and stdout:
        assert stdout.isascii(), stdout
        for document in [stdout] if "--json" in args else stdout.splitlines():
            json.loads(document)
    elif columns.isdigit() and code != EXIT_BUG and not _is_exact(args):
        assert too_wide(stdout, max(20, int(columns))) == []


def check_words(args: Sequence[str], code: int, stdout: str, stderr: str) -> None:
    """Of one that has ended, or was killed: also of a part of what it printed."""
    assert code == EXIT_BUG or "Traceback (most recent call last)" not in stderr, stderr
    raw = RAW.search(stderr if _is_exact(args) else stdout + stderr)
    assert raw is None, f"{raw} of {args}"


def too_wide(shown: str, columns: int) -> list[str]:
    """Lines that are wider, and nothing that stays whole for its reader."""
    lines = (line for line in shown.splitlines() if width(line) > columns)
    return [line for line in lines if not _TYPED.search(line)]


def width(text: str) -> int:
    """The cells that it takes on a terminal, by Unicode's East Asian widths."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" or category == "Cn" else 1


def _is_exact(args: Sequence[str]) -> bool:
    """Whether its stdout is a file for a program: a patch, a page, a comment, a path."""
    return bool({"diff", "--html", "--markdown", "path"} & {*args})


def standing(repo: Path, args: Sequence[str]) -> Standing | None:
    """All of a user's that this command may not change; None where it may, or there is too much."""
    if not args or {*args} & {*LANDING, "-o", "--output", "--html", "--bundle", "conformance"}:
        return None
    seen: Standing = {}
    try:
        for folder, folders, names in os.walk(repo):
            inside = os.path.relpath(folder, repo)
            if ".hydra-landing-" in inside:
                return None  # whatever comes next ends it
            if inside == ".git" or inside.startswith(".git/"):
                folders[:] = [name for name in folders if f"{inside}/{name}" not in _GITS_OWN]
            if "__pycache__" in folders:  # of what runs without confinement
                folders.remove("__pycache__")
            # git marks the shared part of a split index as used, whoever reads it.
            for name in (name for name in names if not name.startswith("sharedindex.")):
                path = Path(folder, name)
                status = path.lstat()
                seen[f"{inside}/{name}"] = status.st_mode, status.st_size, status.st_mtime_ns
            if len(seen) > _MOST:
                return None
        for name in ("HEAD", "index", "config", "packed-refs", "logs/HEAD", "logs/refs/stash"):
            path = repo / ".git" / name
            if path.is_file():
                seen[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
    return seen


_GITS_OWN = (".git/objects", ".git/refs/hydra", ".git/worktrees", ".git/modules")
"""What a race adds to, or another repository's."""


def check_standing(args: Sequence[str], before: Standing | None, after: Standing | None) -> None:
    """That nothing has changed."""
    if before is not None and after is not None:
        changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        assert changed == set(), f"{args} changed {sorted(changed)}"
