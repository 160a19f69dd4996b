"""Every setting of `hydra.toml`: what holds it, and, a line a key, what it may be and who may say it.

A key stands at the field that it fills; fields of `records/` have theirs in the tables below. The
loader, the command line's options, docs/reference/configuration.md and hydra.toml.example all read
this. `Config` is what the loader gives: settings that are whole, checked, and never change.
"""
# ruff: noqa: E501  (a table of keys reads best a row a line)

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from hydra.config import values
from hydra.config.values import BOOLEAN, DURATION, SIZE, ValueKind
from hydra.records.request import (
    RETRY_REASONS,
    Budget,
    Check,
    Effort,
    Limits,
    Permission,
    Retry,
    TrialCap,
)

YES, LOWER, NO, NEVER = "yes", "only lower", "no", "no file may"
"""Whether a repository's own hydra.toml may set a key (docs/decisions.md, 14)."""


class Key(NamedTuple):
    """One key of `hydra.toml`, by its dotted `name` (`race.agents`, `agents.<key>.path`); in a table
    below `name` is its last part, where that is not the field's.

    `repository` is YES, LOWER, NO or NEVER. `help` is what `--help` says of the flag, `{}` in it the
    default, `metavar` what stands for its value. `shown` stands in the docs where the default is not
    a value; `example` is what `hydra.toml.example` has, as TOML.
    """

    kind: ValueKind
    meaning: str
    environment: str = ""
    flag: str = ""
    repository: str = ""
    shown: str = ""
    example: str = ""
    name: str = ""
    section: str = ""
    leaf: str = ""
    field: str = ""
    default: Any = None
    metavar: str | None = None
    short: str = ""
    help: str = ""


# fmt: off

_KIB, _MIB, _TIB, _DAY = 1024, 1024**2, 1024**4, 86400
_LIMIT, _GRACE = DURATION.within(0.001, 30 * _DAY), DURATION.within(0, 3600)
_OUTPUT, _PATCH = SIZE.within(64 * _KIB, _TIB), SIZE.within(_KIB, _TIB)
_PRICE, _TOKENS = values.count(0, 100_000, float), values.count(1, 1_000_000_000)
_EFFORT = values.choice(*Effort)
_PERMISSION = values.choice(*(level for level in Permission if level is not Permission.UNRESTRICTED), elsewhere=" (all of the machine is given by --unsafe-full-access alone)")
_WITHIN = r"(?![/~]|(?:.*/)?(?:\.\.|(?i:\.git))(?:/|\Z)).*"
PATH = values.text("a path inside the repository", _WITHIN)
_ANYWHERE = values.text("a path inside the repository, or an absolute one", f"~?/.*|{_WITHIN}")
_PATTERN = values.text("a path inside the repository", _WITHIN, values.path_pattern)
_PROGRAM = values.text("an absolute path", "~?/.*")
_SHOWN = values.text("a place below your home folder, or an absolute path", r"~?(?!/*\Z)(?:/(?!\.\.?(?:/|\Z))[^/]*)+")  # never HOME, or the machine, as a whole
_HOME = values.text('a folder below your home folder ("~/.my-agent")', r"~(?:/(?!\.\.?(?:/|\Z))[^/]+)+")
_LINE = values.text("a line of text")
_LINES = ValueKind("string", "text of 1 to 20000 characters", Annotated[str, Meta(max_length=20_000, pattern=r"\A(?=\s*\S)[^\0]*\Z")])
_COMMAND = ValueKind("string", "a command for the shell, without control characters", Annotated[str, Meta(pattern=r"\A(?=\s*\S)[^\x00-\x08\x0b-\x1f]*\Z")], str.strip)
_DATE = ValueKind("string", 'a day ("2026-11-22")', date, date.isoformat)
_AGENT, _REMOTE = values.text("the name of an agent", values.NAME), values.text("the name of a remote", values.NAME)
_MODEL = values.text("the name of a model", values.MODEL)
_ADAPTER = values.text("the name of an adapter (my_pkg:ADAPTER)", r"(?a:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*)")
_HOST = values.text("a host for ssh (gpubox, or ada@gpubox)", r"(?a:[A-Za-z0-9_\[][\w.:@/\[\]+-]*)")  # ssh hands some names to a shell
_TARGET_NAME = values.text("the name of a container, an image, a pod or a context", "[A-Za-z0-9][A-Za-z0-9_.:/@-]*")
_REMOTE_FOLDER = values.text("an absolute path", r"/(?!(?:.*/)?\.\.(?:/|\Z)).*")
_REMOTE_PROGRAM = values.text("a program's name or its absolute path there", "/.*|(?![-~])[^/]+")
_COMMANDS, _INSIDE = values.listed(_LINE, "\n"), values.listed(PATH, ":")
_VARIABLES = values.listed(values.text("the name of an environment variable (a * may end it; git's own names stay with git)", r"(?!(?i:GIT_))[A-Za-z_][A-Za-z0-9_]*\*?"))


