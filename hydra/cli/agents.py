"""`hydra agents`: what Hydra knows of each agent, and what is here of it."""

from __future__ import annotations

import sys
from typing import Any

import click

from hydra.cli.common import Command, json_option, use_color
from hydra.cli.display import cells, experimental_option


@click.command(cls=Command, examples=("hydra agents", "hydra agents codex", "hydra agents --json"))
@click.argument("name", required=False)
@experimental_option
@json_option
def command(name: str | None, experimental: bool, **options: Any) -> None:
    """List the agents, or show one whole: every fact, and the exact line it would run."""
    from hydra.app.doctor import agents, example_line
    from hydra.reporters.agents_document import agent_document
    from hydra.reporters.document import dump
    from hydra.reporters.listing import AgentRow, agent_text, agents_table

    rows = agents(name, {"race.allow_experimental_adapters": experimental})
    columns, color = cells(sys.stdout), use_color(sys.stdout)
    if options["as_json"]:
        documents = [agent_document(adapter.descriptor, found) for adapter, found in rows]
        text = dump({"schema": 1, "agents": documents})
    elif name is None:
        listed = [AgentRow(adapter.descriptor, found) for adapter, found in rows]
        text = agents_table(listed, width=columns, color=color)
    else:
        adapter, found = rows[0]
        line = example_line(adapter, found)
        text = agent_text(AgentRow(adapter.descriptor, found), line, width=columns, color=color)
    sys.stdout.write(text)
