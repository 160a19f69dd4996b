"""Every key of `hydra.toml`, in one table that the loader, the docs and `hydra init` all read."""

import re

from hydra.config.agent_keys import (
    AGENT_KEYS,
    BUDGET_KEYS,
    EFFORT,
    HOOK_KEYS,
    PERMISSION,
    PROFILE_KEYS,
    RETRY_KEYS,
)
from hydra.config.checks import KINDS, check_command, check_spec, report_path
from hydra.config.key import LOWER, NO, YES, Key, inside, lane_spec, plain, variable
from hydra.config.kinds import (
    BOOLEAN,
    Kind,
    count,
    in_bytes,
    points,
    seconds,
    strings,
    text,
    word,
)
from hydra.config.model_keys import MODEL_KEYS
from hydra.config.remote_keys import REMOTE_KEYS
from hydra.model import Limits, TrialCap, Weights

KIB, MIB, GIB, TIB = 1024, 1024**2, 1024**3, 1024**4
_HOUR, _DAY = 3600, 86400


_LIMITS = Limits()
_UNSAFE = "--unsafe-full-access"

_RACE = (
    Key(
        name="race.agents",
        field="agents",
        kind=strings(lane_spec, separator=","),
        default=(),
        shown="every ready Tier-1 agent",
        example='["claude", "2xcodex", "claude:opus"]',
        meaning="The lanes: an agent, with copies (`2xcodex`) or a model (`claude:opus`).",
        environment="HYDRA_AGENTS",
        flag="--agent",
    ),
    Key(
        name="race.permission",
        field="permission",
        kind=PERMISSION,
        default=None,
        shown="full-auto where confined, else edit",
        example='"edit"',
        meaning="What an agent may do without asking: `plan`, `edit` or `full-auto`; `default` is "
        "what its CLI does by itself, `config` what your settings of that CLI say.",
        repository=LOWER,
        environment="HYDRA_PERMISSION",
        flag="--permission",
    ),
    Key(
        name="race.effort",
        field="effort",
        kind=EFFORT,
        default=None,
        shown="the agent's",
        example='"high"',
        meaning="How hard the models are to think: `low`, `medium`, `high` or `max`.",
        environment="HYDRA_EFFORT",
        flag="--effort",
    ),
    Key(
        name="race.unsafe_full_access",
        field="unsafe_full_access",
        kind=BOOLEAN,
        default=False,
        meaning="Agents run with no sandbox and may write wherever you may.",
        repository=NO,
        flag=_UNSAFE,
        file=False,
    ),
    Key(
        name="race.network",
        field="network",
        kind=BOOLEAN,
        default=None,
        shown="as each CLI itself has it",
        example="false",
        meaning="Whether the agents' tools reach the network (the model is always reached).",
        repository=LOWER,
        environment="HYDRA_NETWORK",
        flag="--network / --no-network",
    ),
    Key(
        name="race.allow_experimental_adapters",
        field="allow_experimental",
        kind=BOOLEAN,
        default=False,
        meaning="Lets experimental adapters race.",
        repository=NO,
        environment="HYDRA_ALLOW_EXPERIMENTAL_ADAPTERS",
        flag="--allow-experimental-adapters",
        file=False,
    ),
    Key(
        name="race.max_parallel",
        field="max_parallel",
        kind=count(1, 64),
        default=4,
        meaning="Lanes that run at once; the others wait.",
        environment="HYDRA_MAX_PARALLEL",
        flag="--max-parallel",
    ),
    Key(
        name="race.copy",
        field="copies",
        kind=strings(inside, separator=":"),
        default=(),
        shown="none",
        example='[".env"]',
        meaning="Untracked files that each lane gets a copy of; never part of a patch.",
        environment="HYDRA_COPY",
        flag="--copy",
    ),
    Key(
        name="race.setup",
        field="setup",
        kind=strings(plain, separator="\n"),
        default=(),
        shown="none",
        example='["npm ci"]',
        meaning="Commands run in each lane before its agent starts.",
        environment="HYDRA_SETUP",
        flag="--setup",
    ),
    Key(
        name="race.check",
        field="check",
        kind=strings(check_spec, separator="\n"),
        default=(),
        shown="none",
        example='["pytest -q", "lint=ruff check ."]',
        meaning="Commands that are run on each patch: `pytest -q`, or `name=command`.",
        environment="HYDRA_CHECK",
        flag="--check",
    ),
    Key(
        name="race.keep",
        field="keep",
        kind=word("all", "failed", "none"),
        default="failed",
        meaning="Whose worktrees stay after the race; patches and records always do.",
        environment="HYDRA_KEEP",
        flag="--keep",
    ),
    Key(
        name="race.include_dirty",
        field="include_dirty",
        kind=BOOLEAN,
        default=False,
        meaning="Race from the working tree with its uncommitted changes instead of HEAD.",
        repository=NO,
        environment="HYDRA_INCLUDE_DIRTY",
        flag="--include-dirty",
    ),
    Key(
        name="race.allow_filter",
        field="allow_filters",
        kind=strings(plain, separator=","),
        default=(),
        shown="none",
        example='["nbstripout"]',
        meaning="git content filters that may run, by name (LFS always may).",
        repository=NO,
        environment="HYDRA_ALLOW_FILTER",
        flag="--allow-filter",
    ),
)


