"""Python packages that an environment takes from the checkout: where nothing mounts a lane at the
checkout's path, tests would import the user's own code through them and not the patch.

A look at files alone: what setuptools, hatchling, flit, poetry-core, pdm and uv_build leave behind,
by pip and by uv. Nothing of it is run.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

MOST_TEXT = 1024 * 1024
"""Bytes that are read of one file."""

MOST_LINKS = 2_000
"""Entries of a folder of links that are looked at for one that leads into the checkout."""

_IMPORTED = re.compile(r"import\s+(\w+)")
_LAYOUTS = ("src", "", "lib", "python")
"""Folders of a project in which its modules lie."""


class EditableInstall(Struct, frozen=True, order=True):
    """`folder` of the checkout, from its top, is on the environment's path by what `record` says.

    `copy`: the package was installed from the checkout and is a copy of it, as it was then;
    `modules` are then its top-level names, else "" of them are known.
    """

    record: Path
    folder: str
    copy: bool = False
    modules: tuple[str, ...] = ()


def package_folders(environment: Path) -> tuple[Path, ...]:
    """Where a virtual environment has its packages."""
    patterns = ("lib*/python*/site-packages", "lib/pypy*/site-packages", "Lib/site-packages")
    places = (place for pattern in patterns for place in environment.glob(pattern))
    return tuple(dict.fromkeys(Path(os.path.realpath(place)) for place in places))


def installs(packages: Iterable[Path], checkout: Path) -> tuple[EditableInstall, ...]:
    """All that leads from these folders of packages into `checkout` (a real path)."""
    return tuple(
        dict.fromkeys(
            install
            for folder in dict.fromkeys(packages)
            for entry in _entries(folder)
            for install in _of_entry(entry, checkout, folder)
        )
    )


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _of_entry(entry: Path, checkout: Path, packages: Path) -> Iterator[EditableInstall]:
    match entry.suffix:
        case ".pth":
            folders = _of_path_file(entry, checkout, packages)
        case ".egg-link":
            folders = iter(_folders_of(Path(_text(entry).partition("\n")[0]), checkout, packages))
        case ".dist-info":
            yield from _copies(entry, checkout)
            return
        case _:
            folders = _linked(entry, packages, checkout)
    yield from (EditableInstall(entry, folder) for folder in dict.fromkeys(folders))


def _of_path_file(file: Path, checkout: Path, packages: Path) -> Iterator[str]:
    for line in map(str.strip, _text(file).splitlines()):
        if line.startswith(("import ", "import\t")):
            yield from _of_code(line, file, checkout)
        elif line and not line.startswith("#"):
            yield from _folders_of(packages / line, checkout, packages)


def _of_code(line: str, file: Path, checkout: Path) -> Iterator[str]:
    """What a line of code puts on the path, itself or by the finder that it imports."""
    for name in _IMPORTED.findall(line):
        yield from _of_finder(_text(file.with_name(f"{name}.py")), checkout)
    if str(checkout) in line:
        yield from _inside(Path(line[line.index(str(checkout)) :].split("'")[0]), checkout)


def _of_finder(text: str, checkout: Path) -> Iterator[str]:
    """The folders of a finder's MAPPING (setuptools), each module's own above it; the checkout's
    top where it names that and cannot be read."""
    if str(checkout) not in text:
        return
    places = [place for place in _strings_of(text) if Path(place).is_absolute()]
    folders = [folder for place in places for folder in _inside(Path(place).parent, checkout)]
    yield from folders or ("",)


def _strings_of(text: str) -> Iterator[str]:
    try:
        nodes = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        value = node.value if isinstance(node, ast.AnnAssign | ast.Assign) else None
        with suppress(ValueError, TypeError):
            mapping: Any = ast.literal_eval(value) if isinstance(value, ast.Dict) else {}
            for places in mapping.values():
                yield from (place for place in _as_list(places) if isinstance(place, str))


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _folders_of(path: Path, checkout: Path, packages: Path) -> list[str]:
    """A folder on the path; of one that holds nothing but links, what these lead to."""
    if not _is_own(path, checkout, packages):
        return []
    return [*dict.fromkeys(_linked(path, path, checkout))] or list(_inside(path, checkout))


def _is_own(path: Path, checkout: Path, packages: Path) -> bool:
    """In the checkout, and not in the environment itself, which may lie there."""
    real = Path(os.path.realpath(path))
    return real.is_relative_to(checkout) and not real.is_relative_to(_environment_of(packages))


def _environment_of(packages: Path) -> Path:
    tops = (top for top in packages.parents if (top / "pyvenv.cfg").is_file())
    return next(tops, packages)


def _inside(path: Path, checkout: Path) -> Iterator[str]:
    real = Path(os.path.realpath(path))
    if real.is_relative_to(checkout):
        yield str(real.relative_to(checkout)).removeprefix(".")


def _linked(top: Path, packages: Path, checkout: Path) -> Iterator[str]:
    """For each link in `top` that leads into the checkout, what had to be on the path for it."""
    for link in _links(top):
        real = Path(os.path.realpath(link))
        name = link.relative_to(packages)
        if _is_own(link, checkout, packages) and real.parts[-len(name.parts) :] == name.parts:
            yield from _inside(Path(*real.parts[: -len(name.parts)]), checkout)


def _links(top: Path) -> Iterator[Path]:
    if top.is_symlink():
        yield top
        return
    count = 0
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            count += 1
            if Path(folder, name).is_symlink():
                yield Path(folder, name)
        if count > MOST_LINKS:
            return


def _copies(record: Path, checkout: Path) -> Iterator[EditableInstall]:
    """A package that was installed from the checkout, by PEP 610, if it is no editable one: those
    have other entries, which say more."""
    try:
        document = json.loads(_text(record / "direct_url.json"))
        url = urlsplit(document["url"])
        editable = document.get("dir_info", {}).get("editable") is True
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return
    project = Path(unquote(url.path))
    if url.scheme != "file" or editable or not list(_inside(project, checkout)):
        return
    modules = tuple(_modules(record))
    sources = (name for path in _sources(project, modules) for name in _inside(path, checkout))
    for folder in dict.fromkeys(sources):
        yield EditableInstall(record, folder, copy=True, modules=modules)


def _modules(record: Path) -> Iterator[str]:
    """The top-level names of an installed package, by its list of files."""
    files = (line.partition(",")[0] for line in _text(record / "RECORD").splitlines())
    names = (file.partition("/") for file in files if file.endswith(".py"))
    own = (top if below else top.removesuffix(".py") for top, _, below in names)
    yield from dict.fromkeys(name for name in own if name.isidentifier())


def _sources(project: Path, modules: Iterable[str]) -> Iterator[Path]:
    for module in modules:
        for folder in (project / layout for layout in _LAYOUTS):
            if (folder / module).is_dir() or (folder / f"{module}.py").is_file():
                yield folder
                break


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MOST_TEXT).decode("utf-8", "replace")
    except OSError:
        return ""
