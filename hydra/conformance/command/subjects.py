"""Which adapters are tried, and where what was recorded of their CLIs lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hydra.adapters import registry
from hydra.adapters.probe import available, settings
from hydra.conformance import recorded
from hydra.conformance.contract.subject import ContractSubject
from hydra.errors import UsageError

if TYPE_CHECKING:
    from hydra.adapters.contract import Adapter
from hydra.adapters.plugins import beside


class ConformanceSubjects(Struct, frozen=True, kw_only=True):
    """Those that are tried. `problems` say why one that is installed is not among them."""

    subjects: tuple[ContractSubject, ...]
    problems: tuple[str, ...] = ()


def chosen(
    agents: Sequence[str], specs: Sequence[str], fixtures: Path | None, environ: Mapping[str, str]
) -> ConformanceSubjects:
    """Those that were named, each once; all that Hydra would run where none was.

    Raises `UsageError` for a key that no adapter has, and for a `module:NAME` that gives none.
    """
    config = settings.load(None, environ, {})
    subjects: dict[str, ContractSubject] = {}
    problems: tuple[str, ...] = ()
    if agents:
        for key in agents:
            subjects[key] = _subject(available.adapter_of(config, key), fixtures)
    elif not specs:
        everyone = available.of_all(config)
        problems = everyone.problems
        subjects = {key: _subject(adapter, fixtures) for key, adapter in everyone.adapters.items()}
    for spec in specs:
        subject = named(spec, fixtures)
        if subject.key in registry.OWN:
            raise UsageError(
                f"--adapter {spec} is called {subject.key}, as an adapter of Hydra's own is",
                hint="give its descriptor a key of its own",
            )
        subjects[subject.key] = subject
    return ConformanceSubjects(subjects=tuple(subjects.values()), problems=problems)


def keys() -> list[str]:
    """What can be named: Hydra's own, and those that are installed. Nothing is loaded."""
    return [*registry.OWN, *available.further_keys()]


def _subject(adapter: Adapter, fixtures: Path | None) -> ContractSubject:
    """One that Hydra has found itself; a third party's without the guard that a race has, for
    what it would hide is what is looked for."""
    origin = adapter.descriptor.third_party
    if origin is None:
        return ContractSubject(adapter, _place(adapter.key(), recorded.root(), fixtures))
    inner: Adapter = getattr(adapter, "inner", adapter)
    place = _place(adapter.key(), beside(origin.spec), fixtures)
    return ContractSubject(inner, place, spec=origin.spec, third_party=True)


def named(spec: str, fixtures: Path | None) -> ContractSubject:
    """The adapter that `module:NAME` is, with its recordings. Raises `UsageError`."""
    from hydra.adapters.plugins import from_words

    adapter = from_words(spec)
    place = _place(adapter.key(), beside(spec), fixtures)
    return ContractSubject(adapter, place, spec=spec, third_party=True)


def _place(key: str, usual: Path, fixtures: Path | None) -> Path:
    """`--fixtures` where it has this agent: what is yet to be recorded is read at the usual one."""
    return fixtures if fixtures is not None and (fixtures / key).is_dir() else usual