def _limit(
    leaf: str,
    field: str,
    kind: Kind,
    environment: str,
    meaning: str,
    flag: str = "",
    repository: str = YES,
) -> Key:
    return Key(
        name=f"limits.{leaf}",
        field=field,
        kind=kind,
        default=getattr(_LIMITS, field),
        meaning=meaning,
        repository=repository,
        environment=environment,
        flag=flag,
    )


_LIMIT = seconds(0.001, 30 * _DAY)
_GRACE = seconds(0, _HOUR)

_LIMIT_KEYS = (
    _limit(
        "idle",
        "idle",
        _LIMIT,
        "HYDRA_IDLE_TIMEOUT",
        "Without any progress for so long, a lane is timed out; its patch is kept.",
        "--idle-timeout",
    ),
    _limit("tool", "tool", _LIMIT, "HYDRA_TOOL_TIMEOUT", "The idle limit while a tool runs."),
    _limit("total", "total", _LIMIT, "HYDRA_TIMEOUT", "The longest a lane may take.", "--timeout"),
    _limit("grace_int", "grace_int", _GRACE, "HYDRA_GRACE_INT", "Time between SIGINT and SIGTERM."),
    _limit(
        "grace_term", "grace_term", _GRACE, "HYDRA_GRACE_TERM", "Time between SIGTERM and SIGKILL."
    ),
    _limit(
        "grace_patch",
        "grace_patch",
        _GRACE,
        "HYDRA_GRACE_PATCH",
        "Time to take the patches after an interrupt.",
    ),
    _limit(
        "setup", "setup", _LIMIT, "HYDRA_SETUP_TIMEOUT", "The longest a lane's set-up may take."
    ),
    _limit("check_time", "check", _LIMIT, "HYDRA_CHECK_TIME", "The longest one check may take."),
    _limit(
        "check_output",
        "check_bytes",
        in_bytes(64 * KIB, TIB),
        "HYDRA_CHECK_OUTPUT",
        "Kept of one check's output, like `raw_output`.",
    ),
    _limit(
        "raw_output",
        "raw_bytes",
        in_bytes(64 * KIB, TIB),
        "HYDRA_RAW_OUTPUT",
        "Kept of an agent's output: head, tail, and a counted gap.",
    ),
    _limit(
        "line",
        "line_bytes",
        in_bytes(KIB, 256 * MIB),
        "HYDRA_LINE",
        "The longest line that is parsed; longer ones are kept and counted.",
    ),
    _limit(
        "stderr",
        "stderr_bytes",
        in_bytes(64 * KIB, TIB),
        "HYDRA_STDERR",
        "Kept of an agent's stderr, like `raw_output`.",
    ),
    _limit(
        "patch_file",
        "patch_file_bytes",
        in_bytes(KIB, TIB),
        "HYDRA_PATCH_FILE",
        "The largest file in a patch; a larger one is reported.",
    ),
    _limit(
        "patch_total",
        "patch_bytes",
        in_bytes(KIB, TIB),
        "HYDRA_PATCH_TOTAL",
        "A patch over this is incomplete; its worktree is kept.",
    ),
    _limit(
        "untracked",
        "patch_untracked",
        count(0, 10_000_000),
        "HYDRA_UNTRACKED",
        "New files in a patch; with more it is incomplete and the folder is named.",
    ),
    # A stranger may neither fill the user's disk nor have their records go.
    _limit(
        "disk_floor",
        "disk_floor",
        in_bytes(0, TIB),
        "HYDRA_DISK_FLOOR",
        "Free space, or 5% of the disk where that is less, under which no race runs.",
        repository=NO,
    ),
    _limit(
        "retention",
        "retention",
        seconds(0, 3650 * _DAY),
        "HYDRA_RETENTION",
        "Age from which a run that holds no work goes by itself.",
        repository=NO,
    ),
    _limit(
        "retention_size",
        "retention_bytes",
        in_bytes(0, 1024 * TIB),
        "HYDRA_RETENTION_SIZE",
        "What a repository's runs may take before those that hold no work go.",
        repository=NO,
    ),
)

