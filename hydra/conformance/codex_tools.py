"""Neutral tools in Codex's words. What it offers depends on the model (seen in 0.169.0):

- code mode (the default model): one custom tool `exec` that runs JavaScript, in which
  `tools.exec_command` and `tools.apply_patch` are called, and a function `wait`;
- `exec_command` and `write_stdin` functions beside a custom `apply_patch` (gpt-5.5);
- `exec_command` alone (a model Codex does not know): `apply_patch` is then a command of its shell.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from hydra.conformance.script import ScriptTool

_CELL = re.compile(r"Script running with cell ID ([^\s.]+)")
_SESSION = re.compile(r"Process running with session ID (\d+)")
_LONGEST_YIELD_MS = 30_000
_CELL_YIELD_MS = 3_600_000

ToolNames = Mapping[str, frozenset[str]]
"""Names of tools to the properties they take; code mode's `exec` among them."""


def offered_tools(tools: Iterable[Any], items: Iterable[Mapping[str, Any]]) -> ToolNames:
    """Every tool of a request, those inside namespaces and `additional_tools` items too."""
    rows: dict[str, frozenset[str]] = {}
    waiting = [*tools, *(tool for item in items if "tools" in item for tool in item["tools"])]
    while waiting:
        tool = waiting.pop()
        waiting += tool.get("tools", ())
        if tool.get("type") in ("function", "custom"):
            properties = (tool.get("parameters") or {}).get("properties", {})
            rows[tool.get("name", "")] = frozenset(properties)
    return rows


def item_for(tool: ScriptTool, rows: ToolNames) -> dict[str, Any]:
    """The output item that calls `tool`, without its call_id."""
    if tool.kind == "call":
        return _call(tool["name"], tool.arguments["input"])
    if "exec" in rows:
        return _call("exec", _code(tool))
    patch = patch_for(tool)
    if patch and "apply_patch" in rows:
        return _call("apply_patch", patch)
    command = f"apply_patch <<'HYDRA_PATCH'\n{patch}HYDRA_PATCH\n" if patch else _command(tool)
    return _shell(command, rows)


def unfinished_call(result: Mapping[str, Any]) -> ScriptTool | None:
    """The call that waits on, where a tool's result says that it is still running."""
    text = _output_text(result.get("output", ""))
    if cell := _CELL.search(text):
        return _own("wait", {"cell_id": cell[1], "yield_time_ms": _CELL_YIELD_MS})
    if session := _SESSION.search(text):
        document = {"session_id": int(session[1]), "chars": "", "yield_time_ms": _LONGEST_YIELD_MS}
        return _own("write_stdin", document)
    return None


def _output_text(output: Any) -> str:
    # A string, or a list of content items.
    parts = output if isinstance(output, list) else [{"text": output}]
    return "\n".join(str(part.get("text", "")) for part in parts)


def patch_for(tool: ScriptTool) -> str:
    """A write, an edit or a removal as Codex's patch text; "" for anything else."""
    if tool.kind == "write_file":
        change = [f"*** Add File: {tool['path']}", *_signed("+", tool["text"])]
    elif tool.kind == "edit_file":
        lines = [*_signed("-", tool["old"]), *_signed("+", tool["new"])]
        change = [f"*** Update File: {tool['path']}", "@@", *lines]
    elif tool.kind == "delete_file":
        change = [f"*** Delete File: {tool['path']}"]
    else:
        return ""
    return "\n".join(["*** Begin Patch", *change, "*** End Patch", ""])


def _signed(sign: str, text: str) -> list[str]:
    return [sign + line for line in text.removesuffix("\n").split("\n")]


def _own(name: str, arguments: Mapping[str, Any]) -> ScriptTool:
    return ScriptTool(kind="call", arguments={"name": name, "input": arguments})


def _call(name: str, text: Any) -> dict[str, Any]:
    # A custom tool takes free text, a function takes JSON; the input's own type tells them apart.
    if isinstance(text, str):
        return {"type": "custom_tool_call", "name": name, "input": text}
    return {"type": "function_call", "name": name, "arguments": json.dumps(text)}


def _command(tool: ScriptTool) -> str:
    return tool["command"] if tool.kind == "shell" else f"cat -- {shlex.quote(tool['path'])}"


def _shell(command: str, rows: ToolNames) -> dict[str, Any]:
    for name in ("exec_command", "shell_command", "shell"):
        takes = rows.get(name, frozenset())
        if "cmd" in takes:
            return _call(name, {"cmd": command, "yield_time_ms": _LONGEST_YIELD_MS})
        if "command" in takes:
            value = command if name == "shell_command" else ["bash", "-lc", command]
            return _call(name, {"command": value})
    return _call("exec_command", {"cmd": command})


def _code(tool: ScriptTool) -> str:
    """JavaScript for code mode. A command that outlasts one yield is waited for in the script."""
    head = f'// @exec: {{"yield_time_ms": {_CELL_YIELD_MS}}}\n'
    if patch := patch_for(tool):
        return f"{head}text(await tools.apply_patch({json.dumps(patch)}));\n"
    text = json.dumps({"cmd": _command(tool), "yield_time_ms": _LONGEST_YIELD_MS})
    again = f'{{session_id: ran.session_id, chars: "", yield_time_ms: {_LONGEST_YIELD_MS}}}'
    return (
        f"{head}let ran = await tools.exec_command({text});\n"
        "text(ran.output);\n"
        "while (ran.exit_code === undefined && ran.session_id !== undefined) {\n"
        f"  ran = await tools.write_stdin({again});\n"
        "  text(ran.output);\n"
        "}\n"
        "text(`exit code ${ran.exit_code}`);\n"
    )
