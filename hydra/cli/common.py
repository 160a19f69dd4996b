"""What the commands share: help with examples, options, colours, widths, the diagnosis log."""

import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from hydra.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

_DIAGNOSIS = f"{__name__}.diagnosis"
_HELP_ALL = "--help-all"
_EVERYWHERE = ("-h", _HELP_ALL)


class ShortHelp(click.Command):
    """A command with `-v`, whose `--help` leaves `-v` and what is not `common` to `--help-all`, and
    ends in examples, each on a line that can be copied.

    `common` names options as one writes them ("--agent"), in the order to show; () means all.
    Parsing and completion know every option either way.
    """

    def __init__(
        self,
        *args: Any,
        common: Sequence[str] = (),
        examples: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.common, self.examples = tuple(common), tuple(examples)
        _help_all_option(self)
        verbose_option(self)

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

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples as they stand: a wrapped example is no longer one."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in self.examples))


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


class Command(ShortHelp):
    """One command. `races` marks those that start agents, which not every platform can."""

    def __init__(self, *args: Any, races: bool = False, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.races = races

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command, or refuses in one sentence where a race cannot run."""
        if self.races:
            require_race_platform()
        return super().invoke(ctx)


class CommandGroup(ShortHelp, click.Group):
    """A command with commands of its own, such as `hydra runs`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, then the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def require_race_platform(platform: str = sys.platform) -> None:
    """Raises `Refused` where no race can run: ending what an agent started needs Linux."""
    if platform != "linux":
        from hydra.errors import Refused

        raise Refused(
            f"a race cannot run on this platform ({platform}): it needs Linux",
            hint="on Windows run Hydra in WSL 2, on a Mac in a Linux VM, with the clone inside",
        )


def duration(text: str) -> float:
    """Seconds from "90s", "10m" or "1h30m"; one without a unit is refused with what to write."""
    from hydra.config import values
    from hydra.errors import ConfigError

    try:
        return values.duration(text)
    except ConfigError as error:
        raise click.BadParameter(error.message) from error


DURATION = click.types.FuncParamType(duration)


def json_option(function: F) -> F:
    """`--json`, as `as_json`: one document on stdout, an error included."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(
        function
    )


def run_option(function: F) -> F:
    """`-r/--run`, as `run`: "" is the latest."""
    text = "The race: its id, how that begins or ends, or @-1: the one before. Default: the latest."
    return click.option("-r", "--run", default="", metavar="RUN", help=text)(function)


def run_argument(function: F) -> F:
    """RUN where it comes first, or `-r/--run`; both as `run`, "" is the latest."""

    @click.argument("first", default="", metavar="[RUN]")
    @run_option
    @functools.wraps(function)
    def wrapper(first: str, run: str, **options: Any) -> Any:
        refuse((first and run, "the race is named twice", "name it once: RUN, or -r RUN"))
        return function(run=first or run, **options)

    return wrapper  # type: ignore[return-value]


def experimental_option(
    help: str = "Look for experimental agents too, which runs their programs.",
) -> Callable[[F], F]:
    """`--allow-experimental-adapters`, as `experimental`."""
    name = "--allow-experimental-adapters"
    return click.option(name, "experimental", is_flag=True, help=help)


def verbose_option(command: click.Command) -> click.Command:
    """Adds `-v/--verbose`, which sets the diagnosis log up before the command starts."""
    return click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        is_eager=True,
        callback=lambda ctx, _, count: None if ctx.resilient_parsing else diagnosis(ctx, count),
        help="Say on stderr what Hydra does, to find a fault (twice: more).",
    )(command)


def usage(message: str, hint: str = "") -> "UsageError":
    """What is wrong with a command line, and what to do."""
    from hydra.errors import UsageError  # not for `--help`

    return UsageError(message, hint=hint)


def refuse(*rows: tuple[object, str, str]) -> None:
    """Raises `UsageError` for the first of (whether, what is wrong, what to do) that is so."""
    for applies, message, hint in rows:
        if applies:
            raise usage(message, hint)


def edited(text: str, what: str, way: str, *, extension: str, editor: str | None = None) -> str:
    """What a person makes of a text in their editor, without the lines that begin with #."""
    try:
        text = click.edit(text, editor=editor, extension=extension) or ""
    except (click.ClickException, OSError, UnicodeError) as error:
        why = error.format_message() if isinstance(error, click.ClickException) else error
        message = f"your editor did not give {what} ({why})"
        raise usage(message, f"set $EDITOR, or {way}") from error
    return "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()


def invoked_as() -> str:
    """How the user's shell can run this very hydra again, quoted: by name where PATH has it."""
    from shlex import join
    from shutil import which

    called = sys.argv[0]
    name = os.path.basename(called)  # noqa: PTH119  pathlib would be one more import
    if name not in ("hydra", "hydra-race"):
        return join([sys.executable, "-m", "hydra"])
    text = which(name)
    if text and os.path.realpath(text) == os.path.realpath(called):
        return name
    return join([os.path.abspath(called)])  # noqa: PTH100  a link stays what it was called by


def diagnosis(ctx: click.Context, verbosity: int) -> None:
    """Logs to stderr at `-v` (what is decided and spawned) and `-vv` (with details), and all of it
    to the file that HYDRA_LOG names, until the command ends.

    structlog writes it, imported only here and only then: it would be half of a start. Diagnosis
    is not the record: events are (decision 12).
    """
    file = os.environ.get("HYDRA_LOG", "")
    if _DIAGNOSIS in ctx.meta:  # of the group before its command: `hydra -v race`
        ctx.meta[_DIAGNOSIS].show(verbosity)
    elif verbosity or file:
        from hydra.cli.diagnosis import start

        ctx.meta[_DIAGNOSIS] = start(verbosity, file, os.environ)
        ctx.find_root().call_on_close(ctx.meta[_DIAGNOSIS].stop)
