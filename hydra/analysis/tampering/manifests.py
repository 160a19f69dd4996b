"""The parts of a project's manifest that say how its tests and checks run.

The other parts (what it depends on, how it is built) belong to the patch.
"""

from __future__ import annotations

import configparser
import io
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

_MOST = 256 * 1024
"""Characters of a manifest that are read: parsers of nested text are slow on what is made so."""

_UNREADABLE = (ValueError, RecursionError, configparser.Error, AttributeError, TypeError)

_TOOLS = ("pytest", "tox", "coverage", "nose", "nox")
_LINTERS = ("ruff", "mypy", "pylint", "flake8", "pyright", "basedpyright", "black", "isort", "ty")
_TASKS = (("poe",), ("taskipy",), ("pdm", "scripts"), ("hatch", "envs"), ("rye", "scripts"))
_OF_TOOL = (*((name,) for name in (*_TOOLS, *_LINTERS)), *_TASKS)
_SECTIONS = ("tool:pytest", "pytest", "coverage:", "flake8", "mypy", "tox", "testenv", "pylint")
_CONFIGURES = (
    *("jest", "vitest", "mocha", "ava", "nyc", "c8", "tap", "eslintConfig", "prettier", "wireit"),
    "babel",
)
_INSTALLS = frozenset(("preinstall", "install", "postinstall", "prepare", "prepublish"))
_LEADING = ("imports", "exports", "browser", "alias", "_moduleAliases")
_IN_TESTS = re.compile(r"[\"/](?:tests?|__tests__|__mocks__|mocks?|fakes?|stubs?|spec)/", re.I)

_LINE = re.compile(r"^[ \t]*(?:export[ \t]+)?([\w./:@-]+)[ \t]*=[ \t]*(.*?)[ \t]*$", re.M)
_NPMRC = re.compile(
    "script-shell|node-options|ignore-scripts|shell|prefix|globalconfig|userconfig|if-present"
    "|scripts-prepend-node-path|node-version|workspaces?|omit|include-workspace-root",
    re.I,
)
_VARIABLES = re.compile(
    r"(?:NODE|PYTEST|PYTHON|JEST|VITEST|VITE|MOCHA|TEST|HYDRA|LD|DYLD|NPM|BABEL|TSX|TS_NODE|NOSE"
    r"|TOX|COVERAGE|UNITTEST|DOTENV)\w*|CI|PATH|BASH_ENV|ENV|SHELL",
    re.I,
)
_OF_VARIABLES = re.compile(r"\.env(?:\.[\w-]+)*|\.envrc|\.flaskenv|\.node-options|\.npmrc")

Parts = Mapping[str, Any]
"""By the name that a sentence has for it ("scripts.test"), each part as it was parsed."""


def is_lines(path: str) -> bool:
    """Whether a path is a file of `KEY=VALUE` lines, each of which stands for itself."""
    return bool(_OF_VARIABLES.fullmatch(_name(path)))


def is_manifest(path: str) -> bool:
    """Whether parts of such a file are for tests, and others are not."""
    return is_lines(path) or _name(path) in ("pyproject.toml", "package.json", "setup.cfg")


def test_parts(path: str, text: str | None) -> Parts | None:
    """A manifest's test parts; none where it is not there, None where it cannot be read."""
    if text is None or not is_manifest(path):
        return {}
    if len(text) > _MOST:
        return None
    try:
        if is_lines(path):
            return {key: value for key, value in _LINE.findall(text) if _steers(path, key)}
        document = _parsed(path, text)
        return {".".join(keys): _at(document, keys) for keys in _test_keys(path, document)}
    except _UNREADABLE:
        return None


def with_test_parts(path: str, text: str, old: str | None) -> str | None:
    """`text` with the test parts of `old` and no others; comments may go. `old` itself where one of
    them cannot be read."""
    parts = test_parts(path, old)
    if parts is None or len(text) > _MOST:
        return old
    if parts == test_parts(path, text):
        return text
    if is_lines(path):
        rest = [line for line in text.splitlines() if not test_parts(path, line)]
        return "\n".join((*rest, *(f"{key}={value}" for key, value in parts.items()), ""))
    try:
        document = _parsed(path, text)
        before = {} if old is None else _parsed(path, old)
        for keys in list(_test_keys(path, document)):
            _at(document, keys[:-1]).pop(keys[-1])
        for keys in _test_keys(path, before):
            inner = document
            for key in keys[:-1]:
                inner = inner.setdefault(key, {})
            inner[keys[-1]] = _at(before, keys)
        return _written(path, document)
    except _UNREADABLE:
        return old


def leads(name: str) -> bool:
    """Whether a part of package.json is a name of a module."""
    return name in ("main", "module") or name.partition(".")[0] in _LEADING


def _name(path: str) -> str:
    return path.rpartition("/")[2].lower()


def _steers(path: str, key: str) -> bool:
    keys = _NPMRC if _name(path) == ".npmrc" else _VARIABLES
    return bool(keys.fullmatch(key))


def _test_keys(path: str, document: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Where the parts for tests stand."""
    if _name(path).endswith(".cfg"):
        yield from ((name,) for name in document if name.startswith(_SECTIONS))
    elif _name(path).endswith(".toml"):
        every = (("tool", *keys) for keys in _OF_TOOL)
        yield from (keys for keys in every if _at(document, keys) is not None)
    else:
        scripts = _at(document, ("scripts",)) or {}
        yield from (("scripts", name) for name in scripts if name not in _INSTALLS)
        yield from ((name,) for name in _CONFIGURES if name in document)
        whole = [
            (key,) for key in (*_LEADING, "main", "module") if isinstance(document.get(key), str)
        ]
        maps = {key: inner for key in _LEADING if isinstance(inner := document.get(key), dict)}
        leading = (*whole, *((key, name) for key, inner in maps.items() for name in inner))
        yield from (keys for keys in leading if _IN_TESTS.search(json.dumps(_at(document, keys))))


def _at(document: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _parsed(path: str, text: str) -> dict[str, Any]:
    if _name(path).endswith(".cfg"):
        parsed = _sections()
        parsed.read_string(text)
        return {name: dict(parsed.items(name, raw=True)) for name in parsed.sections()}
    document = tomllib.loads(text) if _name(path).endswith(".toml") else json.loads(text)
    return document if isinstance(document, dict) else {}


def _written(path: str, document: dict[str, Any]) -> str:
    if _name(path).endswith(".toml"):
        return tomli_w.dumps(document)
    if _name(path).endswith(".json"):
        return json.dumps(document, indent=2) + "\n"
    written, sections = io.StringIO(), _sections()
    sections.read_dict(document)
    sections.write(written)
    return written.getvalue()


def _sections() -> configparser.RawConfigParser:
    parsed = configparser.RawConfigParser(strict=False)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    return parsed
