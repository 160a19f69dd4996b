"""How an attempt ended: pure judgement over what the agent said, how it exited, and its patch.

Neither exit 0 nor exit 1 is believed alone: denials, failed items, a missing closing event, and
above all the diff decide. Hydra's own ending of an agent (a limit, Ctrl-C) is authoritative over
anything the agent said on its way out, and what it had said before that it was done over both.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec import Struct, field

from hydra.adapters.contract import Descriptor
from hydra.adapters.event_builders import NO_REASON
from hydra.adapters.failures import signed_out
from hydra.adapters.usage_limits import reason_by_words, resets_at
from hydra.errors import STDERR_EXCERPT, Failure
from hydra.process.control import BACKGROUND, FINISHED
from hydra.process.records import End
from hydra.race.output import OutputCounts
from hydra.race.policy import COST, TOOL_CALLS, TURNS
from hydra.race.transcript import AgentTranscript
from hydra.records.events import AgentEvent, clip
from hydra.records.outcome import Estimate, Outcome, Patch, Status, Usage
from hydra.records.plan import LanePlan, Rates
from hydra.records.request import Budget, Limits
from hydra.shortage import shortage
from hydra.text import join_names, plural


class AttemptEvidence(Struct, frozen=True, kw_only=True):
    """All that is known when an attempt has ended."""

    run: str
    lane: str
    attempt: int
    descriptor: Descriptor
    command: tuple[str, ...]
    transcript: AgentTranscript
    end: End
    """Of its process: but `stopped` is why the attempt was, and `seconds` are all of it."""
    patch: Patch | None
    patch_error: str
    stderr: str
    counts: OutputCounts
    limits: Limits
    wall: float = 0.0
    """When it last did something, in seconds since 1970."""
    patch_reason: str = "patch_lost"
    budget: Budget = field(default_factory=Budget)
    rates: Rates | None = None
    warnings: tuple[str, ...] = ()


def classify(seen: AttemptEvidence) -> Outcome:
    """The one outcome of an attempt."""
    status, failure = _verdict(seen)
    usage = seen.transcript.usage
    return Outcome(
        lane=seen.lane,
        attempt=seen.attempt,
        status=status,
        failure=failure,
        patch=seen.patch,
        usage=usage,
        usage_estimate=estimate_of(seen.rates, usage),
        exit=seen.end.exit,
        seconds=seen.end.seconds,
        message=seen.transcript.message,
        session=seen.transcript.session,
        warnings=(*seen.warnings, *_remarks(seen)),
    )


def estimate_of(rates: Rates | None, usage: Usage) -> Estimate | None:
    """What Hydra reckons where the agent told no cost, and the prices of its model are known."""
    if rates is None:
        return None
    from hydra.adapters.models.catalog import estimate  # not before: most races name no model

    return estimate(rates, usage)


def _verdict(seen: AttemptEvidence) -> tuple[Status, Failure | None]:
    if seen.end.stopped in _STOPPED and not _stayed(seen):
        return _stopped(seen)
    if seen.patch_reason == "worktree_lost":
        # The cause of whatever else the agent said: its tools had no ground left to stand on.
        return Status.FAILED, _no_patch(seen)
    if seen.transcript.failed is not None:
        return Status.FAILED, _agents_own(seen, seen.transcript.failed)
    if seen.end.exit.keeper_lost:
        sentence = "the process that watched over the agent was killed"
        return Status.FAILED, _failure(seen, "AgentFailed", "keeper_lost", sentence)
    if seen.patch is None:
        return Status.FAILED, _no_patch(seen)
    if seen.transcript.completed is None:
        return Status.FAILED, _unfinished(seen)
    if seen.patch.empty:
        return _nothing_changed(seen, seen.patch)
    if _ended_badly(seen) and not _excused(seen):
        return Status.FAILED, _exit_failure(seen)
    return Status.COMPLETED, None


EARLY = {
    "interrupt": "the race was interrupted",
    "disk_floor": "the disk was nearly full, so the race was stopped",
}
"""Why a whole race was ended before its lanes had, by reason."""

MORE_ROOM = (
    "make room and race again: `hydra runs` shows what each race takes, `hydra runs rm` removes one"
)

_STOPPED = {
    "idle": (
        *("TimedOut", Status.TIMED_OUT, "no progress for {:g} s"),
        "raise --idle-timeout if the task needs long quiet stretches",
    ),
    "tool": (
        *("TimedOut", Status.TIMED_OUT),
        "one tool call ran for over {:g} s without any other progress",
        "raise limits.tool in hydra.toml if a tool needs longer",
    ),
    "total": ("TimedOut", Status.TIMED_OUT, "the total limit of {:g} s was reached", ""),
    "interrupt": (
        *("Interrupted", Status.INTERRUPTED, f"{EARLY['interrupt']} while its agent was at work"),
        "run the race again; what was done until then is in the patch",
    ),
    "disk_floor": (
        *("Interrupted", Status.INTERRUPTED, f"{EARLY['disk_floor']} while its agent was at work"),
        MORE_ROOM,
    ),
    "sign_in": ("AuthMissing", Status.FAILED, "the service refused the sign-in", ""),
    "stdout_closed": (
        *("StreamParseError", Status.FAILED, "the agent closed its output and went on running"),
        "its work is kept; `hydra agents` names the versions known to work",
    ),
    TURNS: ("AgentFailed", Status.FAILED, "it has used its budget of {:g} turn", ""),
    COST: ("AgentFailed", Status.FAILED, "it has used its budget of ${:g}", ""),
    TOOL_CALLS: ("AgentFailed", Status.FAILED, "it has used its budget of {:g} tool call", ""),
}
"""By why Hydra ended an agent: the kind of failure, the status, the sentence, what to do."""

_BUDGETS = {
    TURNS: ("max_turns", "turns"),
    COST: ("budget", "cost_usd"),
    TOOL_CALLS: ("budget", "tool_calls"),
}
"""The reason of such a failure, and the budget's part."""

