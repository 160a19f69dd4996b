"""`hydra completion`: the script with which a shell completes `hydra` and `hydra-race`."""

import click

from hydra.cli.common import Command, usage

PROGRAMS = ("hydra", "hydra-race")


@click.command(
    cls=Command,
    examples=(
        'eval "$(hydra completion bash)"      # in ~/.bashrc',
        'eval "$(hydra completion zsh)"       # in ~/.zshrc, after compinit',
        "hydra completion fish | source       # in ~/.config/fish/config.fish",
    ),
)
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL for both names, hydra and hydra-race."""
    click.echo("\n".join(_script(shell, program) for program in PROGRAMS), nl=False)


def _script(shell: str, program: str) -> str:
    from click.shell_completion import get_completion_class

    from hydra.cli.group import hydra

    completion = get_completion_class(shell)
    if completion is None:  # a click that does not know the shell
        raise usage(f"this click cannot complete in {shell}")
    variable = f"_{program.replace('-', '_').upper()}_COMPLETE"
    return completion(hydra, {}, program, variable).source()