class RaceSettings(Struct, frozen=True, kw_only=True):
    """`[race]`. `permission` None is full-auto inside Hydra's confinement and edit where there is
    none; UNRESTRICTED comes from --unsafe-full-access alone. `network` None leaves the agents' tools
    as each CLI has them. `setup_trusted` is False when the repository's own file named the set-up,
    which then runs only where something confines it."""

    agents: Annotated[tuple[str, ...], Key(values.listed(values.text("an agent", parse=values.lane_spec)), "The lanes: an agent, with copies (`2xcodex`) or a model (`claude:opus`).", "HYDRA_AGENTS", "--agent", shown="every ready Tier-1 agent", example='["claude", "2xcodex", "claude:opus"]', short="-a", metavar="AGENT", help="Who races: claude, codex:MODEL, 2xclaude ... (repeatable). Default: claude and codex, where they are ready.")] = ()
    permission: Annotated[Permission | None, Key(_PERMISSION, "What an agent may do without asking: `plan`, `edit` or `full-auto`; `default` is what its CLI does by itself, `config` what your settings of that CLI say.", "HYDRA_PERMISSION", "--permission", LOWER, "full-auto where confined, else edit", '"edit"', metavar="LEVEL", help="What agents may do unasked: plan, edit, full-auto; default and config: as the agent has it. Default: full-auto where they are confined.")] = None
    effort: Annotated[Effort | None, Key(_EFFORT, "How hard the models are to think: `low`, `medium`, `high` or `max`.", "HYDRA_EFFORT", "--effort", shown="the agent's", example='"high"', metavar="LEVEL", help="How hard the models think: low, medium, high, max; of one agent: AGENT@high.")] = None
    unsafe_full_access: Annotated[bool, Key(BOOLEAN, "Agents run with no sandbox and may write wherever you may.", "", "--unsafe-full-access", NEVER, help="Confine nothing: the whole machine.")] = False
    network: Annotated[bool | None, Key(BOOLEAN, "Whether the agents' tools reach the network (the model is always reached).", "HYDRA_NETWORK", "--network / --no-network", LOWER, "as each CLI itself has it", "false", help="Whether the agents' commands have a network.")] = None
    allow_experimental: Annotated[bool, Key(BOOLEAN, "Lets experimental adapters race.", "HYDRA_ALLOW_EXPERIMENTAL_ADAPTERS", "--allow-experimental-adapters", NEVER, name="allow_experimental_adapters", help="Let experimental agents run (`hydra agents` lists them).")] = False
    max_parallel: Annotated[int, Key(values.count(1, 64), "Lanes that run at once; the others wait.", "HYDRA_MAX_PARALLEL", "--max-parallel", metavar="N", help="Agents at once ({}).")] = 4
    copies: Annotated[tuple[str, ...], Key(_INSIDE, "Untracked files that each lane gets a copy of; never part of a patch.", "HYDRA_COPY", "--copy", example='[".env"]', name="copy", metavar="PATH", help="Copy this ignored file, such as .env.")] = ()
    share: Annotated[tuple[str, ...], Key(_INSIDE, "Ignored folders that each lane has copy-on-write, beside the environments and packages that Hydra knows.", "HYDRA_SHARE", "--share", example='["data/models"]', metavar="FOLDER", help="Show this ignored folder, copy-on-write, as .venv and node_modules are.")] = ()
    setup: Annotated[tuple[str, ...], Key(_COMMANDS, "Commands run in each lane before its agent starts; new files they leave are in no patch.", "HYDRA_SETUP", "--setup", example='["npm ci"]', metavar="CMD", help='Run this first, such as "npm ci".')] = ()
    setup_trusted: bool = True
    check: Annotated[tuple[str, ...], Key(values.listed(_COMMAND, "\n"), "Commands that are run on each patch: `pytest -q`, or `name=command`.", "HYDRA_CHECK", "--check", example='["pytest -q", "lint=ruff check ."]', metavar="CMD", help="Run this on each patch (repeatable; NAME=CMD names it). Default: the tests that Hydra finds, which it names; --no-check: none.")] = ()
    keep: Annotated[str, Key(values.choice("all", "failed", "none"), "Whose worktrees stay after the race; patches and records always do.", "HYDRA_KEEP", "--keep", help="Whose folders to keep as they are ({}). Patches are always kept.")] = "failed"
    include_dirty: Annotated[bool, Key(BOOLEAN, "Race from the working tree with its uncommitted changes instead of HEAD.", "HYDRA_INCLUDE_DIRTY", "--include-dirty", NO, help="Take uncommitted changes along.")] = False
    allow_filters: Annotated[tuple[str, ...], Key(values.listed(_LINE), "git content filters that may run, by name (LFS always may).", "HYDRA_ALLOW_FILTER", "--allow-filter", NO, example='["nbstripout"]', name="allow_filter", metavar="NAME", help="Race although git would run this filter (.gitattributes).")] = ()


