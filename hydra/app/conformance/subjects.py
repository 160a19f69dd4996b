"""Which adapters are tried, and where what was recorded of their CLIs lies."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hydra.adapters import registry
from hydra.app import roster, settings
from hydra.conformance import recorded
from hydra.conformance.contract.subject import Subject
from hydra.errors import UsageError

if TYPE_CHECKING:
    from hydra.adapters.contract import Adapter


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Those that are tried. `problems` say why one that is installed is not among them."""

    subjects: tuple[Subject, ...]
    problems: tuple[str, ...] = ()


def chosen(
    agents: Sequence[str],
    specs: Sequence[str],
    fixtures: Path | None,
    environ: Mapping[str, str],
) -> Chosen:
    """Those that were named, each once; all that Hydra would run where none was.

    Raises `UsageError` for a key that no adapter has, and for a `module:NAME` that gives none.
    """
    config = settings.load(None, environ, {})
    found: dict[str, Subject] = {}
    problems: tuple[str, ...] = ()
    if agents:
        for key in agents:
            found[key] = _subject(roster.one(config, key), fixtures)
    elif not specs:
        everyone = roster.of_all(config)
        problems = everyone.problems
        found = {
            key: _subject(one, fixtures)
            for key, one in everyone.adapters.items()
            if not one.descriptor.unrunnable
        }
    for spec in specs:
        subject = named(spec, fixtures)
        if subject.key in registry.OWN:
            raise UsageError(
                f"--adapter {spec} is called {subject.key}, as an adapter of Hydra's own is",
                hint="give its descriptor a key of its own",
            )
        found[subject.key] = subject
    return Chosen(subjects=tuple(found.values()), problems=problems)


def keys() -> list[str]:
    """What can be named: Hydra's own, and those that are installed. Nothing is loaded."""
    return [*registry.OWN, *roster.further_keys()]


def _subject(adapter: Adapter, fixtures: Path | None) -> Subject:
    """One that Hydra has found itself; a third party's without the guard that a race has, for
    what it would hide is what is looked for."""
    origin = adapter.descriptor.third_party
    if origin is None:
        return Subject(adapter, _place(adapter.key(), recorded.root(), fixtures))
    inner: Adapter = getattr(adapter, "inner", adapter)
    place = _place(adapter.key(), beside(origin.spec), fixtures)
    return Subject(inner, place, spec=origin.spec, third_party=True)


def named(spec: str, fixtures: Path | None) -> Subject:
    """The adapter that `module:NAME` is, with its recordings. Raises `UsageError`."""
    from hydra.adapters.thirdparty import from_words

    adapter = from_words(spec)
    place = _place(adapter.key(), beside(spec), fixtures)
    return Subject(adapter, place, spec=spec, third_party=True)


def beside(spec: str) -> Path:
    """`fixtures/` beside the module, which is imported by now."""
    module = sys.modules[spec.partition(":")[0]]
    return Path(module.__file__ or ".").resolve().parent / "fixtures"


def _place(key: str, usual: Path, fixtures: Path | None) -> Path:
    """`--fixtures` where it has this agent: what is yet to be recorded is read at the usual one."""
    return fixtures if fixtures is not None and (fixtures / key).is_dir() else usual
