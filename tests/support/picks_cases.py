"""Races that never were: a base and three lanes' trees, of every kind of change that git knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from hydra.git.runner import run

Tree = dict[bytes, tuple[str, bytes]]
"""Path to mode and content; a submodule's content is its commit's name."""

FILE, EXEC, LINK, MODULE = "100644", "100755", "120000", "160000"
ODD = b'odd \xff\t\n"name".txt'


@dataclass(frozen=True)
class Case:
    """A base, the lanes' trees, and which of each lane's pieces are picked (taken in turns)."""

    base: Tree
    lanes: tuple[Tree, ...]
    picked: tuple[tuple[bool, ...], ...]


def commits(git_dir: Path, case: Case) -> tuple[str, ...]:
    """The base's commit, then the lanes', written by one `git fast-import`."""
    stream = [_commit("base", case.base, "")]
    stream += (_commit(f"lane{n}", tree, "base") for n, tree in enumerate(case.lanes))
    config = (("fastimport.unpackLimit", "10000"),)
    terms = ("fast-import", "--quiet", "--force", "--done")
    run(*terms, git_dir=git_dir, stdin=b"".join((*stream, b"done\n")), config=config)
    refs = [f"refs/case/{name}" for name in ("base", *(f"lane{n}" for n in range(len(case.lanes))))]
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


_words = st.sampled_from([b"alpha", b"beta", b"gamma", b"", b"}", b"\tindent", b"caf\xe9", b"<<<"])
_bit = st.booleans()
_where = st.integers(0, 40)


@st.composite
def _text(draw: st.DrawFn) -> bytes:
    """Mostly lines of their own, some that come again."""
    end = draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    count = draw(st.integers(1, 34))
    again = draw(st.sets(st.integers(0, 33), max_size=4))
    lines = [b"}" if n in again else b"line %d" % n for n in range(count)]
    return end.join(lines) + (end if draw(_bit) else b"")


@st.composite
def _base(draw: st.DrawFn) -> Tree:
    return {
        b"a.txt": (FILE, draw(_text())),
        b"dir/b.txt": (FILE, draw(_text())),
        b"run.sh": (EXEC, draw(_text())),
        ODD: (FILE, draw(_text())),
        b"empty": (FILE, b""),
        b"data.bin": (FILE, b"\0\1\2" + draw(_text())),
        b"link": (LINK, b"a.txt"),
        b"sub": (MODULE, b"1" * 40),
        b"fold/x": (FILE, draw(_text())),
        b"fold/y": (FILE, b"y\n"),
    }


@st.composite
def _edited(draw: st.DrawFn, text: bytes) -> bytes:
    """One to three changes of lines; now and then of the last line's end."""
    end = b"\r\n" if b"\r\n" in text else b"\n"
    lines = text.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(_where) % (len(lines) + 1)
        new = [draw(_words) + end for _ in range(draw(st.integers(0, 2)))]
        if at == len(lines) and lines and not lines[-1].endswith(b"\n"):
            lines[-1] += end
        lines[at : at + draw(st.integers(0, 2))] = new
    text = b"".join(lines)
    if text.endswith(b"\n") and draw(st.integers(0, 5)) == 0:
        text = text.removesuffix(b"\n").removesuffix(b"\r")
    return text


@st.composite
def _change(draw: st.DrawFn, tree: Tree) -> None:
    """One change of a lane, made in `tree`. What does not fit any more is left out."""
    texts = [p for p, (mode, data) in tree.items() if mode in (FILE, EXEC) and b"\0" not in data]
    kind = draw(st.sampled_from(_KINDS))
    path = texts[draw(_where) % len(texts)] if texts else None
    name = draw(st.sampled_from([b"new", b"dir/new", b"moved", b"new.txt"]))
    match kind:
        case "edit" if path:
            tree[path] = (tree[path][0], draw(_edited(tree[path][1])))
        case "mode" if path:
            tree[path] = (EXEC if tree[path][0] == FILE else FILE, tree[path][1])
        case "delete":
            tree.pop(sorted(tree)[draw(_where) % len(tree)], None)
        case "empty" if path:
            tree[path] = (tree[path][0], b"")
        case "binary":
            tree[b"data.bin"] = (FILE, b"\0" + draw(_words))
        case "link":
            tree[b"link"] = (LINK, b"../" * draw(st.integers(0, 1)) + draw(_words) + b"x")
        case "module":
            tree[b"sub"] = (MODULE, draw(st.sampled_from([b"2", b"3"])) * 40)
        case "new":
            mode = draw(st.sampled_from([FILE, FILE, EXEC]))
            _place(tree, name, mode, draw(st.sampled_from([b"", b"one\ntwo\n", b"one\n3", b"\0b"])))
        case "new link":
            _place(tree, name, LINK, b"target")
        case "rename" if path:
            mode, data = tree.pop(path)
            _place(tree, name, mode, draw(_edited(data)) if draw(_bit) else data)
        case "into folder" if path:
            mode, data = tree.pop(path)
            _place(tree, path + b"/inner", mode, data if draw(_bit) else b"inner\n")
        case "into file":
            _place(tree, b"fold", FILE, draw(st.sampled_from([b"a file now\n", b""])))
        case "into link" if path:
            _place(tree, path, LINK, b"elsewhere")
        case "into module" if path:
            _place(tree, path, MODULE, b"4" * 40)


_KINDS = (
    *("edit",) * 8,
    *("mode", "delete", "empty", "binary", "link", "module", "new", "new", "new link", "rename"),
    *("rename", "into folder", "into file", "into link", "into module"),
)


def _place(tree: Tree, path: bytes, mode: str, data: bytes) -> None:
    """Puts a file there; whatever it cannot stand beside goes."""
    for other in [p for p in tree if p.startswith(path + b"/") or path.startswith(p + b"/")]:
        del tree[other]
    tree[path] = (mode, data)


@st.composite
def cases(draw: st.DrawFn, lanes: int = 3) -> Case:
    """A base, three lanes of one to four changes each, and a choice among their pieces."""
    base = draw(_base())
    trees = []
    for _ in range(lanes):
        tree = dict(base)
        for _ in range(draw(st.integers(1, 4))):
            draw(_change(tree))
        trees.append(tree)
    choice = st.one_of(
        st.just((True,)), st.lists(_bit, min_size=1, max_size=5).map(tuple).filter(any)
    )
    return Case(base, tuple(trees), tuple(draw(choice) for _ in range(lanes)))