_LIMITS = {
    "idle": Key(_LIMIT, "Without any progress for so long, a lane is timed out; its patch is kept.", "HYDRA_IDLE_TIMEOUT", "--idle-timeout", metavar="TIME", help="Stop an agent that makes no progress for so long ({})."),
    "tool": Key(_LIMIT, "The idle limit while a tool runs.", "HYDRA_TOOL_TIMEOUT"),
    "background": Key(_LIMIT, "So long an agent that has finished may wait for what it left running.", "HYDRA_BACKGROUND_TIMEOUT"),
    "total": Key(_LIMIT, "The longest a lane may take.", "HYDRA_TIMEOUT", "--timeout", metavar="TIME", help="Stop an agent after so long ({})."),
    "grace_int": Key(_GRACE, "Time between SIGINT and SIGTERM.", "HYDRA_GRACE_INT"),
    "grace_term": Key(_GRACE, "Time between SIGTERM and SIGKILL.", "HYDRA_GRACE_TERM"),
    "grace_patch": Key(_GRACE, "Time to take the patches after an interrupt.", "HYDRA_GRACE_PATCH"),
    "setup": Key(_LIMIT, "The longest a lane's set-up may take.", "HYDRA_SETUP_TIMEOUT"),
    "check": Key(_LIMIT, "The longest one check may take.", "HYDRA_CHECK_TIME", name="check_time"),
    "check_bytes": Key(_OUTPUT, "Kept of one check's output, like `raw_output`.", "HYDRA_CHECK_OUTPUT", name="check_output"),
    "raw_bytes": Key(_OUTPUT, "Kept of an agent's output: head, tail, and a counted gap.", "HYDRA_RAW_OUTPUT", name="raw_output"),
    "line_bytes": Key(SIZE.within(_KIB, 256 * _MIB), "The longest line that is parsed; longer ones are kept and counted.", "HYDRA_LINE", name="line"),
    "stderr_bytes": Key(_OUTPUT, "Kept of an agent's stderr, like `raw_output`.", "HYDRA_STDERR", name="stderr"),
    "patch_file_bytes": Key(_PATCH, "The largest file in a patch; a larger one is reported.", "HYDRA_PATCH_FILE", name="patch_file"),
    "patch_bytes": Key(_PATCH, "A patch over this is incomplete; its worktree is kept.", "HYDRA_PATCH_TOTAL", name="patch_total"),
    "patch_untracked": Key(values.count(0, 10_000_000), "New files in a patch; with more it is incomplete and the folder is named.", "HYDRA_UNTRACKED", name="untracked"),
    # A stranger may neither fill the user's disk nor have their records go.
    "disk_floor": Key(SIZE.within(0, _TIB), "Free space, or 5% of the disk where that is less, under which no race runs.", "HYDRA_DISK_FLOOR", repository=NO),
    "retention": Key(DURATION.within(0, 3650 * _DAY), "Age from which a run that holds no work goes by itself.", "HYDRA_RETENTION", repository=NO),
    "retention_bytes": Key(SIZE.within(0, 1024 * _TIB), "What a repository's runs may take before `hydra race` and `hydra runs` warn of it.", "HYDRA_RETENTION_SIZE", repository=NO, name="retention_size"),
}


