"""`[confine]`: what the agents see of this machine beyond what they need to run."""

from hydra.config.key import NO, Key, Table, shown_place
from hydra.config.kinds import strings

CONFINE: tuple[Key, ...] = (
    Table("confine", NO).key(
        "show",
        strings(shown_place, separator=":"),
        "Files and folders that the agents may read, in your home folder or elsewhere.",
        default=(),
        environment="HYDRA_SHOW",
        example='["~/lib", "/data/fixtures"]',
    ),
)
