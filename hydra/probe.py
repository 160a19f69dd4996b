"""Asks the CLIs what they are: version, help, sign-in, own sandbox; all at once, each limited.

Answers are cached by the binary's identity, so a warm race asks nothing. Where something
confines, probes run with a read-only HOME: even `claude auth status` writes to `~/.claude`
otherwise (seen in 2.1.330).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import trio

from hydra import __version__
from hydra.adapters.contract import Adapter, Descriptor, Probe
from hydra.adapters.environment import select
from hydra.adapters.folders import folders_of, place_of
from hydra.errors import BinaryMissing, Failure
from hydra.model import Confinement, DetectResult, ProbeOutput, SignIn
from hydra.paths import make_private
from hydra.process import CannotStart, run
from hydra.sandbox import Walls, confine, judge, trial_argv, visible_paths

SIGN_IN = "sign_in"
OUTPUT_LIMIT = 1024 * 1024

Cache = dict[str, dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where probes run: the environment, HOME, how things are confined, configured paths.

    `extra_names` are the variables that the user gave an agent beyond its own: a provider of
    their own keeps its key there.
    """

    environ: Mapping[str, str]
    home: Path
    confinement: Confinement
    state: Path
    paths: Mapping[str, str]
    extra_names: Mapping[str, tuple[str, ...]]
    cache_file: Path | None = None
    confirm_sign_in: bool = False
    preflight: bool = True


async def try_confinement(environ: Mapping[str, str]) -> Confinement:
    """How commands are confined here: found by running bwrap once, not by looking it up."""
    program = shutil.which("bwrap", path=environ.get("PATH"))
    if program is None:
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


async def detect_all(adapters: Iterable[Adapter], around: Surroundings) -> dict[str, DetectResult]:
    """Every adapter as it is found here, all probed at once."""
    cache = _load(around.cache_file)
    before = json.dumps(cache, sort_keys=True)
    found: dict[str, DetectResult] = {}

    async def one(adapter: Adapter) -> None:
        found[adapter.key()] = await _detect(adapter, around, cache)

    adapters = list(adapters)
    async with trio.open_nursery() as nursery:
        for adapter in adapters:
            nursery.start_soon(one, adapter)
    if json.dumps(cache, sort_keys=True) != before:
        _save(around.cache_file, cache)
    return {adapter.key(): found[adapter.key()] for adapter in adapters}


async def _detect(adapter: Adapter, around: Surroundings, cache: Cache) -> DetectResult:
    """The first candidate that proves to be this agent, else the most telling failure."""
    descriptor = adapter.descriptor
    failed: DetectResult | None = None
    for binary in _candidates(descriptor, around):
        result = await _ask(adapter, binary, around, cache)
        if result.error is None or result.error.kind != "BinaryMissing":
            return result
        failed = failed or result
    return failed or DetectResult(adapter=descriptor.key, error=_missing(descriptor, around))


def _missing(descriptor: Descriptor, around: Surroundings) -> Failure:
    configured = around.paths.get(descriptor.key)
    tried = configured or ", ".join((*descriptor.binaries, *descriptor.generic_binaries))
    where = "" if configured else " on PATH"
    return BinaryMissing(
        f"{descriptor.label} was not found{where} (looked for {tried})",
        adapter=descriptor.key,
        command=(tried.split(", ")[0],),
        hint=descriptor.install_hint,
    ).failure


def _candidates(descriptor: Descriptor, around: Surroundings) -> list[Path]:
    configured = around.paths.get(descriptor.key)
    if configured:
        named = shutil.which(configured, path=around.environ.get("PATH"))
        return [Path(named)] if named else []
    names = (*descriptor.binaries, *descriptor.generic_binaries)
    paths = [shutil.which(name, path=around.environ.get("PATH")) for name in names]
    return [Path(path).absolute() for path in paths if path]


async def _ask(adapter: Adapter, binary: Path, around: Surroundings, cache: Cache) -> DetectResult:
    descriptor = adapter.descriptor
    signed, detail = _seems_signed_in(descriptor, around)
    answers: dict[str, ProbeOutput] = {}
    identity = _identity(binary)

    async def one(probe: Probe) -> None:
        key = _cache_key(descriptor, probe, identity, around)
        held = cache.get(key) if identity and probe.name != SIGN_IN else None
        answer = _decode(held) or await _run_probe(descriptor, probe, binary, around)
        answers[probe.name] = answer
        if probe.name != SIGN_IN and identity and answer.exit_code == 0:
            cache[key] = _encode(answer)

    async with trio.open_nursery() as nursery:
        for probe in descriptor.probes:
            if probe.name == SIGN_IN and signed and not around.confirm_sign_in:
                continue
            if probe.confined and not around.preflight:
                continue
            nursery.start_soon(one, probe)
    result = adapter.detect(str(binary), answers)
    if result.sign_in in (SignIn.UNKNOWN, SignIn.MISSING) and signed:
        error = result.error
        if error is not None and error.kind == "AuthMissing":
            error = None
        return replace(result, sign_in=SignIn.SEEMS_SO, sign_in_detail=detail, error=error)
    return result


