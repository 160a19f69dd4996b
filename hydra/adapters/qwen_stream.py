"""Qwen Code's `stream-json`: Claude Code's shape, with its own tools, errors and limits.

Seen in 0.24.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hydra.adapters import said
from hydra.adapters.claude_stream import ClaudeStream
from hydra.adapters.jsonlines import Object, integer, mapping, string
from hydra.adapters.service_errors import failure
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_VERBS = {"write_file": "Write", "edit": "Edit", "read_file": "Read"}
_DECLINED = re.compile(r"requires permission to use .{1,200} declined")
_API_ERROR = "[API Error: "
_NO_SIGN_IN = "No auth type is selected"
_LIMITS = (
    ("max_turns", re.compile(r"^Reached max session turns.*$", re.M)),
    ("budget", re.compile(r"^Run aborted: [a-z-]{1,40} budget of (\d{1,15})s? exceeded.*$", re.M)),
)
"""Where a limit of its own ends it there is no `result`: the reason is on stderr alone."""
_LIMITED = (53, 55)


class QwenStream(ClaudeStream):
    """One attempt's stream."""

    label = "Qwen Code"
    edits = frozenset({"edit", "write_file", "notebook_edit"})

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The `result` as the ending; without one the limit that ended it."""
        if self._result is None:
            return _limit(exit, files.get("stderr", b"").decode("utf-8", "replace"))
        if self._result.get("is_error") is True:
            return [_failure(string(mapping(self._result, "error"), "message"))]
        return super().finish(exit, files)

    def _init(self, line: Object) -> list[AgentEvent]:
        told = {**line, "claude_code_version": string(line, "qwen_code_version")}
        return super()._init({**told, "permissionMode": string(line, "permission_mode")})

    def _block(self, block: Object) -> list[AgentEvent]:
        if string(block, "text").startswith(_API_ERROR):
            # Its `result` says the same; here it stands as if the model had said it.
            return [said.progress("notice", type="error", text=string(block, "text"))]
        return super()._block(block)

    def _call(self, id: str, name: str, summary: str) -> list[AgentEvent]:
        if name in _VERBS and summary.startswith(name):
            summary = _VERBS[name] + summary.removeprefix(name)
        return super()._call(id, name, summary)

    def _answer(self, id: str, *, ok: bool, summary: str, denied: bool = False) -> list[AgentEvent]:
        refused = denied or (not ok and _DECLINED.search(summary[:1000]) is not None)
        return super()._answer(id, ok=ok, summary=_output(summary), denied=refused)

    def _take_result(self, line: Object) -> list[AgentEvent]:
        self._result = line
        usage = mapping(line, "usage")
        # Cache reads are in `input_tokens` here.
        return said.usage(
            input_tokens=integer(usage, "input_tokens"),
            output_tokens=integer(usage, "output_tokens"),
            cached_tokens=integer(usage, "cache_read_input_tokens"),
        )


def _failure(text: str) -> AgentEvent:
    if text.startswith(_NO_SIGN_IN):
        return said.failed("AuthMissing", "sign_in", text)
    return failure(text.removeprefix(_API_ERROR).removesuffix("]"))


def _limit(exit: ExitStatus, stderr: str) -> list[AgentEvent]:
    if exit.code not in _LIMITED:
        return []
    for reason, words in _LIMITS:
        match = words.search(stderr)
        if match:
            numbers = {"limit": float(match[1])} if match.groups() else {}
            return [said.failed("AgentFailed", reason, match[0], numbers)]
    return []


def _output(text: str) -> str:
    """What a shell command printed, out of the report that stands for it."""
    if not text.startswith("Command: "):
        return text
    return text.partition("\nOutput: ")[2] or text
