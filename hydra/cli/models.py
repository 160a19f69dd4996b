"""`hydra agents --models`: what Hydra knows of models."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hydra.cli.common import use_color
from hydra.cli.display import cells

if TYPE_CHECKING:
    from hydra.commands.models import ModelListing


def show(name: str | None, agent: str | None, *, local: bool, as_json: bool) -> None:
    """Lists the models, or shows the one called `name`; those that `agent` takes."""
    from hydra.commands.models import models

    shelf = models(name, agent, local)
    sys.stdout.write(_document(shelf) if as_json else _text(shelf, bool(name)))


def _text(shelf: ModelListing, is_single: bool) -> str:
    from hydra.report.models import choice_text, local_text, model_text, models_table

    width, color = cells(sys.stdout), use_color(sys.stdout)
    text = ""
    if is_single:
        text = "".join(model_text(model, width=width, color=color) for model in shelf.models)
        text += choice_text(shelf.choice, shelf.agent, width) if shelf.choice else ""
    elif shelf.local is None:
        text = models_table(shelf.models, width=width, color=color)
    if shelf.local is not None:
        text += local_text(shelf.local, width=width, color=color)
    return text


def _document(shelf: ModelListing) -> str:
    from hydra.records.codec import dump
    from hydra.report.models import model_document, server_document

    choice = shelf.choice
    return dump(
        {
            "schema": 1,
            "models": [model_document(model) for model in shelf.models],
            "agent": shelf.agent or None,
            "told": choice.argument if choice else None,
            "warnings": list(choice.remarks) if choice else [],
            "words": dict(shelf.cli_names),
            "local": None
            if shelf.local is None
            else [server_document(server) for server in shelf.local],
        }
    )
