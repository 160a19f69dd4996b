"""`hydra init`: a short hydra.toml to start from, guessed from what lies at the top."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hydra import executables
from hydra.cli.common import Command, json_option, usage
from hydra.cli.streams import show

_NO_SECRETS = re.compile(r"\.env.*\.(example|sample|template|dist)|\.envrc")

_USERS_OWN = """\
# Your own settings of Hydra, for every repository. All of them: docs/reference/configuration.md.
# A line that starts with # and no space is a setting: take the # away to set it.
[race]
# Who races where -a names nobody.
#agents = ["claude", "2xcodex"]
#max_parallel = 4

# A name of your own for an agent as you set it: -a careful
#[profiles.careful]
#agent = "claude"
#effort = "high"

# Where an agent's program is. Any that speaks the Agent Client Protocol:
# -a acp --allow-experimental-adapters (docs/reference/agents/acp.md).
#[agents.acp]
#path = "~/bin/my-agent"
#args = ["acp"]
"""


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
    from hydra import paths

    own = paths.user_config_file(executables.users_environment()) if user else None
    initial = propose(Path.cwd()) if own is None else _document(own, _USERS_OWN)
    if not only_print:
        write(Path(initial["path"]), initial["text"])
        initial["written"] = True
    if as_json:
        show(initial)
    elif only_print:
        show(initial["text"])
    else:
        from hydra.report.text import clean

        step = "no check that starts here was found: name one in it, or race with --check"
        if initial["check"]:
            step = 'next: look at it, then hydra race "what is to be done"'
        if user:
            step = "next: take the # away from a line to set it"
        show(f"wrote {clean(initial['path'])}\n{step}\n")


def _document(
    path: Path,
    text: str,
    *,
    copies: Sequence[str] = (),
    setup: Sequence[str] = (),
    checks: Sequence[str] = (),
) -> dict[str, Any]:
    """A hydra.toml to be. Of the checks those that start here, of the set-up what they need."""
    return {
        **{"schema": 1, "kind": "init", "path": str(path), "written": False},
        **{"copy": list(copies), "setup": list(setup), "check": list(checks), "text": text},
    }


def propose(start: Path) -> dict[str, Any]:
    """The hydra.toml for the repository that `start` lies in. Raises `Refused` outside of one."""
    from hydra.commands.init_tries import tried
    from hydra.git.repository import top as find_top
    from hydra.race.guesses.commands import guess_checks
    from hydra.race.guesses.setups import setup as guess_setup

    top = find_top(start)
    with os.scandir(top) as iterator:
        names = sorted(
            entry.name
            for entry in iterator
            if entry.is_file(follow_symlinks=False) and _may_hold_settings(entry.name)
        )
    copies = _ignored(top, names)
    below = Path(os.path.realpath(start)).relative_to(os.path.realpath(top))
    commands = guess_checks(top) or guess_checks(top, below.as_posix())
    failing = tried(top, commands)
    checks = [command for command in commands if command not in failing]
    setup = () if checks else guess_setup(top)
    text = "".join(f"{line}\n" for line in _lines(checks, failing, setup, copies))
    return _document(top / "hydra.toml", text, copies=copies, setup=setup, checks=checks)


def _lines(
    checks: Sequence[str], failing: Mapping[str, str], setup: Sequence[str], copies: Sequence[str]
) -> Iterator[str]:
    yield "# What a race of Hydra needs to know of this repository. Every setting:"
    yield "# docs/reference/configuration.md of Hydra; what is not set here has its default."
    yield "[race]"
    if checks:
        yield f"check = {_toml(checks)}"
    for command, line in failing.items():
        yield f"# {command.splitlines()[0]}: {line}"
    if not checks and not failing:
        yield '# How the tests are run was not recognised: check = ["COMMAND"]'
    if failing and not checks:
        yield f"#check = {_toml(tuple(failing))}"
    if setup:
        yield f"#setup = {_toml(setup)}"
    if copies:
        yield "# Found here and ignored by git; whoever may read a lane reads its copy."
        yield f"#copy = {_toml(copies)}"


def _toml(values: Sequence[str]) -> str:
    import tomli_w

    texts = (tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n") for value in values)
    return f"[{', '.join(texts)}]"


def write(path: Path, text: str) -> None:
    """Writes the file. Raises `UsageError` where something of that name is there already."""
    from hydra.errors import Refused

    try:
        if not path.parent.exists():  # that of the user's own settings
            path.parent.mkdir(parents=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise usage(
            f"{path} is there already, and init never overwrites",
            "`hydra init --print` shows what it would write",
        ) from None
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}") from error


def _may_hold_settings(name: str) -> bool:
    return name.startswith(".env") and name.isprintable() and not _NO_SECRETS.fullmatch(name)


def _ignored(top: Path, names: list[str]) -> list[str]:
    from hydra.git import runner

    if not names:
        return []
    result = runner.run(
        *("check-ignore", "-z", "--stdin"),
        cwd=top,
        stdin=runner.join([os.fsencode(name) for name in names]),
        check=False,
    )
    return [os.fsdecode(name) for name in runner.split(result.stdout)]
