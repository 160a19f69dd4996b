"""`hydra init`: a short hydra.toml with guesses from what lies at the repository's top."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hydra import executables, paths
from hydra.commands.init_trial import problems
from hydra.errors import Refused, UsageError
from hydra.git import runner
from hydra.git.repository import top as find_top
from hydra.race.guesses.commands import guess_checks
from hydra.race.guesses.setups import setup

NAME = "hydra.toml"

_NO_SECRETS = re.compile(r"\.env.*\.(example|sample|template|dist)|\.envrc")


class Initial(Struct, frozen=True, kw_only=True):
    """A hydra.toml to be: where, its text, and what was guessed; of the checks those that start
    here, of the set-up what they would need. `written` says if it is there."""

    path: Path
    text: str
    copies: tuple[str, ...]
    setup: tuple[str, ...]
    checks: tuple[str, ...] = ()
    written: bool = False


def propose(start: Path) -> Initial:
    """The hydra.toml for the repository that `start` lies in. Raises `Refused` outside of one."""
    top = find_top(start)
    with os.scandir(top) as iterator:
        names = frozenset(entry.name for entry in iterator if entry.is_file(follow_symlinks=False))
    copies = _ignored(top, sorted(name for name in names if _may_hold_settings(name)))
    below = Path(os.path.realpath(start)).relative_to(os.path.realpath(top))
    commands = guess_checks(top) or guess_checks(top, below.as_posix())
    failing = problems(top, commands)
    starting = tuple(command for command in commands if command not in failing)
    initial = Initial(
        path=top / NAME,
        text="",
        copies=copies,
        setup=() if starting else setup(top),
        checks=starting,
    )
    return replace(initial, text="\n".join(_lines(initial, failing)) + "\n")


def users_own() -> Initial:
    """The user's own hydra.toml, which all repositories have; all of it is commented out."""
    path = paths.user_config_file(executables.users_environment())
    return Initial(path=path, text=_USERS_OWN, copies=(), setup=())


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


def _lines(initial: Initial, failing: Mapping[str, str]) -> Iterator[str]:
    yield "# What a race of Hydra needs to know of this repository. Every setting:"
    yield "# docs/reference/configuration.md of Hydra; what is not set here has its default."
    yield "[race]"
    if initial.checks:
        yield f"check = {_toml(initial.checks)}"
    for command, line in failing.items():
        yield f"# {command.splitlines()[0]}: {line}"
    if not initial.checks and not failing:
        yield '# How the tests are run was not recognised: check = ["COMMAND"]'
    if failing and not initial.checks:
        yield f"#check = {_toml(tuple(failing))}"
    if initial.setup:
        yield f"#setup = {_toml(initial.setup)}"
    if initial.copies:
        yield "# Found here and ignored by git; whoever may read a lane reads its copy."
        yield f"#copy = {_toml(initial.copies)}"


def _toml(values: tuple[str, ...]) -> str:
    import tomli_w

    texts = (tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n") for value in values)
    return f"[{', '.join(texts)}]"


def write(initial: Initial) -> Initial:
    """Writes the file. Raises `UsageError` where something of that name is there already."""
    try:
        if not initial.path.parent.exists():  # that of the user's own settings
            initial.path.parent.mkdir(parents=True)
        with initial.path.open("x", encoding="utf-8") as file:
            file.write(initial.text)
    except FileExistsError:
        raise UsageError(
            f"{initial.path} is there already, and init never overwrites",
            hint="`hydra init --print` shows what it would write",
        ) from None
    except OSError as error:
        raise Refused(f"{initial.path} cannot be written: {error.strerror}") from error
    return replace(initial, written=True)


def _may_hold_settings(name: str) -> bool:
    return name.startswith(".env") and name.isprintable() and not _NO_SECRETS.fullmatch(name)


def _ignored(top: Path, names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    result = runner.run(
        *("check-ignore", "-z", "--stdin"),
        cwd=top,
        stdin=runner.join([os.fsencode(name) for name in names]),
        check=False,
    )
    return tuple(os.fsdecode(name) for name in runner.split(result.stdout))
