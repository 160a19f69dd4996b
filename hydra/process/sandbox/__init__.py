"""How a command is confined on this machine, what it then sees, and what that promises.

`compute_view` (discovery.py) finds what a race's commands need to see; a `SandboxPolicy` says what
one of them may see and write; `confine` is that as bwrap's command line. Confinement is tried, not
looked up: somebody runs `trial_argv`, `judge` reads what came of it.
"""

from hydra.process.sandbox.confine import confine
from hydra.process.sandbox.places import exposed_place
from hydra.process.sandbox.policy import SandboxPolicy, hidden_in_worktree
from hydra.process.sandbox.tables import AGENT_PLACES, SECRET_PLACES
from hydra.process.sandbox.trial import PROMISES, WITH_FULL_ACCESS, judge, trial_argv
from hydra.process.sandbox.view import ShownPlace, View

__all__ = [
    "AGENT_PLACES",
    "PROMISES",
    "SECRET_PLACES",
    "WITH_FULL_ACCESS",
    "SandboxPolicy",
    "ShownPlace",
    "View",
    "confine",
    "exposed_place",
    "hidden_in_worktree",
    "judge",
    "trial_argv",
]
