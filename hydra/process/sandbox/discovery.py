"""What of a machine a lane has to see: PATH, what each program in it stands on, caches, roots.

Nothing is shown because it lies somewhere; each place has a reason. `compute_view` is called once
a race, and blocks for some milliseconds.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from hydra.process.sandbox.exposure import ShownPlaces
from hydra.process.sandbox.lookups import (
    LinkResolver,
    entries_of,
    exists,
    is_file,
    is_folder,
    is_program,
)
from hydra.process.sandbox.masks import Masks, hidden_in_system, telling_files
from hydra.process.sandbox.mounts import real
from hydra.process.sandbox.places import GuardedPlaces, show_problems, shown_path
from hydra.process.sandbox.programs import Programs
from hydra.process.sandbox.tables import (
    CACHES,
    CERTIFICATE_VARIABLES,
    ON_PATH,
    ROOT_MARKS,
    ROOT_VARIABLES,
)
from hydra.process.sandbox.user_settings import remake_settings
from hydra.process.sandbox.view import ShownPlace, View, is_sealable, is_system

_PACKAGE = Path(__file__).parents[2]
"""Hydra itself, and no more of what it is installed in: the keeper runs in the lane."""

_ENTRIES = 4000
"""Of one PATH folder so many programs are looked at."""


def compute_view(
    home: Path,
    environ: Mapping[str, str],
    *,
    programs: Iterable[str] = (),
    commands: Iterable[str] = (),
    objects: Iterable[Path] = (),
    show: Iterable[str] = (),
    guarded: Iterable[Path] = (),
    repository: Path | None = None,
    environments: Iterable[Path] = (),
    masks: Masks = hidden_in_system,
) -> View:
    """What is shown for these variables, agents' `programs` (absolute), and `show` of the user's.

    Of `commands`, those of checks and set-up, the programs are shown that they name by a whole
    path: an interpreter of an environment that is not on PATH. `objects` are the repository's
    objects folders, `guarded` further places that are not shown as a whole nor in part (rivals'
    settings that a variable has moved, Hydra's state); `repository` is where git's conditional
    settings are read, `environments` are its own outside of it. `masks` gives what
    `hidden_in_system` does, for who has it already. Raises nothing: what cannot be read is not
    shown.
    """
    objects = tuple(objects)
    discovery = _Discovery(home, environ, guarded, repository)
    for program in programs:  # first: more of them is shown than of other programs on PATH
        discovery.programs.show(Path(program), "the agent's program", whole=True)
    discovery.path()
    discovery.in_commands(commands)
    discovery.hydra()
    discovery.variables()
    discovery.environments(environments)
    discovery.caches()
    discovery.exactly(objects, "the repository's objects")
    discovery.exactly([Path("/etc/resolv.conf")], "the resolver's file")
    discovery.asked_for(show)
    return hide_checkout(discovery.view(repository, masks()), environ, objects)


class _Discovery:
    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str],
        guarded: Iterable[Path],
        repository: Path | None,
    ) -> None:
        self._environ = environ
        self._links = LinkResolver()
        self._checkout = self._links.resolve(repository) if repository else None
        self._home = self._links.resolve(home)
        more = map(self._links.resolve, guarded)
        # What holds the user's checkout is as little shown as a whole as the checkout is.
        whole = (self._checkout, *self._checkout.parents) if self._checkout else ()
        guards = GuardedPlaces(self._home, more, whole)
        self._places = ShownPlaces(self._home, self._links, guards)
        self.programs = Programs(self._places)
        self._show: list[Path] = []

    def path(self) -> None:
        """Every folder of PATH, and what each program in it stands on."""
        for entry in dict.fromkeys(self._environ.get("PATH", "").split(":")):
            if entry.startswith("/"):
                self._path_folder(Path(os.path.normpath(entry)))

    def _path_folder(self, entry: Path) -> None:
        folder = self._links.resolve(entry)
        if is_system(folder) or not is_folder(folder):
            return
        if not self._is_work(folder) and not self._places.admits(folder, ON_PATH):
            return
        self.programs.show_folder(folder, ON_PATH)
        for program in _programs_in(folder):
            self.programs.show(program, f"on PATH in {entry}")

    def _is_work(self, folder: Path) -> bool:
        """Whether it is in the user's checkout, and of no installation there."""
        places = (folder, *folder.parents)
        if self._checkout not in places or "node_modules" in folder.parts:
            return False
        return not any(is_file(at / "pyvenv.cfg") or is_folder(at / "conda-meta") for at in places)

    def in_commands(self, commands: Iterable[str]) -> None:
        """Programs that the user's commands name by a whole path, or from HOME on."""
        for term in (term for command in commands for term in _argument_list(command)):
            path = self._home / term[2:] if term.startswith("~/") else Path(term)
            if path.is_absolute() and is_program(path):
                self.programs.show(path, "a check or set-up names it")

    def hydra(self) -> None:
        """The keeper's interpreter and Hydra's package."""
        self.programs.show(self._links.resolve(Path(sys.executable)), "Hydra's interpreter")
        libraries = Path(sys.base_prefix, "lib").glob("libpython*.so*")
        self.exactly([Path(os.__file__).parent, *libraries], "Hydra's interpreter")
        self._places.add(self._links.resolve(_PACKAGE), "Hydra's own code")

    def variables(self) -> None:
        """Roots and certificates that a variable names."""
        for name, parts in ROOT_VARIABLES.items():
            if (top := self._named(name)) and is_folder(top):
                self._root(top, name, parts)
        for name in CERTIFICATE_VARIABLES:
            if file := self._named(name):
                self._places.show(file, f"${name}")

    def _root(self, top: Path, name: str, parts: tuple[str, ...]) -> None:
        if parts:
            self._places.show_parts(top, parts, f"${name}")
        elif any(exists(top / mark) for mark in ROOT_MARKS[name]):
            self.programs.show_environment(top, f"${name}")

    def _named(self, name: str) -> Path | None:
        value = self._environ.get(name, "")
        return Path(os.path.normpath(value)) if value.startswith("/") else None

    def environments(self, places: Iterable[Path]) -> None:
        """Those of the checkout that lie outside it, and what they were made from."""
        for place in places:
            if self._places.show(place, "an environment of the checkout"):
                self.programs.base_of(place)

    def caches(self) -> None:
        """Downloads without keys, where they lie in HOME."""
        for name in CACHES:
            self._places.show(self._home / name, "a cache without keys")

    def exactly(self, places: Iterable[Path], reason: str) -> None:
        """What is needed, wherever it lies."""
        for place in places:
            if exists(place):
                self._places.add(self._links.resolve(place), reason)

    def asked_for(self, show: Iterable[str]) -> None:
        """What the user's own `[confine] show` names; never all of HOME."""
        show = tuple(show)
        self._places.notes += show_problems(show, self._home)
        for name in show:
            place = shown_path(name, self._home)
            real = self._links.resolve(place)
            if exists(place) and not self._places.is_all_of_home(real):
                self._places.add(real, "[confine] show")
                self._show.append(real)

    def view(self, repository: Path | None, masks: Iterable[Path]) -> View:
        """All of it as one record."""
        sealed = (self._links.resolve(repository),) if repository else ()
        shown = self._places.outermost(sealed)
        asked_for = set(self._show)
        covered = [
            file
            for place in shown
            if place.path not in asked_for
            for file in telling_files(place)
            if not self._places.is_shown_itself(file)
        ]
        files, stripped = remake_settings(self._home, repository)
        name = self._checkout_name()
        return View(
            home=self._home,
            shown=shown,
            links=self._places.links_outside(
                (*shown, *(ShownPlace(path, "") for path in sealed if name))
            ),
            sealed=sealed,
            masked=tuple(dict.fromkeys((*masks, *covered))),
            settings={at: text for at, text in files.items() if at not in asked_for},
            stripped=tuple(at for at in stripped if at not in asked_for),
            show=tuple(self._show),
            notes=tuple(self._places.notes),
            checkout_name=name,
        )

    def _checkout_name(self) -> Path | None:
        """By PWD, as shells have it; the links on the way to it are then made anew."""
        named = self._named("PWD")
        real = self._links.resolve(named) if named else None
        if not (named and real and self._checkout in (real, *real.parents)) or named == real:
            return None
        below = real.relative_to(self._checkout).parts
        top = Path(*named.parts[: len(named.parts) - len(below)])
        return top if top != self._checkout and self._links.resolve(top) == self._checkout else None


def _argument_list(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # the shell itself will say what is wrong with it
        return command.split()


def _programs_in(folder: Path) -> list[Path]:
    paths = sorted(Path(entry.path) for entry in entries_of(folder))
    return [path for path in paths[:_ENTRIES] if is_program(path)]


def own_installation(home: Path, program: Path, settings: Iterable[Path]) -> tuple[Path, ...]:
    """What of an agent's installation lies in one of its own `settings` folders (~/.claude/local):
    shown to its own lane alone, over its copy of them. Never such a folder as a whole."""
    links = LinkResolver()
    folders = [links.resolve(place) for place in settings]
    if not any(place in links.resolve(program).parents for place in folders):
        return ()
    guards = GuardedPlaces(links.resolve(home), never_whole=folders, names=())
    places = ShownPlaces(links.resolve(home), links, guards)
    Programs(places).show(program, "the agent's program", whole=True)
    for link in links.on_the_way(program):
        places.show(link.parent, "the agent's program")
    return tuple(
        shown_place.path
        for shown_place in places.outermost()
        if set(folders) & set(shown_place.path.parents)
    )


# ---- A checkout in one of the system's folders, as /opt/shop: as hidden as anywhere else, though
# all the rest of that folder is shown.


def hide_checkout(view: View, environ: Mapping[str, str], objects: Iterable[Path]) -> View:
    """The view in which of such a checkout nothing is there but what is in that of any other: its
    `objects`, its tools on PATH, and what the user shows."""
    checkout = next((path for path in view.sealed if is_system(path) and is_sealable(path)), None)
    if checkout is None:
        return view
    tools = [*_tools(environ.get("PATH", ""), checkout)]
    named = (ShownPlace(real(path), "the repository's objects") for path in objects)
    by_user = (ShownPlace(path, "[confine] show") for path in view.show)
    shown = {
        shown_place.path: shown_place
        for shown_place in (*tools, *named, *by_user)
        if checkout in shown_place.path.parents
    }
    outer = [
        shown_place for path, shown_place in shown.items() if shown.keys().isdisjoint(path.parents)
    ]
    masked = (path for path in view.masked if checkout not in path.parents or _is_in(path, shown))
    covered = (file for place in tools for file in telling_files(place))
    return replace(view, shown=tuple(sorted((*view.shown, *outer))), masked=(*masked, *covered))


def _is_in(path: Path, shown: Container[Path]) -> bool:
    return any(place in shown for place in path.parents)


def _tools(path: str, checkout: Path) -> Iterator[ShownPlace]:
    """Of each folder on PATH its environment or its `node_modules`, else its programs alone."""
    folders = {real(Path(entry)) for entry in path.split(":") if entry.startswith("/")}
    for folder in (path for path in folders if path.is_relative_to(checkout)):
        if top := next(filter(_is_installation, (folder, *folder.parents)), None):
            yield ShownPlace(top, ON_PATH)
            continue
        programs = (Path(entry.path) for entry in entries_of(folder))
        yield from (
            ShownPlace(real(program), ON_PATH) for program in programs if is_program(program)
        )


def _is_installation(top: Path) -> bool:
    if top.name == "node_modules":
        return True
    return is_file(top / "pyvenv.cfg") or is_folder(top / "conda-meta")