_CHECK_KEYS = (
    Key(
        name="checks.parallel",
        field="parallel",
        kind=count(1, 64),
        default=1,
        meaning="Lanes whose checks run at once; those of one lane run one after another.",
        environment="HYDRA_CHECKS_PARALLEL",
    ),
    Key(
        name="checks.tree",
        field="tree",
        kind=word("clean", "lane"),
        default="clean",
        meaning="Where they run: in a clean worktree of the patch, or in what the agent left.",
        environment="HYDRA_CHECKS_TREE",
    ),
    Key(
        name="checks.network",
        field="network",
        kind=word("host", "private"),
        default="host",
        meaning="`private` gives each check its own loopback, and nothing else of a network.",
        environment="HYDRA_CHECKS_NETWORK",
    ),
    Key(
        name="checks.environment",
        field="environment",
        kind=strings(variable, separator=","),
        default=(),
        shown="none",
        example='["DATABASE_URL", "ACME_*"]',
        meaning="Names of further environment variables that checks are given.",
        repository=NO,
        environment="HYDRA_CHECKS_ENVIRONMENT",
    ),
)

_ONE_CHECK_KEYS = (
    Key(
        name="checks.<name>.command",
        field="command",
        kind=text(check_command),
        default=None,
        shown="none: it must be there",
        example='"pytest -q"',
        meaning="What /bin/sh runs; 0 is passed.",
    ),
    Key(
        name="checks.<name>.kind",
        field="kind",
        kind=word(*KINDS),
        default=None,
        shown="guessed from the command",
        example='"test"',
        meaning="`test`, `build` or `lint`: only a failing test is run once more.",
    ),
    Key(
        name="checks.<name>.required",
        field="required",
        kind=BOOLEAN,
        default=True,
        meaning="Whether a patch must pass it to be usable.",
    ),
    Key(
        name="checks.<name>.junit",
        field="junit",
        kind=text(report_path),
        default=None,
        shown="what it is asked for by environment",
        example='"build/test-results/**/*.xml"',
        meaning="Where it writes JUnit XML: a path or a glob from the top.",
    ),
)

_CAP = TrialCap()
_WEIGHTS = Weights()


