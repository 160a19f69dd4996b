"""Races that never were: a base and its lanes' trees, with every kind of entry that git knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hydra.git.runner import run

Tree = dict[bytes, tuple[str, bytes]]
"""Path to mode and content; a submodule's content is its commit's name."""

FILE, EXEC, LINK, MODULE = "100644", "100755", "120000", "160000"
ODD = b'odd \xff\t\n"name".txt'


def commits(git_dir: Path, base: Tree, *lanes: Tree) -> tuple[str, ...]:
    """The base's commit, then the lanes', written by one `git fast-import`."""
    stream = [_commit("base", base, "")]
    stream += (_commit(f"lane{n}", tree, "base") for n, tree in enumerate(lanes))
    config = (("fastimport.unpackLimit", "10000"),)
    terms = ("fast-import", "--quiet", "--force", "--done")
    run(*terms, git_dir=git_dir, stdin=b"".join((*stream, b"done\n")), config=config)
    refs = [f"refs/case/{name}" for name in ("base", *(f"lane{n}" for n in range(len(lanes))))]
    return tuple(run("rev-parse", *refs, git_dir=git_dir).line.split())


def _commit(name: str, tree: Mapping[bytes, tuple[str, bytes]], parent: str) -> bytes:
    head = f"commit refs/case/{name}\ncommitter A <a@b> 1 +0000\ndata 0\n"
    head += f"from refs/case/{parent}\n" if parent else ""
    lines = [head.encode(), b"deleteall\n"]
    for path, (mode, data) in tree.items():
        if mode == MODULE:
            lines.append(b"M %s %s %s\n" % (mode.encode(), data, _quoted(path)))
        else:
            lines.append(b"M %s inline %s\n" % (mode.encode(), _quoted(path)))
            lines.append(b"data %d\n%s\n" % (len(data), data))
    return b"reset refs/case/%s\n" % name.encode() * (not parent) + b"".join(lines)


def _quoted(path: bytes) -> bytes:
    safe = b"".join(b"%c" % c if 32 < c < 127 and c not in b'"\\' else b"\\%03o" % c for c in path)
    return b'"' + safe + b'"'
