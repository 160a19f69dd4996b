"""After a crash: ends what is left of a run, takes its patches, closes its record.

docs/recovery.md says what a killed Hydra may leave, moment by moment, and what becomes of it.
"""

from hydra.recover.removal import remove_rounds, remove_run, remove_strays
from hydra.recover.retention import Overdue, overdue, sweep
from hydra.recover.run import Recovered, recover_run

__all__ = [
    "Overdue",
    "Recovered",
    "overdue",
    "recover_run",
    "remove_rounds",
    "remove_run",
    "remove_strays",
    "sweep",
]
