"""`hydra race --dry-run`: everything a race would do, before it does it."""

from __future__ import annotations

from hydra.config.values import format_duration
from hydra.process.sandbox.view import View
from hydra.records.plan import LanePlan, RacePlan
from hydra.records.request import Budget, Limits, Retry
from hydra.report.listing import KINDS
from hydra.report.phrases import headlines
from hydra.report.style import paint
from hydra.report.text import (
    bullets,
    clean,
    command_line,
    duration,
    facts,
    failure_details,
    labelled,
    quote,
    size,
    wrapped,
)
from hydra.text import join_names, plural

_STDIN = "the task, on its standard input"

_CHECKS_NETWORK = {
    "auto": "a network of their own where the base passes in it",
    "private": "a network of their own",
    "host": "this machine's network",
}
_NETWORK = {None: "as each CLI itself has it", True: "on", False: "off"}


def plan_text(
    plan: RacePlan, view: View | None = None, *, width: int | None, color: bool = False
) -> str:
    """The plan for a person; ends with a newline. `width`: the terminal's width, None for none.

    The lines to be run are exact and never wrapped: they can be pasted. Environment variables
    are shown by name only.
    """
    blocks = [
        [part for line in headlines(plan) for part in wrapped(line, width)],
        _facts(plan, view, width),
        *(_lane(lane, width, color) for lane in plan.lanes),
    ]
    if plan.warnings:
        remarks = [clean(warning) for warning in plan.warnings]
        blocks.append([paint("warnings", "warn", color), *bullets(remarks, width)])
    blocks.append([_verdict(plan)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _facts(plan: RacePlan, view: View | None, width: int | None) -> list[str]:
    confinement = plan.confinement
    value = (
        confinement.program or confinement.kind
        if confinement.holds
        else f"none ({confinement.reason})"
    )
    rows = [
        ("task", plan.title or plan.prompt),
        ("repository", str(plan.repository)),
        ("base", plan.base),
        ("confinement", value),
        *(("", f"- {promise}") for promise in plan.promises),
        *_seen(view),
        ("permission", plan.permission.value),
        ("network", f"{_NETWORK[plan.network]} (for the agents' tools)"),
        ("limits", _limits(plan.limits)),
        ("patch", _patch_limits(plan.limits)),
        ("disk", f"never under {size(plan.limits.disk_floor)} free, or 5% if that is less"),
        ("at once", plural(plan.max_parallel, "lane")),
        ("set-up", "; ".join(plan.setup)),
        *_checks(plan),
        ("copies", ", ".join(plan.copies)),
        ("shared", _dependencies(plan)),
        ("retry", _retry(plan.retry)),
        ("keep", f"worktrees: {plan.keep}; patches and records: always"),
        ("older races", _retention(plan.limits)),
    ]
    return facts(rows, width)


def _seen(view: View | None) -> list[tuple[str, str]]:
    """What the lanes see of HOME and the machine beyond the system's own folders."""
    if view is None:
        return []
    by_user = [f"- {clean(str(path))}, by [confine] show" for path in view.show]
    count = plural(len(view.shown), "place")
    listed = "beyond the system's own, read-only; `hydra doctor --view` lists them"
    return [("shown", f"{count} {listed}"), *(("", line) for line in by_user)]


def _dependencies(plan: RacePlan) -> str:
    how = "copy-on-write" if plan.confinement.mounters else "read-only: no overlays here"
    return f"{join_names(plan.dependencies)} ({how})" if plan.dependencies else ""


def _checks(plan: RacePlan) -> list[tuple[str, str]]:
    if not plan.checks:
        return []
    how = f"clean tree, {_CHECKS_NETWORK[plan.checking.network]}"
    limits = f"{duration(plan.limits.check)}, {size(plan.limits.check_bytes)} of output each"
    lines = [
        (
            "",
            f"- {check.name} ({check.kind}{'' if check.required else ', not required'}): "
            f"{check.command}",
        )
        for check in plan.checks
    ]
    at_once = plural(plan.checking.parallel, "lane")
    least, cap = plural(plan.check_runs, "run"), plan.checking.trials
    trials = f"up to {plural(cap.runs, 'run')} and {duration(cap.seconds)} in all"
    return [
        (
            "checks",
            f"each once on the base and on each patch, {least} at the least, "
            f"{at_once} at once, {how}, {limits}",
        ),
        *lines,
        ("new tests", trials if cap.runs and cap.seconds else "none"),
    ]


def _limits(limits: Limits) -> str:
    return (
        f"idle {duration(limits.idle)}, one tool call {duration(limits.tool)}, "
        f"what is left running {duration(limits.background)}, "
        f"total {duration(limits.total)}, set-up {duration(limits.setup)}; "
        f"then INT, {limits.grace_int:g} s, TERM, {limits.grace_term:g} s, KILL"
    )


def _retry(retry: Retry) -> str:
    if not retry.times:
        return ""
    often = "once" if retry.times == 1 else f"up to {retry.times} times"
    waits = f"{format_duration(retry.wait)} before the first, {format_duration(retry.longest)}"
    after = ", ".join(retry.on)
    text = f"{often} after {after}; waits {waits} at most; each try costs"
    return text + ("; a try that left a patch too" if retry.with_patch else "")


def _patch_limits(limits: Limits) -> str:
    return (
        f"{size(limits.patch_bytes)}, {limits.patch_untracked:,} untracked files, "
        f"{size(limits.patch_file_bytes)} a file; raw output {size(limits.raw_bytes)}, "
        f"stderr {size(limits.stderr_bytes)}"
    )


def _retention(limits: Limits) -> str:
    return f"go by themselves after {format_duration(limits.retention)}, if they hold no work"


def _lane(lane: LanePlan, width: int | None, color: bool) -> list[str]:
    head = f"{lane.id}: {' '.join((clean(lane.label), clean(lane.version))).strip()}"
    traits = [KINDS[lane.tier]]
    if lane.origin:
        traits.append(f"third party: {clean(str(lane.origin))}")
    traits += ["! may use any tool"] if lane.sandbox == "soft" else []
    if lane.remote:
        traits.append(f"! runs on {clean(lane.remote.target)}")
    if lane.profile and lane.profile != lane.id:
        traits.append(f"profile {lane.profile}")
    traits.append(f"permission {lane.permission.value}")
    if lane.model:
        traits.append(f"model {clean(lane.model)}")
    traits += [f"effort {lane.effort}"] if lane.effort else []
    traits += [f"budget {_budget(lane.budget)}"] if lane.budget != Budget() else []
    lines = [f"{paint(head, 'bold', color)}  ({', '.join(traits)})"]
    if lane.failure is not None:
        lines.append(f"  {paint('will not start', 'bad', color)}")
        lines += labelled("why", lane.failure.message, width)
        lines += failure_details(lane.failure, width)
    elif lane.command is not None:
        lines += [
            f"  $ cd {quote(str(lane.command.cwd))}",
            f"  $ {command_line(lane.command.argv)}",
        ]
        rows = [
            ("gets", _STDIN if lane.command.stdin else ""),
            ("sets", ", ".join(lane.command.environment_set)),
            ("passes on", ", ".join(sorted(lane.env_names))),
            ("left out", ", ".join(lane.command.dropped)),
        ]
        lines += facts(rows, width)
    warned = (*lane.warnings, *(lane.command.warnings if lane.command else ()))
    return lines + bullets([clean(warning) for warning in warned], width)


def _budget(budget: Budget) -> str:
    parts = (
        plural(budget.turns, "turn") if budget.turns else "",
        f"${budget.cost_usd:g}" if budget.cost_usd else "",
        format_duration(budget.seconds) if budget.seconds else "",
        plural(budget.tool_calls, "tool call") if budget.tool_calls else "",
    )
    return ", ".join(filter(None, parts))


def _verdict(plan: RacePlan) -> str:
    able = sum(1 for lane in plan.lanes if lane.failure is None)
    return f"nothing was started: {able} of {plural(len(plan.lanes), 'lane')} would start"
