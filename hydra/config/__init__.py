"""`hydra.toml` to a checked, frozen `Config` and back, with where each value came from.

Precedence: flags, environment, the repository's file, the user's file, defaults. The repository's
file is a stranger's and may say less (docs/decisions.md, 14; docs/reference/configuration.md has
the table).
"""

from hydra.config.key import Key
from hydra.config.keys import KEYS
from hydra.config.load import DEFAULT, load
from hydra.config.model import AgentSettings, Config, JudgeSettings, RaceSettings
from hydra.config.toml import read_file
from hydra.config.units import duration, format_duration, format_size, size
from hydra.config.write import default_text, dumps, template

__all__ = [
    "DEFAULT",
    "KEYS",
    "AgentSettings",
    "Config",
    "JudgeSettings",
    "Key",
    "RaceSettings",
    "default_text",
    "dumps",
    "duration",
    "format_duration",
    "format_size",
    "load",
    "read_file",
    "size",
    "template",
]
