"""The diagnosis log of `-v` and HYDRA_LOG: standard logging, written by structlog to stderr."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from hydra.errors import ConfigError
from hydra.reporters.text import clean

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def start(level: str) -> None:
    """Logs all of Hydra at `level`. Raises `ConfigError` for a level that is none.

    GitPython and trio are heard from warnings on: their chatter is not Hydra's.
    """
    if level not in LEVELS:
        raise ConfigError(f'HYDRA_LOG takes debug, info, warning or error, not "{level.lower()}"')
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter())
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger("hydra").setLevel(level)


def _formatter() -> structlog.stdlib.ProcessorFormatter:
    shared: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="%H:%M:%S.%f", utc=False),
    ]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _sanitised,
            structlog.dev.ConsoleRenderer(colors=False),
        ],
    )


def _sanitised(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    # The console renderer lets control sequences of agents through (14 of 16 that were tried).
    return {key: clean(it) if isinstance(it, str) else it for key, it in event.items()}