def _seems_signed_in(descriptor: Descriptor, around: Surroundings) -> tuple[bool, str]:
    """From names and files only; no value is ever read."""
    own = around.extra_names.get(descriptor.key, ())
    for name in (*descriptor.sign_in_environment, *own):
        if around.environ.get(name):
            return True, f"{name} is set"
    for folder in folders_of(descriptor):
        place = place_of(folder, around.environ, around.home)
        for name in folder.credentials:
            if (place / name).is_file():
                return True, f"{place / name} is there"
    return False, ""


async def _run_probe(
    descriptor: Descriptor, probe: Probe, binary: Path, around: Surroundings
) -> ProbeOutput:
    argv = (str(binary), *probe.args)
    environ = select(descriptor, around.environ, around.extra_names.get(descriptor.key, ()))
    with tempfile.TemporaryDirectory(prefix="hydra-probe-", dir=_scratch(around)) as scratch:
        folder = Path(scratch)
        if (probe.confined or probe.own_folder) and descriptor.config is not None:
            # Codex's sandbox helper links itself into its config folder, which must be writable.
            environ[descriptor.config.variable] = str(folder)
        if around.confinement.holds:
            # OpenCode makes its folders at every start, which a read-only HOME does not let it.
            environ["XDG_CACHE_HOME"] = str(folder)
            for own in folders_of(descriptor):
                if not place_of(own, around.environ, around.home).exists():
                    environ[own.variable] = str(folder)
        try:
            ran = await run(
                argv,
                env=environ,
                cwd=folder,
                timeout=probe.timeout,
                wrap=partial(confine, around.confinement, _probe_walls(around, folder, binary)),
                output_limit=OUTPUT_LIMIT,
            )
        except CannotStart as error:
            return ProbeOutput(
                name=probe.name, argv=argv, exit_code=126, stderr=f"{error}\n{error.stderr}"
            )
    told, aside = (data.decode("utf-8", "replace") for data in (ran.stdout, ran.stderr))
    if probe.stderr and not told.strip():
        told, aside = aside, told
    return ProbeOutput(
        name=probe.name,
        argv=argv,
        exit_code=ran.exit_code,
        stdout=told,
        stderr=aside,
        timed_out=ran.timed_out,
        seconds=ran.seconds,
    )


def _scratch(around: Surroundings) -> str | None:
    # Inside the confinement /tmp is another one, so a probe's folder lies beside the lanes.
    if not around.confinement.holds:
        return None
    folder = around.state / "g"
    make_private(folder)
    return str(folder)


def _probe_walls(around: Surroundings, folder: Path, binary: Path) -> Walls:
    return Walls(
        state=around.state,
        writable=(folder,),
        home=around.home,
        visible=visible_paths(around.environ, [str(binary)]),
        cwd=folder,
    )


def _identity(binary: Path) -> str:
    """What changes when the program does. A script's interpreter is not part of it."""
    try:
        real = Path(os.path.realpath(binary))
        stat = real.stat()
    except OSError:
        return ""
    return f"{real}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}:{stat.st_ino}"


def _cache_key(descriptor: Descriptor, probe: Probe, identity: str, around: Surroundings) -> str:
    # A preflight depends on the machine's state and not on the binary alone.
    where = f"|{around.confinement.kind}|{os.getuid()}|{_boot_id()}" if probe.confined else ""
    args = "\x1f".join(probe.args)
    return f"{__version__}|{descriptor.key}|{probe.name}|{args}|{identity}{where}"


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _encode(answer: ProbeOutput) -> dict[str, object]:
    return {
        "name": answer.name,
        "argv": list(answer.argv),
        "exit_code": answer.exit_code,
        "stdout": answer.stdout,
        "stderr": answer.stderr,
        "timed_out": answer.timed_out,
        "seconds": answer.seconds,
    }


def _decode(held: dict[str, object] | None) -> ProbeOutput | None:
    """A remembered answer; None for none, or for one that somebody has changed."""
    if held is None:
        return None
    try:
        return ProbeOutput(**{**held, "argv": tuple(held["argv"])})  # type: ignore[arg-type]
    except (TypeError, KeyError):
        return None


def _load(path: Path | None) -> Cache:
    if path is None:
        return {}
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _save(path: Path | None, cache: Cache) -> None:
    """Keeps the newest answers; a cache that cannot be written is only slower next time."""
    if path is None:
        return
    newest = dict(list(cache.items())[-200:])
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        fresh.write_text(json.dumps(newest))
        fresh.chmod(0o600)
        fresh.replace(path)
    except OSError:
        return
