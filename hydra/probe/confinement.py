"""How commands are confined on this machine: found by running bwrap once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hydra import executables
from hydra.model import Confinement
from hydra.process import CannotStart, run
from hydra.sandbox import judge, trial_argv


async def try_confinement(environ: Mapping[str, str]) -> Confinement:
    """How commands are confined here: found by running bwrap once, not by looking it up."""
    program = executables.find("bwrap", environ.get("PATH"))
    if not program:
        return judge("", 127, "")
    try:
        ran = await run(
            trial_argv(program), env={"PATH": environ.get("PATH", "")}, cwd=Path("/"), timeout=10
        )
    except CannotStart as error:
        return judge(program, 126, str(error))
    code = ran.exit_code if ran.exit_code is not None else 124
    return judge(program, code, ran.stderr.decode("utf-8", "replace"))


async def refused_network(confinement: Confinement, environ: Mapping[str, str]) -> str:
    """Why no network of its own can be had for a check here, "" where it can: tried by bwrap."""
    if not confinement.holds:
        return confinement.reason
    argv = trial_argv(confinement.program, private_network=True)
    try:
        ran = await run(argv, env={"PATH": environ.get("PATH", "")}, cwd=Path("/"), timeout=10)
    except CannotStart as error:
        return str(error)
    said = ran.stderr.decode("utf-8", "replace")
    return "" if ran.exit_code == 0 else judge(confinement.program, ran.exit_code, said).reason
