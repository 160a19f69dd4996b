"""Asks the CLIs what they are: version, help, sign-in, own sandbox; each question once.

Answers are remembered by the program's identity, so a warm race asks nothing. Where something
confines, probes run with a read-only HOME: even `claude auth status` writes to `~/.claude`
otherwise (seen in 2.1.330). docs/doctor.md says what is kept, and for how long.
"""

from hydra.probe.confinement import refused_network, try_confinement, try_layers
from hydra.probe.detecting import detect_all
from hydra.probe.questions import SIGN_IN
from hydra.probe.surroundings import Surroundings

__all__ = [
    "SIGN_IN",
    "Surroundings",
    "detect_all",
    "refused_network",
    "try_confinement",
    "try_layers",
]
