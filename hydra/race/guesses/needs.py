"""What a Python project says that its tests need: in extras, dependency groups, files."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from hydra.checks.project import Project

_NAMES = ("tests", "test", "testing", "dev", "develop", "development")
_FILES = (
    *(f"requirements/{name}.txt" for name in _NAMES),
    *(f"requirements{join}{name}.txt" for join in "-_" for name in _NAMES),
    *(f"{name}{join}requirements.txt" for name in _NAMES for join in "-_/"),
)
_DEEP = 5
"""Groups that include each other."""


def pip_arguments(project: Project, tool: str) -> list[str]:
    """What `pip install` brings all of it by: the project with an extra, a group, files, and the
    `tool` ("" for one of Python's own) where none of them names it. None where nothing is said."""
    document = _pyproject(project)
    extras = _extras(project, document)
    extra = _chosen(extras, tool)
    group = "" if extra else _chosen(_groups(document), tool)
    has_package = "setup.py" in project.names or document.keys() & {"project", "build-system"}
    is_package = bool(has_package) and _poetry(document).get("package-mode") is not False
    poetry = _of_poetry(_poetry(document), tool, whole=not is_package)
    own = shlex.quote(f".[{extra}]") if extra else "."
    names = [name for name in ("requirements.txt", _file(project)) if project.text(name)]
    arguments = [*(("-e", own) if is_package else ()), *(("--group", group) if group else ())]
    arguments += [term for name in names for term in ("-r", name)]
    arguments += map(shlex.quote, poetry)
    texts = [extras.get(extra, ""), _groups(document).get(group, ""), *map(project.text, names)]
    texts += poetry
    missing = tool if tool not in "\n".join(texts) else ""
    return [*arguments, missing] if missing else arguments


def uv_options(project: Project, tool: str) -> str:
    """With which uv brings `tool`; "" where its default does, which is the group dev."""
    document = _pyproject(project)
    groups = {name: text for name, text in _groups(document).items() if tool in text}
    if "dev" in groups:
        return ""
    if group := _chosen(groups, tool):
        return f" --group {group}"
    extras = {name: text for name, text in _extras(project, document).items() if tool in text}
    return f" --extra {extra}" if (extra := _chosen(extras, tool)) else ""


def _chosen(texts: Mapping[str, str], tool: str) -> str:
    """The name by which tests are most likely meant: first one that has the tool."""
    names = [name for name in _NAMES if name in texts]
    return next((name for name in names if tool in texts[name]), next(iter(names), ""))


def _pyproject(project: Project) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        return tomllib.loads(project.text("pyproject.toml"))
    return {}


def _extras(project: Project, document: Mapping[str, Any]) -> dict[str, str]:
    """By extra, what it asks for, in one text."""
    table = _table(_table(document, "project"), "optional-dependencies")
    extras = {name: "\n".join(map(str, value)) for name, value in table.items() if _is_list(value)}
    parser = configparser.ConfigParser(interpolation=None)
    with suppress(configparser.Error):
        parser.read_string(project.text("setup.cfg"))
        extras |= dict(parser.items("options.extras_require"))
    return extras


def _groups(document: Mapping[str, Any]) -> dict[str, str]:
    """By group, what it asks for with those that it includes, in one text."""
    table = _table(document, "dependency-groups")
    return {name: "\n".join(_of_group(table, name, _DEEP)) for name in table}


def _of_group(table: Mapping[str, Any], name: str, deep: int) -> Iterator[str]:
    for entry in table.get(name, ()) if deep and _is_list(table.get(name)) else ():
        if isinstance(entry, dict):
            yield from _of_group(table, str(entry.get("include-group", "")), deep - 1)
        else:
            yield str(entry)


def _poetry(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return _table(_table(document, "tool"), "poetry")


def _of_poetry(own: Mapping[str, Any], tool: str, *, whole: bool) -> list[str]:
    """What Poetry's own tables ask for beside the package, as pip reads it; `whole`: that too."""
    tables = [_table(own, "dependencies")] if whole else []
    named = _table(own, "group")
    groups = {name: _table(_table(named, name), "dependencies") for name in named}
    groups["dev"] = {**_table(own, "dev-dependencies"), **groups.get("dev", {})}
    tables += [of for name, of in groups.items() if name in _NAMES or (tool and tool in of)]
    needed = {name: value for table in tables for name, value in table.items() if name != "python"}
    return [line for name, value in needed.items() if (line := _required(name, value))]


def _required(name: str, value: object) -> str:
    """One of Poetry's dependencies as a line for pip; "" where it is optional, or of a place."""
    entry: dict[str, Any] = value if isinstance(value, dict) else {"version": value}
    extras = ",".join(map(str, entry["extras"])) if _is_list(entry.get("extras")) else ""
    name = f"{name}[{extras}]" if extras else name
    is_plain = re.fullmatch(r"\w[\w.-]*(?:\[[\w.,-]+\])?", name)  # no option of pip's
    if not is_plain or entry.get("optional") or {"path", "url"} & entry.keys():
        return ""
    if "git" in entry:
        place = next((f"@{entry[key]}" for key in ("rev", "tag", "branch") if key in entry), "")
        return f"{name} @ git+{entry['git']}{place}"
    return f"{name}{_versions(entry.get('version'))}"


def _versions(value: object) -> str:
    """Poetry's constraint as pip has it; "", which is any, where pip has none such."""
    parts = re.split(r"\s*,\s*", value.strip()) if isinstance(value, str) else []
    lines = [*map(_version, parts)]
    return ",".join(lines) if all(lines) else ""


def _version(part: str) -> str:
    match = re.fullmatch(r"(\^|~=?|[<>=!]=?)?\s*(\d+(?:\.\d+)*)(\.\*|[\w.+-]*)", part)
    if match is None:
        return ""
    sign, numbers, rest = match.groups()
    if sign not in ("^", "~"):
        return f"{'==' if sign in (None, '=') else sign}{numbers}{rest}"
    rest = rest.replace(".*", "")
    digits = [*map(int, numbers.split("."))]
    last = next((at for at, digit in enumerate(digits) if digit), len(digits) - 1)
    at = last if sign == "^" else min(1, len(digits) - 1)
    below = ".".join(map(str, (*digits[:at], digits[at] + 1)))
    return f">={numbers}{rest},<{below}"


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _file(project: Project) -> str:
    return next((name for name in _FILES if project.text(name)), "")
