"""`[limits]`: when Hydra steps in. The defaults are those of `Limits`."""

from hydra.config.key import NO, YES, Key, Table
from hydra.config.kinds import ValueKind, count, in_bytes, seconds
from hydra.records.request import Limits

_KIB, _MIB, _TIB = 1024, 1024**2, 1024**4
_HOUR, _DAY = 3600, 86400

_LIMITS = Table("limits")
_DEFAULTS = Limits()


def _limit(
    leaf: str,
    kind: ValueKind,
    meaning: str,
    environment: str,
    *,
    field: str = "",
    flag: str = "",
    repository: str = YES,
) -> Key:
    return _LIMITS.key(
        leaf,
        kind,
        meaning,
        field=field,
        default=getattr(_DEFAULTS, field or leaf),
        repository=repository,
        environment=environment,
        flag=flag,
    )


_LIMIT = seconds(0.001, 30 * _DAY)
_GRACE = seconds(0, _HOUR)

LIMITS = (
    _limit(
        "idle",
        _LIMIT,
        "Without any progress for so long, a lane is timed out; its patch is kept.",
        "HYDRA_IDLE_TIMEOUT",
        flag="--idle-timeout",
    ),
    _limit("tool", _LIMIT, "The idle limit while a tool runs.", "HYDRA_TOOL_TIMEOUT"),
    _limit(
        "background",
        _LIMIT,
        "So long an agent that has finished may wait for what it left running.",
        "HYDRA_BACKGROUND_TIMEOUT",
    ),
    _limit("total", _LIMIT, "The longest a lane may take.", "HYDRA_TIMEOUT", flag="--timeout"),
    _limit("grace_int", _GRACE, "Time between SIGINT and SIGTERM.", "HYDRA_GRACE_INT"),
    _limit("grace_term", _GRACE, "Time between SIGTERM and SIGKILL.", "HYDRA_GRACE_TERM"),
    _limit(
        "grace_patch", _GRACE, "Time to take the patches after an interrupt.", "HYDRA_GRACE_PATCH"
    ),
    _limit("setup", _LIMIT, "The longest a lane's set-up may take.", "HYDRA_SETUP_TIMEOUT"),
    _limit(
        "check_time", _LIMIT, "The longest one check may take.", "HYDRA_CHECK_TIME", field="check"
    ),
    _limit(
        "check_output",
        in_bytes(64 * _KIB, _TIB),
        "Kept of one check's output, like `raw_output`.",
        "HYDRA_CHECK_OUTPUT",
        field="check_bytes",
    ),
    _limit(
        "raw_output",
        in_bytes(64 * _KIB, _TIB),
        "Kept of an agent's output: head, tail, and a counted gap.",
        "HYDRA_RAW_OUTPUT",
        field="raw_bytes",
    ),
    _limit(
        "line",
        in_bytes(_KIB, 256 * _MIB),
        "The longest line that is parsed; longer ones are kept and counted.",
        "HYDRA_LINE",
        field="line_bytes",
    ),
    _limit(
        "stderr",
        in_bytes(64 * _KIB, _TIB),
        "Kept of an agent's stderr, like `raw_output`.",
        "HYDRA_STDERR",
        field="stderr_bytes",
    ),
    _limit(
        "patch_file",
        in_bytes(_KIB, _TIB),
        "The largest file in a patch; a larger one is reported.",
        "HYDRA_PATCH_FILE",
        field="patch_file_bytes",
    ),
    _limit(
        "patch_total",
        in_bytes(_KIB, _TIB),
        "A patch over this is incomplete; its worktree is kept.",
        "HYDRA_PATCH_TOTAL",
        field="patch_bytes",
    ),
    _limit(
        "untracked",
        count(0, 10_000_000),
        "New files in a patch; with more it is incomplete and the folder is named.",
        "HYDRA_UNTRACKED",
        field="patch_untracked",
    ),
    # A stranger may neither fill the user's disk nor have their records go.
    _limit(
        "disk_floor",
        in_bytes(0, _TIB),
        "Free space, or 5% of the disk where that is less, under which no race runs.",
        "HYDRA_DISK_FLOOR",
        repository=NO,
    ),
    _limit(
        "retention",
        seconds(0, 3650 * _DAY),
        "Age from which a run that holds no work goes by itself.",
        "HYDRA_RETENTION",
        repository=NO,
    ),
    _limit(
        "retention_size",
        in_bytes(0, 1024 * _TIB),
        "What a repository's runs may take before `hydra race` and `hydra runs` warn of it.",
        "HYDRA_RETENTION_SIZE",
        field="retention_bytes",
        repository=NO,
    ),
)
