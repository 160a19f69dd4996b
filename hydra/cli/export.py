"""`hydra export`, as it was called before it became part of `hydra diff`."""

from __future__ import annotations

import click

from hydra.cli.common import Command, run_option


@click.command(cls=Command, examples=("hydra diff claude --mbox > claude.mbox",))
@click.argument("lane")
@click.option("--bundle", is_flag=True, help="A git bundle: `git fetch FILE LANE` takes it.")
@click.option("-o", "--output", metavar="FILE", help="Write into this new file, not to stdout.")
@run_option
def command(lane: str, bundle: bool, output: str | None, run: str) -> None:
    """Is `hydra diff LANE --mbox` (or --bundle) now, and goes with the next version."""
    from hydra.cli.diff import hand_over

    hand_over(lane, run, output, bundle=bundle)
