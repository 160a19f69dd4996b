"""What the loader gives: settings that are whole, checked, and never change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec import Struct

from hydra.records.request import Budget, Check, Effort, Limits, Permission, Retry, TrialCap


class RaceSettings(Struct, frozen=True, kw_only=True):
    """`[race]`. None for `permission` and `network` means that nobody named one.

    `permission` None is full-auto inside Hydra's confinement and edit where there is none;
    UNRESTRICTED comes from --unsafe-full-access alone. `network` None leaves the agents' tools as
    each CLI itself has them. `setup_trusted` is False when the repository's own file named the
    set-up, which then runs only where something confines it.
    """

    agents: tuple[str, ...] = ()
    permission: Permission | None = None
    effort: Effort | None = None
    network: bool | None = None
    allow_experimental: bool = False
    max_parallel: int = 4
    copies: tuple[str, ...] = ()
    share: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    setup_trusted: bool = True
    keep: str = "failed"
    include_dirty: bool = False
    allow_filters: tuple[str, ...] = ()


class CheckSettings(NamedTuple):
    """`[checks]`, and every check that one place names: the highest that names any.

    `trusted` is False when that is the repository's own file: then they run only where something
    confines them. `network` is auto, private or host.
    """

    checks: tuple[Check, ...] = ()
    trusted: bool = True
    parallel: int = 1
    network: str = "auto"
    environment: tuple[str, ...] = ()


class JudgeSettings(Struct, frozen=True, kw_only=True):
    """`[judge]`: what its trials may cost, and what no patch may touch."""

    trial_runs: int = TrialCap().runs
    trial_time: float = TrialCap().seconds
    protected_paths: tuple[str, ...] = ()

    @property
    def trials(self) -> TrialCap:
        """The cap as a race has it."""
        return TrialCap(self.trial_runs, self.trial_time)


class AgentSettings(Struct, frozen=True, kw_only=True):
    """`[agents.<key>]`. `path` is absolute, or None to look on PATH; `adapter` is a third party's,
    as module:NAME; `folders` are below HOME, as `~/.my-agent`."""

    path: str | None = None
    model: str | None = None
    args: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    adapter: str | None = None
    effort: Effort | None = None
    service_tier: str = ""
    remote: str = ""


class ConfineSettings(NamedTuple):
    """`[confine]`: what the agents see beyond what they need to run, which a repository may not
    say. `show` are absolute, or below HOME as `~/lib`."""

    show: tuple[str, ...] = ()


class HookSettings(NamedTuple):
    """`[hooks]`: commands of the user's own, which a repository may not set; seconds for each."""

    pre_run: tuple[str, ...] = ()
    post_run: tuple[str, ...] = ()
    on_error: tuple[str, ...] = ()
    timeout: float = 60.0
    environment: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`[profiles.<name>]`: an agent under a name of its own. None and "" leave it as the race, or
    the agent's own table, has it. `preface_file` is a path: no file is read here; `source` is where
    the table stands."""

    agent: str
    model: str | None = None
    effort: Effort | None = None
    permission: Permission | None = None
    preface: str = ""
    preface_file: str = ""
    environment: tuple[str, ...] = ()
    service_tier: str = ""
    remote: str = ""
    budget: Budget = field(default_factory=Budget)
    source: str = field(default="", compare=False)


LOCAL = "local"
"""The name that stands for this machine where a remote is named."""


class Remote(Struct, frozen=True, kw_only=True):
    """`[remotes.<name>]`: where an agent can run but here, and how (docs/how-to/remote.md).

    `mode` is ssh (with `host`), docker (`container`, or `image`) or k8s (`pod`); paths are there.
    """

    name: str
    mode: str
    host: str = ""
    container: str = ""
    image: str = ""
    pod: str = ""
    namespace: str = ""
    context: str = ""
    workdir: str = "/tmp"  # noqa: S108  the other machine's
    program: str = ""
    options: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """Where that is, in a few words: `gpubox over ssh`."""
        if self.mode == "ssh":
            return f"{self.host} over ssh"
        if self.mode == "docker":
            return f"container {self.container}" if self.container else f"image {self.image}"
        space = f" of {self.namespace}" if self.namespace else ""
        return f"pod {self.pod}{space}" + (f" in {self.context}" if self.context else "")


class OwnModel(NamedTuple):
    """`[models.<name>]`: a model by a name of the user's own. Prices are dollars for a million
    tokens, None for unknown; `prices_read` is the day they are of, "" for unknown."""

    id: str
    family: str = ""
    aliases: tuple[str, ...] = ()
    context: int | None = None
    output: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    cached_price: float | None = None
    prices_read: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every setting of a race. `sources` says where each came from, by dotted key.

    A source is a file's path, an environment variable, a flag, or "default". It takes no part in
    comparing: the same settings from another place are the same settings.
    """

    race: RaceSettings = field(default_factory=RaceSettings)
    limits: Limits = field(default_factory=Limits)
    checks: CheckSettings = field(default_factory=CheckSettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    budget: Budget = field(default_factory=Budget)
    """Of every lane."""
    retry: Retry = field(default_factory=Retry)
    hooks: HookSettings = field(default_factory=HookSettings)
    confine: ConfineSettings = field(default_factory=ConfineSettings)
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    remotes: Mapping[str, Remote] = field(default_factory=dict)
    models: Mapping[str, OwnModel] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def agents_of_profiles(self) -> Mapping[str, str]:
        """Every profile's name, to its agent's key."""
        return {name: profile.agent for name, profile in self.profiles.items()}

    def agent(self, key: str) -> AgentSettings:
        """The settings of one agent; all unset where nobody set any."""
        return self.agents.get(key, AgentSettings())
