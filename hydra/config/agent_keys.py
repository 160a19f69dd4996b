"""The keys of agents, of profiles, and of what one lane may use up."""

from hydra.config.key import (
    NAME,
    NO,
    YES,
    Key,
    inside,
    model_name,
    object_spec,
    plain,
    program,
    variable,
)
from hydra.config.kinds import BOOLEAN, count, points, seconds, strings, text, word
from hydra.errors import ConfigError
from hydra.model import RETRY_REASONS, Effort, Retry

EFFORT = word(*(effort.value for effort in Effort))
PERMISSIONS = ("plan", "edit", "full-auto", "default", "config")
"""What a file or a flag may say; all of the machine is given by a flag of its own alone."""

PERMISSION = word(
    *PERMISSIONS, elsewhere="all of the machine is given by --unsafe-full-access alone"
)

_BYTES = 20_000
"""Characters of a preface that stands in the file itself."""


def key_name(name: str) -> str:
    """An agent's key."""
    if not NAME.fullmatch(name):
        raise ConfigError(f'"{name}" is not the name of an agent')
    return name


def preface(words: str) -> str:
    """Text of any number of lines."""
    if not words.strip() or "\0" in words or len(words) > _BYTES:
        raise ConfigError(f"takes text of 1 to {_BYTES} characters")
    return words


def preface_file(path: str) -> str:
    """`/a/b`, `~/b`, or a path inside the repository."""
    return plain(path) if path.startswith(("/", "~/")) else inside(path)


def budget(table: str, what: str, repository: str) -> tuple[Key, ...]:
    """The keys of a lane's budget, in the table of that name."""
    return (
        Key(
            name=f"{table}.turns",
            field="turns",
            kind=count(1, 100_000),
            default=None,
            shown="none",
            example="40",
            meaning=f"Answers of the model that {what} may use.",
            repository=repository,
        ),
        Key(
            name=f"{table}.cost",
            field="cost_usd",
            kind=points(0.01, 100_000),
            default=None,
            shown="none",
            example="2.5",
            meaning=f"Dollars that {what} may cost, as far as its agent tells what it costs.",
            repository=repository,
        ),
        Key(
            name=f"{table}.time",
            field="seconds",
            kind=seconds(1, 7 * 86400),
            default=None,
            shown="none",
            example='"20m"',
            meaning=f"Time that {what} may take; `limits.total` holds as well.",
            repository=repository,
        ),
        Key(
            name=f"{table}.tool_calls",
            field="tool_calls",
            kind=count(1, 100_000),
            default=None,
            shown="none",
            example="200",
            meaning=f"Tool calls that {what} may make.",
            repository=repository,
        ),
    )


def retry_reason(item: str) -> str:
    """One of the failures after which a lane can be tried again."""
    if item not in RETRY_REASONS:
        raise ConfigError(f'"{item}" is none of {", ".join(RETRY_REASONS)}')
    return item


RETRY_KEYS = (
    Key(
        name="retry.times",
        field="times",
        kind=count(0, 10),
        default=0,
        meaning="How often a lane is tried again after a failure of `on`.",
        repository=NO,
        environment="HYDRA_RETRY",
        flag="--retry",
    ),
    Key(
        name="retry.on",
        field="on",
        kind=strings(retry_reason, separator=","),
        default=Retry().on,
        meaning="After which failures: `rate_limit`, `overloaded`, `network`, `crash`.",
        repository=NO,
    ),
    Key(
        name="retry.wait",
        field="wait",
        kind=seconds(0, 3600),
        default=Retry().wait,
        meaning="How long it waits before the first, give or take; twice as long for each further.",
        repository=NO,
    ),
    Key(
        name="retry.longest",
        field="longest",
        kind=seconds(0, 86400),
        default=Retry().longest,
        meaning="The longest that it waits.",
        repository=NO,
    ),
    Key(
        name="retry.with_patch",
        field="with_patch",
        kind=BOOLEAN,
        default=False,
        meaning="Whether it is tried again although it has changed something.",
        repository=NO,
    ),
)


def _hook(leaf: str, meaning: str) -> Key:
    return Key(
        name=f"hooks.{leaf}",
        field=leaf,
        kind=strings(plain, separator="\n"),
        default=(),
        shown="none",
        example='["notify-send Hydra"]',
        meaning=meaning,
        repository=NO,
    )


HOOK_KEYS = (
    _hook(
        "pre_run", "Commands before a race; one that does not end with 0 keeps it from beginning."
    ),
    _hook("post_run", "Commands after it, once its result stands."),
    _hook("on_error", "Commands for each lane that ended with an error."),
    Key(
        name="hooks.timeout",
        field="timeout",
        kind=seconds(0.1, 3600),
        default=60.0,
        meaning="How long each of them may take.",
        repository=NO,
    ),
    Key(
        name="hooks.environment",
        field="environment",
        kind=strings(variable, separator=","),
        default=(),
        shown="none",
        example='["SLACK_WEBHOOK"]',
        meaning="Names of further environment variables that they are given.",
        repository=NO,
    ),
)