class CheckSettings(Struct, frozen=True):
    """`[checks]`, and every check that one place names: the highest that names any. `trusted` is
    False when that is the repository's own file: they then run only where something confines them.
    """

    checks: tuple[Check, ...] = ()
    trusted: bool = True
    parallel: Annotated[int, Key(values.count(1, 64), "Lanes whose checks run at once; those of one lane run one after another.", "HYDRA_CHECKS_PARALLEL")] = 1
    network: Annotated[str, Key(values.choice("auto", "private", "host"), "`private` gives each check its own loopback, and nothing else of a network; `host` this machine's; `auto` its own, but where the base fails without the machine's.", "HYDRA_CHECKS_NETWORK")] = "auto"
    environment: Annotated[tuple[str, ...], Key(_VARIABLES, "Names of further environment variables that checks are given.", "HYDRA_CHECKS_ENVIRONMENT", repository=NO, example='["DATABASE_URL", "ACME_*"]')] = ()


_CHECK = {
    "command": Key(_COMMAND, "What /bin/sh runs; 0 is passed.", shown="none: it must be there", example='"pytest -q"'),
    "kind": Key(values.choice("test", "build", "lint"), "`test`, `build` or `lint`: only a failing test is run once more.", shown="guessed from the command", example='"test"'),
    "required": Key(BOOLEAN, "Whether a patch must pass it to be usable."),
    "junit": Key(PATH, "Where it writes JUnit XML: a path or a glob from the top.", shown="what it is asked for by environment", example='"build/test-results/**/*.xml"'),
}


# A stranger may neither keep the machine busy for longer nor lift the user's own gates.
_JUDGE = {
    "runs": Key(values.count(0, 10_000), "Runs of a check for trials, in one race or `hydra check`; 0 tries nothing.", "HYDRA_TRIAL_RUNS", "--trial-runs", LOWER, name="trial_runs", metavar="N", help="Run patches' new tests on each other in at most N runs ({})."),
    "seconds": Key(DURATION.within(0, 30 * _DAY), "The longest that all trials together may take.", "HYDRA_TRIAL_TIME", repository=LOWER, name="trial_time"),
    "protected_paths": Key(values.listed(_PATTERN, ":"), "What no patch may touch: files, folders, patterns as in a .gitignore, but for `!`. A repository's add to yours.", "HYDRA_PROTECTED_PATHS", example='["migrations/", "*.lock"]'),
}
_CONFINE = {"show": Key(values.listed(_SHOWN, ":"), "Files and folders that the agents may read, in your home folder or elsewhere.", "HYDRA_SHOW", example='["~/lib", "/data/fixtures"]')}

_RETRY = {
    "times": Key(values.count(0, 10), "How often a lane is tried again after a failure of `on`.", "HYDRA_RETRY", "--retry", metavar="N", help="Try again after a failure of the agent's service ({})."),
    "on": Key(values.listed(values.choice(*RETRY_REASONS)), "After which failures: `rate_limit`, `overloaded`, `network`, `crash`."),
    "wait": Key(DURATION.within(0, 3600), "How long it waits before the first, give or take; twice as long for each further."),
    "longest": Key(DURATION.within(0, _DAY), "The longest that it waits."),
    "with_patch": Key(BOOLEAN, "Whether it is tried again although it has changed something."),
}


