"""Whether a changed file asks for other packages than those that are installed.

Lockfiles do with any change. Of a manifest that says other things too, what it asks for counts, by
version and all. A patch's text is anybody's: what cannot be read has changed.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hydra.analysis.notices.manifests import is_manifest

_PYTHON = "pip install -e ."

INSTALLED_BY: Mapping[str, str] = {
    "package-lock.json": "npm ci",
    "npm-shrinkwrap.json": "npm ci",
    "package.json": "npm install",
    "pnpm-lock.yaml": "pnpm install",
    "pnpm-workspace.yaml": "pnpm install",
    "yarn.lock": "yarn install",
    "bun.lock": "bun install",
    "bun.lockb": "bun install",
    "deno.lock": "deno install",
    "uv.lock": "uv sync",
    "poetry.lock": "poetry install",
    "pdm.lock": "pdm install",
    "pipfile.lock": "pipenv sync",
    "pipfile": "pipenv install",
    "pixi.lock": "pixi install",
    "environment.yml": "conda env update",
    "pyproject.toml": _PYTHON,
    "setup.py": _PYTHON,
    "setup.cfg": _PYTHON,
    "cargo.lock": "cargo fetch",
    "cargo.toml": "cargo fetch",
    "go.mod": "go mod download",
    "go.sum": "go mod download",
    "gemfile": "bundle install",
    "gemfile.lock": "bundle install",
    "composer.json": "composer install",
    "composer.lock": "composer install",
    "mix.lock": "mix deps.get",
}
"""Files that say which packages a project asks for, with the command that installs these."""

_KEYS = ("overrides", "resolutions", "workspaces", "packageManager", "pnpm")


def is_requirement(path: bytes) -> bool:
    """Whether a path is a manifest's or a lockfile's."""
    return _name(path) in INSTALLED_BY or is_manifest(path)


def asks_for_others(path: bytes, old: bytes | None, new: bytes | None) -> bool:
    """Whether the two contents (None: there is no such file, or it was not read) differ in that."""
    select = _PARTS.get(_name(path))
    if select is None or old is None or new is None:
        return old != new or old is None
    try:
        return select(old.decode()) != select(new.decode())
    except (ValueError, RecursionError, AttributeError, TypeError):
        return True


def set_up_for(path: bytes) -> str:
    """The command that installs what it asks for."""
    name = path.decode("utf-8", "backslashreplace")
    pip = f"pip install -r {shlex.quote(name)}" if name.endswith(".txt") else ""
    return INSTALLED_BY.get(_name(path), pip)


def _name(path: bytes) -> str:
    return path.rpartition(b"/")[2].decode("utf-8", "replace").lower()


def _pyproject(text: str) -> dict[str, Any]:
    whole = tomllib.loads(text)
    tool, project = whole.get("tool", {}), whole.get("project", {})
    poetry = {key: tool.get("poetry", {}).get(key) for key in ("dependencies", "group", "source")}
    parts = {key: project.get(key) for key in ("dependencies", "optional-dependencies", "scripts")}
    groups = whole.get("dependency-groups"), whole.get("build-system")
    return {**parts, "groups": groups, "poetry": poetry, "uv": tool.get("uv"), **_legacy(tool)}


def _legacy(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "pdm": tool.get("pdm", {}).get("dev-dependencies"),
        "dev": tool.get("poetry", {}).get("dev-dependencies"),
        "hatch": tool.get("hatch", {}).get("envs"),
    }


def _package_json(text: str) -> dict[str, Any]:
    whole = json.loads(text)
    return {key: value for key, value in whole.items() if key.endswith("ependencies")} | {
        key: whole.get(key) for key in _KEYS
    }


def _cargo(text: str) -> dict[str, Any]:
    return dict(_dependency_tables(tomllib.loads(text), ""))


def _dependency_tables(table: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if key.endswith("dependencies") or key in ("patch", "replace", "features"):
            yield f"{above}{key}", value
        elif isinstance(value, dict):
            yield from _dependency_tables(value, f"{above}{key}.")


_PARTS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "pyproject.toml": _pyproject,
    "package.json": _package_json,
    "cargo.toml": _cargo,
}
