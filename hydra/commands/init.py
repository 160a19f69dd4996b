"""`hydra init`: a short hydra.toml to start from."""

from pathlib import Path

import click

from hydra.cli.common import Command, json_option
from hydra.cli.streams import show


@click.command(cls=Command, examples=("hydra init", "hydra init --print", "hydra init --user"))
@click.option("--print", "only_print", is_flag=True, help="Print it; write nothing.")
@click.option("--user", is_flag=True, help="Write your own file, for all repositories.")
@json_option
def command(only_print: bool, user: bool, as_json: bool) -> None:
    """Write a short hydra.toml at the repository's top; never overwrite one.

    The checks in it were guessed from package.json, pyproject.toml, Cargo.toml, go.mod and the
    like, and tried: they start here. What a repository may not
    say, as which program an agent is, goes into your own file: --user.
    """
    from hydra.commands import init_guesses as init

    initial = init.users_own() if user else init.propose(Path.cwd())
    if not only_print:
        initial = init.write(initial)
    if as_json:
        show(
            {
                "schema": 1,
                "kind": "init",
                "path": str(initial.path),
                "written": initial.written,
                "copy": list(initial.copies),
                "setup": list(initial.setup),
                "check": list(initial.checks),
                "text": initial.text,
            }
        )
    elif only_print:
        show(initial.text)
    else:
        from hydra.report.text import clean

        step = "no check that starts here was found: name one in it, or race with --check"
        if initial.checks:
            step = 'next: look at it, then hydra race "what is to be done"'
        if user:
            step = "next: take the # away from a line to set it"
        show(f"wrote {clean(str(initial.path))}\n{step}\n")
