"""Models as a table, one whole, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.adapters.models.catalog import Model
from hydra.adapters.models.selection import ModelChoice
from hydra.adapters.probe.local_models import HARNESS, MOST, Server
from hydra.records.codec import as_json
from hydra.records.plan import Rates
from hydra.report.document import Document, nulled
from hydra.report.style import paint
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import clean, facts, paragraph, tokens, wrapped
from hydra.text import plural

_COLUMNS = (
    Column("model"),
    Column("family", optional=2),
    Column("window", right=True),
    Column("in", right=True),
    Column("out", right=True),
    Column("cached", right=True, optional=1),
    Column("also", wraps=True, least=10),
)


def models_table(models: Sequence[Model], *, width: int | None, color: bool = False) -> str:
    """`hydra agents --models`: one line a model."""
    lines = table([_cells(model) for model in models], _COLUMNS, width, color)
    days = sorted({model.rates.read for model in models if model.rates and model.rates.read})
    text = f"prices: dollars for a million tokens, as read on {' and '.join(days)}" if days else ""
    return "\n".join([*lines, *paragraph(text, width)]) + "\n"


def _cells(model: Model) -> list[Cell]:
    rates = model.rates
    prices = (rates.input, rates.output, rates.cached) if rates else (None, None, None)
    also = [*model.aliases, *(["deprecated"] if model.deprecated else [])]
    return [
        StyledText(model.id, "dim" if model.deprecated else ""),
        model.family or "-",
        tokens(model.context),
        *map(_dollars, prices),
        ", ".join(also),
    ]


def _dollars(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"


def model_text(model: Model, *, width: int | None, color: bool = False) -> str:
    """`hydra agents --model NAME`: all that is known of one."""
    rates = model.rates
    rows = [
        ("name", model.name),
        ("also", ", ".join(model.aliases)),
        ("family", model.family),
        ("maker", model.maker),
        ("window", f"{model.context:,} tokens" if model.context else "?"),
        ("answer", f"at most {model.output:,} tokens" if model.output else "?"),
        ("efforts", ", ".join(model.efforts)),
        ("tiers", ", ".join(model.service_tiers)),
        ("deprecated", _deprecated(model)),
        ("successor", model.successor),
        ("facts from", model.source),
        *_prices(rates),
    ]
    return "\n".join([paint(clean(model.id), "bold", color), *facts(rows, width)]) + "\n"


def _deprecated(model: Model) -> str:
    if not model.deprecated:
        return ""
    return f"yes, gone from {model.until} on" if model.until else "yes"


def _prices(rates: Rates | None) -> list[tuple[str, str]]:
    if rates is None:
        return [("prices", "?")]
    parts = [f"${rates.input:g} in", f"${rates.output:g} out"]
    parts += [] if rates.cached is None else [f"${rates.cached:g} cached"]
    limit = f", for prompts up to {rates.longest:,} tokens" if rates.longest else ""
    day = f", {rates.read}" if rates.read else ""
    return [
        ("prices", f"{', '.join(parts)}, for a million tokens{limit}"),
        ("read in", f"{rates.source}{day}"),
    ]


def choice_text(choice: ModelChoice, agent: str, width: int | None) -> str:
    """What an agent would be told, and what deserves a word."""
    rows = [(clean(agent), f"is told {choice.argument}")]
    if choice.model is None:
        rows.append(("", "which model that is, its own CLI decides"))
    rows += [("note", remark) for remark in choice.remarks]
    return "\n".join(facts(rows, width)) + "\n"


def local_text(servers: Sequence[Server], *, width: int | None, color: bool = False) -> str:
    """`hydra agents --local`: each server of this machine, and what it has."""
    lines: list[str] = []
    for server in servers:
        lines += wrapped(f"{server.name}: {server_words(server)}", width)
        rows: list[list[Cell]] = [[m.id, tokens(m.context), HARNESS] for m in server.models]
        columns = (Column("model", least=12), Column("window", right=True), Column("trust"))
        lines += table(rows, columns, width, color) if rows else []
    return "\n".join(lines) + "\n"


def server_words(server: Server) -> str:
    """What was found of it, in a clause."""
    where = clean(server.url.removeprefix("http://"))
    if server.problem:
        return clean(f"{server.problem} ({where})" if where else server.problem)
    if not server.is_up:
        return f"not running ({where})"
    more = " or more" if len(server.models) == MOST else ""
    return f"{plural(len(server.models), 'model')}{more}, {HARNESS} ({where})"


def model_document(model: Model) -> Document:
    """One model; what is unknown is null."""
    document = as_json(model)
    del document["user_names"]
    return {**nulled(document), "rates": document["rates"]}


def server_document(server: Server) -> Document:
    """One server of this machine."""
    return {
        "server": server.name,
        "url": server.url or None,
        "running": server.is_up,
        "problem": server.problem or None,
        "models": [{**model._asdict(), "harness": HARNESS} for model in server.models],
    }
