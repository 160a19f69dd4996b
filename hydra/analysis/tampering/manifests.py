"""The parts of a project's manifest that say how its tests and checks run.

The other parts (what it depends on, how it is built) belong to the patch.
"""

from __future__ import annotations

import configparser
import io
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Protocol

import tomli_w

MOST = 256 * 1024
"""Characters of a manifest that are read: parsers of nested text are slow on what is made so."""

UNREADABLE = (ValueError, RecursionError, configparser.Error, AttributeError, TypeError)

Parts = Mapping[str, Any]
"""By a name that a sentence can give, each part as it was parsed."""


class Manifest(Protocol):
    """One kind of manifest."""

    def parts(self, text: str) -> Parts:
        """Its test parts. Raises one of `UNREADABLE`."""

    def with_parts(self, text: str, parts: Parts) -> str:
        """The text with these test parts and no others; comments may go. Raises the same."""


_TOOLS = ("pytest", "tox", "coverage", "nose", "nox")
_TASKS = (("poe",), ("taskipy",), ("pdm", "scripts"), ("hatch", "envs"), ("rye", "scripts"))
_LINTERS = ("ruff", "mypy", "pylint", "flake8", "pyright", "basedpyright", "black", "isort", "ty")


class _Pyproject:
    """pyproject.toml: `[tool.pytest...]`, other tools that test or check, and tasks."""

    def parts(self, text: str) -> Parts:
        tool = _table(tomllib.loads(text).get("tool"))
        document = {name: tool[name] for name in (*_TOOLS, *_LINTERS) if name in tool}
        for way in _TASKS:
            inner: object = tool
            for key in way:
                inner = _table(inner).get(key)
            if inner is not None:
                document[".".join(way)] = inner
        return document

    def with_parts(self, text: str, parts: Parts) -> str:
        whole = tomllib.loads(text)
        tool = _table(whole.get("tool"))
        for name in self.parts(text):
            *above, last = name.split(".")
            inner = tool
            for key in above:
                inner = _table(inner.get(key))
            inner.pop(last, None)
        for name, value in parts.items():
            *above, last = name.split(".")
            inner = whole.setdefault("tool", tool)
            for key in above:
                inner = inner.setdefault(key, {})
            inner[last] = value
        return tomli_w.dumps(whole)


_CONFIGURES = (
    "jest",
    "vitest",
    "mocha",
    "ava",
    "nyc",
    "c8",
    "tap",
    "eslintConfig",
    "prettier",
    "wireit",
    "babel",
)
_INSTALLS = frozenset(("preinstall", "install", "postinstall", "prepare", "prepublish"))


class _PackageJson:
    """package.json: its scripts, but for those of installing, and the runners' settings."""

    def parts(self, text: str) -> Parts:
        whole = _table(json.loads(text))
        scripts = _table(whole.get("scripts"))
        document = {f"scripts.{key}": scripts[key] for key in scripts if key not in _INSTALLS}
        document |= _into_tests(whole)
        return document | {key: whole[key] for key in _CONFIGURES if key in whole}

    def with_parts(self, text: str, parts: Parts) -> str:
        whole = _table(json.loads(text))
        for name in _into_tests(whole):
            key, _, entry = name.partition(".")
            (whole[key] if entry else whole).pop(entry or key, None)
        whole = {key: value for key, value in whole.items() if key not in _CONFIGURES}
        scripts = _table(whole.get("scripts"))
        whole["scripts"] = {key: scripts[key] for key in scripts if key in _INSTALLS}
        for name, value in parts.items():
            key, _, entry = name.partition(".")
            if entry and key in ("scripts", *_LEADING):
                whole.setdefault(key, {})[entry] = value
            else:
                whole[name] = value
        if not whole["scripts"] and not scripts:
            del whole["scripts"]
        return json.dumps(whole, indent=2) + "\n"


_LEADING = ("imports", "exports", "browser", "alias", "_moduleAliases")
_IN_TESTS = re.compile(r"[\"/](?:tests?|__tests__|__mocks__|mocks?|fakes?|stubs?|spec)/", re.I)


