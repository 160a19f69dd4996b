"""Tells once a run of each hidden place for lack of which a command seems to have failed."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hydra.errors import HydraError
from hydra.git.background import Later
from hydra.git.base_commit import Repository, ignored
from hydra.process.sandbox.editable import EditableModule, hidden_modules
from hydra.process.sandbox.hidden_output import MOST_TEXT, missing_names, missing_places
from hydra.process.sandbox.view import View
from hydra.records.events import Raw

_MOST = 5
"""Sentences of a run: whatever has more is told by its first."""

_PASSED = frozenset(("passed", "no_tests", "skipped", "interrupted", "not_run"))

_REFUSED_SIGN_IN = re.compile(
    r"\bE?40[13]\b|\bE404\b|ENEEDAUTH|unauthori[sz]ed|forbidden|authentication|no matching dist",
    re.I,
)
_BUSY = re.compile(r"(Device or )?resource busy|EBUSY", re.I)

_TOOLS = {
    "npmrc": r"\b(p?npm|yarn|bun)\b",
    ".yarnrc": r"\byarn\b",
    ".yarnrc.yml": r"\byarn\b|YN00",
    "pnpm/rc": r"\bpnpm\b",
    "pip.conf": r"\bpip\b|Looking in indexes|requirement",
    "uv.toml": r"\buv\b",
    "cargo/config.toml": r"\bcargo\b|crate|registry",
    "condarc": r"conda",
    "go/env": r"\bgo: |GOPROXY",
}
"""Which settings file, by its end, is spoken of where its tool is."""


def ignored_files(repository: Repository, wait: float = 0.0) -> Callable[[], Sequence[bytes]]:
    """What git ignores in the checkout, listed in a thread from now on. Who asks waits so many
    seconds at most, and gets nothing where it is not there yet or git cannot say."""
    listing = Later(partial(ignored, repository))

    def entries() -> Sequence[bytes]:
        try:
            return listing.result() if listing.wait(wait) else ()
        except (HydraError, OSError):
            return ()

    return entries


@dataclass
class HiddenPlaces:
    """What of the events of one run is told of its `view`.

    `own` are folders of which nothing counts: the checkout, Hydra's state. `settings_file` is the
    user's own hydra.toml, `run_folder` where the paths in events begin, `mounts` the dependency
    folders of the lanes, `ignored` gives what git ignores in the checkout (`ignored_files`).
    """

    view: Callable[[], View]
    own: tuple[Path, ...]
    settings_file: Path
    run_folder: Path
    mounts: tuple[str, ...] = ()
    ignored: Callable[[], Sequence[bytes]] = tuple
    sentences: list[str] = field(default_factory=list)
    _places: set[Path] = field(default_factory=set)

    def notice(
        self, kind: str, data: Mapping[str, object], *, lane: str = "", raw: Raw | None = None
    ) -> list[str]:
        """The sentences that an event gives, none that was given before. It reads one piece of one
        file at most; nothing raises."""
        return self.notice_text(
            self._text(kind, data, f"lanes/{lane}/{raw.file}" if raw else "", raw), kind
        )

    def notice_text(self, text: str, kind: str) -> list[str]:
        """The same of what a program has printed; `kind` is the event that tells of its end."""
        if not text or len(self.sentences) >= _MOST:
            return []
        fresh = [
            *self._missing(text, kind),
            *self.left_out(text, kind),
            *self._uninstalled(text, kind),
            *self._stripped(text, kind),
            *self._busy(text, kind),
        ]
        fresh = fresh[: _MOST - len(self.sentences)]
        self.sentences += fresh
        return fresh

    def _text(self, kind: str, data: Mapping[str, object], file: str, raw: Raw | None) -> str:
        """What a failed command has printed; "" for any other event."""
        match kind:
            case "check_ended" if data.get("status") not in _PASSED:
                return self._end_of(str(data.get("output") or ""))
            case "setup_ended" if data.get("exit_code") != 0:
                return str(data.get("text") or "") or self._end_of(str(data.get("output") or ""))
            case "tool_result" if not data.get("ok"):
                # Of its text an event has a line; it is read where it stands, which is in JSON.
                line = self._piece(file, raw.offset, raw.length) if raw else ""
                return line.replace("\\n", "\n").replace('\\"', '"')
        return ""

    def _end_of(self, name: str) -> str:
        try:
            size = (self.run_folder / name).stat().st_size
        except OSError:
            return ""
        return self._piece(name, max(0, size - MOST_TEXT), MOST_TEXT)

    def _piece(self, name: str, offset: int, length: int) -> str:
        """Of what Hydra recorded; "" where it did not."""
        try:
            with (self.run_folder / name).open("rb") as file:
                file.seek(offset)
                return file.read(min(length, MOST_TEXT)).decode("utf-8", "replace")
        except OSError:
            return ""

    def _missing(self, text: str, kind: str) -> Iterator[str]:
        view = self.view()
        for place in missing_places(text, view.home, view.is_visible, self.own):
            if self._is_new(place):
                name = self._name(place)
                what = f"{name} ({_WHO[kind]} speaks of it)"
                yield f"hidden from the agents: {what}; {self._way(name)}"

    def left_out(self, text: str, kind: str) -> Iterator[str]:
        """The sentences of files of the checkout that git ignores: a lane has none of them."""
        names = missing_names(text, self.own[0])
        entries = [os.fsdecode(entry) for entry in self.ignored()] if names else []
        for name in names:
            if (path := _ignored_path(name, entries, self.own[0])) and self._is_new(Path(path)):
                yield (
                    f"{_WHO[kind]} misses {path}, which your checkout has and git ignores: "
                    f"--copy {shlex.quote(path)} brings it"
                )

    def _uninstalled(self, text: str, kind: str) -> Iterator[str]:
        """Of modules that an environment takes from sources that are hidden."""
        for module in hidden_modules(text, self.view()):
            if not self._is_new(module.place):
                continue
            if own := next((at for at in self.own if module.folder.is_relative_to(at)), None):
                yield _of_the_checkout(module, own, _WHO[kind])
            else:
                name = self._name(module.place)
                what = f"{name} ({_WHO[kind]} misses the module {module.name})"
                yield f"hidden from the agents: {what}; {self._way(name)}"

    def _stripped(self, text: str, kind: str) -> Iterator[str]:
        if not _REFUSED_SIGN_IN.search(text):
            return
        for place in self.view().stripped:
            tool = next((name for end, name in _TOOLS.items() if str(place).endswith(end)), "")
            if tool and re.search(tool, text) and self._is_new(place):
                name = self._name(place)
                what = f"the keys in {name} ({_WHO[kind]} speaks of a refused sign-in)"
                yield f"hidden from the agents: {what}; {self._way(name)}"

    def _busy(self, text: str, kind: str) -> Iterator[str]:
        """Of mounts that somebody tried to remove: `rm -rf node_modules && npm ci` stops there."""
        for line in filter(_BUSY.search, text.splitlines()):
            named = (mount for mount in self.mounts if Path(mount).name in line)
            name = max(named, key=lambda name: (name in line, len(name)), default="")
            if name and self._is_new(Path(name)):
                yield (
                    f"{_WHO[kind]} could not remove {name} itself: it is a mount in a lane (busy); "
                    "removing what is in it works, as `npm ci` does"
                )

    def _is_new(self, place: Path) -> bool:
        fresh = place not in self._places
        self._places.add(place)
        return fresh

    def _way(self, name: str) -> str:
        line = f"show = {json.dumps([name], ensure_ascii=False)}"
        return f"to show it: [confine] {line} in {self._name(self.settings_file)}"

    def _name(self, place: Path) -> str:
        home = self.view().home
        return f"~/{place.relative_to(home)}" if home in place.parents else str(place)


def _ignored_path(name: str, entries: Sequence[str], checkout: Path) -> str:
    """The file that a program meant by `name`, which is from the folder where it ran; "" where git
    ignores none of that name, or several."""
    inside = [name for entry in entries if entry.endswith("/") and name.startswith(entry)]
    if name in entries or any((checkout / path).is_file() for path in inside):
        return name
    ends = [entry for entry in entries if entry.endswith(f"/{name}")]
    ends += [
        path
        for in_folder in _in_folders(name, entries)
        if (checkout / (path := in_folder)).is_file()
    ]
    return ends[0] if len(ends) == 1 else ""


def _in_folders(name: str, entries: Sequence[str]) -> Iterator[str]:
    """What `gen/x.js` may be in folders that git ignores whole: `web/gen/x.js` in `web/gen/`."""
    parts = name.split("/")
    for head in ("/".join(parts[:count]) for count in range(1, len(parts))):
        folders = (entry for entry in entries if entry.endswith(f"/{head}/"))
        yield from (f"{folder}{name.removeprefix(head)[1:]}" for folder in folders)


def _of_the_checkout(module: EditableModule, checkout: Path, who: str) -> str:
    """A lane has its base's own there: what is missing is ignored, or was not committed."""
    return (
        f"{who} misses the module {module.name}, which your checkout has in "
        f"{module.place.relative_to(checkout)}: what git ignores there, or you have not committed, "
        "comes by --copy"
    )


_WHO = {
    "check_ended": "a check",
    "setup_ended": "the set-up",
    "tool_result": "a command of an agent",
}
