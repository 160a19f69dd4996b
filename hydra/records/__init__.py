"""The records that travel between the rooms: frozen, typed, and without any I/O.

Times are seconds as floats unless a name says otherwise; paths are absolute. `asked` is what a race
is asked for, `agents` what an agent is and what it is handed, `planned` what is decided before
anything runs, `outcomes` what came of it.
"""

from hydra.records.agent import (
    CAPABILITIES,
    BuiltCommand,
    Capability,
    CapabilitySet,
    Confidence,
    DetectResult,
    Origin,
    ProbeOutput,
    SignIn,
    SpawnRequest,
    Tier,
    has_run,
)
from hydra.records.outcome import (
    Estimate,
    ExitStatus,
    Outcome,
    Patch,
    RaceResult,
    Remark,
    Status,
    Usage,
)
from hydra.records.plan import Confinement, LanePlan, RacePlan, Rates, RemotePlace
from hydra.records.request import (
    RETRY_REASONS,
    Budget,
    Check,
    Effort,
    Lane,
    Limits,
    Permission,
    Retry,
    Task,
    TrialCap,
    Weights,
)

__all__ = [
    "CAPABILITIES",
    "RETRY_REASONS",
    "Budget",
    "BuiltCommand",
    "Capability",
    "CapabilitySet",
    "Check",
    "Confidence",
    "Confinement",
    "DetectResult",
    "Effort",
    "Estimate",
    "ExitStatus",
    "Lane",
    "LanePlan",
    "Limits",
    "Origin",
    "Outcome",
    "Patch",
    "Permission",
    "ProbeOutput",
    "RacePlan",
    "RaceResult",
    "Rates",
    "Remark",
    "RemotePlace",
    "Retry",
    "SignIn",
    "SpawnRequest",
    "Status",
    "Task",
    "Tier",
    "TrialCap",
    "Usage",
    "Weights",
    "has_run",
]