def leads(name: str) -> bool:
    """Whether a part of package.json is a name of a module."""
    return name in ("main", "module") or name.partition(".")[0] in _LEADING


def _into_tests(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Names of package.json's modules that lead into the tests."""
    leading = {
        f"{key}.{name}": value for key in _LEADING for name, value in _table(whole.get(key)).items()
    }
    leading |= {key: whole[key] for key in ("main", "module") if isinstance(whole.get(key), str)}
    return {name: value for name, value in leading.items() if _IN_TESTS.search(json.dumps(value))}


_SECTIONS = ("tool:pytest", "pytest", "coverage:", "flake8", "mypy", "tox", "testenv", "pylint")


class _SetupCfg:
    """setup.cfg: `[tool:pytest]` and the sections of other tools that check."""

    def parts(self, text: str) -> Parts:
        parsed = self._parsed(text)
        return {
            name: dict(parsed.items(name, raw=True))
            for name in parsed.sections()
            if name.startswith(_SECTIONS)
        }

    def with_parts(self, text: str, parts: Parts) -> str:
        parsed = self._parsed(text)
        for name in parsed.sections():
            if name.startswith(_SECTIONS):
                parsed.remove_section(name)
        for name, value in parts.items():
            parsed[name] = value
        written = io.StringIO()
        parsed.write(written)
        return written.getvalue()

    @staticmethod
    def _parsed(text: str) -> configparser.RawConfigParser:
        parsed = configparser.RawConfigParser(strict=False)
        parsed.optionxform = str  # type: ignore[assignment,method-assign]
        parsed.read_string(text)
        return parsed


class Lines:
    """A file of `KEY=VALUE` lines, of which some keys say how programs and tests run."""

    _LINE = re.compile(r"^[ \t]*(?:export[ \t]+)?([\w./:@-]+)[ \t]*=[ \t]*(.*?)[ \t]*$", re.M)

    def __init__(self, keys: str) -> None:
        self._keys = re.compile(keys, re.I)

    def parts(self, text: str) -> Parts:
        """What steers, by its key."""
        return {key: value for key, value in self._LINE.findall(text) if self._keys.fullmatch(key)}

    def with_parts(self, text: str, parts: Parts) -> str:
        """The other lines, and these."""
        rest = [line for line in text.splitlines() if not self.parts(line)]
        return "\n".join((*rest, *(f"{key}={value}" for key, value in parts.items()), ""))


_BY_NAME: Mapping[str, Manifest] = {
    "pyproject.toml": _Pyproject(),
    "package.json": _PackageJson(),
    "setup.cfg": _SetupCfg(),
    ".npmrc": Lines(
        "script-shell|node-options|ignore-scripts|shell|prefix|globalconfig|userconfig|if-present"
        "|scripts-prepend-node-path|node-version|workspaces?|omit|include-workspace-root"
    ),
}
_ENVIRONMENT = Lines(
    r"(?:NODE|PYTEST|PYTHON|JEST|VITEST|VITE|MOCHA|TEST|HYDRA|LD|DYLD|NPM|BABEL|TSX|TS_NODE|NOSE"
    r"|TOX|COVERAGE|UNITTEST|DOTENV)\w*|CI|PATH|BASH_ENV|ENV|SHELL"
)
_OF_ENVIRONMENT = re.compile(r"\.env(?:\.[\w-]+)*|\.envrc|\.flaskenv|\.node-options")


def manifest_of(path: str) -> Manifest | None:
    """How to read a path, None where it is no manifest."""
    name = path.rpartition("/")[2].lower()
    return _ENVIRONMENT if _OF_ENVIRONMENT.fullmatch(name) else _BY_NAME.get(name)


def parts_of(path: str, text: str | None) -> Parts | None:
    """A manifest's test parts; none where it is not there, None where it cannot be read."""
    manifest = manifest_of(path)
    if text is None or manifest is None:
        return {}
    if len(text) > MOST:
        return None
    try:
        return manifest.parts(text)
    except UNREADABLE:
        return None


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
