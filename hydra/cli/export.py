"""`hydra export`: a lane's patch as mail for `git am`, or as a bundle."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hydra import executables
from hydra.cli.common import Command, is_terminal, run_option


@click.command(
    cls=Command,
    examples=(
        "hydra export claude > claude.mbox && git am claude.mbox",
        "hydra export codex -o codex.mbox",
        "hydra export codex --bundle -o codex.bundle && git fetch codex.bundle codex",
    ),
)
@click.argument("lane")
@click.option("--bundle", is_flag=True, help="A git bundle: `git fetch FILE LANE` takes it.")
@click.option("-o", "--output", metavar="FILE", help="Write there (a new file), not to stdout.")
@run_option
def command(lane: str, bundle: bool, output: str | None, run: str) -> None:
    """Print LANE's patch as mail for `git am`, or as a bundle."""
    from hydra.app import export
    from hydra.errors import UsageError

    if bundle and output is None and is_terminal(sys.stdout):
        raise UsageError("a bundle is no text for a terminal", hint="-o FILE")
    data = export.export(lane, run, bundle=bundle, environ=executables.users_environment())
    if output is not None:
        export.write(data, Path(output))
    elif is_terminal(sys.stdout):
        from hydra.reporters.diff import shown

        sys.stdout.buffer.write(shown(data, color=False))
    else:
        sys.stdout.buffer.write(data)
