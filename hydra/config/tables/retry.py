"""`[retry]`: whether a lane that failed by no fault of its own is tried again."""

from hydra.config.key import NO, Key, Table
from hydra.config.kinds import BOOLEAN, count, seconds, strings
from hydra.errors import ConfigError
from hydra.records.request import RETRY_REASONS, Retry

_RETRY = Table("retry", NO)


def retry_reason(item: str) -> str:
    """One of the failures after which a lane can be tried again."""
    if item not in RETRY_REASONS:
        raise ConfigError(f'"{item}" is none of {", ".join(RETRY_REASONS)}')
    return item


RETRY: tuple[Key, ...] = (
    _RETRY.key(
        "times",
        count(0, 10),
        "How often a lane is tried again after a failure of `on`.",
        default=0,
        environment="HYDRA_RETRY",
        flag="--retry",
    ),
    _RETRY.key(
        "on",
        strings(retry_reason, separator=","),
        "After which failures: `rate_limit`, `overloaded`, `network`, `crash`.",
        default=Retry().on,
    ),
    _RETRY.key(
        "wait",
        seconds(0, 3600),
        "How long it waits before the first, give or take; twice as long for each further.",
        default=Retry().wait,
    ),
    _RETRY.key("longest", seconds(0, 86400), "The longest that it waits.", default=Retry().longest),
    _RETRY.key(
        "with_patch",
        BOOLEAN,
        "Whether it is tried again although it has changed something.",
        default=False,
    ),
)
