"""Codex's `exec --json`, as seen in 0.169.0."""

# ruff: noqa: PTH100, PTH103, PTH111, PTH123
# (pathlib would cost a third of the start-up time)

from __future__ import annotations

import os
import signal
import time

from hydra.commands.demo.wires.base import ToolUse, Wire, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class CodexWire(Wire):
    """Posing as `codex exec --json`."""

    default_model = "gpt-5.5"
    exit_on_closed_stdout = 101

    def __init__(self, argv: Sequence[str], script: Mapping[str, Any]) -> None:
        super().__init__(argv, script)
        self.streams = "--json" in argv

    def begin(self, prompt: str) -> None:
        """`thread.started`, `turn.started`."""
        folder = self.option("-C", "--cd")
        if folder:
            os.chdir(folder)
        self.complain("Reading prompt from stdin...")  # its stderr is never quiet
        self._rollout()
        self.send({"type": "thread.started", "thread_id": self.session})
        self.send({"type": "turn.started"})

    def _rollout(self) -> None:
        """Its own record of the session: the one place that tells the sandbox it applied."""
        default = os.path.expanduser("~/.codex")
        folder = os.environ.get("CODEX_HOME", default) + time.strftime("/sessions/%Y/%m/%d")
        sandbox = self.script["applies"] or self.option("--sandbox", "-s") or "read-only"
        if "--dangerously-bypass-approvals-and-sandbox" in self.argv:
            sandbox = "danger-full-access"
        context = {"model": self.model, "sandbox_policy": {"type": sandbox}}
        lines = (("session_meta", {"id": self.session}), ("turn_context", context))
        try:
            os.makedirs(folder, exist_ok=True)
            name = f"{folder}/rollout-{time.strftime('%Y-%m-%dT%H-%M-%S')}-{self.session}.jsonl"
            with open(name, "w", encoding="utf-8") as file:
                for kind, payload in lines:
                    values = {"timestamp": self.now(), "type": kind, "payload": payload}
                    file.write(encode(values))
        except OSError:
            return  # no home that can be written: a test that does not read it back

    def say(self, text: str) -> None:
        """An `agent_message` item."""
        self._item({"type": "agent_message", "text": text})

    def think(self, text: str) -> None:
        """A `reasoning` item."""
        self._item({"type": "reasoning", "text": text})

    def tool_started(self, tool: ToolUse) -> None:
        """`item.started`."""
        self._opened(tool, "item_")
        self.send({"type": "item.started", "item": _item(tool, done=False)})

    def tool_ended(self, tool: ToolUse) -> None:
        """`item.completed`."""
        self.open = None
        self.send({"type": "item.completed", "item": _item(tool, done=True)})

    def finish(self, text: str) -> int:
        """`turn.completed` with the thread's usage; its text came as a message before."""
        event: dict[str, Any] = {"type": "turn.completed"}
        if self.usage is not None:
            event["usage"] = {
                "input_tokens": self.usage.get("input", 0),
                "cached_input_tokens": self.usage.get("cached", 0),
                "cache_write_input_tokens": 0,
                "output_tokens": self.usage.get("output", 0),
                "reasoning_output_tokens": 0,
            }
        self.send(event)
        return 0

    def stopped(self, signum: int) -> int | None:
        """SIGINT: exit 1 and no terminal event. SIGTERM: dies by it."""
        return 1 if signum == signal.SIGINT else None

    def _item(self, fields: dict[str, Any]) -> None:
        item = {"id": f"item_{self.tools}", **fields}
        self.tools += 1
        self.send({"type": "item.completed", "item": item})


def _item(tool: ToolUse, *, done: bool) -> dict[str, Any]:
    status = "in_progress" if not done else "completed" if tool.ok else "failed"
    if tool.kind == "shell":
        return {
            "id": tool.id,
            "type": "command_execution",
            "command": f"/bin/bash -lc {_quoted(tool.target)}",
            "aggregated_output": tool.output if done else "",
            "exit_code": tool.exit_code if done else None,
            "status": status,
        }
    kind = "delete" if tool.kind == "delete" else "update" if tool.existed else "add"
    change = {"path": os.path.abspath(tool.target), "kind": kind}
    return {"id": tool.id, "type": "file_change", "changes": [change], "status": status}


def _quoted(command: str) -> str:
    # As it does: in single quotes, in double ones where the command has single ones itself.
    if "'" not in command:
        return f"'{command}'"
    for special in '\\"$`':
        command = command.replace(special, "\\" + special)
    return f'"{command}"'
