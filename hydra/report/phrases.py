"""One line of plain words for one event; "" for those that are too many to print."""

from __future__ import annotations

from hydra.adapters.json_fields import Object, mapping, number, string, strings
from hydra.ranking.model import LaneResult, LaneVerdict
from hydra.records.events import Event
from hydra.records.outcome import Attempt, Patch
from hydra.records.plan import RacePlan
from hydra.report import checks
from hydra.report.board import STATUS_WORDS, again_text, command, retry_text, waits_for
from hydra.report.text import clean, cost, duration, gist, span
from hydra.text import plural

LOUD = frozenset(
    {"run_warning", "lane_warning", "run_interrupted", "limit_warning", "parse_fallback"}
)
"""Kinds a person must not miss: they stay on the screen above the live table."""


_WARNING = 180
"""Characters of a warning while a race runs; `hydra runs show` has all of it."""

_REASON = 120
"""Characters of what speaks against a patch; `hydra compare` has all of it."""


def describe(event: Event) -> str:
    """What happened, as one harmless line without time or lane."""
    data, took = event.data, duration(number(event.data, "seconds"))
    match event.kind:
        case "run_started":
            return "  ".join(opening(event))
        case "run_warning" | "lane_warning":
            return _warning(data, event.run)
        case "run_interrupted":
            return _interrupted(data)
        case "run_ended":
            spent = number(data, "trials") or 0
            more = f" ({duration(spent)} of it for more tests)" if spent >= 1 else ""
            return f"the race ended in {took}{more}"
        case "lane_waiting":
            return "waits: other lanes run first"
        case "lane_opening":
            return "making its copy of the checkout"
        case "lane_opened":
            return "its copy is ready"
        case "setup_started":
            return f"set-up: {command(data)}"
        case "setup_ended":
            code = number(data, "exit_code")
            how = "was ended" if code is None else f"exit {code:g}"
            return f"set-up {how} after {took}: {command(data)}"
        case "agent_started":
            return "agent started"
        case "agent_exited":
            return _exited(data)
        case "limit_warning":
            return _half(data)
        case "stopping":
            reason, signal = gist(string(data, "reason")), gist(string(data, "signal"))
            return f"stopping ({reason.replace('_', ' ')}){signal and f': {signal} sent'}"
        case "parse_fallback":
            return "its output is read as plain text from here on: too much of it was not JSON"
        case "patch_taken":
            return _patch(data)
        case "lane_ended" | "attempt_ended":
            return f"{'this try: ' * (event.kind == 'attempt_ended')}{_lane_ended(data)}"
        case "lane_retrying":
            return again_text(data)
    return checks.describe(event.kind, data) or _agent(event)


def opening(event: Event) -> list[str]:
    """What a `run_started` says, as lines of their own: the race, its checks, how often."""
    return _headlines(event.run, event.data)


def headlines(plan: RacePlan) -> list[str]:
    """Run, base, lanes, confinement (without one: soft sandboxes); then checks, and how often."""
    return _headlines(plan.run, {**plan.headline, "untried": True})


def _headlines(run: str, data: Object) -> list[str]:
    base, named = clean(string(data, "base"))[:7], clean(string(data, "base_name"))
    value = data.get("confined")
    message = ("confined" if value else "not confined") if isinstance(value, bool) else ""
    parts = [
        f"race {clean(run)}",
        f"base {base}" + (f" ({named})" if named else "") if base else "",
        plural(len(strings(data, "lanes")), "lane"),
        message,
        "" if value else soft_mark(strings(data, "soft")),
        f"! not confined: {clean(', '.join(away))}" if (away := strings(data, "elsewhere")) else "",
    ]
    lines = ["  ".join(part for part in parts if part), _checks(data), _often(data)]
    return [line for line in lines if line]


def _checks(data: Object) -> str:
    if commands := strings(data, "guessed"):
        return f"check: {clean('; '.join(commands))} (guessed; --no-check to do without)"
    if data.get("checks") == []:
        return 'no checks: --check "COMMAND" runs your tests on each patch'
    names = strings(data, "checks")
    return f"checks: {clean(', '.join(names))}" if names else ""


def _often(data: Object) -> str:
    """Where they will run, and how long for: a suite of minutes is to surprise nobody."""
    if not number(data, "check_runs"):
        return ""
    patches = plural(strings(data, "lanes"), "patch")
    most = number(data, "trial_time") or 0
    crossed = f"; then each patch's new tests run on the others ({span(most)} at most)"
    first = "; whether it starts is tried before any agent" if data.get("untried") else ""
    often = f"they run on the base and on {patches}, twice where they fail"
    return f"{often}{crossed if most else ''}{first}"


def soft_mark(names: list[str]) -> str:
    """The sign and the words for agents whose own options take no tool away; "" for none."""
    sign = "! may use any of its tools (its own options forbid none)"
    return f"{sign}: {clean(', '.join(names))}" if names else ""


