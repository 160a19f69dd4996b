"""Config, flags and probes to a `RacePlan`: everything that is decided before anything runs.

Each lane's part of it is `lane_plan.py`'s; here is what holds for the race. Pure: no I/O, so
`--dry-run` prints exactly what a race would do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from hydra.adapters.contract import Adapter
from hydra.errors import NOT_INSTALLED, Failure, NoAgentReady, Refused
from hydra.process.sandbox.trial import WITH_FULL_ACCESS
from hydra.race.lane_plan import PlanInputs, plan_lane
from hydra.records.agent import DetectResult, Tier
from hydra.records.plan import CheckPlan, LanePlan, RacePlan
from hydra.records.request import Check, Lane, Permission
from hydra.redaction import redacted
from hydra.text import shell_quoted

SUBJECT, BODY = 72, 4000
"""Characters of the task in a patch's commit: in its first line, and in all."""


def make(inputs: PlanInputs) -> RacePlan:
    """The plan of one race.

    Raises `NoAgentReady` where no lane could start, `Refused` where a permission was asked for
    outright that nothing here can confine, or a network of checks that nothing can keep apart.
    """
    race = inputs.config.race
    permission = race.permission or Permission.FULL_AUTO
    lanes = tuple(plan_lane(inputs, lane) for lane in inputs.lanes)
    if all(lane.failure is not None for lane in lanes):
        failures = {lane.id: lane.failure for lane in lanes if lane.failure is not None}
        reasons = "; ".join(f"{lane}: {failure.message}" for lane, failure in failures.items())
        # Each lane's own next step, once: doctor knows of no flag that a lane was asked for.
        steps = dict.fromkeys(failure.hint for failure in failures.values() if failure.hint)
        raise NoAgentReady(
            f"no lane can start ({reasons})",
            hint="; ".join(steps) or "`hydra doctor` shows what each agent needs",
            failures=tuple(failures.values()),
        )
    plan = RacePlan(
        run=inputs.run,
        prompt=inputs.prompt,
        repository=inputs.repository,
        base=inputs.base,
        base_name=inputs.base_name,
        title=title(redacted(inputs.prompt)),
        lanes=lanes,
        permission=permission,
        confinement=inputs.confinement,
        promises=_promises(inputs),
        limits=inputs.config.limits,
        max_parallel=race.max_parallel,
        network=race.network,
        copies=race.copies,
        dependencies=inputs.dependencies if _confines(inputs) else (),
        setup=race.setup if _confines(inputs) or race.setup_trusted else (),
        checking=CheckPlan(
            commands=_checks(inputs),
            parallel=inputs.config.checks.parallel,
            network=inputs.config.checks.network,
            trials=inputs.config.trials,
        ),
        keep=race.keep,
        retry=inputs.config.retry,
        left_out=inputs.left_out,
    )
    missed = (left_out_warning(failure) for failure in inputs.left_out)
    plan = replace(plan, warnings=(*inputs.warnings, *missed, *_warnings(inputs, plan)))
    return with_network(plan)


def _confines(inputs: PlanInputs) -> bool:
    """Whether anything keeps a repository's own commands to their lane."""
    return inputs.confinement.holds and inputs.config.race.permission is not Permission.UNRESTRICTED


def _promises(inputs: PlanInputs) -> tuple[str, ...]:
    """What the confinement holds in this race: with full access one promise of it is left."""
    promises = inputs.confinement.promises
    if not inputs.confinement.holds or _confines(inputs):
        return promises
    return tuple(promise for promise in promises if promise in WITH_FULL_ACCESS)


def _checks(inputs: PlanInputs) -> tuple[Check, ...]:
    """The checks that may run here."""
    checks = inputs.config.checks
    if not _confines(inputs) and not checks.trusted:
        return ()
    return checks.checks


def with_network(plan: RacePlan) -> RacePlan:
    """The plan, with this machine's network for its checks where none of their own can be had here;
    where something confines, that is said. Raises `Refused` where one was asked for outright."""
    confinement = plan.confinement
    reason = confinement.refused_network if confinement.holds else confinement.reason
    if plan.checking.network == "host" or not plan.checks or not reason:
        return plan
    if plan.checking.network == "private":
        raise Refused(
            f'checks.network = "private" cannot be had here ({reason})',
            hint="leave checks.network at auto, or install bubblewrap where it is missing",
        )
    note = (
        "checks use this machine's network, one at a time once no agent runs: none of their own "
        f"can be had here ({reason})"
    )
    return plan.with_checks((note,) if confinement.holds else (), network="host")


def patch_message(plan: RacePlan, lane: LanePlan) -> str:
    """What the commit of a lane's patch says: the task, and trailers for who and where."""
    trailers = [f"Hydra-Agent: {lane.adapter} {lane.version}".rstrip()]
    if lane.model:
        trailers.append(f"Hydra-Model: {lane.model}")
    trailers.append(f"Hydra-Run: {plan.run}")
    return f"{_task_text(plan)}\n\n" + "\n".join(trailers) + "\n"