BUDGET_KEYS = budget("budget", "one lane", NO)

AGENT_KEYS = (
    Key(
        name="agents.<key>.path",
        field="path",
        kind=text(program),
        default=None,
        shown="found on PATH",
        example='"~/bin/claude"',
        meaning="The program to run for this agent.",
        repository=NO,
        environment="HYDRA_<KEY>_PATH",
    ),
    Key(
        name="agents.<key>.model",
        field="model",
        kind=text(model_name),
        default=None,
        shown="the CLI's own",
        example='"opus"',
        meaning="The model of lanes that name none.",
        environment="HYDRA_<KEY>_MODEL",
    ),
    Key(
        name="agents.<key>.effort",
        field="effort",
        kind=EFFORT,
        default=None,
        shown="the CLI's own",
        example='"high"',
        meaning="How hard the model is to think, where a lane says nothing of it.",
    ),
    Key(
        name="agents.<key>.service_tier",
        field="service_tier",
        kind=text(plain),
        default="",
        shown="the CLI's own",
        example='"fast"',
        meaning="The service tier, for an agent that has one.",
    ),
    Key(
        name="agents.<key>.args",
        field="args",
        kind=strings(plain, separator="\n"),
        default=(),
        shown="none",
        example='["--fallback-model", "sonnet"]',
        meaning="Further arguments for this agent's command line.",
        repository=NO,
    ),
    Key(
        name="agents.<key>.environment",
        field="environment",
        kind=strings(variable, separator=","),
        default=(),
        shown="none",
        example='["ACME_PROXY_TOKEN", "ACME_*"]',
        meaning="Names of further environment variables that this agent is given.",
        repository=NO,
    ),
    Key(
        name="agents.<key>.remote",
        field="remote",
        kind=text(key_name),
        default="",
        shown="this machine",
        example='"gpubox"',
        meaning="The remote on which it runs; `local` is this machine.",
        repository=NO,
    ),
    Key(
        name="agents.<key>.adapter",
        field="adapter",
        kind=text(object_spec),
        default=None,
        shown="Hydra's own, or one that is installed",
        example='"my_pkg:ADAPTER"',
        meaning="A third party's adapter, in the table of an agent that Hydra has none for.",
        repository=NO,
    ),
)

PROFILE_KEYS = (
    Key(
        name="profiles.<name>.agent",
        field="agent",
        kind=text(key_name),
        default=None,
        shown="required",
        example='"claude"',
        meaning="The agent that it is.",
    ),
    Key(
        name="profiles.<name>.model",
        field="model",
        kind=text(model_name),
        default=None,
        shown="the agent's",
        example='"opus"',
        meaning="Its model.",
    ),
    Key(
        name="profiles.<name>.effort",
        field="effort",
        kind=EFFORT,
        default=None,
        shown="the agent's",
        example='"high"',
        meaning="How hard the model is to think.",
    ),
    Key(
        name="profiles.<name>.permission",
        field="permission",
        kind=PERMISSION,
        default=None,
        shown="the race's",
        example='"edit"',
        meaning="What it may do without asking.",
        repository=NO,
    ),
    Key(
        name="profiles.<name>.preface",
        field="preface",
        kind=text(preface),
        default="",
        shown="none",
        example='"You review: look for what breaks, and mend only that."',
        meaning="Text that stands before every prompt.",
    ),
    Key(
        name="profiles.<name>.preface_file",
        field="preface_file",
        kind=text(preface_file),
        default="",
        shown="none",
        example='"docs/reviewer.md"',
        meaning="The same from a file: in the repository, or by its whole path.",
    ),
    Key(
        name="profiles.<name>.environment",
        field="environment",
        kind=strings(variable, separator=","),
        default=(),
        shown="none",
        example='["ACME_PROXY_TOKEN"]',
        meaning="Names of further environment variables that it is given.",
        repository=NO,
    ),
    Key(
        name="profiles.<name>.service_tier",
        field="service_tier",
        kind=text(plain),
        default="",
        shown="the agent's",
        example='"fast"',
        meaning="Its service tier.",
    ),
    Key(
        name="profiles.<name>.remote",
        field="remote",
        kind=text(key_name),
        default="",
        shown="the agent's",
        example='"gpubox"',
        meaning="The remote on which it runs; `local` is this machine.",
        repository=NO,
    ),
    *budget("profiles.<name>", "its lane", YES),
)