def _agent(event: Event) -> str:
    data = event.data
    if event.kind == "tool_call":
        return gist(string(data, "summary") or string(data, "name")) or "a tool call"
    if event.kind == "tool_result" and (data.get("denied") or data.get("ok") is False):
        how = "denied" if data.get("denied") else "failed"
        return f"{how}: {gist(string(data, 'summary'))}".removesuffix(": ")
    if event.kind == "progress" and event.sub == "retry":
        return retry_text(data)
    if event.kind == "failed":
        return f"error: {gist(string(data, 'message')) or gist(string(data, 'error'))}"
    if event.sub == "closing" and data.get("ok") is False:
        return f"error: {gist(string(data, 'text'))}"
    if event.kind == "completed" or event.sub == "closing":
        return f"says it is done: {gist(string(data, 'text'))}".removesuffix(": ")
    return ""


def _warning(data: Object, run: str) -> str:
    whole = gist(string(data, "text"), len(string(data, "text")))
    if len(whole) <= _WARNING:
        return f"warning: {whole}"
    return f"warning: {gist(whole, _WARNING)} (whole: hydra runs show {clean(run)})"


def _interrupted(data: Object) -> str:
    signal = clean(string(data, "signal") or "a signal")
    if (number(data, "times") or 1) > 1:
        return f"{signal} again: killing the agents at once; the patches are left to recovery"
    return f"{signal}: ending the agents and taking their patches (again: kill at once)"


def _half(data: Object) -> str:
    spent = f"{duration(number(data, 'seconds'))} of {duration(number(data, 'of'))}"
    name = gist(string(data, "limit"))
    if "for" in data:
        return waits_for(data)
    if name == "total":
        return f"half of its time is used: {spent}"
    return f"half of its {name} limit has passed without progress: {spent}"


def _exited(data: Object) -> str:
    code, signal = number(data, "code"), number(data, "signal")
    how = f"exit {code:g}" if code is not None else "ended"
    how = how if signal is None else f"ended by signal {signal:g}"
    rest = strings(data, "survivors")
    names = f"; left running and ended: {clean(', '.join(rest))}" if rest else ""
    return f"agent {how} after {duration(number(data, 'seconds'))}{names}"


def _patch(data: Object) -> str:
    changed = changes(data)
    missing = gist(string(data, "incomplete"))
    if aside := int(number(data, "stranded") or 0):
        changed += f"; kept beside it: {plural(aside, 'stash, branch or commit', _ASIDE)}"
    return f"patch taken: {changed}" + (f"; INCOMPLETE: {missing}" if missing else "")


_ASIDE = "stashes, branches or commits"


def changes(data: Object) -> str:
    """`2 files, +18 -4`, or that there is nothing."""
    files = number(data, "files")
    if not files:
        return "no changes" if files == 0 else "?"
    size = plus_minus(number(data, "insertions"), number(data, "deletions"))
    return f"{plural(int(files), 'file')}, {size}"


def spent(lane: LaneVerdict | LaneResult) -> str:
    """What a lane cost: as its agent told it, else as it is reckoned from its tokens, marked so."""
    dollars, reckoned = paid(lane)
    return f"~{cost(dollars)}" if reckoned else cost(dollars)


def paid(lane: LaneVerdict | LaneResult | Attempt) -> tuple[float | None, bool]:
    """US dollars as its agent says, else (True) as Hydra reckons them."""
    if lane.usage.cost_usd is not None or lane.usage_estimate is None:
        return lane.usage.cost_usd, False
    return lane.usage_estimate.cost_usd, True


def tries(lane: LaneResult) -> str:
    """Of a lane that was tried more than once: which of them its row is about, and what the others
    cost beside it. "" for one try."""
    others = [paid(row) for row in lane.attempts if row.attempt != lane.attempt]
    if not others:
        return ""
    figures = [dollars for dollars, _ in others if dollars is not None]
    least = "at least " if len(figures) < len(others) else ""
    about = "~" if any(reckoned for _, reckoned in others) else ""
    more = f"cost {least}{about}{cost(sum(figures))} more" if figures else "told no cost"
    which = "the other" if len(others) == 1 else "the others"
    return f"{clean(lane.lane)} is try {lane.attempt} of {len(lane.attempts)}; {which} {more}"


def plus_minus(added: float | None, deleted: float | None) -> str:
    """`+18 -4`; unknown is `?`."""
    return f"+{_count(added)} -{_count(deleted)}"


def size_of(patch: Patch | None) -> str:
    """The same of a patch; `-` where there is none, or it is empty."""
    return plus_minus(patch.insertions, patch.deletions) if patch and patch.files else "-"


def _count(value: float | None) -> str:
    return "?" if value is None else f"{value:.0f}"


def _lane_ended(data: Object) -> str:
    status = string(data, "status")
    term = STATUS_WORDS.get(status) or gist(status) or "ended"
    error = mapping(data, "error")
    why = gist(string(error, "message"))
    reason = f": {why}" if why else ""
    line = "; ".join(map(gist, strings(data, "held_back")))
    value = f"; against it: {gist(line, _REASON)}" if line else ""
    return f"{term} in {duration(number(data, 'seconds'))}{reason}{value}"
