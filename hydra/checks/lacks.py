"""What a failing output misses that the checkout has and a lane has not, with what brings it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from hydra.checks.builders import builder_of, entry_files
from hydra.config.check_names import typed
from hydra.process.sandbox.hidden_output import ABSENT, MOST_TEXT, NO_PROGRAM
from hydra.workspace.surplus import Surplus

MOST = 2
"""Lacks that one output is told: whatever misses more has its first cause in these."""

_MOST_NAMES = 2_000
"""Names of it that are looked up."""

_NAME = re.compile(r"(['\"`]?)([\w.@%+~/-]{2,300})")
_MODULE = re.compile(r"No module named '?(\w+(?:\.\w+)*)")
_IMPORTED = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_SOURCE = re.compile(
    r"(?:Cannot find (?:module|package)|Could not resolve|Failed to resolve (?:import|entry for "
    r"package)) ['\"]([^'\"\s]+)"
)
_GO_PACKAGE = re.compile(r"\bpackage ([\w.-]+(?:/[\w.-]+)+)(?: is not in |[;:]|$)")
_PACKAGE = re.compile(r"(?:@[\w.-]+/)?[\w-][\w.-]*")
_ENDS = ("", ".js", ".ts", ".json", ".mjs", ".cjs", ".tsx", ".jsx", ".d.ts")
_INDEXES = ("/index.js", "/index.ts")
_FILE = re.compile(r"([\w.@%+~/-]+)/[\w.-]+\.py\b")
_ROOTS = ("", "src")
"""Where Python looks for a module beside the folders of the files that the output names."""

_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]{3,}\b")
_UNSET = re.compile(
    r"KeyError|not (?:set|defined|found|given|provided|configured|present)|\bunset\b|undefined"
    r"|missing|required|must be|environment variable|\benv var|unbound|is empty|NotPresent",
    re.IGNORECASE,
)
_FIELD = re.compile(r"^(?:E\s+)?(\w+)\n(?:E\s+)?\s*Field required\b", re.MULTILINE)
_NEAR = 3
"""Lines around a variable's name in which it may be said that it is not there."""


class Lack(NamedTuple):
    """One thing by its name: a path from the checkout's top, or a variable; what it is, as a
    clause; and the option that brings it."""

    name: str
    what: str
    way: str

    def told_of(self, who: str) -> str:
        """The sentence; `who` misses it: "a check"."""
        return f"{who} misses {self.name}, {self.what}: {self.way}"


def named_in(sentence: str) -> str:
    """What a sentence of a check's lack names."""
    return sentence.removeprefix("a check misses ").partition(", ")[0]


def option_in(sentence: str) -> str:
    """The option of `hydra check` that such a sentence offers; "" where it is none."""
    match = re.search(r": (--(?:copy|share|setup) .+) (?:brings|builds) it$", sentence)
    return match[1] if match else ""


def lacks(text: str, surplus: Surplus) -> tuple[Lack, ...]:
    """What `text`, the output of a command that failed, misses of `surplus`: at most two, in its
    order, files and folders before variables."""
    end, index = text[-MOST_TEXT:], _Index(surplus)
    lack_by_way: dict[str, Lack] = {}
    for path in _paths(end, index):
        lack = _of_path(path, index)
        lack_by_way.setdefault(lack.way, lack)
        if len(lack_by_way) == MOST:
            break
    for name in _unset(end):
        if set_by := _of_variable(name, surplus):
            lack_by_way.setdefault(set_by.way, set_by)
    return tuple(lack_by_way.values())[:MOST]


class _Index:
    """What of a surplus a name may mean."""

    def __init__(self, surplus: Surplus) -> None:
        self.surplus = surplus
        self._shown = {name.rstrip("/") for name in surplus.shown}

    def entry_of(self, path: str) -> str:
        """The entry that is `path` or holds it, as git lists it; "" for what lanes have, or what is
        not there."""
        above = [path, *map(str, Path(path).parents)]
        if not self._shown.isdisjoint(above) or not os.path.lexists(self.surplus.top / path):
            return ""
        places = self.surplus.places
        return next((places[at] for at in above if at in places), "")

    def find(self, name: str, *, folders: bool = True, elsewhere: bool = True) -> str:
        """The path that a program meant by `name`; "" where it is no entry's, or may be several's.
        `folders`: whether it may be one; `elsewhere`: whether it may be from another folder, where
        the program ran."""
        top = self.surplus.top
        path = os.path.normpath(name.removeprefix(f"{top}/").rstrip("."))
        path = re.sub(r"^(?:\.\./)+", "", path)
        if path.startswith("/") or not re.search(r"\w", path):
            return ""
        own = (path, os.path.relpath(os.path.realpath(top / path), os.path.realpath(top)))
        others = self._namesakes(path) if elsewhere else ()
        for places in (own, dict.fromkeys(others)):
            fit = [at for at in places if self.entry_of(at)]
            fit = [at for at in fit if folders or not (top / at).is_dir()]
            if fit and (places is own or len(fit) == 1):
                return fit[0]
        return ""

    def _namesakes(self, path: str) -> Iterator[str]:
        """Entries that end so, and what is in folders of such a name: `web/gen/x.js` in `web/gen/`
        is `gen/x.js` for who runs in `web`."""
        parts = path.split("/")
        for count in range(len(parts), 0, -1):
            head = "/".join(parts[:count])
            for place in self.surplus.called.get(parts[count - 1], ()):
                if place.endswith(f"/{head}"):
                    yield "/".join((place, *parts[count:]))


