"""Which adapters are tried, where their CLIs' recordings lie, and what `--drift OLD` names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.plugins import beside, from_words
from hydra.adapters.probe import available, settings
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.recorded import root, versions
from hydra.errors import UsageError


def chosen(
    agents: Sequence[str], specs: Sequence[str], fixtures: Path | None, environ: Mapping[str, str]
) -> tuple[tuple[ContractSubject, ...], tuple[str, ...]]:
    """Those that were named, each once; all that Hydra would run where none was. And why one that
    is installed is not among them.

    Raises `UsageError` for a key that no adapter has, and for a `module:NAME` that gives none.
    """
    config = settings.load(None, environ, {})
    problems: tuple[str, ...] = ()
    adapters = [available.adapter_of(config, key) for key in agents]
    if not agents and not specs:
        everyone = available.of_all(config)
        adapters, problems = list(everyone.adapters.values()), everyone.problems
    subjects = {adapter.key(): _subject(adapter, fixtures) for adapter in adapters}
    for spec in specs:
        subject = named(spec, fixtures)
        if subject.key in registry.OWN:
            raise UsageError(
                f"--adapter {spec} is called {subject.key}, as an adapter of Hydra's own is",
                hint="give its descriptor a key of its own",
            )
        subjects[subject.key] = subject
    return tuple(subjects.values()), problems


def keys() -> list[str]:
    """What can be named: Hydra's own, and those that are installed. Nothing is loaded."""
    return [*registry.OWN, *available.further_keys()]


def named(spec: str, fixtures: Path | None) -> ContractSubject:
    """The adapter that `module:NAME` is, with its recordings. Raises `UsageError`."""
    return _stranger(from_words(spec), spec, fixtures)


def _subject(adapter: Adapter, fixtures: Path | None) -> ContractSubject:
    """One that Hydra has found itself; a third party's without the guard that a race has, for
    what it would hide is what is looked for."""
    origin = adapter.descriptor.third_party
    if origin is not None:
        return _stranger(getattr(adapter, "inner", adapter), origin.spec, fixtures)
    return ContractSubject(adapter, _place(adapter.key(), root(), fixtures))


def _stranger(adapter: Adapter, spec: str, fixtures: Path | None) -> ContractSubject:
    place = _place(adapter.key(), beside(spec), fixtures)
    return ContractSubject(adapter, place, spec=spec, third_party=True)


def _place(key: str, usual: Path, fixtures: Path | None) -> Path:
    """`--fixtures` where it has this agent: what is yet to be recorded is read at the usual one."""
    return fixtures if fixtures is not None and (fixtures / key).is_dir() else usual


# the older side

NEWEST = "recorded"
"""The word for each agent's newest recorded version."""


Old = tuple[Mapping[str, Path], Mapping[str, Path]]
"""The older side: recorded folders of one version each, or programs that have to be run."""


Pair = tuple[ContractSubject, Path, Path]
"""An adapter with its older folder and its newer one."""


def find_old(term: str, subjects: Sequence[ContractSubject]) -> Old:
    """What `term` names: a recorded version, a folder of records, or programs.

    Raises `UsageError` where it is none of these.
    """
    path = Path(term)
    if "/" in term or os.sep in term or path.exists():
        folders = _recorded_in(path, subjects)
        programs = {} if folders else _programs_in(path, subjects)
    else:
        folders, programs = dict(_versions(term, subjects)), {}
    if not folders and not programs:
        names = ", ".join(term for s in subjects for term in _terms(s.recordings, s.key))
        hint = f"known: {names}" if names else "`hydra conformance --live --record` records"
        raise UsageError(f"--drift: nothing is recorded as {term}", hint=hint)
    return folders, programs


def _versions(term: str, subjects: Sequence[ContractSubject]) -> Iterator[tuple[str, Path]]:
    agent, at, version = term.rpartition("@")
    for subject in subjects:
        names = versions(subject.recordings, subject.key)
        if at and agent != subject.key:
            continue
        if version == NEWEST and names:
            yield subject.key, subject.folder / names[-1]
        elif version in names:
            yield subject.key, subject.folder / version


def _recorded_in(path: Path, subjects: Sequence[ContractSubject]) -> dict[str, Path]:
    """`path` may be one version's folder, an agent's, or one that holds agents."""
    paths = {}
    for subject in subjects:
        key, name = subject.key, path.resolve().name
        if (path / "version.txt").is_file() and path.resolve().parent.name == key:
            paths[key] = path
        elif (path / key).is_dir() and (names := versions(path, key)):
            paths[key] = path / key / names[-1]
        elif name == key and (names := versions(path.parent, key)):
            paths[key] = path / names[-1]
    return paths


def _programs_in(path: Path, subjects: Sequence[ContractSubject]) -> dict[str, Path]:
    """`path` may be a program, or a folder of programs (`node_modules/.bin`)."""
    paths: dict[str, Path] = {}
    for subject in subjects:
        names = subject.adapter.descriptor.binaries
        places = [path / name for name in names] if path.is_dir() else [path]
        for place in places:
            if place.name in names and place.is_file() and os.access(place, os.X_OK):
                paths.setdefault(subject.key, place.absolute())
    return paths


def _terms(root: Path, key: str) -> list[str]:
    return [f"{key}@{version}" for version in versions(root, key)]


def version_words() -> list[str]:
    """What `--drift` can be given, without paths: each recorded version."""
    return [NEWEST, *(term for key in registry.OWN for term in _terms(root(), key))]


def recorded_pairs(term: str, subjects: Sequence[ContractSubject]) -> list[Pair]:
    """Each agent's older version and its newest recorded one.

    Raises `UsageError` where that would compare a version with itself.
    """
    folders, _ = find_old(term, subjects)
    if not folders:
        raise UsageError(
            f"--drift: {term} is a program, which has to be run",
            hint=f"hydra conformance --live --drift {term}",
        )
    newest = [(s, s.folder / versions(s.recordings, s.key)[-1]) for s in subjects if s.versions()]
    pairs = [
        (subject, folders[subject.key], new)
        for subject, new in newest
        if subject.key in folders and folders[subject.key].resolve() != new.resolve()
    ]
    if not pairs:
        raise UsageError(
            f"--drift: nothing newer than {term} is recorded",
            hint=f"what is installed is newer? hydra conformance --live --drift {term}",
        )
    return pairs
