"""Picks of three lanes, composed by Hydra, against `git apply --3way --index` of the same pieces
in a scratch clone, one lane after the other.

The pieces are cut here from git's own text, not by Hydra's code. docs/reference/landing.md says
which of the two is right where they differ; `why_they_differ` holds the same rules, and nothing
else passes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from hydra.errors import LandingRefused
from hydra.git.runner import run
from hydra.landing.compose import LanePart, compose
from hydra.landing.picks import LanePatch, Pick
from tests.conftest import make_repository
from tests.support.grounds import race_on
from tests.support.picks_cases import Case, cases, commits

_PATCH = (
    *("diff-tree", "-r", "-p", "-U3", "--binary", "--full-index", "--no-renames"),
    *("--diff-algorithm=histogram", "--no-indent-heuristic"),
)


@dataclass(frozen=True)
class Piece:
    """What can be picked, as git writes it. `kind`: lines, mode, or whole."""

    path: bytes
    kind: str
    text: bytes
    frame: bytes = b""


@dataclass(frozen=True)
class Picked:
    """One lane's: the pieces, their places in its patch that are asked for, and what it moves."""

    pieces: list[Piece]
    numbers: list[int]
    moved: list[tuple[bytes, bytes]]

    def at(self, path: bytes) -> list[Piece]:
        """Its pieces of one path."""
        return [piece for piece in self.pieces if piece.path == path]


@dataclass
class Bench:
    """patches.git as a race makes it, and a plain clone for `git apply`."""

    patches: Path
    clone: Path
    scratch: Path
    seen: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, root: Path) -> Bench:
        """In a folder of its own."""
        race = race_on(make_repository(root / "shop"), root / "state")
        clone = root / "clone"
        run("init", "-q", clone, cwd=root)
        alternates = clone / ".git/objects/info/alternates"
        alternates.write_text(f"{race.patches}/objects\n{root}/shop/.git/objects\n")
        (root / "index").mkdir()
        return cls(race.patches, clone, root / "index")

    def compare(self, case: Case) -> str:
        """How it came out. Raises `AssertionError` where the two differ and no rule says why."""
        base, *lanes = commits(self.patches, case)
        picked = [
            self._chosen(base, lane, turns) for lane, turns in zip(lanes, case.picked, strict=True)
        ]
        parts = self._parts(base, lanes, picked)
        ours, theirs = self._composed(base, parts), self._applied(base, picked)
        if ours.startswith("refused") and theirs.startswith("refused"):
            outcome = "both refuse"
        elif ours == theirs:
            outcome = "one tree"
        else:
            outcome = why_they_differ(picked, set(case.base), ours, theirs)
            assert outcome, f"composed: {ours}\napplied: {theirs}\n{picked}"
            if not ours.startswith("refused"):  # there is no other's word: at least no order counts
                assert self._composed(base, parts[::-1]) == ours, picked
        self.seen[outcome] += 1
        return outcome

    def _chosen(self, base: str, lane: str, turns: tuple[bool, ...]) -> Picked:
        everything = pieces(run(*_PATCH, base, lane, git_dir=self.patches, isolated=True).stdout)
        numbers = [n for n in range(len(everything)) if turns[n % len(turns)]]
        terms = ("diff-tree", "-r", "-z", "-M50%", "--name-status", "--diff-filter=R", base, lane)
        fields = run(*terms, git_dir=self.patches, isolated=True).stdout.split(b"\0")
        taken = {everything[n].path for n in numbers}
        sides = zip(fields[1::3], fields[2::3], strict=False)
        moved = [pair for pair in sides if taken.intersection(pair)]  # both sides, or none
        taken_too = {side for pair in moved for side in pair}
        items = [
            piece for n, piece in enumerate(everything) if n in numbers or piece.path in taken_too
        ]
        return Picked(items, numbers, moved)

    def _parts(self, base: str, lanes: list[str], picked: list[Picked]) -> list[LanePart]:
        parts = []
        for n, (commit, mine) in enumerate(zip(lanes, picked, strict=True)):
            lane = LanePatch(self.patches, base, f"lane{n}", commit)
            picks = [Pick(lane.lane, hunk=lane.hunks()[number].id) for number in mine.numbers]
            parts.append(lane.part(picks, self.scratch))
        return parts

    def _composed(self, base: str, parts: list[LanePart]) -> str:
        try:
            return compose(self.patches, base, parts)
        except LandingRefused as refused:
            named = f"{refused.paths}" if refused.paths else "without a name"
            return f"refused: {refused.message} {named}"

    def _applied(self, base: str, lanes: list[Picked]) -> str:
        git = self.clone / ".git"
        (git / "index").unlink(missing_ok=True)
        run("clean", "-ffdxq", cwd=self.clone)
        run("read-tree", "--reset", "-u", base, cwd=self.clone)
        done: set[Piece] = set()
        for picked in lanes:
            # The same piece of two lanes is one: git apply does not know that.
            fresh = [piece for piece in picked.pieces if piece.kind == "lines" or piece not in done]
            done.update(picked.pieces)
            if text := patch_of(fresh):
                terms = ("apply", "--3way", "--index", "--whitespace=nowarn", "-")
                result = run(*terms, cwd=self.clone, stdin=text, check=False)
                if result.code != 0:
                    return f"refused: {result.stderr.decode('utf-8', 'replace')}"
        return run("write-tree", "--missing-ok", cwd=self.clone).line