# ---- What an output names.


def _paths(text: str, index: _Index) -> Iterator[str]:
    """The entries' paths that it misses."""
    folders = _folders(text, index.surplus.top)
    names = (row for line in text.splitlines() for row in _names(line, folders, index))
    for name, folder, elsewhere in islice(dict.fromkeys(names), _MOST_NAMES):
        if path := index.find(name, folders=folder, elsewhere=elsewhere):
            yield path


def _names(line: str, folders: Sequence[str], index: _Index) -> Iterator[tuple[str, bool, bool]]:
    """What a line says is not there, and how `find` is to take it."""
    if ABSENT.search(line):
        for quote, name in _NAME.findall(line):
            yield name, bool(quote) or "/" in name, True
    for program in NO_PROGRAM.findall(line):
        place = shutil.which(program, path=index.surplus.search) or ""
        if place.startswith(f"{index.surplus.top}/"):
            yield place, False, False
    for dotted in _MODULE.findall(line):
        yield from _of_module(dotted, folders)
    for name, package in _IMPORTED.findall(line):
        yield from _of_module(f"{package}.{name}", folders)
    for package in _GO_PACKAGE.findall(line):
        parts = package.split("/")  # the module's own name is before the folder's
        yield from (("/".join(parts[at:]), True, False) for at in range(1, len(parts)))
    for source in _SOURCE.findall(line):
        if source.startswith((".", "/")):
            yield from ((f"{source}{end}", False, True) for end in (*_ENDS, *_INDEXES))
        elif package := _PACKAGE.match(source):
            yield from ((path, False, False) for path in _of_package(package[0], index))


def _of_module(dotted: str, folders: Sequence[str]) -> Iterator[tuple[str, bool, bool]]:
    """One that stands alone may lie where Python looks for it; too many files have such a name."""
    path = dotted.replace(".", "/")
    if path != dotted:
        yield f"{path}.py", False, True
        yield path, True, True
        return
    for folder in folders:
        yield f"{folder}/{path}.py".lstrip("/"), False, False
        yield f"{folder}/{path}".lstrip("/"), True, False


def _folders(text: str, top: Path) -> list[str]:
    """Those of Python files that it names, from the top."""
    named = (name.removeprefix(f"{top}/") for name in dict.fromkeys(_FILE.findall(text)))
    inside = (name for name in named if not name.startswith("/"))
    return [*_ROOTS, *islice(inside, _MOST_NAMES // 100)]


def _of_package(name: str, index: _Index) -> Iterator[str]:
    """The files of a workspace's own package that whoever loads it gets, where it is linked."""
    top = index.surplus.top
    for folder in index.surplus.shown:
        link = top / folder / name
        if folder.rpartition("/")[2] == "node_modules" and link.is_symlink():
            real = os.path.relpath(os.path.realpath(link), os.path.realpath(top))
            yield from (f"{real}/{file}" for file in entry_files(top / real))


def _unset(text: str) -> Iterator[str]:
    """Variables near words that say that one is not there, and what pydantic reads them into."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        names = _VARIABLE.findall(line)
        near = lines[max(0, number - _NEAR) : number + _NEAR + 1] if names else []
        if any(map(_UNSET.search, near)):
            yield from names
    yield from (name.upper() for name in _FIELD.findall(text))


# ---- What brings it.


def _of_path(path: str, index: _Index) -> Lack:
    surplus, entry = index.surplus, index.entry_of(path)
    is_ignored = entry in surplus.ignored
    ignores = "git ignores" if is_ignored else "no commit holds"
    what = f"which your checkout has and {ignores}"
    place = entry.rstrip("/")
    if link := _outward(surplus.top, place):
        line = f"[confine] show = {json.dumps([link], ensure_ascii=False)} in {surplus.settings}"
        way = f"--copy {_typed(place, surplus)} and {line} bring it"
        return Lack(path, f"{what}, by a link to {link}", way)
    if command := builder_of(path, entry, surplus.top):
        return Lack(path, what, f"--setup {shlex.quote(typed(command, surplus.folder))} builds it")
    is_folder = entry.endswith("/")
    whole = is_folder and is_ignored and surplus.shares
    copy = f"--copy {_typed(path if is_folder else place, surplus)}"
    option = f"--share {_typed(place, surplus)}" if whole else copy
    return Lack(path, what, f"{option} brings it")


def _outward(top: Path, place: str) -> str:
    """Where a link leads that leaves the checkout; "" for anything else."""
    real = os.path.realpath(top / place)
    is_link = (top / place).is_symlink()
    return real if is_link and not Path(real).is_relative_to(os.path.realpath(top)) else ""


def _typed(name: str, surplus: Surplus) -> str:
    """As one types it where one stands: what is there goes before what is at the top."""
    folder = surplus.folder
    taken = folder and os.path.lexists(surplus.top / folder / name)
    return shlex.quote(os.path.relpath(f"/{name}", f"/{folder}") if taken else name)


def _of_variable(name: str, surplus: Surplus) -> Lack | None:
    if name in surplus.variables:
        names = ",".join((*surplus.passed, name))
        way = f"export HYDRA_CHECKS_ENVIRONMENT={shlex.quote(names)} gives it to them"
        return Lack(name, "a variable of your shell that checks are not given", way)
    if file := surplus.defined.get(name, ""):
        way = f"--copy {_typed(file, surplus)} brings it"
        return Lack(name, f"a variable that {file} of your checkout sets", way)
    return None
