"""Python environments of this checkout that lie outside of it, where its tools keep them.

Neither a tool nor anything of the repository is run to find them: poetry and hatch name an
environment by a digest of the project's path, pipenv writes that path into it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_MARKS = {"VIRTUAL_ENV": "pyvenv.cfg", "CONDA_PREFIX": "conda-meta"}
_DIGEST = 8
"""Letters of base64, as poetry and hatch cut it."""
_DEPTHS = ("", "*/", "*/*/")
"""Where the projects of a repository are looked for."""
_LONGEST = 4096
_POETRYS = re.compile(r"-[\w-]{8}-py[\d.]+$")
_POETRYS_CHOICES = "envs.toml"
"""Which environment `poetry env use` chose for each project."""


def environments(checkout: Path, home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Those that it uses, by their real names: what is active, and what poetry, hatch and pipenv
    made for a project of it. Also what hatch and poetry note of them, beside them.

    One that its user cannot change is not among them. Raises nothing: what cannot be read is not
    there.
    """
    places: list[Path] = []
    with suppress(OSError, ValueError):
        projects = _projects(checkout)
        places += _active(environ)
        places += _of_poetry(_poetry_folder(home, environ), projects)
        places += _of_hatch(_hatch_folder(home, environ), projects)
        places += _of_pipenv(home, environ, projects)
    real = dict.fromkeys(Path(os.path.realpath(place)) for place in places)
    return tuple(place for place in real if _is_own(place, checkout, home))


def variables(places: Iterable[Path]) -> dict[str, str]:
    """By which poetry finds its own among `places`: it would look in the lane's cache folder."""
    own = next((place for place in places if _POETRYS.search(place.name)), None)
    return {"POETRY_VIRTUALENVS_PATH": str(own.parent)} if own else {}


def _projects(checkout: Path) -> list[Path]:
    names = ("pyproject.toml", "Pipfile")
    paths = (path for at in _DEPTHS for name in names for path in checkout.glob(f"{at}{name}"))
    real = dict.fromkeys(Path(os.path.realpath(path.parent)) for path in paths)
    return [folder for folder in real if folder.is_relative_to(checkout)]


def _active(environ: Mapping[str, str]) -> Iterator[Path]:
    from hydra.process.sandbox.programs import holds_work

    for name, mark in _MARKS.items():
        place = Path(environ.get(name, ""))
        # conda's own installation holds all others, and what they were made of.
        if not place.is_absolute() or not (place / mark).exists() or (place / "condabin").exists():
            continue
        if not holds_work(place):
            yield place


def _of_poetry(folder: Path, projects: list[Path]) -> Iterator[Path]:
    digests = tuple(f"-{_digest(project)}-py" for project in projects)
    own = [at for at in _environments_in(folder) if any(digest in at.name for digest in digests)]
    yield from own
    if own and (folder / _POETRYS_CHOICES).is_file():
        yield folder / _POETRYS_CHOICES


def _of_hatch(folder: Path, projects: list[Path]) -> Iterator[Path]:
    """In a folder of the project's name, in one of its digest."""
    for digest in map(_digest, projects):
        own = [at for top in folder.glob(f"*/{digest}") for at in _environments_in(top)]
        yield from own
        # A digest of the dependencies: without it hatch would install them again.
        if own and (notes := folder.parent / ".metadata" / digest).is_dir():
            yield notes


def _of_pipenv(home: Path, environ: Mapping[str, str], projects: list[Path]) -> Iterator[Path]:
    """virtualenvwrapper writes the same file."""
    named = environ.get("WORKON_HOME", "")
    folder = _expanded(named, home) if named else home / ".local" / "share" / "virtualenvs"
    for place in _environments_in(folder):
        with suppress(OSError), (place / ".project").open("rb") as file:
            if Path(os.fsdecode(file.read(_LONGEST).strip())) in projects:
                yield place


def _environments_in(folder: Path) -> list[Path]:
    with suppress(OSError), os.scandir(folder) as entries:
        places = (Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
        return sorted(place for place in places if (place / "pyvenv.cfg").is_file())
    return []


def _digest(project: Path) -> str:
    whole = hashlib.sha256(os.fsencode(project)).digest()
    return base64.urlsafe_b64encode(whole).decode()[:_DIGEST]


def _poetry_folder(home: Path, environ: Mapping[str, str]) -> Path:
    settings = _settings(home / ".config" / "pypoetry" / "config.toml")
    cache = str(settings.get("cache-dir") or home / ".cache" / "pypoetry")
    named = environ.get("POETRY_VIRTUALENVS_PATH") or _table(settings, "virtualenvs").get("path")
    return _expanded(str(named or "{cache-dir}/virtualenvs").replace("{cache-dir}", cache), home)


def _hatch_folder(home: Path, environ: Mapping[str, str]) -> Path:
    folders = _table(_settings(home / ".config" / "hatch" / "config.toml"), "dirs")
    if named := _table(folders, "env").get("virtual"):
        return _expanded(str(named), home)
    data = environ.get("HATCH_DATA_DIR") or folders.get("data")
    return _expanded(str(data or home / ".local" / "share" / "hatch"), home) / "env" / "virtual"


def _settings(path: Path) -> Mapping[str, Any]:
    with suppress(OSError, ValueError, RecursionError):
        return tomllib.loads(path.read_text())
    return {}


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = table.get(key)
    return inner if isinstance(inner, dict) else {}


def _expanded(name: str, home: Path) -> Path:
    return home / name[2:] if name.startswith("~/") else home / name


def _is_own(place: Path, checkout: Path, home: Path) -> bool:
    """Outside the checkout, and the user's to change."""
    if place.is_relative_to(checkout) or any(
        path.is_relative_to(place) for path in (checkout, home)
    ):
        return False
    return os.access(place, os.W_OK)
