"""Reads the two hydra.toml files and the environment into one Config."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from hydra import paths
from hydra.adapters import registry
from hydra.adapters.contract import KEY
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
        agent_keys=_with_variables(environ),
    )
    _check_agents(settings)
    return settings


def _with_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The agents whose variables may be among these; what is installed is looked up for one that
    is none of Hydra's own."""
    names = re.findall(r"^HYDRA_(\w+)_(?:PATH|MODEL)$", "\n".join(environ), re.MULTILINE)
    own = {key.upper().replace("-", "_") for key in registry.OWN}
    return (*registry.OWN, *(_further() if {*names} - own else ()))


def _check_agents(settings: Config) -> None:
    """Raises `ConfigError` for an agent that there is not, and for a name that another has: a
    profile's of an agent, an agent's of one of Hydra's own."""
    declared = [key for key, agent in settings.agents.items() if agent.adapter]
    for key in declared:
        if key in registry.OWN or not KEY.fullmatch(key):
            why = "one of Hydra's own" if key in registry.OWN else "no name that an agent can have"
            raise ConfigError(
                f"{settings.agents[key].source}: agents.{key}.adapter: {key} is {why}",
                hint="give the agent a name of its own, the key that its adapter has: [agents.toy]",
            )
    keys = (*registry.OWN, *declared)
    places = {key: agent.source for key, agent in settings.agents.items()}
    for name, profile in settings.profiles.items():
        if name in keys:
            message = f'no profile can be called "{name}": an agent is called so'
            raise ConfigError(f"{profile.source}: {message}", hint="give it another name")
        places.setdefault(profile.agent, f"{profile.source}: profiles.{name}.agent")
    unknown = [key for key in places if key not in keys]
    others = _further() if unknown else []
    for key in (key for key in unknown if key not in others):
        error = registry.unknown(key, (*keys, *others))
        raise ConfigError(f"{places[key]}: {error.message}", hint=error.hint)


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
    inside = not line.startswith(("/", "~/"))
    path = root / line if inside else Path(line).expanduser()
    try:
        real, top = path.resolve(strict=True), root.resolve()
        if inside and not real.is_relative_to(top):
            raise ConfigError(f"{line} lies outside the repository")
        if inside and ".git" in str(real.relative_to(top)).lower().split("/"):
            raise ConfigError(f"{line} lies in .git")  # remotes have passwords, say
        _, text = read_file(real, trusted=not inside, most=LONGEST_PREFACE) or (line, "")
        if "\0" in text:
            raise ConfigError(f"{line} holds NUL bytes")
    except (ConfigError, OSError, RuntimeError) as problem:
        # A link that leads to itself is a RuntimeError before Python 3.13.
        why = getattr(problem, "strerror", None) or "a link that leads to itself"
        text = getattr(problem, "message", f"{line} cannot be read ({why})")
        raise ConfigError(
            f"{profile.source}: the preface of {name}: {text}",
            hint="name a file of plain text in the repository, or one by its whole path",
        ) from problem
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
    home = paths.home_dir(environ)
    return ProbeContext(
        environ=environ,
        home=home,
        confinement=confinement,
        state=state,
        paths=programs(config, home),
        extra_names={key: agent.environment for key, agent in config.agents.items()},
        show=config.show,
        masks=masks,
        cache_file=paths.cache_dir(environ) / "probes.json",
        confirm_sign_in=confirm_sign_in,
        fresh=fresh,
    )


def programs(settings: Config, home: Path) -> dict[str, str]:
    """The configured program of each agent that has one; `~/bin/x` is below `home`."""
    own = {key: agent.path for key, agent in settings.agents.items() if agent.path}
    return {key: re.sub("^~(?=/)", lambda _: f"{home}", path) for key, path in own.items()}


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
