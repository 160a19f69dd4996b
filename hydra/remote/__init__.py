"""Agents that run elsewhere: over ssh, in a container, in a pod (docs/remote.md).

`transport` says how a shell there is reached, `scripts` what it is told; `looking` asks before a
race, and `carry` is the program that stands in the lane's place here while its agent runs there.
"""

from hydra.remote.elsewhere import Elsewhere, Here, on_its_way
from hydra.remote.names import carried, folder_of
from hydra.remote.transport import argv, holder_argv, removal_argv

__all__ = [
    "Elsewhere",
    "Here",
    "argv",
    "carried",
    "folder_of",
    "holder_argv",
    "on_its_way",
    "removal_argv",
]
