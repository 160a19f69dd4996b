"""Which packages a project asks for, by name, from the files that say so.

A patch's text is anybody's: what cannot be read gives None, and nothing here is run or followed.
A name that is in the new text and not in the old is a new dependency.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

MOST_BYTES = 256 * 1024
"""A manifest that is larger is not read: parsers of nested text are slow on what is made so."""

Names = frozenset[str]

_PEP508 = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_GO = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+)\s+v\d", re.M)
_GO_REPLACE = re.compile(r"=>\s*(\S+)")
_GEM = re.compile(r"""^\s*gem\s*\(?\s*["']([\w.-]+)["']""", re.M)
_GEMSPEC = re.compile(r"""\.add_\w*dependency\s*\(?\s*["']([\w.-]+)["']""")
_GRADLE = re.compile(r"""["']([\w.-]+:[\w.-]+)(?::[^"'\s]*)?["']""")
_NUGET = re.compile(r"""<PackageReference\s+Include\s*=\s*["']([\w.-]+)["']""", re.I)
_MAVEN = re.compile(r"<(groupId|artifactId)>\s*([\w.${}-]+)\s*<")


def is_manifest(path: bytes) -> bool:
    """Whether a path is one that `dependencies` reads."""
    return _reader(path) is not None


def dependencies(path: bytes, data: bytes | None) -> Names | None:
    """The names that a manifest asks for; none for one that is not there, None if unreadable."""
    if data is None:
        return frozenset()
    return _read(_reader(path), data)


def install_scripts(path: bytes, data: bytes | None) -> dict[str, str] | None:
    """What a package.json or composer.json runs when it is installed: name to command."""
    name = path.rpartition(b"/")[2].lower()
    names = {b"package.json": _NPM_SCRIPTS, b"composer.json": _COMPOSER_SCRIPTS}.get(name)
    if data is None or names is None:
        return {}
    try:
        scripts = _table(_json(data.decode("utf-8", "replace")).get("scripts"))
    except _UNREADABLE:
        return None
    return {key: json.dumps(scripts[key]) for key in sorted(names & scripts.keys())}


_NPM_SCRIPTS = frozenset(
    [
        "preinstall",
        "install",
        "postinstall",
        "prepublish",
        "preprepare",
        "prepare",
        "postprepare",
        "dependencies",
    ]
)
_COMPOSER_SCRIPTS = frozenset(
    f"{when}-{what}"
    for when in ("pre", "post")
    for what in ("install-cmd", "update-cmd", "autoload-dump", "package-install")
)

_UNREADABLE = (ValueError, RecursionError, configparser.Error, AttributeError, TypeError)


def _read(reader: Callable[[str], Iterable[str]] | None, data: bytes) -> Names | None:
    if reader is None or len(data) > MOST_BYTES:
        return None
    try:
        return frozenset(name for name in reader(data.decode("utf-8-sig", "replace")) if name)
    except _UNREADABLE:
        return None


def _reader(path: bytes) -> Callable[[str], Iterable[str]] | None:
    text = path.decode("utf-8", "replace").lower()
    folder, _, name = text.rpartition("/")
    if name in _READERS:
        return _READERS[name]
    if name.endswith((".txt", ".in")):
        named = name.startswith(("requirements", "constraints")) or "requirements" in name
        return _requirements if named or folder.endswith("requirements") else None
    return next((read for end, read in _BY_ENDING.items() if name.endswith(end)), None)


def _pyproject(text: str) -> Iterator[str]:
    whole = tomllib.loads(text)
    project, tool = _table(whole.get("project")), _table(whole.get("tool"))
    lists = [project.get("dependencies"), _table(whole.get("build-system")).get("requires")]
    lists += _table(project.get("optional-dependencies")).values()
    lists += _table(whole.get("dependency-groups")).values()
    lists.append(_table(tool.get("uv")).get("dev-dependencies"))
    lists += _table(_table(tool.get("pdm")).get("dev-dependencies")).values()
    yield from (_required(entry) for many in lists for entry in _strings(many))
    poetry = _table(tool.get("poetry"))
    tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
    groups = _table(poetry.get("group")).values()
    tables += (_table(group).get("dependencies") for group in groups)
    yield from (_canonical(name) for table in tables for name in _table(table) if name != "python")
    yield from _uv_sources(tool)


def _uv_sources(tool: dict[str, Any]) -> Iterator[str]:
    """Where else packages come from."""
    for index in _list(_table(tool.get("uv")).get("index")):
        yield f"index {_table(index).get('url', '')}"
    for source in _list(_table(tool.get("poetry")).get("source")):
        yield f"index {_table(source).get('url', '')}"


def _requirements(text: str) -> Iterator[str]:
    for line in text.replace("\\\n", " ").splitlines():
        entry = line.split(" #")[0].strip()
        if not entry or entry.startswith("#"):
            continue
        if entry.startswith("-") and not entry.startswith(("-e", "--editable")):
            # Another index, or another file: worth a look as it stands. Hashes are not.
            yield "" if entry.startswith("--hash") else entry
        else:
            yield _required(entry)


def _setup_cfg(text: str) -> Iterator[str]:
    parsed = configparser.ConfigParser(interpolation=None, strict=False)
    parsed.read_string(text)
    lists = [parsed.get("options", "install_requires", fallback="")]
    lists.append(parsed.get("options", "setup_requires", fallback=""))
    if parsed.has_section("options.extras_require"):
        lists += (value for _, value in parsed.items("options.extras_require"))
    yield from (_required(line) for many in lists for line in re.split(r"[\n;]", many) if line)


def _pipfile(text: str) -> Iterator[str]:
    whole = tomllib.loads(text)
    for section in ("packages", "dev-packages"):
        yield from (_canonical(name) for name in _table(whole.get(section)))
    yield from (f"index {_table(row).get('url', '')}" for row in _list(whole.get("source")))


def _package_json(text: str) -> Iterator[str]:
    whole = _json(text)
    for kind in ("", "dev", "optional", "peer"):
        key = f"{kind}Dependencies" if kind else "dependencies"
        for name, version in _table(whole.get(key)).items():
            # An alias or an address stands for another package than its name says.
            other = isinstance(version, str) and re.match(r"npm:|git|https?:|github:", version)
            yield f"{name} ({version})" if other else name


def _composer(text: str) -> Iterator[str]:
    whole = _json(text)
    for key in ("require", "require-dev"):
        yield from _table(whole.get(key))


def _cargo(text: str) -> Iterator[str]:
    whole = tomllib.loads(text)
    places = [whole, _table(whole.get("workspace")), *_table(whole.get("target")).values()]
    for place in places:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, entry in _table(_table(place).get(kind)).items():
                yield str(_table(entry).get("package", name))
    for patched in _table(whole.get("patch")).values():
        yield from (f"{name} (patched)" for name in _table(patched))


def _go_mod(text: str) -> Iterator[str]:
    yield from _GO.findall(text)
    yield from (f"{name} (replacement)" for name in _GO_REPLACE.findall(text))


def _pom(text: str) -> Iterator[str]:
    for chunk in re.split(r"<(?:dependency|plugin|parent)>", text)[1:]:
        document = dict(reversed(_MAVEN.findall(chunk[:2000])))
        if "artifactId" in document:
            yield f"{document.get('groupId', '')}:{document['artifactId']}".strip(":")


def _required(entry: str) -> str:
    """The name of a PEP 508 requirement; an address is its own name."""
    if "://" in entry and "@" not in entry.split("://")[0]:
        return entry.strip()
    match = _PEP508.match(entry)
    if match is None:
        return entry.strip()
    name = _canonical(match[1])
    rest = entry[match.end() :]
    return f"{name} ({rest.partition('@')[2].strip()})" if "://" in rest else name


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _json(text: str) -> dict[str, Any]:
    return _table(json.loads(text))


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(value: object) -> list[str]:
    return [name for name in _list(value) if isinstance(name, str)]


_READERS: dict[str, Callable[[str], Iterable[str]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "pipfile": _pipfile,
    "package.json": _package_json,
    "composer.json": _composer,
    "cargo.toml": _cargo,
    "go.mod": _go_mod,
    "gemfile": _GEM.findall,
    "pom.xml": _pom,
    "build.gradle": _GRADLE.findall,
    "build.gradle.kts": _GRADLE.findall,
}

_BY_ENDING: dict[str, Callable[[str], Iterable[str]]] = {
    ".gemspec": _GEMSPEC.findall,
    ".csproj": _NUGET.findall,
    ".fsproj": _NUGET.findall,
    "directory.packages.props": _NUGET.findall,
}
