"""The only spawner but for git's own runner: keeper, streams, limits, and the end of it all."""

from hydra.process.control import Control
from hydra.process.framing import Block, LineFramer
from hydra.process.once import run
from hydra.process.records import CannotStart, End, Notice, Ran, Spec, Wrap, plain
from hydra.process.supervision import supervise

__all__ = [
    "Block",
    "CannotStart",
    "Control",
    "End",
    "LineFramer",
    "Notice",
    "Ran",
    "Spec",
    "Wrap",
    "plain",
    "run",
    "supervise",
]