_OUTLASTED = {
    FINISHED: "",
    BACKGROUND: "limits.background",
    "tool": "limits.tool",
    "idle": "--idle-timeout",
    "total": "--timeout",
    "stdout_closed": "",
    "interrupt": "",
    "disk_floor": "",
}
"""Why one was ended that had finished, and what sets it."""


def _stayed(seen: AttemptEvidence) -> bool:
    """Whether it had finished when Hydra ended it: then the outcome is what it said."""
    return seen.end.closed and seen.end.stopped in _OUTLASTED and not seen.descriptor.interactive


def _stopped(seen: AttemptEvidence) -> tuple[Status, Failure]:
    kind, status, sentence, hint = _STOPPED[seen.end.stopped]
    if seen.end.stopped == "sign_in" and seen.transcript.failed is not None:
        return status, _agents_own(seen, seen.transcript.failed)
    reason, part = _BUDGETS.get(seen.end.stopped, (seen.end.stopped, ""))
    limit = float(getattr(seen.budget, part) or 0) if part else _limit_of(seen)
    sentence = sentence.format(limit)
    if part:
        sentence += "s" * (limit != 1 and seen.end.stopped != COST)
        hint = _raise(part.removesuffix("_usd"))
    elif seen.end.stopped == "total":
        hint = _longer(seen)
    numbers = {} if limit is None else {"limit": limit}
    return status, _failure(seen, kind, reason, sentence, hint=hint, numbers=numbers)


def _limit_of(seen: AttemptEvidence) -> float | None:
    """The seconds of the limit that ended it; None where it was none."""
    is_limit = seen.end.stopped in ("idle", "tool", "total", BACKGROUND)
    return float(getattr(seen.limits, seen.end.stopped)) if is_limit else None


def _longer(seen: AttemptEvidence) -> str:
    """A lane's budget of time is its total limit where it is the smaller one."""
    if seen.budget.seconds is not None and seen.budget.seconds <= seen.limits.total:
        return _raise("time")
    return "raise --timeout, or give the agent a smaller task"


def _raise(part: str) -> str:
    return f"raise {part} in [budget] of hydra.toml, or in the lane's profile"


