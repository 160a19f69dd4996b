"""Who can be raced here: Hydra's own adapters, and those of third parties where they are wanted.

Finding and loading what others have written costs time, and runs their code. So it is done for an
agent that was asked for by name, and for a list of all; a race of Hydra's own never does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from hydra.adapters import registry
from hydra.adapters.contract import KEY, Adapter
from hydra.adapters.plugins import PluginReference, installed, load
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.config.schema import Config
from hydra.errors import UsageError
from hydra.records.agent import Origin
from hydra.records.plan import RacePlan


class AgentSet(Struct, frozen=True, kw_only=True):
    """Adapters by key, Hydra's own first. `problems` are sentences, each with its next step: why
    an adapter that was found is not among them."""

    adapters: Mapping[str, Adapter] = field(default_factory=lambda: registry.OWN)
    problems: tuple[str, ...] = ()


def of_race(config: Config, names: Iterable[str]) -> AgentSet:
    """Those of a race: of third parties' only the ones asked for (`2xtoy:model` asks for `toy`),
    and, where experimental ones are allowed, those that the user's own hydra.toml names.

    Raises `UsageError` for an agent that nobody knows, one that was not allowed, and one that
    cannot be used. What was not asked for and cannot be used is a problem and no error.
    """
    profiles = config.agents_of_profiles
    named = (registry.key_of(spec) for spec in names)
    texts = {key for name in named if (key := profiles.get(name, name)) not in registry.OWN}
    allowed = config.race.allow_experimental
    further = _declared(config) if texts or allowed else ()
    if not texts and not further:
        return AgentSet()
    missing = texts - {named.key for named in further}
    rows = _by_key((*further, *installed())) if missing else _by_key(further)
    for key in sorted(texts):
        _check_wanted(key, rows, allowed, profiles)
    return _loaded(rows, texts)


def of_all(config: Config) -> AgentSet:
    """Every adapter that there is."""
    return _loaded(_by_key((*_declared(config), *installed())), ())


def of_plan(config: Config, plan: RacePlan) -> Mapping[str, Adapter]:
    """Hydra's own, and those that the lanes of an earlier race had, as far as they are here."""
    names = {lane.adapter for lane in plan.lanes} - set(registry.OWN)
    if not names:
        return registry.OWN
    rows = _by_key((*_declared(config), *installed()))
    mapping = {key: references for key, references in rows.items() if key in names}
    return _loaded(mapping, ()).adapters


def adapter_of(config: Config, key: str) -> Adapter:
    """The adapter of that name. Raises `UsageError` for one unknown, or one that cannot be used."""
    if key in registry.OWN:
        return registry.OWN[key]
    rows = _by_key((*_declared(config), *installed()))
    _check_wanted(key, rows, allowed=True)
    return _loaded({key: rows[key]}, {key}).adapters[key]


def further_keys() -> list[str]:
    """What the agents of installed third parties' adapters are called; nothing is loaded."""
    return [named.key for named in installed() if KEY.fullmatch(named.key)]


PluginReferences = Mapping[str, tuple[PluginReference, ...]]
"""What goes by a key: one, or several of which none can be taken."""


def _declared(config: Config) -> tuple[PluginReference, ...]:
    return tuple(
        PluginReference(
            key, Origin(agent.adapter), f"agents.{key}.adapter in {_source(config, key)}"
        )
        for key, agent in config.agents.items()
        if agent.adapter
    )


def _source(config: Config, key: str) -> str:
    return config.sources.get(f"agents.{key}.adapter", "hydra.toml")


def _by_key(named: Iterable[PluginReference]) -> PluginReferences:
    """By key. What the user's own file names stands alone: it was chosen."""
    rows: dict[str, tuple[PluginReference, ...]] = {}
    for reference in named:
        references = rows.get(reference.key, ())
        if not (references and not references[0].origin.distribution):
            rows[reference.key] = (*references, reference)
    return rows


def _check_wanted(
    key: str, rows: PluginReferences, allowed: bool, profiles: Iterable[str] = ()
) -> None:
    if key not in rows:
        raise registry.unknown(key, (*registry.OWN, *sorted(rows), *profiles))
    if not allowed:
        raise UsageError(
            f"{key} is a third party's adapter ({rows[key][0].origin}), which counts as "
            "experimental",
            hint=f"add {EXPERIMENTAL_FLAG} to let it run all the same",
        )


def _loaded(rows: PluginReferences, names: Iterable[str]) -> AgentSet:
    from hydra.adapters.plugins import guard  # not before: few have any

    adapters, problems = dict(registry.OWN), []
    for key, references in sorted(rows.items()):
        try:
            adapters[key] = guard(_taken(key, references), references[0].origin)
        except UsageError as error:
            if key in names:
                raise
            problems.append(f"{error.message} ({error.hint})")
    return AgentSet(adapters=adapters, problems=tuple(problems))


def _taken(key: str, references: tuple[PluginReference, ...]) -> Adapter:
    """The one of that name, loaded. Raises `UsageError` where there is no one to take."""
    first = references[0]
    if key in registry.OWN:
        raise UsageError(
            f"{first.where} is called {key}, as an adapter of Hydra's own is: it is left out",
            hint="uninstall it, or ask its author for another name",
        )
    if not KEY.fullmatch(key):
        raise UsageError(
            f"{first.where} is called {key!r}, which no agent can be: it is left out",
            hint="ask its author for a name of a-z, 0-9 and -",
        )
    if len(references) > 1:
        all = " and ".join(str(reference.origin) for reference in references)
        raise UsageError(
            f"{len(references)} installed adapters are called {key}: {all}",
            hint=f"uninstall all but one, or put the one that you mean into your own hydra.toml: "
            f'[agents.{key}] adapter = "{first.origin.spec}"',
        )
    return load(first)
