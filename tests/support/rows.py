"""What agents do in test_acceptance.py, a lane a row, and what a lane left for its checks."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import fakes
from tests.support.command import Race, account
from tests.support.trust import Place

EDIT = fakes.edit("src/pager.py", "fixed\n")
DONE = fakes.finish("done")
FIXED = {b"src/pager.py": b"fixed\n"}
KEY = "made-up-anthropic-key"
HOSTILE = (
    "\x1b]52;c;ZXZpbA==\x07 \x1b]0;title\x07 \x1b]8;;http://x.invalid\x1b\\link\x1b]8;;\x1b\\"
    " \x1b[2J \x9b31m \x90q\x9c \u202eevil\u2066 \x07\x08\x7f"
)
CLOSING = '{"type": "result", "subtype": "success", "is_error": false, "result": "last words"}'
SAYS = b'{"type": "assistant", "message": {"content": [{"type": "text", "text": "%s"}]}}'
BAD_JSON = (
    b'{"type": "assistant", "deep": ' + b"[" * 50_000 + b"]" * 50_000 + b"}\n",
    b'{"type": "assistant", "huge": ' + b"9" * 5000 + b"}\n",
    b'{"type": "assistant", "nan": NaN, "inf": -Infinity}\n',
    SAYS % b"\\ud800 alone" + b"\n",
    b"[]\n",
    b"null\n",
)
NAMES = [b"new\nline", b"esc\x1b[31m", b"-rf", b"latin-\xe9", b"sp ace", b":(top)x", b"\xc3\xa9"]
CRAFTED = r"""
import hashlib, os, subprocess, zlib
git = lambda *words: subprocess.check_output(["git", *words]).strip().decode()
top = git("rev-parse", "--path-format=absolute", "--git-common-dir")
def put(kind, data):
    whole = b"%s %d\0" % (kind, len(data)) + data
    name = hashlib.sha1(whole).hexdigest()
    os.makedirs(f"{top}/objects/{name[:2]}", exist_ok=True)
    open(f"{top}/objects/{name[:2]}/{name[2:]}", "wb").write(zlib.compress(whole))
    return name
blob = bytes.fromhex(put(b"blob", b"[core]\nfsmonitor = evil\n"))
who = b"A <a@example.com> 1 +0000"
for place in (b".git", b"..", b".GIT", b"a/../../b", b"git~1"):
    inner = put(b"tree", b"100644 config\0" + blob)
    tree = put(b"tree", b"40000 " + place + b"\0" + bytes.fromhex(inner))
    head = git("rev-parse", "HEAD").encode()
    text = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\nx\n" % (tree.encode(), head, who, who)
    ref = f"{top}/refs/heads/crafted-{place.hex()}"
    os.makedirs(os.path.dirname(ref), exist_ok=True)
    open(ref, "w").write(put(b"commit", text) + "\n")
