"""Claude Code's `--output-format stream-json --verbose`, as seen in 2.1.330."""

# ruff: noqa: PTH100, PTH109
# (pathlib would cost a third of the start-up time)

from __future__ import annotations

import os
import signal

from hydra.commands.demo.wires.base import ToolUse, Wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class ClaudeWire(Wire):
    """Posing as `claude -p`."""

    default_model = "claude-opus-5-5"

    def __init__(self, argv: Sequence[str], script: Mapping[str, Any]) -> None:
        super().__init__(argv, script)
        self.streams = self.option("--output-format") == "stream-json"

    def begin(self, prompt: str) -> None:
        """`system/init`."""
        self.send(
            {
                "type": "system",
                "subtype": "init",
                "cwd": os.getcwd(),
                "session_id": self.session,
                "tools": ["Bash", "Edit", "Glob", "Grep", "Read", "Write"],
                "mcp_servers": [],
                "model": self.model,
                "permissionMode": self.script["applies"] or self._mode(),
                "slash_commands": [],
                "apiKeySource": "none",
                "claude_code_version": str(self.script["version"]).partition(" ")[0],
                "output_style": "default",
                "agents": [],
                "skills": [],
                "plugins": [],
                "uuid": self.fresh(),
            }
        )

    def _mode(self) -> str:
        if "--dangerously-skip-permissions" in self.argv:
            return "bypassPermissions"
        return self.option("--permission-mode") or "default"

    def say(self, text: str) -> None:
        """One assistant line with one text block."""
        self._assistant({"type": "text", "text": text})

    def think(self, text: str) -> None:
        """One assistant line with one thinking block."""
        self._assistant({"type": "thinking", "thinking": text, "signature": ""})

    def tool_started(self, tool: ToolUse) -> None:
        """One assistant line with one tool_use block."""
        self._opened(tool, "toolu_")
        self._assistant(_use(tool))

    def tool_ended(self, tool: ToolUse) -> None:
        """A `user` line with the tool_result."""
        self.open = None
        self._user(_result(tool), tool_use_result=_details(tool))

    def finish(self, text: str) -> int:
        """`result/success`."""
        self._result("success", "completed", is_error=False, api_error_status=None, result=text)
        return 0

    def stopped(self, signum: int) -> int | None:
        """SIGINT: the tool is ended, a result is told, exit 0. SIGTERM: 143 and no result."""
        if signum == signal.SIGTERM:
            return 143
        if self.open is not None:
            self._user({"type": "text", "text": "[Request interrupted by user for tool use]"})
        terminal = "aborted_tools" if self.open else "aborted_streaming"
        why = "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"
        self._result("error_during_execution", terminal, errors=[why])
        return 0

    def _assistant(self, block: dict[str, Any], model: str = "", **extra: object) -> None:
        message = {
            "model": model or self.model,
            "id": f"msg_{self.fresh()[:8]}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
            # A placeholder that repeats on every block, as the real one's does.
            "usage": {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 0},
        }
        self.send(
            {
                "type": "assistant",
                "message": message,
                "parent_tool_use_id": None,
                "session_id": self.session,
                "uuid": self.fresh(),
                "timestamp": self.now(),
                **extra,
            }
        )

    def _user(self, block: dict[str, Any], **extra: object) -> None:
        self.send(
            {
                "type": "user",
                "message": {"role": "user", "content": [block]},
                "parent_tool_use_id": None,
                "session_id": self.session,
                "uuid": self.fresh(),
                "timestamp": self.now(),
                **extra,
            }
        )

    def _result(
        self, subtype: str, terminal: str, *, is_error: bool = True, **extra: object
    ) -> None:
        spent = self.usage or {}
        self.send(
            {
                "duration_api_ms": self.milliseconds(),
                "stop_reason": "end_turn",
                "session_id": self.session,
                "total_cost_usd": spent.get("cost", 0),
                "usage": {
                    "input_tokens": self.uncached(),
                    "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": spent.get("cached", 0),
                    "output_tokens": spent.get("output", 0),
                },
                "modelUsage": {self.model: self._model_usage(spent)} if spent else {},
                "permission_denials": [],
                "terminal_reason": terminal,
                "is_error": is_error,
                "num_turns": self.tools + 1,
                "subtype": subtype,
                **extra,
                "type": "result",  # not the first key, as in the real stream
                "duration_ms": self.milliseconds(),
                "uuid": self.fresh(),
            }
        )

    def _model_usage(self, spent: Mapping[str, float]) -> dict[str, float]:
        return {
            "inputTokens": self.uncached(),
            "outputTokens": spent.get("output", 0),
            "cacheReadInputTokens": spent.get("cached", 0),
            "cacheCreationInputTokens": 0,
            "costUSD": spent.get("cost", 0),
        }


# ---- A tool call and its result, as the model reads them and as the terminal would show them.

_NAMES = {"edit": "Edit", "write": "Write", "delete": "Bash", "shell": "Bash"}
"""It has no tool to remove a file: a shell command does it."""


def _use(tool: ToolUse) -> dict[str, Any]:
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
    return {"type": "tool_use", "id": tool.id, "name": _NAMES[tool.kind], "input": document}


def _result_text(tool: ToolUse) -> str:
    """The result as the model reads it."""
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


def _result(tool: ToolUse) -> dict[str, Any]:
    """The `tool_result` block."""
    block = {"tool_use_id": tool.id, "type": "tool_result", "content": _result_text(tool)}
    if not tool.ok:
        return {**block, "is_error": True}
    return {**block, "is_error": False} if _NAMES[tool.kind] == "Bash" else block


def _details(tool: ToolUse) -> dict[str, Any] | str:
    """`tool_use_result`: the result as the terminal would show it."""
    path = os.path.abspath(tool.target)
    if not tool.ok:
        return f"Error: {tool.output if tool.kind in ('edit', 'write') else _result_text(tool)}"
    shared: dict[str, Any] = {"structuredPatch": [], "originalFile": None, "userModified": False}
    if tool.kind == "edit":
        change = {"oldString": tool.old, "newString": tool.new, "replaceAll": False}
        return {"filePath": path, **change, **shared}
    if tool.kind == "write":
        kind = "update" if tool.existed else "create"
        return {"type": kind, "filePath": path, "content": tool.new, **shared}
    output = tool.output.rstrip("\n")
    return {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
