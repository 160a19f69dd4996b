"""Which programs may be an agent here, and which of those that cannot race is worth a word.

The first that PATH has of a name need not be the agent, or one that works: an editor's launcher, a
broken shim, an old version in front of the new one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from msgspec.structs import replace

from hydra import executables
from hydra.adapters.contract import Descriptor
from hydra.adapters.probe.context import ProbeContext
from hydra.errors import Failure
from hydra.records.agent import DetectResult

_OF_ONE_PROGRAM = frozenset(
    ("BinaryMissing", "UnsupportedFlag", "UnsupportedVersion", "SpawnFailed")
)
"""What is wrong with one program, and may not be with another of that name. Whoever is signed out
of one is signed out of all."""


def candidates(descriptor: Descriptor, around: ProbeContext) -> list[Path]:
    """The program that the settings name; else all on PATH, the agent's own names first.

    What a relative entry of PATH leads to belongs to whatever folder this is, and is never run.
    """
    path = executables.absolute_path(around.environ.get("PATH"))
    configured = around.paths.get(descriptor.key)
    if configured:
        program = executables.find_all_users(configured, path)
        return [Path(program)] if program else []
    names = (*descriptor.binaries, *descriptor.generic_binaries)
    programs: dict[tuple[str, str], Path] = {}
    for name, folder in product(names, path.split(os.pathsep)):
        if program := executables.find_all_users(name, folder):
            # Once each, for /bin may be /usr/bin; by its name too, for a shim may be many.
            programs.setdefault((name, os.path.realpath(program)), Path(program))
    return list(programs.values())


def is_unfit(error: Failure | None) -> bool:
    """Whether another program of that name may do better; a sandbox that is broken is the
    machine's."""
    return error is not None and error.kind in _OF_ONE_PROGRAM and error.reason != "sandbox_broken"


def most_telling(descriptor: Descriptor, unfit: Sequence[DetectResult]) -> DetectResult:
    """Of those that cannot race, the first that is the agent at all, else the first."""
    result = next((other for other in unfit if _is_agent(descriptor, other)), unfit[0])
    return passing_over(descriptor, result, [other for other in unfit if other is not result])


def passing_over(
    descriptor: Descriptor, result: DetectResult, unfit: Sequence[DetectResult]
) -> DetectResult:
    """`result`, with a word on each program that was passed over for it. That a name which others
    use too is another's is no news."""
    remarks = [
        f"{other.binary} was passed over: {other.error.message}"
        for other in unfit
        if other.error is not None
        and (_is_agent(descriptor, other) or not _is_generic(descriptor, other))
    ]
    return replace(result, warnings=(*result.warnings, *remarks))


def _is_agent(descriptor: Descriptor, result: DetectResult) -> bool:
    missing = result.error is not None and result.error.kind == "BinaryMissing"
    return bool(result.version) or not (missing or _is_generic(descriptor, result))


def _is_generic(descriptor: Descriptor, result: DetectResult) -> bool:
    return result.binary is not None and result.binary.name in descriptor.generic_binaries