def _agents_own(seen: AttemptEvidence, event: AgentEvent) -> Failure:
    data = event.data
    figures = data.get("numbers")
    numbers = {k: float(v) for k, v in figures.items()} if isinstance(figures, dict) else {}
    kind, reason = str(data.get("error") or "AgentFailed"), str(data.get("reason") or "")
    message, last = str(data.get("message") or ""), _last_words(seen)
    if message in ("", NO_REASON):
        message = last or "the agent failed without saying why"
    elif reason == "no_terminal_event" and last and last not in message:
        message = f"{message}; its last words: {last}"
    if reason in ("", "agent_error", "no_terminal_event"):
        kind, reason = _by_words(kind, reason, message)
    if reason in ("rate_limit", "quota"):
        numbers = _reset(message, seen.wall) | numbers
    hint = _hint(seen, kind, reason)
    return _failure(seen, kind, reason, message, hint=hint, numbers=numbers)


def _last_words(seen: AttemptEvidence) -> str:
    return clip(" ".join(seen.transcript.last_words.split()), 300)


def _by_words(kind: str, reason: str, message: str) -> tuple[str, str]:
    """What it stands for where the agent itself has no word for it."""
    if named := reason_by_words(message):
        return "AgentFailed", named
    if kind == "StreamParseError" and signed_out(message):
        return "AuthMissing", "sign_in"
    return kind, reason


def _reset(message: str, now: float) -> dict[str, float]:
    """When its limit resets: the time, and the seconds until then."""
    moment = resets_at(message, now) if now else None
    if moment is None:
        return {}
    return {"retry_after": round(max(0.0, moment - now), 3), "resets_at": round(moment, 3)}


def _hint(seen: AttemptEvidence, kind: str, reason: str) -> str:
    unended = kind == "StreamParseError" and reason in ("", "no_terminal_event")
    if unended and seen.counts.oversized:
        return "its last word may be in a line that was too long: raise limits.line in hydra.toml"
    if kind == "AuthMissing":
        return seen.descriptor.sign_in_hint
    if kind == "StreamParseError":
        return "look at the lane's raw.jsonl; `hydra doctor` shows whether this version is known"
    return _HINTS.get(reason, "look at the lane's raw.jsonl and stderr.txt in the run's folder")


_HINTS = {
    "rate_limit": "wait until the limit resets, or race fewer lanes of this agent",
    "context_overflow": "give a smaller task, or a model with a larger context",
    "budget": "raise the budget, or give a smaller task",
    "overloaded": "the service is overloaded: try again later",
    "quota": "the account has no credit left: add some, or race another agent",
    "max_turns": "raise the number of turns, or give a smaller task",
    "network": "see that the service can be reached from here (proxy, base URL, certificates)",
    "prompt_too_large": "shorten the task, or put the long part into a file of the repository",
    "not_asked": "the CLI took the task for one of its own commands: begin it with a word",
    "sandbox_broken": "`hydra doctor` shows why the agent's own sandbox does not start here",
    "unreachable": "see that the remote can be reached by hand (docs/how-to/remote.md)",
    "line_lost": "what it had changed until then is in the patch, where it could be fetched",
    "remote": "docs/how-to/remote.md has what a remote needs; stderr.txt has all that it said",
    "model": "check the model's name: the agent's own CLI lists what your account can use",
}


def _unfinished(seen: AttemptEvidence) -> Failure:
    signal, code = seen.end.exit.signal, seen.end.exit.code
    how = f"was ended by signal {signal}" if signal else f"exited with {code}"
    meaning = seen.descriptor.exit_codes.get(code if code is not None else -1)
    sentence = f"the agent {how} without its closing event"
    data = {
        "error": "StreamParseError",
        "reason": "no_terminal_event",
        "message": f"{sentence} ({meaning})" if meaning else sentence,
    }
    return _agents_own(seen, AgentEvent("failed", data=data))


def _no_patch(seen: AttemptEvidence) -> Failure:
    sentence = f"its work could not be taken: {seen.patch_error}"
    return _failure(seen, "AgentFailed", seen.patch_reason, sentence)


def _ended_badly(seen: AttemptEvidence) -> bool:
    # How one goes whose work was done says nothing of that: Hydra sent it away.
    badly = seen.end.exit.code not in (0, None) or seen.end.exit.signal is not None
    return badly and not seen.end.stopped


