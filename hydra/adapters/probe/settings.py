"""Reads the two hydra.toml files and the environment into one Config."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from hydra import paths
from hydra.adapters import registry
from hydra.adapters.probe.context import ProbeContext
from hydra.config.load import load as load_layers
from hydra.config.load import read_file
from hydra.config.schema import Config, Profile
from hydra.errors import ConfigError
from hydra.process.sandbox.masks import Masks
from hydra.process.sandbox.places import exposed_place
from hydra.records.plan import Confinement
from hydra.records.request import Lane
from hydra.redaction import notice


def _further() -> list[str]:
    from hydra.adapters.probe import available  # only for a name that is none of Hydra's own

    return available.further_keys()


def load(root: Path | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Config:
    """The settings in force. Raises `ConfigError` where a file says what Hydra cannot take, or
    where the one that HYDRA_CONFIG names is not there: what it forbids would be allowed."""
    own = read_file(paths.user_config_file(environ))
    named = environ.get("HYDRA_CONFIG")
    notice(*(value for name, value in environ.items() if name.startswith("HYDRA_")))
    if own is None and named and named != os.devnull:
        raise ConfigError(
            f"HYDRA_CONFIG names a file that is not there: {named}",
            hint="make it, or unset the variable; /dev/null stands for no settings",
        )
    settings = load_layers(
        user=own,
        repository=read_file(root / "hydra.toml", trusted=False) if root is not None else None,
        environ=environ,
        flags=flags,
        agent_keys=tuple(registry.OWN),
        further_keys=_further,
        not_run=registry.NOT_RUN,
    )
    if any(agent.adapter for agent in settings.agents.values()):
        from hydra.adapters.probe import available

        available.check_names(settings)
    return settings


LONGEST_PREFACE = 64 * 1024
"""Bytes of a preface file."""


def with_prefaces(settings: Config, lanes: Iterable[Lane], root: Path) -> Config:
    """The same settings, with the preface files of these lanes' profiles read; a relative one is of
    the repository at `root`. Raises `ConfigError`."""
    names = {lane.profile for lane in lanes}
    read = {
        name: replace(profile, preface=_joined(name, profile, root), preface_file="")
        if name in names and profile.preface_file
        else profile
        for name, profile in settings.profiles.items()
    }
    return replace(settings, profiles=read)


def _joined(name: str, profile: Profile, root: Path) -> str:
    line = profile.preface_file
    path = Path(line).expanduser() if line.startswith(("/", "~/")) else root / line
    inside = not line.startswith(("/", "~/"))
    where = f"{profile.source}: the preface of {name}"
    try:
        real = path.resolve(strict=True)
        top = root.resolve()
        if inside and not real.is_relative_to(top):
            raise ConfigError(f"{where} lies outside the repository: {line}")
        if inside and ".git" in str(real.relative_to(top)).lower().split("/"):
            raise ConfigError(f"{where} lies in .git: {line}")  # remotes have passwords, say
        if not real.is_file():
            raise ConfigError(f"{where} is no file: {line}")
        with real.open("rb") as file:
            data = file.read(LONGEST_PREFACE + 1)
        if len(data) > LONGEST_PREFACE:
            raise ConfigError(f"{where} is over 64 KiB: {line}", hint="make it shorter")
        text = data.decode()
        if "\0" in text:
            raise ConfigError(f"{where} holds NUL bytes: {line}", hint="name a file of plain text")
    except (OSError, RuntimeError, UnicodeDecodeError) as problem:
        # A link that leads to itself is a RuntimeError before Python 3.13.
        why = problem.strerror if isinstance(problem, OSError) else "a link that leads to itself"
        why = "no UTF-8" if isinstance(problem, UnicodeDecodeError) else why
        raise ConfigError(
            f"{where} cannot be read: {line} ({why})",
            hint="name a file in the repository, or one by its whole path",
        ) from problem
    notice(text, trusted=not inside)
    return "\n\n".join(filter(None, (profile.preface.strip(), text.strip())))


def probe_context(
    config: Config,
    environ: Mapping[str, str],
    confinement: Confinement,
    state: Path,
    *,
    masks: Masks | None = None,
    confirm_sign_in: bool = False,
    fresh: bool = False,
) -> ProbeContext:
    """Where the user's agents are probed, as their settings say."""
    return ProbeContext(
        environ=environ,
        home=paths.home_dir(environ),
        confinement=confinement,
        state=state,
        paths=programs(config),
        extra_names=extra_names(config),
        show=config.show,
        masks=masks,
        cache_file=paths.cache_dir(environ) / "probes.json",
        confirm_sign_in=confirm_sign_in,
        fresh=fresh,
    )


def programs(settings: Config) -> dict[str, str]:
    """The configured program of each agent that has one."""
    return {key: agent.path for key, agent in settings.agents.items() if agent.path}


def extra_names(settings: Config) -> dict[str, tuple[str, ...]]:
    """The environment variables that each agent is given beyond its own."""
    return {key: agent.environment for key, agent in settings.agents.items()}


def check_folders(settings: Config, agents: Iterable[str], home: Path) -> None:
    """Raises `ConfigError` where a folder of one of these agents is something else, so that a
    lane's copy would not lie over it, or where its copy would show what no agent may see."""
    for key in agents:
        for text in settings.agent(key).folders:
            name = text.removeprefix("~/")
            where = f"{settings.sources[f'agents.{key}.folders']}: agents.{key}.folders: {text}"
            if hidden := exposed_place(name):
                raise ConfigError(
                    f"{where} would show the agent ~/{hidden}, which is hidden from it",
                    hint="name no more than the folders that it needs",
                )
            if os.path.lexists(home / name) and not (home / name).is_dir():
                raise ConfigError(f"{where} is no folder", hint="name one, or take it out")
