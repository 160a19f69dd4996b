"""`--help` shows the options one needs, `--help-all` every option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

_HELP_ALL = "--help-all"
_EVERYWHERE = ("-h", _HELP_ALL)


class ShortHelp(click.Command):
    """A command with `-v`, whose `--help` leaves `-v` and what is not `common` to `--help-all`.

    `common` names options as one writes them ("--agent"), in the order to show; () means all.
    Parsing and completion know every option either way.
    """

    def __init__(self, *args: Any, common: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.common = tuple(common)
        _help_all_option(self)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, and how many more there are."""
        every = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        options = [p for p in every if _HELP_ALL in ctx.meta or self._is_common(ctx, p)]
        options.sort(key=self._place)
        records = [record for p in options if (record := p.get_help_record(ctx))]
        rest = len(every) - len(options) - 1  # without --help-all itself
        if self.common and rest > 0:
            records.append((_HELP_ALL, f"Show the other {rest} options as well."))
        with formatter.section("Options"):
            formatter.write_dl(records)

    def _place(self, option: click.Option) -> int:
        places = [self.common.index(name) for name in option.opts if name in self.common]
        return min(places, default=len(self.common))

    def _is_common(self, ctx: click.Context, option: click.Option) -> bool:
        names = (*option.opts, *option.secondary_opts)
        if _HELP_ALL in names:
            return False
        if "--verbose" in names:  # of every command: `hydra --help` shows it
            return ctx.parent is None
        if not self.common:
            return True
        return bool({*self.common, *_EVERYWHERE}.intersection(names))


def _help_all_option(command: click.Command) -> None:
    click.option(
        _HELP_ALL,
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_print_all,
        help="Show every option, and exit.",
    )(command)


def _print_all(ctx: click.Context, _: click.Parameter, requested: bool) -> None:
    if requested and not ctx.resilient_parsing:
        ctx.meta[_HELP_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
