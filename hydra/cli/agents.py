"""`hydra agents`: what Hydra knows of each agent, and what is here of it."""

from __future__ import annotations

import sys
from typing import Any

import click

from hydra.cli.common import Command, json_option, use_color
from hydra.cli.display import cells, experimental_option


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
@experimental_option
@json_option
def command(name: str | None, experimental: bool, **options: Any) -> None:
    """List the agents, or show one whole; the models that they take.

    A race takes any model's name: one that is unknown here goes to its agent with a warning.
    """
    if options["models"] or options["local"] or options["model"] is not None:
        from hydra.cli.models import show

        show(options["model"], name, local=options["local"], as_json=options["as_json"])
        return
    from hydra.commands.agent_rows import rows as rows_of
    from hydra.commands.doctor import agents, example_line
    from hydra.records.codec import dump
    from hydra.report.agents_document import agent_document
    from hydra.report.listing import agent_text, agents_table, notes

    pairs, problems = agents(name, {"race.allow_experimental_adapters": experimental})
    rows = rows_of(pairs)
    columns, color = cells(sys.stdout), use_color(sys.stdout)
    if options["as_json"]:
        documents = [agent_document(row) for row in rows]
        text = dump({"schema": 1, "agents": documents, "problems": list(problems)})
    elif name is None:
        text = agents_table(rows, width=columns, color=color)
        text += "".join(f"\n{line}" for line in notes(problems, columns))
    else:
        text = agent_text(rows[0], example_line(*pairs[0]), width=columns, color=color)
    sys.stdout.write(text)
