"""What the contract suite cannot see of Copilot: its tokens, its ends, and where it is run from."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hydra.adapters.copilot import ADAPTER, USAGE
from hydra.race.context import ContextFactory
from hydra.records.agent import Tier
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.plan import LanePlan
from hydra.records.request import Permission

RESULT = {"type": "result", "sessionId": "a-b", "exitCode": 0}
IDLE = {"type": "assistant.idle", "data": {}}


def read(
    *lines: dict[str, Any], code: int = 0, stderr: bytes = b"", usage: bytes = b""
) -> list[AgentEvent]:
    parser = ADAPTER.parser()
    events = [event for line in lines for event in parser.parse_line(json.dumps(line).encode())]
    return [*events, *parser.end(ExitStatus(code=code), {"stderr": stderr, USAGE: usage})]


def ending(events: list[AgentEvent]) -> AgentEvent:
    (agent_event,) = [event for event in events if event.kind in ("completed", "failed")]
    return agent_event


def test_a_result_counts_where_it_was_at_rest() -> None:
    assert ending(read(IDLE, RESULT)).kind == "completed"
    turn = {"type": "assistant.turn_start", "data": {}}
    stopped = ending(read(IDLE, turn, RESULT))
    assert (stopped.kind, stopped.data["reason"]) == ("failed", "no_terminal_event")


def test_no_sign_in_is_told_on_stderr() -> None:
    stderr = b"Error: No authentication information found.\n\nCopilot can be ..."
    assert ending(read(code=1, stderr=stderr)).data["error"] == "AuthMissing"


def test_tokens_of_all_models_are_summed_at_the_end() -> None:
    rows = {"usage": {"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 40}}
    two = {"usage": {"inputTokens": 20, "outputTokens": 1, "cacheReadTokens": 0}}
    file = json.dumps({"modelMetrics": {"a": rows, "b": two}}).encode()
    usage = [e for e in read(IDLE, RESULT, usage=file) if e.kind == "usage"]
    assert usage[0].data == {"input_tokens": 120, "output_tokens": 8, "cached_tokens": 40}
    assert not [e for e in read(IDLE, RESULT, usage=b"{cut") if e.kind == "usage"]


def test_a_lane_is_told_where_it_is_unpacked(scratch: Path) -> None:
    plan = LanePlan(
        id="copilot",
        adapter="copilot",
        label="",
        tier=Tier.EXPERIMENTAL,
        sandbox="soft",
        version="1.0.102",
        worktree=scratch,
        permission=Permission.EDIT,
    )
    nothing: Any = None
    around: Any = SimpleNamespace(home=scratch, environ={}, adapters={"copilot": ADAPTER})
    shop = ContextFactory(around=around, store=nothing, plan=nothing)
    assert shop._own_places(plan) == {}
    place = scratch / ".cache/copilot/pkg/linux-x64/1.0.102"
    place.mkdir(parents=True)
    assert shop._own_places(plan) == {"COPILOT_CLI_DIST_DIR": str(place)}
