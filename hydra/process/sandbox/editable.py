"""Python projects that were installed from their sources (`pip install -e`) and are hidden in a
lane: their environment is shown, what it leads to is not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from hydra.process.sandbox.lookups import exists, matches
from hydra.process.sandbox.view import View

_NO_MODULE = re.compile(r"No module named '?([A-Za-z_]\w*)")

_PACKAGES = (
    "lib/python*/site-packages",
    "python*/site-packages",
    "versions/*/lib/python*/site-packages",
)
"""Where a shown place has them: an environment, a prefix's `lib`, pyenv's root."""

_LAYOUTS = ("src", "", "lib", "python")
"""Folders of a project in which its modules lie."""


class EditableModule(NamedTuple):
    """A module that an environment takes from the sources of `project`, by real names."""

    name: str
    project: Path
    folder: Path
    """What stands on Python's path for it: `project`, or a folder in it."""
    place: Path
    """The package's folder, or its one file."""


def hidden_modules(text: str, view: View) -> Iterator[EditableModule]:
    """The modules that `text` says are missing, where it is for that; by the layouts of most."""
    names = dict.fromkeys(_NO_MODULE.findall(text))
    projects = _editable_projects(view) if names else ()
    for project in dict.fromkeys(projects):
        for module in (module for name in names for module in _modules_of(project, name)):
            if not view.is_visible(module.place):
                yield module


def _modules_of(project: Path, name: str) -> Iterator[EditableModule]:
    for folder in (project / layout for layout in _LAYOUTS):
        places = (folder / name, folder / f"{name}.py")
        if place := next((place for place in places if exists(place)), None):
            yield EditableModule(name, project, folder, place)
            return


def _editable_projects(view: View) -> Iterator[Path]:
    for packages in (
        top for shown in view.shown for at in _PACKAGES for top in matches(shown.path, at)
    ):
        for record in matches(packages, "*.dist-info/direct_url.json"):
            yield from _project_of(record)
        for link in matches(packages, "*.egg-link"):
            yield Path(_text(link).partition("\n")[0])


def _project_of(record: Path) -> Iterator[Path]:
    """What the record of an installation says of where it came from (PEP 610)."""
    try:
        document = json.loads(_text(record))
        if document["dir_info"]["editable"] is True:
            yield Path(unquote(urlsplit(document["url"]).path)).resolve()
    except (ValueError, LookupError, TypeError, AttributeError, OSError, RecursionError):
        return


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
