"""What the contract suite cannot see of Qwen Code: limits that are told on stderr alone."""

from __future__ import annotations

import json

import pytest

from hydra.adapters.qwen import SETTINGS, QwenStream
from hydra.records.outcome import ExitStatus

INIT = b'{"type":"system","subtype":"init","session_id":"a","permission_mode":"yolo"}'


@pytest.mark.parametrize(
    ("code", "stderr", "reason", "numbers"),
    [
        (53, b"Reached max session turns for this session.\n", "max_turns", {}),
        (
            55,
            b"noise\nRun aborted: tool-call budget of 3 exceeded (--max-tool-calls); observed 4.\n",
            "budget",
            {"limit": 3},
        ),
        (
            55,
            b"Run aborted: wall-clock budget of 90s exceeded (--max-wall-time).\n",
            "budget",
            {"limit": 90},
        ),
    ],
)
def test_a_limit_of_its_own(
    code: int, stderr: bytes, reason: str, numbers: dict[str, float]
) -> None:
    parser = QwenStream()
    parser.parse_line(INIT)
    (event,) = parser.end(ExitStatus(code=code), {"stderr": stderr})
    assert (event.data["error"], event.data["reason"]) == ("AgentFailed", reason)
    assert event.data["numbers"] == numbers


def test_a_limit_is_believed_with_its_exit_code_alone() -> None:
    parser = QwenStream()
    parser.parse_line(INIT)
    (event,) = parser.end(ExitStatus(code=0), {"stderr": b"Reached max session turns for this.\n"})
    assert event.data["reason"] == "no_terminal_event"


def test_no_sign_in() -> None:
    parser = QwenStream()
    line = {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "error": {"message": "No auth type is selected. Please configure an auth type"},
    }
    parser.parse_line(json.dumps(line).encode())
    (event,) = parser.end(ExitStatus(code=1), {})
    assert (event.data["error"], event.data["reason"]) == ("AuthMissing", "sign_in")


def test_cache_reads_are_in_its_input() -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 60}
    line = {"type": "result", "subtype": "success", "num_turns": 1, "usage": usage}
    event, _ = QwenStream().parse_line(json.dumps(line).encode())
    assert event.data == {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 60}


def test_its_settings_are_of_the_version_that_it_does_not_write_anew() -> None:
    document = json.loads(SETTINGS)
    assert (document["$version"], document["disableAllHooks"]) == (4, True)
