"""Every key of `hydra.toml`, in one table that the loader, the docs and `hydra init` all read."""

import re

from hydra.config.key import Key
from hydra.config.tables.agents import AGENTS
from hydra.config.tables.budget import BUDGET
from hydra.config.tables.checks import CHECKS, ONE_CHECK
from hydra.config.tables.confine import CONFINE
from hydra.config.tables.hooks import HOOKS
from hydra.config.tables.judge import JUDGE
from hydra.config.tables.limits import LIMITS
from hydra.config.tables.models import MODELS
from hydra.config.tables.profiles import PROFILES
from hydra.config.tables.race import RACE
from hydra.config.tables.remotes import REMOTES
from hydra.config.tables.retry import RETRY

KEYS: tuple[Key, ...] = (
    *RACE,
    *LIMITS,
    *CHECKS,
    *ONE_CHECK,
    *JUDGE,
    *RETRY,
    *HOOKS,
    *CONFINE,
    *BUDGET,
    *AGENTS,
    *PROFILES,
    *REMOTES,
    *MODELS,
)
"""Every key, in the order in which the docs show them."""

FIXED = {key.name: key for key in KEYS if "<" not in key.name}
"""The keys with a fixed name, by it."""

AGENT = {key.leaf: key for key in AGENTS}
"""What each `[agents.<key>]` table may hold, by its last part."""

PROFILE = {key.leaf: key for key in PROFILES}
"""The same for each `[profiles.<name>]`."""

MODEL = {key.leaf: key for key in MODELS}
"""The same for each `[models.<name>]`."""

REMOTE = {key.leaf: key for key in REMOTES}
"""The same for each `[remotes.<name>]`."""

CHECK = {key.leaf: key for key in ONE_CHECK}
"""The same for each `[checks.<name>]`."""

_OF_NAMES = {
    "agents": AGENT,
    "checks": CHECK,
    "profiles": PROFILE,
    "remotes": REMOTE,
    "models": MODEL,
}

RESERVED = frozenset(key.leaf for key in CHECKS)
"""What no check may be called: `[checks]` has keys of these names."""


def key_of(parts: tuple[str, ...]) -> Key | None:
    """The key at a path in a document; ("agents", "claude", "path") is `agents.<key>.path`."""
    if len(parts) == 3 and parts[0] in _OF_NAMES:
        return _OF_NAMES[parts[0]].get(parts[2])
    return FIXED.get(".".join(parts))


def variable_of(key: Key, agent: str) -> str:
    """The environment variable of an agent's key: HYDRA_CURSOR_AGENT_PATH."""
    return key.environment.replace("<KEY>", re.sub(r"[^A-Z0-9]", "_", agent.upper()))