def _task_text(plan: RacePlan) -> str:
    """The task as a commit's subject; where that has no room for all of it, whole below."""
    text = redacted(plan.prompt.strip() or plan.title)
    line = text.splitlines()[0]
    if len(line) <= SUBJECT:
        subject, body = line, text[len(line) :].strip()
    else:
        subject, body = line[: SUBJECT + 1].rpartition(" ")[0] or line[:SUBJECT], text
    return f"{subject.rstrip()}\n\n{body[:BODY]}" if body else subject


def _warnings(inputs: PlanInputs, plan: RacePlan) -> list[str]:
    warnings = []
    if plan.permission is Permission.UNRESTRICTED:
        warnings.append(
            "--unsafe-full-access: the agents can read and change everything that you can"
        )
    elif not inputs.confinement.holds:
        lowered = [
            lane.id
            for lane in plan.lanes
            if lane.permission is Permission.EDIT
            and plan.permission is Permission.FULL_AUTO
            and lane.remote is None
        ]
        edit_only = f"; {', '.join(lowered)}: edits only, no commands" if lowered else ""
        warnings.append(f"not confined ({inputs.confinement.reason}){edit_only}")
    elif inputs.confinement.reason:
        warnings.append(inputs.confinement.reason)
    if plan.dependencies and not plan.confinement.mounters:
        warnings.append(
            f"no overlays here ({plan.confinement.refused_layers}): lanes have the checkout's "
            "dependencies read-only, and can install nothing into them"
        )
    if inputs.config.race.setup and not plan.setup:
        warnings.append(
            "the repository's set-up commands are skipped: nothing confines them here "
            "(--setup, or your own hydra.toml, runs them all the same)"
        )
    skipped = inputs.config.checks.checks if not plan.checks else ()
    if skipped and skipped[0].guessed:
        named = " ".join(f"--check {shell_quoted(check.command)}" for check in skipped)
        warnings.append(f"no check is guessed where nothing confines it; to run it: {named}")
    elif skipped:
        names = ", ".join(check.name for check in skipped)
        warnings.append(
            f"the repository's checks are skipped ({names}): nothing confines them here "
            "(--check, or your own hydra.toml, runs them all the same)"
        )
    return [*warnings, *_replaced(inputs, plan)]


def _replaced(inputs: PlanInputs, plan: RacePlan) -> list[str]:
    """The user's variables that an adapter sets otherwise, once each; a switch is not told of."""
    label_by_variable = {
        name: lane.label
        for lane in plan.lanes
        for name, value in (lane.built.env if lane.built else ())
        if name in inputs.environment_names
        and (value.startswith("{") or name.endswith("_SETTINGS_PATH"))
    }
    return [
        f"your {name} is not used: Hydra sets it for {label}"
        for name, label in label_by_variable.items()
    ]


# ---- Which lanes race: those that were asked for, else one of every agent that is on by itself;
# and which agents may, because they are proved or were let in. Pure.


def select_lanes(
    lanes: tuple[Lane, ...], results: Mapping[str, DetectResult], adapters: Mapping[str, Adapter]
) -> tuple[Lane, ...]:
    """The lanes asked for, or one of every ready Tier-1 agent. Raises `NoAgentReady`."""
    if lanes:
        return lanes
    ready = tuple(
        Lane(id=key, adapter=key)
        for key in results
        if results[key].ready and adapters[key].descriptor.tier is Tier.TIER1
    )
    if ready:
        return ready
    raise NoAgentReady(
        f"no agent is ready ({_reasons(results)})",
        hint="`hydra doctor` says what each one needs; `hydra demo` works without any",
        failures=tuple(result.error for result in results.values() if result.error),
    )


def _reasons(results: Mapping[str, DetectResult]) -> str:
    errors = {key: result.error for key, result in results.items() if result.error}
    if errors and all(error.reason == NOT_INSTALLED for error in errors.values()):
        return f"not installed: {', '.join(errors)}"
    text = "; ".join(f"{key}: {error.message}" for key, error in errors.items())
    return text or "none was probed"


def left_out(results: Mapping[str, DetectResult]) -> tuple[Failure, ...]:
    """Why an agent is in no race that names none: of each that is installed and cannot start.

    One that is not installed is nobody's loss; one whose path the settings name is to be there.
    """
    errors = (result.error for result in results.values())
    return tuple(error for error in errors if error is not None and error.reason != NOT_INSTALLED)


def left_out_warning(failure: Failure) -> str:
    """One line, with the next step."""
    step = f"; next: {failure.hint}" if failure.hint else ""
    return f"{failure.adapter} is left out of this race ({failure.message}){step}"


# ---- A short title for a run, from its task alone: no model is asked.

LONGEST = 60
"""Characters: a column of `hydra runs`."""


_MARKS = re.compile(r"^(?:[\s#>]+|[*+-](?=\s|$)|-{3,}\s*$|```.*)+")
"""What Markdown has before a line's words."""


def title(prompt: str) -> str:
    """The task's first line that says anything, as many of its words as fit."""
    lines = (_MARKS.sub("", line[:2000]).split() for line in prompt.splitlines())
    text = " ".join(next(filter(None, lines), prompt.split()))
    cut = text[: LONGEST - 4]
    return text if len(text) <= LONGEST else f"{cut.rpartition(' ')[0] or cut} ..."
