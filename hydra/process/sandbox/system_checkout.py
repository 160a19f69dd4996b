"""A checkout in one of the system's folders, as /opt/shop: as hidden as anywhere else, though all
the rest of that folder is shown."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from hydra.process.sandbox.lookups import entries_of, is_file, is_folder, is_program
from hydra.process.sandbox.masks import telling_files
from hydra.process.sandbox.mounts import real
from hydra.process.sandbox.tables import ON_PATH
from hydra.process.sandbox.view import ShownPlace, View, is_sealable, is_system


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
