"""What a shell completes for `hydra conformance`: agents, cases, situations, versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def agents(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Keys of adapters."""
    from hydra.conformance.command.subjects import keys

    return _items(keys(), begun)


def situations(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Situations of --live."""
    from hydra.conformance.live.situation import names

    return _items(names(), begun)


def cases(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Cases of the contract."""
    from hydra.conformance.contract import suite

    return _items(suite.names(), begun)


def versions(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Recorded versions."""
    from hydra.conformance.command.drift import version_words

    return _items(version_words(), begun)


def _items(names: list[str], begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in names if name.startswith(begun)]