class HookSettings(Struct, frozen=True, kw_only=True):
    """`[hooks]`: commands of the user's own, which a repository may not set; seconds for each."""

    pre_run: Annotated[tuple[str, ...], Key(_COMMANDS, "Commands before a race; one that does not end with 0 keeps it from beginning.", example='["notify-send Hydra"]')] = ()
    post_run: Annotated[tuple[str, ...], Key(_COMMANDS, "Commands after it, once its result stands.", example='["notify-send Hydra"]')] = ()
    on_error: Annotated[tuple[str, ...], Key(_COMMANDS, "Commands for each lane that ended with an error.", example='["notify-send Hydra"]')] = ()
    timeout: Annotated[float, Key(DURATION.within(0.1, 3600), "How long each of them may take.")] = 60.0
    environment: Annotated[tuple[str, ...], Key(_VARIABLES, "Names of further environment variables that they are given.", example='["SLACK_WEBHOOK"]')] = ()


def _budget(what: str) -> dict[str, Key]:
    return {
        "turns": Key(values.count(1, 100_000), f"Answers of the model that {what} may use.", example="40"),
        "cost_usd": Key(values.count(0.01, 100_000, float), f"Dollars that {what} may cost, as far as its agent tells what it costs.", example="2.5", name="cost"),
        "seconds": Key(DURATION.within(1, 7 * _DAY), f"Time that {what} may take; `limits.total` holds as well.", example='"20m"', name="time"),
        "tool_calls": Key(values.count(1, 100_000), f"Tool calls that {what} may make.", example="200"),
    }


class AgentSettings(Struct, frozen=True, kw_only=True):
    """`[agents.<key>]`. `path` is absolute, or below HOME as `~/bin/x`, or None to look on PATH;
    `adapter` is a third party's, as module:NAME; `folders` are below HOME, as `~/.my-agent`;
    `source` is where the table stands."""

    path: Annotated[str | None, Key(_PROGRAM, "The program to run for this agent.", "HYDRA_<KEY>_PATH", repository=NO, shown="found on PATH", example='"~/bin/claude"')] = None
    model: Annotated[str | None, Key(_MODEL, "The model of lanes that name none.", "HYDRA_<KEY>_MODEL", shown="the CLI's own", example='"opus"')] = None
    effort: Annotated[Effort | None, Key(_EFFORT, "How hard the model is to think, where a lane says nothing of it.", shown="the CLI's own", example='"high"')] = None
    service_tier: Annotated[str, Key(_LINE, "The service tier, for an agent that has one.", shown="the CLI's own", example='"fast"')] = ""
    args: Annotated[tuple[str, ...], Key(_COMMANDS, "Further arguments for this agent's command line.", repository=NO, example='["--fallback-model", "sonnet"]')] = ()
    folders: Annotated[tuple[str, ...], Key(values.listed(_HOME, "\n"), "Folders of its own in HOME, where Hydra knows of none: a lane gets copies of them.", repository=NO, example='["~/.my-agent"]')] = ()
    environment: Annotated[tuple[str, ...], Key(_VARIABLES, "Names of further environment variables that this agent is given.", repository=NO, example='["ACME_PROXY_TOKEN", "ACME_*"]')] = ()
    remote: Annotated[str, Key(_REMOTE, "The remote on which it runs; `local` is this machine.", repository=NO, shown="this machine", example='"gpubox"')] = ""
    adapter: Annotated[str | None, Key(_ADAPTER, "A third party's adapter, in the table of an agent that Hydra has none for.", repository=NO, shown="Hydra's own, or one that is installed", example='"my_pkg:ADAPTER"')] = None
    source: str = ""


