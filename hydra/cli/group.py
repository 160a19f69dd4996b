"""`hydra` itself: a group that knows its commands by name and imports one only to run it."""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import CommandGroup, usage

if TYPE_CHECKING:
    from hydra.errors import UsageError

SECTIONS = {
    "Begin": {
        "demo": "Race scripted agents on a small repository",
        "doctor": "Check what a race needs, and say what to do",
        "init": "Write a short hydra.toml at the repository's top",
        "completion": "Print the completion script of SHELL",
    },
    "Every day": {
        "race": "Give one TASK to several agents, each on a copy of its own",
        "compare": "Rank the lanes of a race: which patch, why, and how sure",
        "diff": "Show LANE's patch against its base, or against LANE2's patch",
        "merge": "Land LANE's patch, or picks of several, on your branch",
    },
    "Look, check again, clean up": {
        "runs": "List this repository's races, newest first",
        "check": "Run the checks of a race on its patches: again, or others",
        "agents": "List the agents, or show one whole; the models that they take",
    },
    "For authors of adapters": {
        "conformance": "Prove each agent's adapter, offline or against the real CLI",
    },
}
"""What `hydra --help` shows, in the order in which a person needs it."""

COMMANDS = {name: text for section in SECTIONS.values() for name, text in section.items()}
"""Every command with how its own help begins, so that `hydra --help` imports none of them."""

OTHER_NAMES = {
    "hydra race TASK": ("run", "start"),
    "hydra merge": ("land", "apply"),
    "hydra merge --undo": ("undo", "revert"),
    "hydra merge --abort": ("abort",),
    "hydra runs": ("list", "log"),
    "hydra runs show": ("status",),
    "hydra runs rm": ("clean", "rm"),
    "hydra compare": ("review",),
    "hydra compare --html --open": ("open",),
    "hydra check": ("test",),
    "hydra diff LANE": ("patch",),
    "hydra diff LANE --mbox": ("export",),
    "hydra init": ("config",),
    "hydra agents --models": ("models",),
    "hydra --version": ("version",),
}
"""What other words people type for a command, by the line that does it."""


_ELSEWHERE = {"conformance": "hydra.conformance.cli", "demo": "hydra.commands.demo.command"}


class LazyGroup(CommandGroup):
    """Commands by name, each from a module of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a person meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Imports the one command that is used."""
        if name not in COMMANDS:
            return None
        module = _ELSEWHERE.get(name, f"hydra.commands.{name}")
        command: click.Command = import_module(module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, but an unknown command names the nearest, and `help` is `--help`."""
        name = args[0]
        if name == "help" and len(args) > 1:
            return self.resolve_command(ctx, [*args[1:], "--help"])
        if name == "help":
            click.echo(ctx.get_help())
            ctx.exit()
        if name not in COMMANDS and name[:1] != "-":
            raise _unknown(name, args[1:])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, a section for each kind of use."""
        widest = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{widest}}", text) for name, text in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Names from the table: completing a command's name imports no command."""
        from click.shell_completion import CompletionItem

        names = [name for name in COMMANDS if name.startswith(incomplete)]
        items = [CompletionItem(name, help=COMMANDS[name]) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


def _unknown(name: str, rest: Sequence[str]) -> "UsageError":
    from shlex import quote

    from hydra.text import nearest

    if " " in name and not rest:
        task = name if len(name) <= 60 else f"{name[:57]}..."
        message = "the first word must be a command, and this is a task"
        return usage(message, f"hydra race {quote(task)}")
    line = next((line for line, names in OTHER_NAMES.items() if name.lower() in names), "")
    if not line and (near := nearest(name, COMMANDS)):
        line = f"hydra {near}"
    hint = f"did you mean `{line}`?" if line else "`hydra --help` lists the commands"
    return usage(f'there is no command "{name}"', hint)


def _print_version(ctx: click.Context, _: click.Parameter, is_set: bool) -> None:
    if is_set and not ctx.resilient_parsing:
        from hydra import __version__

        click.echo(f"hydra {__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=(
        "hydra demo",
        "hydra doctor",
        'hydra race "Fix the off-by-one in pager.py"',
        'hydra race "Fix the off-by-one in pager.py" --check "make test"',
        "hydra compare",
        "hydra merge",
    ),
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def hydra(ctx: click.Context) -> None:
    """Race coding agents on one task, each on its own copy of your checkout; keep every patch."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
