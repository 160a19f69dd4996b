"""`hydra init`: a short hydra.toml with guesses from what lies at the repository's top."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import trio
from msgspec import Struct
from msgspec.structs import replace

from hydra import executables, paths
from hydra.adapters import registry
from hydra.adapters.probe import settings
from hydra.adapters.probe.sandbox import try_confinement, try_layers
from hydra.checks.context import CheckContext
from hydra.checks.start import look
from hydra.checks.suite import CheckSuite, NoGround
from hydra.config.check_specs import named
from hydra.config.schema import Config
from hydra.errors import HydraError, Refused, UsageError
from hydra.git import patches, runner
from hydra.git.repository import top as find_top
from hydra.process.records import CannotStart
from hydra.race.check_kit import kit_of
from hydra.race.command_context import CommandContext
from hydra.race.dependencies import FROZEN, LOOK, linked, names_of
from hydra.race.guesses.commands import guess_checks
from hydra.race.guesses.setups import setup
from hydra.race.plan import with_network
from hydra.race.recovery import runs
from hydra.records.plan import CheckPlan, Confinement, RacePlan
from hydra.records.request import Permission
from hydra.records.store.writer import new_run_id
from hydra.workspace import tree

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
    failing = _untried(top, commands)
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


# ---- Guesses tried on HEAD without a race: where they would run, confined, in a clean worktree.

UNTRIED = "it was not tried: nothing confines it here"


def _untried(top: Path, commands: Sequence[str]) -> Mapping[str, str]:
    """By command, the line that says why it cannot start here. Nothing of a stranger's is run where
    nothing confines it: then all of them are untried."""
    if not commands:
        return {}
    environ = executables.users_environment()
    try:
        place = runs.repository_runs(environ, top)
        config = settings.load(top, environ, {})
        confinement = trio.run(try_confinement, environ)
        if not confinement.holds:
            return dict.fromkeys(commands, UNTRIED)
        confinement = trio.run(try_layers, confinement, environ, place.state)
        return _looked(place, config, confinement, commands)
    except (HydraError, OSError) as problem:
        return dict.fromkeys(commands, f"it was not tried: {problem}")


def _looked(
    place: CommandContext, config: Config, confinement: Confinement, commands: Sequence[str]
) -> Mapping[str, str]:
    plan = _plan(place, config, confinement, commands)
    with _ground(place, plan) as folder:
        frozen = paths.ground_dir(place.state, plan.run, FROZEN)
        with linked(plan, place.repository, frozen) as dependencies:
            around = place.run(config, registry.OWN, folder, commands=plan.commands)
            around = replace(around, dependencies=dependencies)
            context = kit_of(plan, around, folder / "look")
            values = trio.run(_looked_at, context, plan.base)
    return {check.command: values[check.name] for check in plan.checks if check.name in values}


async def _looked_at(context: CheckContext, commit: str) -> Mapping[str, str]:
    suite = CheckSuite(context, "_look", commit, "_look", lambda _kind, _data: None)
    try:
        async with suite.open_workspace("") as workspace:
            return (await look(context, workspace, suite.tell)).problems
    except (NoGround, CannotStart):
        return {}  # what Hydra itself cannot find out speaks against no guess


def _plan(
    place: CommandContext, config: Config, confinement: Confinement, commands: Sequence[str]
) -> RacePlan:
    repository = place.repository
    plan = RacePlan(
        run=new_run_id(),
        repository=repository.root,
        base=repository.head,
        lanes=(),
        permission=Permission.FULL_AUTO,
        confinement=confinement,
        limits=config.limits,
        checking=CheckPlan(
            commands=tuple(replace(check, guessed=True) for check in named(commands)),
            network="auto",
        ),
        dependencies=names_of(repository, config, place.environ),
    )
    return with_network(plan)


@contextmanager
def _ground(place: CommandContext, plan: RacePlan) -> Iterator[Path]:
    """A folder among the grounds of races, with what a clean worktree is made of; then gone."""
    folder = paths.ground_dir(place.state, plan.run, LOOK)
    try:
        folder.mkdir(parents=True, mode=0o700)
        patches.create(folder / "patches.git", place.repository, base=plan.base)
        yield folder
    finally:
        with suppress(OSError):
            tree.remove(folder.parent)
