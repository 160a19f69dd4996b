"""`hydra agents --models`: the models that Hydra knows, an agent takes, this machine serves."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from hydra import executables
from hydra.adapters.models.catalog import Model, with_own
from hydra.adapters.models.selection import ModelChoice, choose, nearest
from hydra.adapters.probe import available, settings
from hydra.adapters.probe.local_models import Server, discover
from hydra.errors import UsageError


class ModelListing(Struct, frozen=True, kw_only=True):
    """What was asked for. `choice` is what the agent would be told of the one model named; `local`
    None: nobody asked for the servers of this machine."""

    models: tuple[Model, ...]
    agent: str = ""
    choice: ModelChoice | None = None
    local: tuple[Server, ...] | None = None
    cli_names: Mapping[str, str] = field(default_factory=dict)


def models(name: str | None, agent: str | None, local: bool) -> ModelListing:
    """The models, or the one named; those that `agent` takes.

    Raises `UsageError` for a model or an agent that nobody knows.
    """
    environ = executables.users_environment()
    config = settings.load(None, environ, {})
    catalog = with_own(config.models.items())
    descriptor = available.adapter_of(config, agent).descriptor if agent else None
    families = descriptor.families if descriptor else ()
    servers = None
    if local:
        servers = discover(environ)
    if name is None:
        fitting = tuple(
            model for model in catalog.models if not families or model.family in families
        )
        values = catalog.words_of(descriptor.key) if descriptor else {}
        return ModelListing(models=fitting, agent=agent or "", local=servers, cli_names=values)
    choice = choose(catalog, name, agent=descriptor.key if descriptor else "", families=families)
    if choice.model is None and not (
        descriptor and name.lower() in catalog.words_of(descriptor.key)
    ):
        near = nearest(catalog, name)
        meant = f"; did you mean {near}?" if near else ""
        raise UsageError(
            f"Hydra knows no model {name!r}{meant}",
            hint="`hydra agents --models` lists them; a race takes any name all the same",
        )
    value = () if choice.model is None else (choice.model,)
    return ModelListing(
        models=value,
        agent=agent or "",
        choice=choice if descriptor else None,
        local=servers,
    )