def pieces(text: bytes) -> list[Piece]:
    """A patch in pieces, in its own order."""
    items: list[Piece] = []
    for section in re.split(rb"^(?=diff --git )", text, flags=re.M)[1:]:
        head, *blocks = re.split(rb"^(?=@@ )", section, flags=re.M)
        path = head.split(b"\n", 1)[0]
        whole = re.search(rb"^(new file|deleted file|index \S+ (12|16)|GIT binary)", head, re.M)
        if whole and items and items[-1].path == path and items[-1].kind == "whole":
            items[-1] = Piece(path, "whole", items[-1].text + section)
        elif whole:
            items.append(Piece(path, "whole", section))
        else:
            modes = re.search(rb"^old mode .*\nnew mode .*\n", head, re.M)
            if modes:
                items.append(Piece(path, "mode", modes[0]))
            frame = head[head.find(b"index ") :] if blocks else b""
            items += (Piece(path, "lines", block, frame) for block in blocks)
    return [Piece(_name(piece.path), piece.kind, piece.text, piece.frame) for piece in items]


def patch_of(picked: list[Piece]) -> bytes:
    """Pieces as one patch again."""
    lines: list[bytes] = []
    for path in dict.fromkeys(piece.path for piece in picked):
        mine = [piece for piece in picked if piece.path == path]
        if mine[0].kind == "whole":
            lines.append(mine[0].text)
            continue
        lines.append(b"diff --git %s %s\n" % (_quoted(b"a/" + path), _quoted(b"b/" + path)))
        lines += (piece.text for piece in mine if piece.kind == "mode")
        blocks = [piece for piece in mine if piece.kind == "lines"]
        if blocks:
            lines += (blocks[0].frame, *(block.text for block in blocks))
    return b"".join(lines)


def why_they_differ(lanes: list[Picked], base: set[bytes], ours: str, theirs: str) -> str:
    """The rule by which the composition is right and `git apply` is not; "" where there is none."""
    pairs = list(permutations(lanes, 2))
    if not (ours.startswith("refused") or theirs.startswith("refused")):
        # Two trees, and one is wrong: apply deletes a file with a warning on its mode.
        moves = ((other, move[0]) for picked, other in pairs for move in picked.moved)
        follows = any(piece.kind == "mode" for other, old in moves for piece in other.at(old))
        return "a mode follows a moved file" if follows else ""
    if any(other.at(side) for picked, other in pairs for move in picked.moved for side in move):
        # apply sees a file that is gone, or takes a second copy of it for new.
        return "a change follows a moved file, or is in conflict with the move"
    if ours.startswith("refused"):
        if any(_kinds_clash(picked, other) for picked, other in pairs):
            # apply takes the last one's mode with a warning, and what was empty for nothing.
            return "two lanes make one file two kinds of thing"
        return ""
    new = [
        piece.path for lane in lanes for piece in lane.pieces if b"\nnew file mode" in piece.text
    ]
    if any(_beside(path, other) for path in new for other in base):
        # apply does not take away what stands where the picked file must.
        return "a file takes the place of a folder, or a folder that of a file"
    return ""


def _kinds_clash(picked: Picked, other: Picked) -> bool:
    for piece in picked.pieces:
        others = other.at(piece.path)
        if piece.kind == "whole" and others and others != [piece]:
            return True
    return False


def _beside(path: bytes, other: bytes) -> bool:
    return path.startswith(other + b"/") or other.startswith(path + b"/")


def _name(head: bytes) -> bytes:
    """The path of a `diff --git` line; both sides have one name here."""
    content = head.removeprefix(b"diff --git ")
    half = content[: len(content) // 2]
    if half.startswith(b'"'):
        half = half[1:-1].decode("latin-1").encode().decode("unicode_escape").encode("latin-1")
    return half.removeprefix(b"a/")


def _quoted(path: bytes) -> bytes:
    if all(31 < c < 127 and c not in b'"\\' for c in path):
        return path
    safe = (b"%c" % c if 32 < c < 127 and c not in b'"\\' else b"\\%03o" % c for c in path)
    return b'"' + b"".join(safe) + b'"'


def storm(count: int, start: int, root: Path) -> Counter[str]:
    """Compares `count` cases; how often which outcome came."""
    bench = Bench.of(root)

    @seed(start)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(case=cases())
    def one(case: Case) -> None:
        bench.compare(case)

    one()
    return bench.seen
