"""`hydra agents`: what Hydra knows of each agent and of models, and what is here of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, json_option
from hydra.cli.display import experimental_option, looks, show

if TYPE_CHECKING:
    from hydra.commands.models import ModelListing


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
        from hydra.commands.models import models

        listing = models(options["model"], name, options["local"])
        if as_json:
            show(_models_document(listing))
        else:
            show(_models_text(listing, bool(options["model"])))
        return
    from hydra.commands.agent_probes import agents, example_line
    from hydra.commands.agent_rows import rows as rows_of
    from hydra.report.agents_document import agent_document
    from hydra.report.listing import agent_text, agents_table, notes

    pairs, problems = agents(name, {"race.allow_experimental_adapters": experimental})
    rows, look = rows_of(pairs), looks()
    if as_json:
        documents = [agent_document(row) for row in rows]
        show({"schema": 1, "agents": documents, "problems": list(problems)})
    elif name is None:
        text = agents_table(rows, **look)
        show(text + "".join(f"\n{line}" for line in notes(problems, look["width"])))
    else:
        show(agent_text(rows[0], example_line(*pairs[0]), **look))


def _models_text(listing: ModelListing, is_single: bool) -> str:
    from hydra.report.models import choice_text, local_text, model_text, models_table

    look, text = looks(), ""
    if is_single:
        text = "".join(model_text(model, **look) for model in listing.models)
        if listing.choice:
            text += choice_text(listing.choice, listing.agent, look["width"])
    elif listing.local is None:
        text = models_table(listing.models, **look)
    return text if listing.local is None else text + local_text(listing.local, **look)


def _models_document(listing: ModelListing) -> dict[str, object]:
    from hydra.report.models import model_document, server_document

    choice, local = listing.choice, listing.local
    return {
        "schema": 1,
        "models": [model_document(model) for model in listing.models],
        "agent": listing.agent or None,
        "told": choice.argument if choice else None,
        "warnings": list(choice.remarks) if choice else [],
        "words": dict(listing.cli_names),
        "local": None if local is None else [server_document(server) for server in local],
    }
