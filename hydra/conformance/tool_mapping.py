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

from hydra.conformance.script import ScriptTool

Schemas = Mapping[str, Mapping[str, Any]]
"""Names of the tools that are offered, to the JSON schema of what each takes."""

_PLACEHOLDER = re.compile(r"\{(command|path|text|old|new)\}")
_EDIT = (
    "import sys; _, path, old, new = sys.argv; text = open(path).read(); "
    "assert text.count(old) == 1; open(path, 'w').write(text.replace(old, new))"
)
_SHELL: Mapping[str, Any] = {"name": "bash", "input": {"command": "{command}"}}
_HARMLESS: Mapping[str, Any] = {"integer": 1, "number": 1, "boolean": False, "array": []}


def own_call(tool: ScriptTool, schemas: Schemas, cwd: str) -> tuple[str, dict[str, Any]]:
    """The offered tool for a neutral one: its name, and its input with all that it requires."""
    if tool.kind == "call":
        return tool["name"], dict(tool.arguments["input"])
    values = _term_list(tool, cwd)
    document = _matching_tool(tool.kind, schemas, values)
    if document is None:
        values = {"command": shell_command(tool)}
        document = _matching_tool("shell", schemas, values) or _SHELL
    schema = schemas.get(document["name"], {})
    data = _filled(document["input"], values)
    takes = schema.get("properties", data)
    return document["name"], _required(schema) | {key: data[key] for key in data if key in takes}


def shell_command(tool: ScriptTool) -> str:
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
    for term in ("anyOf", "oneOf"):
        if schema.get(term):
            return harmless(schema[term][0])
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


def _matching_tool(
    kind: str, schemas: Schemas, values: Mapping[str, str]
) -> Mapping[str, Any] | None:
    """The first known tool that is offered and takes what there is to be said to it."""
    for document in _table().get(kind, ()):
        asks = {
            key: set(_PLACEHOLDER.findall(str(value))) for key, value in document["input"].items()
        }
        needs = {key for key, documents in asks.items() if documents} | set(document.get("has", ()))
        takes = schemas.get(document["name"], {}).get("properties", {})
        is_told = all(documents <= values.keys() for documents in asks.values())
        if document["name"] in schemas and needs <= set(takes) and is_told:
            return document
    return None


def _term_list(tool: ScriptTool, cwd: str) -> dict[str, str]:
    values = {key: str(value) for key, value in tool.arguments.items()}
    if "path" in values and cwd:
        values["path"] = str(PurePosixPath(cwd) / values["path"])
    return values


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    """`value` with its words replaced once: what is filled in is not looked at again."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), value)
    if isinstance(value, Mapping):
        return {key: _filled(item, values) for key, item in value.items()}
    return [_filled(item, values) for item in value] if isinstance(value, list) else value
