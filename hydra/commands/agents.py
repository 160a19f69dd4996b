"""`hydra agents`: what Hydra knows of each agent and of models, and what is here of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra import executables
from hydra.cli.common import Command, experimental_option, json_option, usage
from hydra.cli.streams import looks, show

if TYPE_CHECKING:
    from hydra.adapters.contract import Adapter
    from hydra.records.agent import DetectResult


@click.command(
    cls=Command,
    examples=(
        "hydra agents",
        "hydra agents codex",
        "hydra agents codex --models",
        "hydra agents --model opus",
        "hydra agents --local --json",
    ),
)
@click.argument("name", required=False)
@click.option("--models", is_flag=True, help="List models instead: all, or those of agent NAME.")
@click.option("--model", metavar="MODEL", help="Show one model: window, prices, their source.")
@click.option("--local", is_flag=True, help="Ask this machine's model servers what they have.")
@experimental_option()
@json_option
def command(name: str | None, experimental: bool, as_json: bool, **options: Any) -> None:
    """List the agents, or show one whole; the models that they take.

    A race takes any model's name: one that is unknown here goes to its agent with a warning.
    """
    if options["models"] or options["local"] or options["model"] is not None:
        _models(options["model"], name, options["local"], as_json)
        return
    from hydra.adapters.probe import available, settings
    from hydra.commands.agent_rows import probe, rows, state_folder
    from hydra.report.document import agent_document
    from hydra.report.listing import agent_text, agents_table, notes

    environ = executables.users_environment()
    config = settings.load(None, environ, {"race.allow_experimental_adapters": experimental})
    agent_set = available.AgentSet() if name is not None else available.of_all(config)
    named = [] if name is None else [available.adapter_of(config, name)]
    adapters = named or list(agent_set.adapters.values())
    state, problem = state_folder(environ)
    _, results = probe(adapters, config, environ, None if problem else state)
    agent_rows, look = rows(adapters, results), looks()
    if as_json:
        documents = [agent_document(row) for row in agent_rows]
        show({"schema": 1, "agents": documents, "problems": list(agent_set.problems)})
    elif name is None:
        lines = notes(agent_set.problems, look["width"])
        show(agents_table(agent_rows, **look) + "".join(f"\n{line}" for line in lines))
    else:
        line = _example_line(adapters[0], results.get(adapters[0].key()))
        show(agent_text(agent_rows[0], line, **look))


def _example_line(adapter: Adapter, result: DetectResult | None) -> tuple[str, ...]:
    """The exact line a race would run for this agent here, () where there is none."""
    from hydra.errors import AgentError
    from hydra.records.agent import SpawnRequest
    from hydra.records.request import Permission

    if result is None or not result.ready:
        return ()
    request = SpawnRequest(
        prompt="TASK",
        worktree=Path("/WORKTREE"),
        permission=Permission.FULL_AUTO,
        as_root=os.geteuid() == 0,
    )
    try:
        return adapter.build_command(request, result).argv
    except AgentError:
        return ()


def _models(name: str | None, agent: str | None, local: bool, as_json: bool) -> None:
    """The models, or the one named; those that `agent` takes; those that this machine serves."""
    from hydra.adapters.models.catalog import with_own
    from hydra.adapters.models.selection import choose, nearest
    from hydra.adapters.probe import available, settings
    from hydra.adapters.probe.local_models import discover
    from hydra.report import models as report

    environ = executables.users_environment()
    config = settings.load(None, environ, {})
    catalog = with_own(config.models.items())
    descriptor = available.adapter_of(config, agent).descriptor if agent else None
    key, families = (descriptor.key, descriptor.families) if descriptor else ("", ())
    cli_names = catalog.words_of(key) if descriptor else {}
    servers = discover(environ) if local else None
    choice, models = None, [m for m in catalog.models if not families or m.family in families]
    if name is not None:
        choice = choose(catalog, name, agent=key, families=families)
        if choice.model is None and name.lower() not in cli_names:
            near = nearest(catalog, name)
            raise usage(
                f"Hydra knows no model {name!r}{f'; did you mean {near}?' if near else ''}",
                "`hydra agents --models` lists them; a race takes any name all the same",
            )
        models = [] if choice.model is None else [choice.model]
        choice, cli_names = choice if descriptor else None, {}
    if as_json:
        show(
            {
                "schema": 1,
                "models": [report.model_document(model) for model in models],
                "agent": agent or None,
                "told": choice.argument if choice else None,
                "warnings": list(choice.remarks) if choice else [],
                "words": dict(cli_names),
                "local": servers if servers is None else list(map(report.server_document, servers)),
            }
        )
        return
    look, text = looks(), ""
    if name:
        text = "".join(report.model_text(model, **look) for model in models)
        if choice:
            text += report.choice_text(choice, agent or "", look["width"])
    elif servers is None:
        text = report.models_table(models, **look)
    show(text if servers is None else text + report.local_text(servers, **look))
