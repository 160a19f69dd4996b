"""The only spawner but for git's own runner: keeper, streams, limits, and the end of it all."""

from hydra.process.control import FINISHED, Control
from hydra.process.fence import SIGNALS, scopes_work
from hydra.process.framing import Block, LineFramer
from hydra.process.http import Caller, Request
from hydra.process.inlet import Inlet
from hydra.process.once import run
from hydra.process.records import CannotStart, End, Notice, Ran, Spec, Wrap, plain
from hydra.process.supervision import supervise
from hydra.process.terminal import TERM
from hydra.process.vt import Stripper

__all__ = [
    "FINISHED",
    "SIGNALS",
    "TERM",
    "Block",
    "Caller",
    "CannotStart",
    "Control",
    "End",
    "Inlet",
    "LineFramer",
    "Notice",
    "Ran",
    "Request",
    "Spec",
    "Stripper",
    "Wrap",
    "plain",
    "run",
    "scopes_work",
    "supervise",
]
