"""What people pick, read and found in the lanes' patches: by file, by folder, by hunk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from msgspec import Struct

from hydra.errors import UsageError
from hydra.git.diff import TreeChange, TreeEntry, changes, read_blob, renames, tree_with, write_blob
from hydra.landing.compose import LanePart
from hydra.landing.hunks import Edit, Hunk, apply, hunks
from hydra.text import of_run

_NAMED = 5


class Pick(Struct, frozen=True):
    """One `--pick LANE:PATH` (from the repository's top, "" is all of it) or `--hunk LANE:ID`.

    `other` is what the path would be, had it been typed at the top; "" where it can only be meant
    from where one stands. `without`: it is `--except PATH`, and takes the path out of the others.
    """

    lane: str
    path: str | None = None
    hunk: str | None = None
    other: str = ""
    without: bool = False

    @property
    def shown(self) -> str:
        """As it was given; `claude:!.next` for what is left out."""
        mark = "!" if self.without else ""
        return f"{self.lane}:{mark}{self.hunk if self.path is None else self.path}"


def read_pick(text: str, option: str) -> tuple[str, str]:
    """LANE and what follows the first colon. Raises `UsageError`."""
    lane, mark, rest = text.partition(":")
    if not mark or not lane or not rest:
        example = "--pick codex:src/a.py" if option == "--pick" else "--hunk codex:1f3a9c"
        raise UsageError(f"{option} takes LANE:WHAT, not {text!r}", hint=f"for example {example}")
    return lane, rest


@dataclass(slots=True)
class LanePatch:
    """One lane's patch, to pick from."""

    patches: Path
    base: str
    lane: str
    commit: str
    _hunks: tuple[Hunk, ...] | None = None
    _changes: dict[bytes, TreeChange] | None = None
    _entries: dict[bytes, TreeEntry | None] = field(default_factory=dict)
    _edits: dict[bytes, list[Edit]] = field(default_factory=dict)
    _modes: dict[bytes, str] = field(default_factory=dict)

    def part(self, picks: Sequence[Pick], scratch: Path) -> LanePart:
        """The base with these picks of the lane. Raises `UsageError` for one that fits nothing."""
        moved = dict(self._moved())
        for pick in sorted(picks, key=lambda pick: pick.without):
            if pick.path is not None:
                self._take_path(pick, moved)
            else:
                self._take_hunk(pick, moved)
        if not self._entries and any(pick.without for pick in picks):
            raise UsageError(
                f"--except leaves nothing of lane {self.lane} to land",
                hint=f"leave out less: it changes {_first_names(self._changed())}",
            )
        for path in self._edits.keys() | self._modes.keys():
            if path not in self._entries:  # a whole file holds all of its hunks
                self._entries[path] = self._edited(path)
        tree = tree_with(self.patches, self.base, self._entries, scratch)
        return LanePart(lane=self.lane, tree=tree, commit=self.commit)

    def hunks(self) -> tuple[Hunk, ...]:
        """All hunks of the patch."""
        if self._hunks is None:
            self._hunks = hunks(self.patches, self.base, self.commit)
        return self._hunks

    def _moved(self) -> Iterable[tuple[bytes, bytes]]:
        for old, new in renames(self.patches, self.base, self.commit):
            yield old, new
            yield new, old

    def _take_path(self, pick: Pick, moved: Mapping[bytes, bytes]) -> None:
        named = os.fsencode((pick.path or "").rstrip("/"))
        changed = self._changed()
        chosen = [p for p in changed if not named or p == named or p.startswith(named + b"/")]
        if not chosen:
            raise self._no_such_path(pick)
        for path in chosen:
            if pick.without:
                # What is left out is what lies there, and no more: a file that goes elsewhere and
                # holds the same goes.
                self._entries.pop(path, None)
            else:
                self._take_file(path, moved)

    def _take_file(self, path: bytes, moved: Mapping[bytes, bytes]) -> None:
        # A rename is one thing: picking either side takes both.
        for side in (path, moved.get(path, path)):
            self._entries[side] = self._changed()[side].new

    def _take_hunk(self, pick: Pick, moved: Mapping[bytes, bytes]) -> None:
        hunk = self._hunk(pick)
        match hunk.kind:
            case "lines":
                self._edits.setdefault(hunk.path, [])
                self._edits[hunk.path] += (e for e in hunk.edits if e not in self._edits[hunk.path])
            case "mode":
                assert hunk.change.new is not None
                self._modes[hunk.path] = hunk.change.new.mode
            case _:
                self._take_file(hunk.path, moved)

    def _changed(self) -> dict[bytes, TreeChange]:
        if self._changes is None:
            tree_changes = changes(self.patches, self.base, self.commit)
            self._changes = {change.path: change for change in tree_changes}
        return self._changes

    def _hunk(self, pick: Pick) -> Hunk:
        text = (pick.hunk or "").lower()
        pieces = [hunk for hunk in self.hunks() if hunk.id.startswith(text)]
        if len({hunk.id for hunk in pieces}) == 1:
            return pieces[0]
        if not self.hunks():
            raise self._empty()
        if not pieces:
            raise UsageError(
                f"lane {self.lane} has no hunk {pick.hunk!r}",
                hint=f"see their ids: hydra diff {self.lane} --hunks{self._of_run}",
            )
        ids = ", ".join(f"{hunk.id[:12]} ({os.fsdecode(hunk.path)})" for hunk in pieces[:_NAMED])
        raise UsageError(
            f"lane {self.lane} has {len(pieces)} hunks {pick.hunk!r}",
            hint=f"give more of it: {ids}",
        )

    def _edited(self, path: bytes) -> TreeEntry:
        old = self._changed()[path].old
        assert old is not None
        mode = self._modes.get(path, old.mode)
        edits = self._edits.get(path, [])
        if not edits:
            return TreeEntry(mode, old.oid)
        data = apply(read_blob(self.patches, old.oid), edits)
        return TreeEntry(mode, write_blob(self.patches, data))

    @property
    def _of_run(self) -> str:
        return of_run(self.patches.parent.name)

    def _empty(self) -> UsageError:
        return UsageError(
            f"lane {self.lane} has nothing to pick: its patch is empty",
            hint=f"`hydra runs show{self._of_run}` says why",
        )

    def _no_such_path(self, pick: Pick) -> UsageError:
        changed = self._changed()
        if not changed:
            return self._empty()
        near = get_close_matches(pick.path or "", list(map(os.fsdecode, changed)), 3, 0.5)
        return UsageError(
            f"lane {pick.lane} does not change {pick.path}",
            hint=f"it changes {', '.join(near) or _first_names(changed)}",
        )


def _first_names(changed: Iterable[bytes]) -> str:
    return ", ".join(os.fsdecode(path) for path in islice(changed, _NAMED))
