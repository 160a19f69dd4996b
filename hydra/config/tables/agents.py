"""`[agents.<key>]`: what holds for every lane of one agent."""

from hydra.config.key import NO, Key, Table, home_folder, model_name, object_spec, plain, program
from hydra.config.kinds import strings, text
from hydra.config.tables.common import EFFORT, key_name, variables

_AGENT = Table("agents.<key>")

AGENTS: tuple[Key, ...] = (
    _AGENT.key(
        "path",
        text(program),
        "The program to run for this agent.",
        shown="found on PATH",
        example='"~/bin/claude"',
        repository=NO,
        environment="HYDRA_<KEY>_PATH",
    ),
    _AGENT.key(
        "model",
        text(model_name),
        "The model of lanes that name none.",
        shown="the CLI's own",
        example='"opus"',
        environment="HYDRA_<KEY>_MODEL",
    ),
    _AGENT.key(
        "effort",
        EFFORT,
        "How hard the model is to think, where a lane says nothing of it.",
        shown="the CLI's own",
        example='"high"',
    ),
    _AGENT.key(
        "service_tier",
        text(plain),
        "The service tier, for an agent that has one.",
        default="",
        shown="the CLI's own",
        example='"fast"',
    ),
    _AGENT.key(
        "args",
        strings(plain, separator="\n"),
        "Further arguments for this agent's command line.",
        default=(),
        example='["--fallback-model", "sonnet"]',
        repository=NO,
    ),
    _AGENT.key(
        "folders",
        strings(home_folder, separator="\n"),
        "Folders of its own in HOME, where Hydra knows of none: a lane gets copies of them.",
        default=(),
        example='["~/.my-agent"]',
        repository=NO,
    ),
    variables(_AGENT, "this agent is", '["ACME_PROXY_TOKEN", "ACME_*"]'),
    _AGENT.key(
        "remote",
        text(key_name),
        "The remote on which it runs; `local` is this machine.",
        default="",
        shown="this machine",
        example='"gpubox"',
        repository=NO,
    ),
    _AGENT.key(
        "adapter",
        text(object_spec),
        "A third party's adapter, in the table of an agent that Hydra has none for.",
        shown="Hydra's own, or one that is installed",
        example='"my_pkg:ADAPTER"',
        repository=NO,
    ),
)
