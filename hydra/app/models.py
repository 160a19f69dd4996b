"""`hydra agents --models`: the models that Hydra knows, an agent takes, this machine serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hydra import executables
from hydra.app import roster, settings
from hydra.errors import UsageError
from hydra.models.catalog import Model, with_own
from hydra.models.choosing import Choice, choose, nearest
from hydra.models.local import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What was asked for. `choice` is what the agent would be told of the one model named; `local`
    None: nobody asked for the servers of this machine."""

    models: tuple[Model, ...]
    agent: str = ""
    choice: Choice | None = None
    local: tuple[Server, ...] | None = None
    words: Mapping[str, str] = field(default_factory=dict)


def models(name: str | None, agent: str | None, local: bool) -> Shelf:
    """The models, or the one named; those that `agent` takes.

    Raises `UsageError` for a model or an agent that nobody knows.
    """
    environ = executables.users_environment()
    config = settings.load(None, environ, {})
    catalog = with_own(config.models.items())
    told = roster.one(config, agent).descriptor if agent else None
    families = told.families if told else ()
    found = None
    if local:
        from hydra.app.local_models import discover  # not before: it takes trio to ask

        found = discover(environ)
    if name is None:
        fitting = tuple(it for it in catalog.models if not families or it.family in families)
        words = catalog.words_of(told.key) if told else {}
        return Shelf(models=fitting, agent=agent or "", local=found, words=words)
    choice = choose(catalog, name, agent=told.key if told else "", families=families)
    if choice.model is None and not (told and name.lower() in catalog.words_of(told.key)):
        near = nearest(catalog, name)
        meant = f"; did you mean {near}?" if near else ""
        raise UsageError(
            f"Hydra knows no model {name!r}{meant}",
            hint="`hydra agents --models` lists them; a race takes any name all the same",
        )
    one = () if choice.model is None else (choice.model,)
    return Shelf(
        models=one,
        agent=agent or "",
        choice=choice if told else None,
        local=found,
    )
