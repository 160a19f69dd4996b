"""Cursor's `-p --output-format stream-json`, as its documentation shows it.

The CLI is closed and in no registry: nothing here was seen in a run of it, which is one reason
why its adapter is experimental.
"""

# ruff: noqa: PTH100, PTH109
# (pathlib would cost a third of the start-up time)

from __future__ import annotations

import os

from hydra.commands.demo.wires.base import ToolUse, Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class CursorWire(Wire):
    """Posing as `cursor-agent -p`."""

    default_model = "Auto"

    def __init__(self, argv: Sequence[str], script: Mapping[str, Any]) -> None:
        super().__init__(argv, script)
        self.streams = self.option("--output-format") == "stream-json"

    def begin(self, prompt: str) -> None:
        """`system/init`, then the prompt as a `user` line."""
        folder = self.option("--workspace")
        if folder:
            os.chdir(folder)
        self.send(
            {
                "type": "system",
                "subtype": "init",
                "apiKeySource": "login",
                "cwd": os.getcwd(),
                "session_id": self.session,
                "model": self.model,
                "permissionMode": "default",
            }
        )
        self._message("user", prompt)

    def say(self, text: str) -> None:
        """One `assistant` line."""
        self._message("assistant", text)

    def think(self, text: str) -> None:
        """`thinking`, first a delta, then completed."""
        about = {"type": "thinking", "session_id": self.session}
        self.send({**about, "subtype": "delta", "text": text})
        self.send({**about, "subtype": "completed"})

    def tool_started(self, tool: ToolUse) -> None:
        """`tool_call/started`."""
        self._opened(tool, "tool_")
        self._tool("started", tool)

    def tool_ended(self, tool: ToolUse) -> None:
        """`tool_call/completed`."""
        self.open = None
        self._tool("completed", tool)

    def finish(self, text: str) -> int:
        """`result/success`, with usage where the build has it."""
        event: dict[str, Any] = {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "duration_ms": self.milliseconds(),
            "duration_api_ms": self.milliseconds(),
            "result": text,
            "session_id": self.session,
            "request_id": self.fresh(),
        }
        if self.usage is not None:
            event["usage"] = {
                "inputTokens": self.uncached(),
                "outputTokens": self.usage.get("output", 0),
                "cacheReadTokens": self.usage.get("cached", 0),
                "cacheWriteTokens": 0,
            }
        self.send(event)
        return 0

    def _message(self, role: str, text: str) -> None:
        content = [{"type": "text", "text": text}]
        message = {"role": role, "content": content}
        self.send({"type": role, "message": message, "session_id": self.session})

    def _tool(self, subtype: str, tool: ToolUse) -> None:
        name, call = _call(tool)
        if subtype == "completed":
            call["result"] = _result(tool)
        self.send(
            {
                "type": "tool_call",
                "subtype": subtype,
                "call_id": tool.id,
                "tool_call": {name: call},
                "session_id": self.session,
            }
        )


def _call(tool: ToolUse) -> tuple[str, dict[str, Any]]:
    if tool.kind == "shell":
        return "shellToolCall", {"args": {"command": tool.target}}
    if tool.kind == "delete":
        return "deleteToolCall", {"args": {"path": tool.target}}
    if tool.kind == "write":
        return "writeToolCall", {"args": {"path": tool.target, "fileText": tool.new}}
    return "editToolCall", {"args": {"path": tool.target}}


def _result(tool: ToolUse) -> dict[str, Any]:
    if tool.kind == "shell":
        done = {"command": tool.target, "exitCode": tool.exit_code, "stdout": tool.output}
        return {"success": done} if tool.ok else {"failure": done}
    if not tool.ok:
        return {"error": {"message": tool.output}}
    lines = tool.new.count("\n")
    return {"success": {"path": os.path.abspath(tool.target), "linesCreated": lines}}
