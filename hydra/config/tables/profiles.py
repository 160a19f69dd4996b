"""`[profiles.<name>]`: an agent under a name of the user's own, with all that goes with it."""

from hydra.config.key import NO, Key, Table, inside, plain
from hydra.config.kinds import text
from hydra.config.tables.agents import AGENTS
from hydra.config.tables.budget import budget
from hydra.config.tables.common import PERMISSION, key_name, variables
from hydra.errors import ConfigError

_BYTES = 20_000
"""Characters of a preface that stands in the file itself."""


def preface(line: str) -> str:
    """Text of any number of lines."""
    if not line.strip() or "\0" in line or len(line) > _BYTES:
        raise ConfigError(f"takes text of 1 to {_BYTES} characters")
    return line


def preface_file(path: str) -> str:
    """`/a/b`, `~/b`, or a path inside the repository."""
    return plain(path) if path.startswith(("/", "~/")) else inside(path)


_PROFILE = Table("profiles.<name>")
_OF_AGENT = {key.leaf: key for key in AGENTS}


def _as_its_agent(leaf: str, meaning: str = "") -> Key:
    """A key that its agent has as well: where the profile does not say it, the agent's holds."""
    key = _OF_AGENT[leaf]
    name, meaning = f"{_PROFILE.name}.{leaf}", meaning or key.meaning
    return key._replace(name=name, meaning=meaning, shown="the agent's", environment="")


PROFILES: tuple[Key, ...] = (
    _PROFILE.key(
        "agent", text(key_name), "The agent that it is.", shown="required", example='"claude"'
    ),
    _as_its_agent("model", "Its model."),
    _as_its_agent("effort", "How hard the model is to think."),
    _PROFILE.key(
        "permission",
        PERMISSION,
        "What it may do without asking.",
        shown="the race's",
        example='"edit"',
        repository=NO,
    ),
    _PROFILE.key(
        "preface",
        text(preface),
        "Text that stands before every prompt.",
        default="",
        example='"You review: look for what breaks, and mend only that."',
    ),
    _PROFILE.key(
        "preface_file",
        text(preface_file),
        "The same from a file: in the repository, or by its whole path.",
        default="",
        example='"docs/reviewer.md"',
    ),
    variables(_PROFILE, "it is", '["ACME_PROXY_TOKEN"]'),
    _as_its_agent("service_tier", "Its service tier."),
    _as_its_agent("remote"),
    *budget(_PROFILE, "its lane"),
)