"""


@dataclass(frozen=True)
class Seen:
    """One lane after the race: its part of the document and its folder of the record."""

    place: Place
    race: Race
    lane: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """The run's."""
        return Path(self.race.document["folder"])

    @property
    def text(self) -> str:
        """Every warning and note."""
        patch = self.lane["patch"] or {"notes": [], "incomplete": ""}
        return "\n".join([*self.lane["warnings"], *patch["notes"], patch["incomplete"] or ""])

    @property
    def worktree(self) -> Path:
        """Where it was, or still is."""
        path = self.place.state / "g"
        return next(path.iterdir(), path) / str(self.lane["lane"]) / self.place.repo.name

    def git(self, *args: str) -> bytes:
        """git in patches.git, as the account, as bytes."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.folder / "patches.git",
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.place.home)},
            capture_output=True,
            check=True,
            **account(self.place.uid),
        )
        output: bytes = done.stdout
        return output

    def changes(self) -> dict[bytes, bytes | None]:
        """The patch: path to new content, None for a deletion, b"" for what is no blob."""
        base, commit = self.lane["patch"]["base"], self.lane["patch"]["commit"]
        row = ("diff-tree", "-r", "-z", "--no-renames", "--raw", base, commit)
        fields = self.git(*row).split(b"\0")[:-1]
        contents: dict[bytes, bytes | None] = {}
        for output, path in zip(fields[::2], fields[1::2], strict=True):
            oid = output.split()[3].decode()
            contents[path] = None if set(oid) == {"0"} else self.git("cat-file", "blob", oid)
        return contents


def fixed(seen: Seen) -> None:
    """The edit is in the patch, nothing else is, and it is whole."""
    assert seen.changes() == FIXED, seen.lane
    assert not seen.lane["patch"]["incomplete"]


def fixed_with(*notes: str) -> Callable[[Seen], None]:
    def check(seen: Seen) -> None:
        assert seen.changes().get(b"src/pager.py") == b"fixed\n"
        for note in notes:
            assert note in seen.text, seen.text

    return check


def adds(more: Mapping[bytes, bytes]) -> Callable[[Seen], None]:
    """The edit and these files."""

    def check(seen: Seen) -> None:
        assert seen.changes() == {**FIXED, **more}
        assert not seen.lane["patch"]["incomplete"]

    return check


def empty(seen: Seen) -> None:
    assert seen.lane["patch"]["files"] == 0
    assert seen.lane["error"] is None


def stashed(seen: Seen) -> None:
    assert "kept as refs/left/" in seen.text
    text = f"refs/left/{seen.lane['lane']}/1/stash:src/pager.py"
    assert seen.git("cat-file", "blob", text) == b"fixed\n"


def large(seen: Seen) -> None:
    fixed_with("big.bin")(seen)
    assert (seen.worktree / "big.bin").stat().st_size == 101_000_000


def removed(seen: Seen) -> None:
    fixed_with()(seen)
    assert not seen.worktree.exists()


def lost(seen: Seen) -> None:
    assert seen.lane["patch"] is None
    assert seen.lane["error"]["reason"] == "worktree_lost", seen.lane["error"]


def lost_or_kept(seen: Seen) -> None:
    # Confined, its folder is a mount that it can empty and not move.
    if seen.lane["patch"] is None:
        lost(seen)
    else:
        fixed(seen)


def linked(seen: Seen) -> None:
    assert seen.changes() == {
        b"src/pager.py": None,
        b"src": str(seen.place.repo / "src").encode(),
        b"out": b"/etc/passwd",
    }


def nothing_crafted(seen: Seen) -> None:
    """None of those trees is in patches.git, and each is named."""
    fixed(seen)
    listed = seen.git("for-each-ref", "--format=%(refname)", f"refs/left/{seen.lane['lane']}")
    assert b"crafted" not in listed, listed
    assert seen.text.count("could not be kept") == 5, seen.text
    seen.git("fsck", "--strict", "--no-dangling", str(seen.lane["patch"]["commit"]))


def names(seen: Seen) -> None:
    changed = seen.changes()
    assert changed == {**FIXED, **{name: name for name in NAMES}}


def counted(lines: int) -> Callable[[Seen], None]:
    def check(seen: Seen) -> None:
        fixed(seen)
        assert f"{lines} lines of its output could not be parsed" in seen.text, seen.text

    return check


def last_words(seen: Seen) -> None:
    fixed(seen)
    assert seen.lane["message"] == "last words"


def read_its_prompt_to_the_end(seen: Seen) -> None:
    assert seen.changes()[b"got.txt"] == seen.changes()[b"again.txt"] != b""


def closed(seen: Seen) -> None:
    fixed(seen)
    assert seen.lane["error"]["reason"] == "stdout_closed"


def flagged(seen: Seen) -> None:
    assert seen.changes()[b"key.txt"] == f"key = {KEY}\n".encode()
    assert "holds what looks like a secret: key.txt" in seen.text
    for path in (seen.folder / "lanes").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    events = (seen.folder / "events.jsonl").read_text()
    assert KEY not in events
    assert "split [redacted] here" in events


SCRIPTS = {
    "crafted.py": CRAFTED,
    "names.py": f"for name in {NAMES!r}: open(name, 'wb').write(name)\n",
    "socket.py": "import socket; socket.socket(socket.AF_UNIX).bind('s')\n",
}


def write_scripts(scratch: Path) -> None:
    """What some rows run: too long for one line of a shell."""
    for name, text in SCRIPTS.items():
        (scratch / name).write_text(text)


@dataclass(frozen=True)
class Row:
    """`check` sees the lane; `status` is how it must have ended."""

    steps: list[fakes.Step]
    check: Callable[[Seen], None] = fixed
    status: str = "completed"


def sh(script: str) -> list[fakes.Step]:
    """The edit, then one shell tool call that must succeed to be judged, then a good end."""
    return [EDIT, fakes.shell("sh", "-c", f"set -e; {script}", show="a command"), DONE]


CHECKS: dict[str, Callable[[Seen], None]] = {
    check.__name__: check
    for check in (
        *(empty, stashed, large, removed, lost, lost_or_kept, linked, nothing_crafted, names),
        read_its_prompt_to_the_end,
    )
}


def by_shell(words: Mapping[str, str]) -> Iterator[tuple[str, Row]]:
    """The rows of tests/data/rows.toml."""
    path = Path(__file__).parents[1] / "data" / "rows.toml"
    for row in tomllib.loads(path.read_text())["row"]:
        script = row["sh"]
        for mark, word in words.items():
            script = script.replace(mark, word)
        check = CHECKS.get(row.get("check", ""), fixed)
        if notes := row.get("notes"):
            check = fixed_with(*notes)
        if files := row.get("adds"):
            check = adds({name.encode(): text.encode() for name, text in files.items()})
        yield row["name"], Row(sh(script), check, row.get("status", "completed"))


def rows(python: str, repo: Path, scratch: Path) -> dict[str, Row]:
    """The rows of one race, by number and name; `write_scripts` makes what they run."""
    server = ("-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(scratch))
    words = {"{python}": python, "{repo}": str(repo), "{server}": " ".join(server)}
    words |= {f"{{{Path(name).stem}}}": str(scratch / name) for name in SCRIPTS}
    return {
        **dict(by_shell(words)),
        "1-fails": Row([EDIT, fakes.fail("error")], status="failed"),
        "1-exits-3-without-a-word": Row([EDIT, fakes.leave(3)], status="failed"),
        "1-dies-by-a-signal": Row([EDIT, fakes.signal_self(9)], status="failed"),
        "4-a-server-stays": Row(
            [EDIT, fakes.daemon(argv=[python, *server], clear_env=True), DONE],
            fixed_with("left running and ended by Hydra"),
        ),
        "9-changes-nothing": Row([fakes.say("all is well"), DONE], empty, "no_changes"),
        "15-binary": Row(sh("printf '\\000\\001\\377' > b"), adds({b"b": b"\0\1\xff"})),
        "24-malformed-lines": Row([EDIT, fakes.emit('no json\n{"type": \n{]\n'), DONE], counted(3)),
        "25-odd-bytes": Row(
            [
                EDIT,
                fakes.emit(b"\xff\xfe\n\0\0\0\n" + b"\xef\xbb\xbf" + SAYS % b"after a mark\r\n"),
                fakes.emit(b"\r\n\r\n"),
                DONE,
            ],
            fixed_with("could not be parsed"),
        ),
        "26-the-last-line-has-no-end": Row([EDIT, fakes.emit(CLOSING), fakes.leave(0)], last_words),
        "27-an-endless-line": Row(
            [EDIT, fakes.flood(8_000_000), fakes.emit("\n"), DONE], fixed_with("too long to parse")
        ),
        "28-floods-stderr": Row([EDIT, fakes.flood(3_000_000, line=80, to="stderr"), DONE]),
        "29-closes-stdout": Row([EDIT, fakes.close_stdout(), fakes.hang()], closed, "failed"),
        "30-a-daemon-holds-the-pipe": Row(
            [EDIT, fakes.daemon(hold_stdout=True), DONE], fixed_with("left running")
        ),
        "31-hostile-json": Row([EDIT, *map(fakes.emit, BAD_JSON), DONE]),
        "32-hostile-text": Row(
            [
                EDIT,
                fakes.say(HOSTILE),
                fakes.shell("true", show=HOSTILE),
                fakes.edit("\x1b]0;x\x07\u202e.txt", HOSTILE),
                fakes.stderr(HOSTILE),
                fakes.finish(HOSTILE),
            ],
            fixed_with(),
        ),
        "54-a-key": Row(
            [
                EDIT,
                fakes.edit("key.txt", f"key = {KEY}\n"),
                fakes.emit((SAYS % f"split {KEY} here".encode()).decode()[:95]),
                fakes.emit((SAYS % f"split {KEY} here".encode()).decode()[95:] + "\n"),
                fakes.stderr(KEY[:9]),
                fakes.stderr(f"{KEY[9:]}\n"),
                DONE,
            ],
            flagged,
        ),
        "55-a-line-made-to-be-slow": Row([EDIT, fakes.say("eyJ" * 30_000), DONE]),
    }