class Profile(Struct, frozen=True, kw_only=True):
    """`[profiles.<name>]`: an agent under a name of its own. None and "" leave it as the race, or
    the agent's own table, has it. `preface_file` is a path: no file is read here; `source` is where
    the table stands."""

    agent: Annotated[str, Key(_AGENT, "The agent that it is.", shown="required", example='"claude"')]
    model: Annotated[str | None, Key(_MODEL, "Its model.", shown="the agent's", example='"opus"')] = None
    effort: Annotated[Effort | None, Key(_EFFORT, "How hard the model is to think.", shown="the agent's", example='"high"')] = None
    permission: Annotated[Permission | None, Key(_PERMISSION, "What it may do without asking.", repository=NO, shown="the race's", example='"edit"')] = None
    preface: Annotated[str, Key(_LINES, "Text that stands before every prompt.", example='"You review: look for what breaks, and mend only that."')] = ""
    preface_file: Annotated[str, Key(_ANYWHERE, "The same from a file: in the repository, or by its whole path.", example='"docs/reviewer.md"')] = ""
    environment: Annotated[tuple[str, ...], Key(_VARIABLES, "Names of further environment variables that it is given.", repository=NO, example='["ACME_PROXY_TOKEN"]')] = ()
    service_tier: Annotated[str, Key(_LINE, "Its service tier.", shown="the agent's", example='"fast"')] = ""
    remote: Annotated[str, Key(_REMOTE, "The remote on which it runs; `local` is this machine.", repository=NO, shown="the agent's", example='"gpubox"')] = ""
    budget: Budget = Budget()
    source: str = ""


LOCAL = "local"
"""The name that stands for this machine where a remote is named."""


class Remote(Struct, frozen=True, kw_only=True):
    """`[remotes.<name>]`: where an agent can run but here, and how (docs/how-to/remote.md); paths
    are there."""

    name: str
    mode: Annotated[str, Key(values.choice("ssh", "docker", "k8s"), "How it is reached: `ssh`, `docker` or `k8s` (kubectl).", shown="required", example='"ssh"')]
    host: Annotated[str, Key(_HOST, "Of `ssh`: the host, as `ssh` takes it.", example='"ada@gpubox"')] = ""
    container: Annotated[str, Key(_TARGET_NAME, "Of `docker`: a container that runs.", example='"agents"')] = ""
    image: Annotated[str, Key(_TARGET_NAME, "Of `docker`: an image; each attempt has a container of it.", example='"agents:latest"')] = ""
    pod: Annotated[str, Key(_TARGET_NAME, "Of `k8s`: a pod that runs.", example='"agents-0"')] = ""
    namespace: Annotated[str, Key(_TARGET_NAME, "Of `k8s`: the pod's namespace, else kubectl's own.", example='"agents"')] = ""
    context: Annotated[str, Key(_TARGET_NAME, "Of `k8s`: kubectl's context, else its own.", example='"lab"')] = ""
    workdir: Annotated[str, Key(_REMOTE_FOLDER, "A folder there that is there; each attempt makes one of its own in it.", example='"/scratch"')] = "/tmp"  # noqa: S108  the other machine's
    program: Annotated[str, Key(_REMOTE_PROGRAM, "The agent's program there; its folder then stands first on PATH.", shown="found on PATH there", example='"/opt/agents/bin/claude"')] = ""
    options: Annotated[tuple[str, ...], Key(_COMMANDS, "Further options: of `ssh` itself, of `docker` or `kubectl` before their command.", example='["-p", "2222"]')] = ()

    @property
    def target(self) -> str:
        """Where that is, in a few words: `gpubox over ssh`."""
        if self.mode == "ssh":
            return f"{self.host} over ssh"
        parts = {"container": self.container, "image": self.image, "pod": self.pod}
        parts |= {"of": self.namespace, "in": self.context}
        return " ".join(f"{what} {name}" for what, name in parts.items() if name)


class OwnModel(Struct, frozen=True):
    """`[models.<name>]`: a model by a name of the user's own. Prices are dollars for a million
    tokens, None for unknown; `prices_read` is the day they are of, "" for unknown."""

    id: Annotated[str, Key(_MODEL, "What the agent's CLI calls it; the table's name stands for it.", shown="required", example='"claude-opus-5-5"')]
    family: Annotated[str, Key(_LINE, "Its family: an agent that takes models of others only is warned of.", example='"claude"')] = ""
    aliases: Annotated[tuple[str, ...], Key(values.listed(_MODEL), "Further names that stand for it.", example='["work-large"]')] = ()
    context: Annotated[int | None, Key(_TOKENS, "Its window, in tokens.", shown="unknown", example="200000")] = None
    output: Annotated[int | None, Key(_TOKENS, "The longest answer, in tokens.", shown="unknown", example="64000")] = None
    input_price: Annotated[float | None, Key(_PRICE, "Dollars for a million tokens of prompts.", shown="unknown", example="3")] = None
    output_price: Annotated[float | None, Key(_PRICE, "Dollars for a million tokens of answers; with `input_price` only.", shown="unknown", example="15")] = None
    cached_price: Annotated[float | None, Key(_PRICE, "Dollars for a million tokens that were read from a cache.", shown="as any other of a prompt", example="0.3")] = None
    prices_read: Annotated[str, Key(_DATE, "The day on which these prices held.", shown="unknown", example='"2026-11-22"')] = ""