def _excused(seen: AttemptEvidence) -> bool:
    """Whether its exit code says nothing: its story was closed by its own line, its work is whole,
    and no signal ended it (a shell tells one as 128 and its number)."""
    killed = seen.end.exit.signal is not None or (seen.end.exit.code or 0) > 128
    whole = seen.patch is not None and not seen.patch.empty and not seen.patch.incomplete
    return seen.end.closed and whole and not killed


def _ending(seen: AttemptEvidence) -> Iterator[str]:
    """What was odd in how the process of one went that had said it was done, or had failed."""
    if _stayed(seen):
        yield _stay(seen)
    if seen.transcript.failed is None and seen.transcript.completed is not None:
        after = str(seen.transcript.completed.data.get("after") or "")
        if after and not seen.end.stopped:
            yield f"it said it was done, and then ended in an error: {clip(after, 300)}"
        if _ended_badly(seen) and _excused(seen):
            yield f"it said it was done and {_how(seen)}"


def _stay(seen: AttemptEvidence) -> str:
    if seen.end.stopped in EARLY:
        return f"it had finished when {EARLY[seen.end.stopped]}"
    limit, key = _limit_of(seen), _OUTLASTED[seen.end.stopped]
    is_held = limit is not None and seen.end.waited_for
    waited = f"waited for {join_names(seen.end.waited_for)}" if is_held else "did not exit"
    ended = f"ended at {limit:g} s ({key})" if limit is not None else "ended by Hydra"
    return f"it had finished and {waited}: {ended}"


def _how(seen: AttemptEvidence) -> str:
    if seen.end.exit.signal is not None:
        return f"died by signal {seen.end.exit.signal}"
    code = seen.end.exit.code if seen.end.exit.code is not None else -1
    meaning = seen.descriptor.exit_codes.get(code, "")
    return f"exited with {code}" + (f" ({meaning})" if meaning else "")


def _exit_failure(seen: AttemptEvidence) -> Failure:
    sentence = f"the agent said it was done and {_how(seen)}"
    return _failure(seen, "AgentFailed", "exit_code", sentence)


def _nothing_changed(seen: AttemptEvidence, patch: Patch) -> tuple[Status, Failure | None]:
    transcript = seen.transcript
    if patch.incomplete:
        sentence = f"its patch is incomplete: {patch.incomplete}"
        return Status.FAILED, _failure(seen, "AgentFailed", "patch_incomplete", sentence)
    if _ended_badly(seen):
        return Status.FAILED, _exit_failure(seen)
    if patch.stranded or patch.left_behind:
        return Status.FAILED, _stranded(seen, patch)
    if transcript.failed_items:
        sentence = f"{transcript.failed_items} of its changes failed, and nothing was changed"
        return Status.FAILED, _failure(seen, "AgentFailed", "failed_items", sentence)
    if transcript.denied:
        sentence = f"it was denied {join_names(transcript.denied)}, and nothing was changed"
        hint = "a race with --permission full-auto lets it work inside Hydra's confinement"
        failure = _failure(seen, "AgentFailed", "permission_denied", sentence, hint=hint)
        return Status.NO_CHANGES, failure
    return Status.NO_CHANGES, None


def _stranded(seen: AttemptEvidence, patch: Patch) -> Failure:
    sentence = "its patch is empty, but it left work elsewhere: "
    if patch.stranded:
        sentence += join_names(patch.stranded)
        first = patch.stranded[0]
        fetch = f'git fetch "$(hydra runs path {seen.run})/patches.git" {shlex.quote(first)}'
        # Of a submodule, its note has the line, to be typed there.
        lines = (note.partition(f"{first}: ")[2] for note in patch.notes)
        hint = f"`{next(filter(None, lines), fetch)}` brings it"
    else:
        sentence += "its worktree is kept"
        hint = "the warnings name what it is"
    return _failure(seen, "AgentFailed", "stranded_work", sentence, hint=hint)


