"""Config, flags and probes to a `RacePlan`: everything that is decided before anything runs.

Each lane's part of it is `lane_plan.py`'s; here is what holds for the race. Pure: no I/O, so
`--dry-run` prints exactly what a race would do.
"""

from __future__ import annotations

import shlex
from dataclasses import replace

from hydra.errors import NoAgentReady, Refused
from hydra.lane_plan import Known, plan_lane
from hydra.lanes import left_out_warning
from hydra.model import (
    Check,
    Confinement,
    LanePlan,
    Permission,
    RacePlan,
    Task,
)
from hydra.sandbox import WITH_FULL_ACCESS

SUBJECT, BODY = 72, 4000
"""Characters of the task in a patch's commit: in its first line, and in all."""


def make(known: Known, *, unready: bool = False) -> RacePlan:
    """The plan of one race; `unready`: also where no lane could start.

    Raises `NoAgentReady` where no lane could start, `Refused` where a permission was asked for
    outright that nothing here can confine.
    """
    race = known.config.race
    permission = race.permission or Permission.FULL_AUTO
    lanes = tuple(plan_lane(known, lane) for lane in known.lanes)
    if not unready and all(lane.failure is not None for lane in lanes):
        failures = tuple(lane.failure for lane in lanes if lane.failure is not None)
        raise NoAgentReady(_why_none(lanes), hint=_what_next(lanes), failures=failures)
    plan = RacePlan(
        run=known.run,
        task=known.task,
        lanes=lanes,
        permission=permission,
        confinement=_walls(known),
        limits=known.config.limits,
        max_parallel=race.max_parallel,
        network=race.network,
        copies=race.copies,
        dependencies=known.dependencies if _confines(known) else (),
        setup=race.setup if _confines(known) or race.setup_trusted else (),
        checks=_checks(known),
        checks_parallel=known.config.checks.parallel,
        checks_tree=known.config.checks.tree,
        checks_network=known.config.checks.network,
        trials=known.config.judge.trials,
        keep=race.keep,
        retry=known.config.retry,
        left_out=known.left_out,
    )
    missed = (left_out_warning(failure) for failure in known.left_out)
    return replace(plan, warnings=(*known.warnings, *missed, *_warnings(known, plan)))


def _confines(known: Known) -> bool:
    """Whether anything keeps a repository's own commands to their lane."""
    return known.confinement.holds and known.config.race.permission is not Permission.UNRESTRICTED


def _walls(known: Known) -> Confinement:
    """The confinement as this race has it: with full access one promise of it is left."""
    held = known.confinement
    if not held.holds or _confines(known):
        return held
    return held._replace(promises=tuple(it for it in held.promises if it in WITH_FULL_ACCESS))


def _checks(known: Known) -> tuple[Check, ...]:
    """The checks that may run here. Raises `Refused` for a network that nothing can keep apart."""
    checks = known.config.checks
    if not _confines(known) and not checks.trusted:
        return ()
    if checks.checks and checks.network == "private" and not known.confinement.holds:
        raise no_private_network(known.confinement.reason)
    return checks.checks


def no_private_network(reason: str) -> Refused:
    """What is raised where checks ask for a network of their own and it cannot be had."""
    return Refused(
        f'checks.network = "private" cannot be had here ({reason})',
        hint="leave checks.network at host, or install bubblewrap where it is missing",
    )


def patch_message(plan: RacePlan, lane: LanePlan) -> str:
    """What the commit of a lane's patch says: the task, and trailers for who and where."""
    trailers = [f"Hydra-Agent: {lane.lane.adapter} {lane.version}".rstrip()]
    if lane.lane.model:
        trailers.append(f"Hydra-Model: {lane.lane.model}")
    trailers.append(f"Hydra-Run: {plan.run}")
    return f"{_told(plan.task)}\n\n" + "\n".join(trailers) + "\n"


def _told(task: Task) -> str:
    """The task as a commit's subject, and below it what the subject has no room for."""
    text = task.prompt.strip() or task.title
    line = text.splitlines()[0]
    if len(line) <= SUBJECT:
        subject, rest = line, text[len(line) :].strip()
    else:
        begins = line[: SUBJECT - 4].rpartition(" ")[0] or line[: SUBJECT - 4]
        subject, rest = f"{begins} ...", f"... {text[len(begins) :].strip()}"
    return f"{subject}\n\n{rest[:BODY]}" if rest else subject


def _why_none(lanes: tuple[LanePlan, ...]) -> str:
    reasons = "; ".join(
        f"{lane.lane.id}: {lane.failure.message}" for lane in lanes if lane.failure is not None
    )
    return f"no lane can start ({reasons})"


def _what_next(lanes: tuple[LanePlan, ...]) -> str:
    """Each lane's own next step, once: doctor knows of no flag that a lane was asked for."""
    steps = [lane.failure.hint for lane in lanes if lane.failure is not None]
    return "; ".join(dict.fromkeys(filter(None, steps))) or (
        "`hydra doctor` shows what each agent needs"
    )


READ_ONLY = (
    "this machine refuses overlays: lanes have the checkout's dependencies read-only, and can "
    "install nothing into them"
)


def _warnings(known: Known, plan: RacePlan) -> list[str]:
    warnings = []
    if plan.permission is Permission.UNRESTRICTED:
        warnings.append(
            "--unsafe-full-access: the agents can read and change everything that you can"
        )
    elif not known.confinement.holds:
        lowered = [
            lane.lane.id
            for lane in plan.lanes
            if lane.permission is Permission.EDIT
            and plan.permission is Permission.FULL_AUTO
            and lane.remote is None
        ]
        edit_only = f"; {', '.join(lowered)}: edits only, no commands" if lowered else ""
        warnings.append(f"not confined ({known.confinement.reason}){edit_only}")
    elif known.confinement.reason:
        warnings.append(known.confinement.reason)
    if plan.dependencies and not plan.confinement.mounters:
        warnings.append(READ_ONLY)
    if known.config.race.setup and not plan.setup:
        warnings.append(
            "the repository's set-up commands are skipped: nothing confines them here "
            "(--setup, or your own hydra.toml, runs them all the same)"
        )
    skipped = known.config.checks.checks if not plan.checks else ()
    if skipped and skipped[0].guessed:
        named = " ".join(f"--check {shlex.quote(check.command)}" for check in skipped)
        warnings.append(f"no check is guessed where nothing confines it; to run it: {named}")
    elif skipped:
        names = ", ".join(check.name for check in skipped)
        warnings.append(
            f"the repository's checks are skipped ({names}): nothing confines them here "
            "(--check, or your own hydra.toml, runs them all the same)"
        )
    return [*warnings, *_replaced(known, plan)]


def _replaced(known: Known, plan: RacePlan) -> list[str]:
    """The user's variables that an adapter sets otherwise, once each; a switch is not told of."""
    agents = {
        name: lane.label
        for lane in plan.lanes
        for name, value in (lane.command.env if lane.command else ())
        if name in known.environment_names and _holds_settings(name, value)
    }
    return [f"your {name} is not used: Hydra sets it for {label}" for name, label in agents.items()]


def _holds_settings(name: str, value: str) -> bool:
    return value.startswith("{") or name.endswith("_SETTINGS_PATH")