# fmt: on


class Config(Struct, frozen=True, kw_only=True):
    """Every setting of a race. `budget` is every lane's, `trials` what `[judge]` lets them cost;
    `show` (`[confine]`) are absolute, or below HOME as `~/lib`. `sources` says where each came from,
    by dotted key: a file's path, an environment variable, a flag, or "default"."""

    race: RaceSettings = RaceSettings()
    limits: Limits = Limits()
    checks: CheckSettings = CheckSettings()
    trials: TrialCap = TrialCap()
    protected_paths: tuple[str, ...] = ()
    budget: Budget = Budget()
    retry: Retry = Retry()
    hooks: HookSettings = HookSettings()
    show: tuple[str, ...] = ()
    agents: Mapping[str, AgentSettings] = {}
    profiles: Mapping[str, Profile] = {}
    remotes: Mapping[str, Remote] = {}
    models: Mapping[str, OwnModel] = {}
    sources: Mapping[str, str] = {}

    @property
    def agents_of_profiles(self) -> Mapping[str, str]:
        """Every profile's name, to its agent's key."""
        return {name: profile.agent for name, profile in self.profiles.items()}

    def agent(self, key: str) -> AgentSettings:
        """The settings of one agent; all unset where nobody set any."""
        return self.agents.get(key, AgentSettings())


def _of_fields(settings: type) -> dict[str, Key]:
    """The keys at the fields of a record, by field."""
    rows = settings.__annotations__.items()
    return {name: row.__metadata__[0] for name, row in rows if hasattr(row, "__metadata__")}


def _table(
    section: str, defaults: object, rows: Mapping[str, Key] | None = None, repository: str = YES
) -> Iterator[Key]:
    """The keys of a table, whole: those at the fields of `defaults`, or `rows`, by field."""
    for at, row in (rows or _of_fields(type(defaults))).items():
        default = getattr(defaults, at, None)
        yield row._replace(
            name=f"{section}.{row.name or at}",
            section=section,
            leaf=row.name or at,
            field=at,
            default=default,
            repository=row.repository or repository,
            shown=row.shown or ("none" if default in (None, "", ()) else ""),
        )


KEYS = (
    *_table("race", RaceSettings()),
    *_table("limits", Limits(), _LIMITS),
    *_table("checks", CheckSettings()),
    *_table("checks.<name>", Check("", ""), _CHECK),
    *_table("judge", TrialCap(), _JUDGE),
    *_table("retry", Retry(), _RETRY, NO),
    *_table("hooks", HookSettings(), None, NO),
    *_table("confine", None, _CONFINE, NO),
    *_table("budget", Budget(), _budget("one lane"), NO),
    *_table("agents.<key>", AgentSettings()),
    *_table("profiles.<name>", None, _of_fields(Profile) | _budget("its lane")),
    *_table("remotes.<name>", Remote(name="", mode=""), None, NO),
    *_table("models.<name>", OwnModel(""), None, NO),
)
"""Every key, in the order in which the docs show them."""

FIXED = {key.name: key for key in KEYS if "<" not in key.name}
"""The keys with a fixed name, by it."""

NAMED = {
    table: {key.leaf: key for key in KEYS if key.section.startswith(f"{table}.")}
    for table in ("agents", "checks", "profiles", "remotes", "models")
}
"""What each table of one `[agents.<key>]`, `[checks.<name>]` ... may hold, by its last part."""
