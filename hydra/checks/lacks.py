"""What a failing output misses that the checkout has and a lane has not, with what brings it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from hydra.analysis.made_folders import PACKAGES
from hydra.checks.builders import builder_of, entry_files
from hydra.checks.lack import Lack, joined, of_shell
from hydra.config.check_specs import split_folders
from hydra.process.sandbox.hidden_output import ABSENT, MOST_TEXT, NO_PROGRAM
from hydra.text import join_names
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
_LOADED = (
    (re.compile(r"package (\w+(?:\.\w+)+) does not exist"), "{}"),  # javac
    (
        re.compile(r"(?:ClassNotFoundException|NoClassDefFoundError):? ((?:\w+[./])+\w+)"),
        "{}.java {}.kt {}.class",
    ),
    (re.compile(r"(?:Class|Interface|Trait) [\"']?(\w+(?:\\\w+)+)[\"']? not found"), "{}.php"),
)
"""Names of packages and classes, and the files that they may mean."""
_OPENED = (
    (re.compile(r"cannot load such file -- ([\w./-]+)"), "{}.rb lib/{}.rb"),
    (re.compile(r"(?:cannot find|library not found for) -l([\w+.-]+)"), "lib{}.so lib{}.a"),
    (re.compile(r"No rule to make target [`']([^'\s]+)'"), "{}"),
)
_PACKAGE = re.compile(r"(?:@[\w.-]+/)?[\w-][\w.-]*")
_ENDS = ("", ".js", ".ts", ".json", ".mjs", ".cjs", ".tsx", ".jsx", ".d.ts")
_INDEXES = ("/index.js", "/index.ts")
_LOADED_AS = (*_ENDS, *_INDEXES)
_FILE = re.compile(r"(?<![\w.@%+~/-])([\w.@%+~/-]+)/[\w.-]+\.py\b")
_ROOTS = ("", "src")
"""Where Python looks for a module beside the folders of the files that the output names."""

_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]{3,}\b")
_UNSET = re.compile(
    r"KeyError|not (?:set|defined|found|given|provided|configured|present)|\bunset\b|undefined"
    r"|missing|required|must be|environment variable|\benv var|unbound|is empty|NotPresent",
    re.IGNORECASE,
)
_ADVICE = re.compile(r"\brun with ['\"`]?([A-Z][A-Z0-9_]{3,})=")
"""What shows more where it is set, as RUST_BACKTRACE does: nothing lacks it."""
_FIELD = re.compile(r"^(?:E\s+)?(\w+)\n(?:E\s+)?\s*Field required\b", re.MULTILINE)
_NEAR = 3
"""Lines around a variable's name in which it may be said that it is not there."""


def lacks(
    text: str, surplus: Surplus, *, command: str = "", shell: bool = True
) -> tuple[Lack, ...]:
    """What `text`, the output of a command that failed, misses of `surplus`: at most two, in its
    order, files and folders before variables. `command` is what has run, from the top; `shell`:
    whether variables of the user's shell count."""
    end, index = text[-MOST_TEXT:], _Index(surplus, command)
    misses = list[Lack]()
    for paths in _paths(end, index):
        misses = joined((*misses, _of_paths(paths, index)))
        if len(misses) == MOST:
            break
    misses = joined((*misses, *_unbuilt(end, index)))
    return tuple(joined((*misses, *_of_variables(end, index, shell))))[:MOST]


class _Index:
    """What of a surplus a name may mean."""

    def __init__(self, surplus: Surplus, command: str) -> None:
        self.surplus = surplus
        self._folder = "/".join(split_folders(command)[0])
        self._shown = {name.rstrip("/") for name in surplus.shown}

    def entry_of(self, path: str) -> str:
        """The entry that is `path` or holds it, as git lists it; "" for what lanes have, or what is
        not there."""
        above = [path, *map(str, Path(path).parents)]
        if not self._shown.isdisjoint(above) or not os.path.lexists(self.surplus.top / path):
            return ""
        places = self.surplus.places
        entry = next((places[at] for at in above if at in places), "")
        return "" if self._is_environment(entry) else entry

    def _is_environment(self, entry: str) -> bool:
        """Whether it is one that lanes have as a whole as soon as git ignores it: a copy of a file
        of it would not run."""
        if not entry.endswith("/") or entry in self.surplus.ignored:
            return False
        place = self.surplus.top / entry
        return not PACKAGES.isdisjoint(Path(entry).parts) or (place / "pyvenv.cfg").is_file()

    def find(self, name: str, *, folders: bool = True, elsewhere: bool = True) -> list[str]:
        """The paths that a program may mean by `name`; of one that is no entry's, or of several
        elsewhere, none. `folders`: whether it may be one; `elsewhere`: whether it may be from
        another folder, where the program ran."""
        top = self.surplus.top
        own = name.removeprefix(f"{top}/").rstrip(".")
        path = re.sub(r"^(?:\.\./)+", "", os.path.normpath(own))
        if path.startswith("/") or not re.search(r"\w", path):
            return []
        is_relative = own == name.rstrip(".")
        if self._folder and is_relative:
            near = os.path.normpath(f"{self._folder}/{own}")
            if self._fitting([near], folders):
                return [near]
        real = os.path.relpath(os.path.realpath(top / path), os.path.realpath(top))
        mine = self._fitting((path, real), folders)[:1]
        others = self._fitting(self._namesakes(path), folders) if elsewhere else []
        if mine:
            return [*mine, *others] if is_relative else mine
        return others if len(others) == 1 else []

    def _fitting(self, paths: Iterable[str], folders: bool) -> list[str]:
        fit = (path for path in dict.fromkeys(paths) if self.entry_of(path))
        return [path for path in fit if folders or not (self.surplus.top / path).is_dir()]

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