def _remarks(seen: AttemptEvidence) -> Iterator[str]:
    transcript, counts = seen.transcript, seen.counts
    changed = seen.patch is not None and not seen.patch.empty
    if transcript.denied and changed:
        yield f"some of its tool calls were denied: {join_names(transcript.denied)}"
    if transcript.failed_items and changed:
        yield f"{transcript.failed_items} of its changes failed"
    yield from _ending(seen)
    if seen.end.exit.survivors:
        yield f"left running and ended by Hydra: {join_names(seen.end.exit.survivors)}"
    if counts.malformed:
        yield f"{plural(counts.malformed, 'line')} of its output could not be parsed"
    if counts.oversized:
        yield f"{plural(counts.oversized, 'line')} too long to parse (in raw.jsonl)"
    if counts.unrecorded:
        yield f"{plural(counts.unrecorded, 'event')} too many to list (raw.jsonl has them)"
    if counts.unwritten:
        yield "its raw output could not all be written: is the disk full?"
    if counts.redacted:
        yield f"a secret was redacted {plural(counts.redacted, 'time')} in its output"
    if seen.patch is None and seen.patch_error:
        yield f"its work could not be taken: {seen.patch_error}"
    if _cost_unheld(seen):
        limit = f"${seen.budget.cost_usd:g}"
        yield f"its agent told no cost: nothing could hold it to its budget of {limit}"


def _cost_unheld(seen: AttemptEvidence) -> bool:
    """Whether it had a budget in dollars that neither its CLI nor Hydra could keep."""
    is_asked = seen.budget.cost_usd is not None and "cost_usd" not in seen.descriptor.budgets
    return is_asked and seen.transcript.usage.cost_usd is None


def _failure(
    seen: AttemptEvidence,
    kind: str,
    reason: str,
    message: str,
    *,
    hint: str = "",
    numbers: dict[str, float] | None = None,
) -> Failure:
    return Failure(
        kind=kind,
        reason=reason,
        message=message,
        adapter=seen.descriptor.key,
        command=seen.command,
        stderr=seen.stderr[-STDERR_EXCERPT:],
        hint=hint or _hint(seen, kind, reason),
        numbers=numbers or {},
    )


# ---- A lane whose agent never came to run, or to its end: its outcome, and why.


def not_started(
    lane: LanePlan,
    failure: Failure,
    *,
    attempt: int = 1,
    seconds: float = 0.0,
    warnings: tuple[str, ...] = (),
) -> Outcome:
    """The outcome of an attempt that ended so; `warnings` are those beside the lane's own."""
    early = failure.kind == "Interrupted"
    return Outcome(
        lane=lane.id,
        attempt=attempt,
        status=Status.INTERRUPTED if early else Status.NOT_STARTED,
        failure=failure,
        seconds=seconds,
        warnings=(*lane.warnings, *warnings),
    )


def interrupted(lane: LanePlan, reason: str) -> Failure:
    """The race was ended first: `interrupt`, or `disk_floor`."""
    if reason == "disk_floor":
        return _of_lane(lane, "Interrupted", reason, EARLY[reason], MORE_ROOM)
    early = "the race was interrupted before this lane could end in order"
    hint = "its worktree is kept; race again to start over"
    return _of_lane(lane, "Interrupted", reason, early, hint)


def internal_error(lane: LanePlan, bug: Exception) -> Failure:
    """Hydra itself failed on it, or could not keep its record."""
    if short := shortage(bug):
        return _of_lane(lane, "SpawnFailed", "exhausted", short.message, short.hint)
    if isinstance(bug, OSError):
        message = f"its record could not be kept: {bug}"
        hint = "see that the disk of the state folder has room (`hydra doctor` names it)"
        return _of_lane(lane, "SpawnFailed", "record", message, hint)
    message = f"Hydra itself failed on this lane: {type(bug).__name__}: {bug}"
    hint = "please report this with the run's folder; the other lanes are not affected"
    return _of_lane(lane, "SpawnFailed", "hydra_bug", message, hint)


def _of_lane(lane: LanePlan, kind: str, reason: str, message: str, hint: str) -> Failure:
    return Failure(
        kind=kind,
        reason=reason,
        message=message,
        adapter=lane.adapter,
        command=lane.argv,
        hint=hint,
    )
