"""What several tables have: the same words, the same names, the same key."""

from hydra.config.key import NAME, NO, Key, Table, variable
from hydra.config.kinds import choice, strings
from hydra.errors import ConfigError
from hydra.records.request import Effort

EFFORT = choice(*(effort.value for effort in Effort))
PERMISSION = choice(
    "plan",
    "edit",
    "full-auto",
    "default",
    "config",
    elsewhere="all of the machine is given by --unsafe-full-access alone",
)
"""What a file or a flag may say; all of the machine is given by a flag of its own alone."""


def key_name(name: str) -> str:
    """An agent's key."""
    if not NAME.fullmatch(name):
        raise ConfigError(f'"{name}" is not the name of an agent')
    return name


def variables(table: Table, text: str, example: str, environment: str = "") -> Key:
    """The key that names variables of the user's environment, which a repository may not."""
    return table.key(
        "environment",
        strings(variable, separator=","),
        f"Names of further environment variables that {text} given.",
        default=(),
        example=example,
        repository=NO,
        environment=environment,
    )