def _paths(text: str, index: _Index) -> Iterator[Sequence[str]]:
    """The entries' paths that it misses: those that one name may mean."""
    folders = _folders(text, index.surplus.top)
    names = (row for line in text.splitlines() for row in _names(line, folders, index))
    for name, folder, elsewhere in islice(dict.fromkeys(names), _MOST_NAMES):
        if paths := index.find(name, folders=folder, elsewhere=elsewhere):
            yield paths


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
    for pattern, files in _LOADED:
        for name in pattern.findall(line):
            yield from _of_class(re.split(r"[./\\]", name), files)
    for pattern, files in _OPENED:
        for name in pattern.findall(line):
            yield from ((file.format(name), True, True) for file in files.split())
    for source in _SOURCE.findall(line):
        if source.startswith((".", "/")):
            yield from ((f"{source}{end}", False, True) for end in _LOADED_AS)
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


def _of_class(parts: Sequence[str], files: str) -> Iterator[tuple[str, bool, bool]]:
    """Below a folder of any name; of a namespace the first parts may stand for one."""
    for at in range(len(parts) - 1):
        yield from ((file.format("/".join(parts[at:])), True, True) for file in files.split())


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
        # Not pathlib's own, which raises for a name that is too long.
        if folder.rpartition("/")[2] == "node_modules" and os.path.islink(link):  # noqa: PTH114
            real = os.path.relpath(os.path.realpath(link), os.path.realpath(top))
            yield from (f"{real}/{file}" for file in entry_files(top / real))


def _unbuilt(text: str, index: _Index) -> Iterator[Lack]:
    """What is loaded for a workspace's own package, and was never built in the checkout either."""
    top = index.surplus.top
    for source in islice(dict.fromkeys(_SOURCE.findall(text)), _MOST_NAMES // 100):
        package = _PACKAGE.match(source)
        if source.startswith("/"):
            files = [os.path.relpath(os.path.realpath(source), os.path.realpath(top))]
        else:
            files = [*_of_package(package[0], index)] if package else []
        for path in map(os.path.normpath, files):
            if not _is_entry(path, top) or any(_is_at(path + end, top) for end in _LOADED_AS):
                continue
            above = [path, *(f"{at}/" for at in map(str, Path(path).parents[:-1]))]
            entry = [at for at in above if not _is_at(at, top)][-1]
            if command := builder_of(path, entry, top):
                yield Lack((path,), "which nothing has built yet", "--setup", (command,))


def _is_at(name: str, top: Path) -> bool:
    # Not pathlib's own, which raises for a name that is too long.
    return os.path.lexists(f"{top}/{name}")


def _is_entry(path: str, top: Path) -> bool:
    """Whether it is what the nearest package.json says is loaded."""
    above = [at for at in (top / path).parents if at.is_relative_to(top)]
    package = next((at for at in above if (at / "package.json").is_file()), top)
    files = (os.path.normpath(package / file) for file in entry_files(package))
    return str(top / path) in files


def _unset(text: str) -> Iterator[str]:
    """Variables near words that say that one is not there, and what pydantic reads them into."""
    lines = text.splitlines()
    advised = frozenset(_ADVICE.findall(text))
    for number, line in enumerate(lines):
        names = [name for name in _VARIABLE.findall(line) if name not in advised]
        near = lines[max(0, number - _NEAR) : number + _NEAR + 1] if names else []
        if any(map(_UNSET.search, near)):
            yield from names
    yield from (name.upper() for name in _FIELD.findall(text))


# ---- What brings it.


def _of_paths(paths: Sequence[str], index: _Index) -> Lack:
    """Of all that may be meant, where one option brings them."""
    lack, *others = [_of_path(path, index) for path in paths]
    if lack.option == "--setup" or lack.show:
        return lack
    alike = [lack, *(row for row in others if row.option == lack.option and not row.show)]
    names = tuple(name for row in alike for name in row.names)
    values = dict.fromkeys(value for row in alike for value in row.values)
    return replace(lack, names=names, values=tuple(values))


def _of_path(path: str, index: _Index) -> Lack:
    surplus, entry = index.surplus, index.entry_of(path)
    is_ignored = entry in surplus.ignored
    ignores = "git ignores" if is_ignored else "no commit holds"
    what = f"which your checkout has and {ignores}"
    place = entry.rstrip("/")
    if link := _outward(surplus.top, place):
        line = f"[confine] show = {json.dumps([link], ensure_ascii=False)} in {surplus.settings}"
        return Lack((path,), f"{what}, by a link to {link}", "--copy", (place,), line)
    if command := builder_of(path, entry, surplus.top):
        return Lack((path,), what, "--setup", (command,))
    is_folder = entry.endswith("/")
    if is_folder and is_ignored and surplus.shares:
        return Lack((path,), what, "--share", (place,))
    return Lack((path,), what, "--copy", (path if is_folder else place,))


def _outward(top: Path, place: str) -> str:
    """Where a link leads that leaves the checkout; "" for anything else."""
    real = os.path.realpath(top / place)
    is_link = (top / place).is_symlink()
    return real if is_link and not Path(real).is_relative_to(os.path.realpath(top)) else ""


def _of_variables(text: str, index: _Index, shell: bool) -> Iterator[Lack]:
    surplus = index.surplus
    for name in dict.fromkeys(_unset(text)):
        if shell and name in surplus.variables:
            yield of_shell([name], surplus.passed)
        elif files := [*filter(index.entry_of, surplus.defined.get(name, ()))]:
            sets = f"{files[0]} of your checkout sets"
            if len(files) > 1:
                sets = f"{join_names(files)} of your checkout set"
            yield Lack((name,), f"a variable that {sets}", "--copy", tuple(files))
