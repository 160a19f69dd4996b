"""How commands are confined on this machine: found by running bwrap once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import trio
from msgspec.structs import replace

from hydra import executables
from hydra.errors import Exhausted
from hydra.log import get_logger
from hydra.paths import make_private
from hydra.process.fence import scopes_work
from hydra.process.records import CannotStart
from hydra.process.run import run
from hydra.process.sandbox.layers import TRIAL, TRIAL_FOLDER, Layer, entering
from hydra.process.sandbox.trial import judge, trial_argv
from hydra.records.plan import Confinement
from hydra.shortage import is_short

_log = get_logger(__name__)

OPEN_SOCKETS = (
    "agents can reach this machine's abstract sockets (X11, D-Bus): the kernel has no Landlock "
    "scopes (Linux 6.12)"
)


async def try_confinement(environ: Mapping[str, str]) -> Confinement:
    """How commands are confined here: found by running bwrap, not by looking it up.

    Raises `Exhausted` where the machine had no process or memory for it: nobody would want to race
    unconfined for that.
    """
    program = executables.find("bwrap", environ.get("PATH"))
    if not program:
        _log.info("nothing confines: there is no bwrap on PATH")
        return judge("", 127, "")
    result = await _tried(program, environ, private_network=True)
    if not result.holds:
        refused = result.reason
        result = await _tried(program, environ, private_network=False)
        result = replace(result, refused_network=refused)
    if result.holds and not scopes_work():
        result = replace(result, reason=OPEN_SOCKETS)
    _log.info("confinement", kind=result.kind, program=program, reason=result.reason)
    return result


async def _tried(program: str, environ: Mapping[str, str], *, private_network: bool) -> Confinement:
    argv = trial_argv(program, private_network=private_network)
    try:
        ran = await run(argv, env={"PATH": environ.get("PATH", "")}, cwd=Path("/"), timeout=10)
    except CannotStart as error:
        if not private_network:
            _refuse_short(f"{error} {error.stderr}")
        return judge(program, 126, str(error))
    stderr = ran.stderr.decode("utf-8", "replace")
    if not private_network:  # of which a machine may be short alone
        _refuse_short(stderr if ran.exit_code else "")
    return judge(program, ran.exit_code if ran.exit_code is not None else 124, stderr)


def _refuse_short(stderr: str) -> None:
    if is_short(stderr):
        raise Exhausted(
            f"bwrap could not be tried: {stderr.strip()}",
            hint="end other programs, or raise the limits of processes and memory (`ulimit -a`)",
        )


async def try_layers(
    confinement: Confinement, environ: Mapping[str, str], state: Path
) -> Confinement:
    """The same with what mounts overlays on the disk of `state`, or why that does not work: found
    by doing there, in small, what package managers do."""
    names = ("unshare", "sh", "mount", "nsenter")
    mounters = tuple(executables.find(name, environ.get("PATH")) for name in names)
    if not confinement.holds:
        return confinement
    if missing := [name for name, path in zip(names, mounters, strict=True) if not path]:
        return replace(confinement, refused_layers=f"{missing[0]} is not installed")
    make_private(state / "g")
    with TemporaryDirectory(dir=state / "g", prefix=TRIAL_FOLDER) as scratch:
        refused = await _refused(Path(scratch), mounters)
    _log.info("layers", refused=refused)
    if refused:
        return replace(confinement, refused_layers=refused)
    return replace(confinement, mounters=mounters)


async def _refused(scratch: Path, mounters: Sequence[str]) -> str:
    try:
        layer = await trio.to_thread.run_sync(_mounted, scratch, mounters)
    except OSError as error:  # a profile of AppArmor's may let bwrap make namespaces, and no other
        return str(error).splitlines()[0]
    trial = (mounters[1], "-c", TRIAL, "sh", str(layer.source("")))
    try:
        ran = await run((*entering(layer, mounters), *trial), env={}, cwd=Path("/"), timeout=10)
    except CannotStart as error:
        return str(error)
    finally:
        layer.unmounted()
    return "" if ran.exit_code == 0 else "a folder of one could not be emptied"


def _mounted(scratch: Path, mounters: Sequence[str]) -> Layer:
    (scratch / "old/folder").mkdir(parents=True)
    (scratch / "old/file").touch()
    return Layer(lower=scratch / "old", folder=scratch / "new").mounted(mounters)
