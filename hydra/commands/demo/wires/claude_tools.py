"""How Claude Code names its tools, what it gives them, and how it tells their results."""

# ruff: noqa: PTH100
# (pathlib would cost a third of the start-up time)

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hydra.commands.demo.wires.base import ToolUse

NAMES = {"edit": "Edit", "write": "Write", "delete": "Bash", "shell": "Bash"}
"""It has no tool to remove a file: a shell command does it."""


def use(tool: ToolUse) -> dict[str, Any]:
    """The `tool_use` block."""
    path = os.path.abspath(tool.target)
    document: dict[str, Any]
    if tool.kind == "edit":
        document = {"replace_all": False, "file_path": path}
        document.update(old_string=tool.old, new_string=tool.new)
    elif tool.kind == "write":
        document = {"file_path": path, "content": tool.new}
    else:
        command = f"rm -- {tool.target}" if tool.kind == "delete" else tool.target
        document = {"command": command, "description": "Runs a command"}
    return {"type": "tool_use", "id": tool.id, "name": NAMES[tool.kind], "input": document}


def result_text(tool: ToolUse) -> str:
    """The result as the model reads it."""
    if tool.denied:
        if tool.kind in ("edit", "write"):
            request = f"write to {os.path.abspath(tool.target)}"
        else:
            request = f"use {NAMES[tool.kind]}"
        return f"Claude requested permissions to {request}, but you haven't granted it yet."
    if tool.kind in ("shell", "delete"):
        output = tool.output.rstrip("\n")
        if not tool.ok:
            return f"Exit code {tool.exit_code}\n{output}"
        return output or "(Bash completed with no output)"
    if not tool.ok:
        return f"<tool_use_error>{tool.output}</tool_use_error>"
    if tool.existed:
        return f"The file {os.path.abspath(tool.target)} has been updated successfully."
    return f"File created successfully at: {os.path.abspath(tool.target)}"


def result(tool: ToolUse) -> dict[str, Any]:
    """The `tool_result` block."""
    block = {"tool_use_id": tool.id, "type": "tool_result", "content": result_text(tool)}
    if not tool.ok:
        return {**block, "is_error": True}
    return {**block, "is_error": False} if NAMES[tool.kind] == "Bash" else block


def details(tool: ToolUse) -> dict[str, Any] | str:
    """`tool_use_result`: the result as the terminal would show it."""
    path = os.path.abspath(tool.target)
    if not tool.ok:
        return f"Error: {tool.output if tool.kind in ('edit', 'write') else result_text(tool)}"
    shared: dict[str, Any] = {"structuredPatch": [], "originalFile": None, "userModified": False}
    if tool.kind == "edit":
        change = {"oldString": tool.old, "newString": tool.new, "replaceAll": False}
        return {"filePath": path, **change, **shared}
    if tool.kind == "write":
        kind = "update" if tool.existed else "create"
        return {"type": kind, "filePath": path, "content": tool.new, **shared}
    output = tool.output.rstrip("\n")
    return {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
