"""What is here of the agents, for `hydra agents` and `hydra doctor`: probed, with their claims
weighed by the records.

A few small files are read for it, which a race never does.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import trio
from msgspec.structs import replace

from hydra import paths
from hydra.adapters.contract import Adapter
from hydra.adapters.probe import settings
from hydra.adapters.probe.detect import detect_all
from hydra.adapters.probe.sandbox import try_confinement
from hydra.adapters.proofs import proven_capabilities, records
from hydra.adapters.proofs.records import Record
from hydra.config.schema import Config
from hydra.errors import HydraError, RecordError
from hydra.git import base_commit
from hydra.paths import fixtures
from hydra.records.agent import DetectResult, Tier
from hydra.records.codec import as_json
from hydra.records.plan import Confinement
from hydra.report.listing import AgentRow


def probe(
    adapters: Iterable[Adapter],
    config: Config,
    environ: Mapping[str, str],
    state: Path | None,
    *,
    fresh: bool = False,
) -> tuple[Confinement, dict[str, DetectResult]]:
    """Asks Tier 1, and the others where they are allowed: without that none of their programs runs.

    `fresh` asks each again, whatever is remembered. Without a `state` folder the probes have one of
    their own, out of /tmp as it.
    """

    async def ask(folder: Path) -> tuple[Confinement, dict[str, DetectResult]]:
        confinement = await try_confinement(environ)
        context = settings.probe_context(
            config, environ, confinement, folder, confirm_sign_in=True, fresh=fresh
        )
        return confinement, await detect_all(
            tuple(
                adapter
                for adapter in adapters
                if config.race.allow_experimental or adapter.descriptor.tier is Tier.TIER1
            ),
            context,
        )

    with _scratch(state) as folder:
        return trio.run(ask, folder)


@contextmanager
def _scratch(state: Path | None) -> Iterator[Path]:
    if state is not None:
        yield state
        return
    with TemporaryDirectory(prefix="hydra-doctor-", dir="/var/tmp") as folder:
        yield Path(folder)


def state_folder(environ: Mapping[str, str]) -> tuple[Path | None, str]:
    """Where races would be kept, if that is known; why none can be, "" where all is well."""
    try:
        state = paths.state_dir(environ)
    except HydraError as error:
        return None, f"{error.message} ({error.hint})"
    if _lies_in_repository(state):
        hint = "set HYDRA_STATE_DIR to a folder outside the repository"
        return state, f"{state} and the repository lie in each other ({hint})"
    try:
        paths.make_private(state)  # as a race would: only the attempt tells
    except OSError as error:
        hint = "set HYDRA_STATE_DIR to a folder you can write"
        return state, f"{state} cannot be made: {error.strerror} ({hint})"
    if not (state.is_dir() and os.access(state, os.W_OK | os.X_OK)):
        return state, f"{state} cannot be written (set HYDRA_STATE_DIR to a folder that can)"
    return state, ""


def _lies_in_repository(state: Path) -> bool:
    try:
        root = base_commit.read(Path.cwd()).root
    except HydraError:
        return False
    return state.is_relative_to(root) or root.is_relative_to(state)


def rows(
    adapters: Iterable[Adapter], results: Mapping[str, DetectResult], *, whole: bool = True
) -> list[AgentRow]:
    """All of them. Not `whole`, only Tier 1 is held against its records: of the others nothing is
    shown that stands there."""
    return [
        row(adapter, results.get(adapter.key()))
        if whole or adapter.descriptor.tier is Tier.TIER1
        else AgentRow(adapter.descriptor, results.get(adapter.key()))
        for adapter in adapters
    ]


def row(adapter: Adapter, result: DetectResult | None) -> AgentRow:
    """The agent with the confidence that it has earned. A damaged record is said, and raises
    nothing: no claim is verified then."""
    try:
        entries = records.read_all(recordings_of(adapter), adapter.key())
    except RecordError as error:
        return replace(_weighed(adapter, result, ()), proved=f"unknown: {error.message}")
    return _weighed(adapter, result, entries)


def recordings_of(adapter: Adapter) -> Path:
    """Where an adapter's recordings and records lie: with Hydra's own, or beside its module."""
    origin = adapter.descriptor.third_party
    if origin is None:
        return fixtures() / "adapters"
    from hydra.adapters.plugins import beside

    return beside(origin.spec)


def _weighed(adapter: Adapter, result: DetectResult | None, entries: Sequence[Record]) -> AgentRow:
    claimed, installed = adapter.descriptor, result.version if result else ""
    proved = proven_capabilities.proved(entries, installed)
    if result is not None:
        shown = proven_capabilities.tied(adapter, result.flags)
        capability_set = proven_capabilities.proven(
            result.capabilities, entries, shown=shown, shown_in=result.version
        )
        result = replace(result, capabilities=capability_set)
    capability_set = proven_capabilities.proven(claimed.capabilities, entries)
    return AgentRow(
        descriptor=replace(claimed, capabilities=capability_set),
        detection=result,
        proved=proven_capabilities.says(proved, installed),
        proof=as_json(proved),
    )
