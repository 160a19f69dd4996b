"""Neutral tools as the tools that a request really offers: its names, its arguments.

Which of an agent's tools does what is data, `own_tools.toml`. A file tool that is not offered is
done by the shell instead.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from hydra.conformance.anchored import anchored
from hydra.conformance.script import Tool

Schemas = Mapping[str, Mapping[str, Any]]
"""Names of the tools that are offered, to the JSON schema of what each takes."""

_WORD = re.compile(r"\{(command|path|text|old|new|anchored)\}")
_EDIT = (
    "import sys; _, path, old, new = sys.argv; text = open(path).read(); "
    "assert text.count(old) == 1; open(path, 'w').write(text.replace(old, new))"
)
_SHELL: Mapping[str, Any] = {"name": "bash", "input": {"command": "{command}"}}
_HARMLESS: Mapping[str, Any] = {"integer": 1, "number": 1, "boolean": False, "array": []}


def own_call(
    tool: Tool, schemas: Schemas, cwd: str, spoken: str = ""
) -> tuple[str, dict[str, Any]]:
    """The offered tool for a neutral one: its name, and its input with all that it requires.

    `spoken` is what the conversation says so far: one agent's edits depend on what it has read.
    """
    if tool.kind == "call":
        return tool["name"], dict(tool.arguments["input"])
    words = _words(tool, cwd, spoken)
    found = _found(tool.kind, schemas, words)
    if found is None:
        words = {"command": shell_command(tool)}
        found = _found("shell", schemas, words) or _SHELL
    schema = schemas.get(found["name"], {})
    given = _filled(found["input"], words)
    takes = schema.get("properties", given)
    return found["name"], _required(schema) | {key: given[key] for key in given if key in takes}


def shell_command(tool: Tool) -> str:
    """What a shell does for a neutral tool, in the working folder."""
    if tool.kind == "shell":
        return tool["command"]
    path = shlex.quote(tool["path"])
    if tool.kind == "read_file":
        return f"cat -- {path}"
    if tool.kind == "delete_file":
        return f"rm -- {path}"
    if tool.kind == "edit_file":
        changed = f"{shlex.quote(tool['old'])} {shlex.quote(tool['new'])}"
        return f"python3 -c {shlex.quote(_EDIT)} {path} {changed}"
    folder = shlex.quote(str(PurePosixPath(tool["path"]).parent))
    return f"mkdir -p -- {folder} && printf %s {shlex.quote(tool['text'])} > {path}"


def harmless(schema: Mapping[str, Any]) -> Any:
    """The least value that a JSON schema takes: what is required, and nothing that says much."""
    if "const" in schema or schema.get("enum"):
        return schema.get("const", (schema.get("enum") or [None])[0])
    for word in ("anyOf", "oneOf"):
        if schema.get(word):
            return harmless(schema[word][0])
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = str(kind[0] if isinstance(kind, list) else kind).lower()
    if kind == "object":
        return _required(schema)
    return _HARMLESS.get(kind, "scripted")


def _required(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {name: harmless(properties.get(name, {})) for name in schema.get("required", ())}


@cache
def _table() -> Mapping[str, list[Mapping[str, Any]]]:
    return tomllib.loads((Path(__file__).parent / "own_tools.toml").read_text(encoding="utf-8"))


def _found(kind: str, schemas: Schemas, words: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The first known tool that is offered and takes what there is to be said to it."""
    for known in _table().get(kind, ()):
        asks = {key: set(_WORD.findall(str(value))) for key, value in known["input"].items()}
        needs = {key for key, wanted in asks.items() if wanted} | set(known.get("has", ()))
        takes = schemas.get(known["name"], {}).get("properties", {})
        told = all(wanted <= words.keys() for wanted in asks.values())
        if known["name"] in schemas and needs <= set(takes) and told:
            return known
    return None


def _words(tool: Tool, cwd: str, spoken: str) -> dict[str, str]:
    words = {key: str(value) for key, value in tool.arguments.items()}
    if "path" in words and cwd:
        words["path"] = str(PurePosixPath(cwd) / words["path"])
    if tool.kind == "edit_file":
        patch = anchored(words["path"], tool["old"], tool["new"], spoken)
        words |= {"anchored": patch} if patch else {}
    return words


def _filled(value: Any, words: Mapping[str, str]) -> Any:
    """`value` with its words replaced once: what is filled in is not looked at again."""
    if isinstance(value, str):
        return _WORD.sub(lambda found: words.get(found[1], found[0]), value)
    if isinstance(value, Mapping):
        return {key: _filled(item, words) for key, item in value.items()}
    return [_filled(item, words) for item in value] if isinstance(value, list) else value