def _weight(field: str, meaning: str) -> Key:
    return Key(
        name=f"judge.weights.{field}",
        field=field,
        kind=points(0, 1000),
        default=getattr(_WEIGHTS, field),
        meaning=meaning,
    )


_JUDGE_KEYS = (
    # A stranger may neither keep the machine busy for longer nor lift the user's own gates.
    Key(
        name="judge.trial_runs",
        field="trial_runs",
        kind=count(0, 10_000),
        default=_CAP.runs,
        meaning="Runs of a check for trials, in one race or `hydra check`; 0 tries nothing.",
        repository=LOWER,
        environment="HYDRA_TRIAL_RUNS",
        flag="--trial-runs",
    ),
    Key(
        name="judge.trial_time",
        field="trial_time",
        kind=seconds(0, 30 * _DAY),
        default=_CAP.seconds,
        meaning="The longest that all trials together may take.",
        repository=LOWER,
        environment="HYDRA_TRIAL_TIME",
    ),
    Key(
        name="judge.protected_paths",
        field="protected_paths",
        kind=strings(inside, separator=":"),
        default=(),
        shown="none",
        example='["migrations/", "*.lock"]',
        meaning="What no patch may touch: files, folders, patterns. A repository's add to yours.",
        environment="HYDRA_PROTECTED_PATHS",
    ),
    _weight("build", "What builds weigh in the score, in points."),
    _weight("test", "What tests weigh in it."),
    _weight("lint", "What linters weigh in it."),
    _weight("scope", "What the size of a patch weighs in it."),
    _weight("speed", "What the agent's time weighs in it."),
)

KEYS: tuple[Key, ...] = (
    *_RACE,
    *_LIMIT_KEYS,
    *_CHECK_KEYS,
    *_ONE_CHECK_KEYS,
    *_JUDGE_KEYS,
    *RETRY_KEYS,
    *HOOK_KEYS,
    *BUDGET_KEYS,
    *AGENT_KEYS,
    *PROFILE_KEYS,
    *REMOTE_KEYS,
    *MODEL_KEYS,
)
"""Every key, in the order in which the docs show them."""

FIXED = {key.name: key for key in KEYS if "<" not in key.name}
"""The keys with a fixed name, by it."""

AGENT = {key.leaf: key for key in AGENT_KEYS}
"""What each `[agents.<key>]` table may hold, by its last part."""

PROFILE = {key.leaf: key for key in PROFILE_KEYS}
"""The same for each `[profiles.<name>]`."""

MODEL = {key.leaf: key for key in MODEL_KEYS}
"""The same for each `[models.<name>]`."""

REMOTE = {key.leaf: key for key in REMOTE_KEYS}
"""The same for each `[remotes.<name>]`."""

CHECK = {key.leaf: key for key in _ONE_CHECK_KEYS}
"""The same for each `[checks.<name>]`."""

RESERVED = frozenset(key.leaf for key in _CHECK_KEYS)
"""What no check may be called: `[checks]` has keys of these names."""


def key_of(parts: tuple[str, ...]) -> Key | None:
    """The key at a path in a document; ("agents", "claude", "path") is `agents.<key>.path`."""
    if parts[0] == "agents":
        return AGENT.get(parts[2]) if len(parts) == 3 else None
    if parts[0] == "profiles":
        return PROFILE.get(parts[2]) if len(parts) == 3 else None
    if parts[0] == "remotes":
        return REMOTE.get(parts[2]) if len(parts) == 3 else None
    if parts[0] == "models":
        return MODEL.get(parts[2]) if len(parts) == 3 else None
    if parts[0] == "checks" and len(parts) == 3:
        return CHECK.get(parts[2])
    return FIXED.get(".".join(parts))


def variable_of(key: Key, agent: str) -> str:
    """The environment variable of an agent's key: HYDRA_CURSOR_AGENT_PATH."""
    return key.environment.replace("<KEY>", re.sub(r"[^A-Z0-9]", "_", agent.upper()))
