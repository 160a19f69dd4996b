"""Before any agent: whether the checks of a race start on its base."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from hydra import paths
from hydra.errors import HydraError, Refused
from hydra.race.check_hints import installing, lacks_packages, refusal
from hydra.race.hidden_places import HiddenPlaces, ignored_files
from hydra.race.signals import cancelled_by_signal
from hydra.records.plan import RacePlan

if TYPE_CHECKING:
    from hydra.checks.context import CheckContext
    from hydra.checks.start import StartReport
    from hydra.race.checks_phase import CheckEnvironment


_PATIENCE = 10.0
"""Seconds that a refusal waits for git to list what it ignores."""


class NeverBegun(Exception):
    """The race ends before any agent: by a signal, or as `refused` says."""

    def __init__(self, number: int = 0, refused: Refused | None = None) -> None:
        super().__init__(number, refused)
        self.number = number
        self.refused = refused


async def startable(planned: RacePlan, around: CheckEnvironment, folder: str = "") -> RacePlan:
    """The plan with the checks that start on its base: a guess that does not is left out, and
    said. Raises `NeverBegun` for one that was named or that there is a way for, as one types it in
    `folder`, and at a signal."""
    if not planned.checks:
        return planned
    received: list[int] = []
    refused: list[Refused] = []
    looked: StartReport | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancelled_by_signal, nursery.cancel_scope, received.append)
        try:
            looked = await _look(planned, around)
        except Refused as error:
            refused.append(error)  # raised below: a nursery would wrap it
        nursery.cancel_scope.cancel()
    if received:
        raise NeverBegun(received[0])
    if refused:
        raise NeverBegun(refused=refused[0])
    if looked is None:
        return planned
    problems, ways = await trio.to_thread.run_sync(_problems_and_ways, planned, around, looked)
    return _without(planned, problems, ways, folder)


async def _look(planned: RacePlan, around: CheckEnvironment) -> StartReport | None:
    await trio.to_thread.run_sync(import_module, "hydra.checks.start")
    from hydra.race.checks_phase import kit_of
    from hydra.race.import_proof import prove

    context = await trio.to_thread.run_sync(kit_of, planned, around, around.run_folder / "look")
    await prove(context, planned.task.base)
    if planned.setup:
        return None  # what it installs is not there yet
    return await _look_once(context, planned.task.base, around.environ)


async def _look_once(
    context: CheckContext, commit: str, environ: Mapping[str, str]
) -> StartReport | None:
    from hydra.checks.start import look
    from hydra.race.dry_runs import PassedLook

    earlier: PassedLook | None = None
    with suppress(OSError, HydraError):  # what is wrong with the dependencies is said elsewhere
        earlier = await trio.to_thread.run_sync(PassedLook, context, commit, environ)
    if earlier is not None and earlier.remembered:
        return None
    seen = await look(context, commit)
    if seen.passed and earlier is not None:
        earlier.remember()
    return seen


def _problems_and_ways(
    planned: RacePlan, around: CheckEnvironment, looked: StartReport
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """By check, why it cannot start, and what would help: a file to be copied, a place to be
    shown."""
    from hydra.checks import failure_lines

    places = HiddenPlaces(
        view=around.view,
        own=(around.repository.root, around.state),
        settings_file=paths.user_config_file(around.environ),
        run_folder=around.run_folder,
        ignored=ignored_files(around.repository, _PATIENCE),
    )
    problems, ways = dict(looked.problems), dict[str, str]()
    for name, text in looked.outputs.items():
        # What the task may be to make stops nothing, but for what lies in the checkout.
        if way := next(places.left_out(text, "check_ended"), ""):
            problems.setdefault(
                name, next(iter(failure_lines.lines(text)), "its tests do not load")
            )
            ways[name] = way
    for name, line in problems.items() if planned.confined else ():
        if name not in ways and (lines := places.notice_text(line, "check_ended")):
            ways[name] = lines[0]
    return problems, ways


def _without(
    planned: RacePlan, problems: Mapping[str, str], ways: Mapping[str, str], folder: str
) -> RacePlan:
    top = planned.task.repository
    lost = [check for check in planned.checks if check.name in problems]
    for check in lost:
        line, way = problems[check.name], ways.get(check.name, "")
        if not check.guessed or way or lacks_packages(line, check.command, top):
            refused = refusal(line, check.command, top, way, folder=folder, guessed=check.guessed)
            raise NeverBegun(refused=refused)
    if not lost:
        return planned
    lines = tuple(
        f"the guess `{check.command}` is not used: it cannot run here ({problems[check.name]})"
        f"{_bringing(problems[check.name], check.command, top, folder)}"
        for check in lost
    )
    started = tuple(check for check in planned.checks if check not in lost)
    return replace(planned, checks=started, warnings=(*planned.warnings, *lines))


def _bringing(line: str, command: str, top: Path, folder: str) -> str:
    setup = installing(line, command, top, folder)
    return f"; to install what it needs: --setup {shlex.quote(setup)}" if setup else ""
