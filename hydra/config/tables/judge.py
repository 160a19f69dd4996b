"""`[judge]`: what a verdict may try, and what no patch may touch."""

from hydra.config.key import LOWER, Key, Table
from hydra.config.kinds import count, seconds, strings
from hydra.config.path_pattern import path_pattern
from hydra.records.request import TrialCap

_JUDGE = Table("judge")
_CAP = TrialCap()


JUDGE: tuple[Key, ...] = (
    # A stranger may neither keep the machine busy for longer nor lift the user's own gates.
    _JUDGE.key(
        "trial_runs",
        count(0, 10_000),
        "Runs of a check for trials, in one race or `hydra check`; 0 tries nothing.",
        default=_CAP.runs,
        repository=LOWER,
        environment="HYDRA_TRIAL_RUNS",
        flag="--trial-runs",
    ),
    _JUDGE.key(
        "trial_time",
        seconds(0, 30 * 86400),
        "The longest that all trials together may take.",
        default=_CAP.seconds,
        repository=LOWER,
        environment="HYDRA_TRIAL_TIME",
    ),
    _JUDGE.key(
        "protected_paths",
        strings(path_pattern, separator=":"),
        "What no patch may touch: files, folders, patterns as in a .gitignore, but for `!`. "
        "A repository's add to yours.",
        default=(),
        example='["migrations/", "*.lock"]',
        environment="HYDRA_PROTECTED_PATHS",
    ),
)
