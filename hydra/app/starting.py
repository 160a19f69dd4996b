"""Before any agent: whether the checks of a race start on its base."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

import trio

from hydra import paths
from hydra.app.check_hints import installing, refusal
from hydra.app.hidden_places import HiddenPlaces
from hydra.app.signals import cancelled_by_signal
from hydra.errors import HydraError, Refused
from hydra.model import RacePlan

if TYPE_CHECKING:
    from hydra.app.checking import Surroundings
    from hydra.checks.kit import Kit


class NeverBegun(Exception):
    """The race ends before any agent: by a signal, or as `refused` says."""

    def __init__(self, number: int = 0, refused: Refused | None = None) -> None:
        super().__init__(number, refused)
        self.number = number
        self.refused = refused


async def startable(planned: RacePlan, around: Surroundings) -> RacePlan:
    """The plan with the checks that start on its base: a guess that does not is left out, and
    said. Raises `NeverBegun` for one that was named, and at a signal."""
    if not planned.checks:
        return planned
    received: list[int] = []
    refused: list[Refused] = []
    problems: Mapping[str, str] = {}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancelled_by_signal, nursery.cancel_scope, received.append)
        try:
            problems = await _look(planned, around)
        except Refused as error:
            refused.append(error)  # raised below: a nursery would wrap it
        nursery.cancel_scope.cancel()
    if received:
        raise NeverBegun(received[0])
    if refused:
        raise NeverBegun(refused=refused[0])
    hidden = await trio.to_thread.run_sync(_hidden, planned, around, problems)
    return _without(planned, problems, hidden)


async def _look(planned: RacePlan, around: Surroundings) -> Mapping[str, str]:
    await trio.to_thread.run_sync(import_module, "hydra.checks.start")
    from hydra.app.checking import kit_of
    from hydra.app.import_proof import prove

    kit = await trio.to_thread.run_sync(kit_of, planned, around, around.run_folder / "look")
    await prove(kit, planned.task.base)
    if planned.setup:
        return {}  # what it installs is not there yet
    return await _look_once(kit, planned.task.base, around.environ)


async def _look_once(kit: Kit, commit: str, environ: Mapping[str, str]) -> Mapping[str, str]:
    from hydra.app.looks import PassedLook
    from hydra.checks.start import look

    earlier: PassedLook | None = None
    with suppress(OSError, HydraError):  # what is wrong with the dependencies is said elsewhere
        earlier = await trio.to_thread.run_sync(PassedLook, kit, commit, environ)
    if earlier is not None and earlier.remembered:
        return {}
    seen = await look(kit, commit)
    if seen.passed and earlier is not None:
        earlier.remember()
    return seen.problems


def _hidden(
    planned: RacePlan, around: Surroundings, problems: Mapping[str, str]
) -> Mapping[str, str]:
    """By check, what would have to be shown of HOME for it to start."""
    if not planned.confined:
        return {}
    places = HiddenPlaces(
        view=around.view,
        own=(around.repository.root, around.state),
        settings_file=paths.user_config_file(around.environ),
        run_folder=around.run_folder,
    )
    notes = {name: places.notice_text(line, "check_ended") for name, line in problems.items()}
    return {name: lines[0] for name, lines in notes.items() if lines}


def _without(planned: RacePlan, problems: Mapping[str, str], hidden: Mapping[str, str]) -> RacePlan:
    if not problems:
        return planned
    for check in planned.checks:
        if check.name in problems and not check.guessed:
            line, way = problems[check.name], hidden.get(check.name, "")
            refused = refusal(line, check.command, planned.task.repository, way)
            raise NeverBegun(refused=refused)
    lost = [check for check in planned.checks if check.name in problems]
    said = tuple(
        f"the guess `{check.command}` is not used: it cannot run here ({problems[check.name]})"
        f"{_bringing(problems[check.name], check.command, planned)}"
        for check in lost
    )
    started = tuple(check for check in planned.checks if check not in lost)
    warnings = (*planned.warnings, *said, *(hidden[it.name] for it in lost if it.name in hidden))
    return replace(planned, checks=started, warnings=warnings)


def _bringing(line: str, command: str, planned: RacePlan) -> str:
    setup = installing(line, command, planned.task.repository)
    return f"; to install what it needs: --setup {shlex.quote(setup)}" if setup else ""
