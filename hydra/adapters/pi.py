"""pi: its line, and how its answers are read. Seen in 0.73.1, and in 0.87.1 of its successor."""

from __future__ import annotations

import re

from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, named_flags, required
from hydra.adapters.contract import ConfigFolder, Descriptor, TokenFields, common_probes, names
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.pi_family import AZURE, CLOUD_SECRETS, CLOUDS, KEYS, PiStream, split_model
from hydra.records.agent import Capability, CapabilitySet, SpawnRequest
from hydra.records.request import Effort, Permission

# ---- pi as data. Seen in 0.73.1, and in 0.87.1 of its successor by the same program name.

OWN_KEYS = (
    *KEYS,
    *names(
        "DEEPSEEK_API_KEY FIREWORKS_API_KEY MINIMAX_CN_API_KEY MOONSHOT_API_KEY KIMI_API_KEY"
        " HF_TOKEN CLOUDFLARE_API_KEY XIAOMI_API_KEY XIAOMI_TOKEN_PLAN_*"
    ),
)

MODES = {
    Permission.PLAN: "read,grep,find,ls",
    Permission.EDIT: "read,edit,write,grep,find,ls",
    Permission.FULL_AUTO: "its own tools",
    Permission.UNRESTRICTED: "its own tools",
    Permission.DEFAULT: "its own tools",
}
"""pi asks for nothing: what it may do is which tools it has. Its own: read, bash, edit, write."""

SETTINGS = ".pi/settings.json"
"""The repository's, which 0.73.1 reads whatever it is told."""

DESCRIPTOR = Descriptor(
    key="pi",
    label="pi",
    homepage="https://pi.dev",
    binaries=("pi",),
    tagline="a small coding agent for any provider's models",
    install_hint="npm install -g @mariozechner/pi-coding-agent",
    sign_in_hint="run `pi` once and sign in with /login, or set your provider's key",
    exit_codes={
        0: "it ended by itself, also where the key was refused: the stream tells which",
        1: "a bad command line, no key, no such session",
        143: "stopped by SIGTERM",
    },
    minimum_version="0.73.1",
    capabilities=CapabilitySet(
        json_stream=Capability(True, note="--mode json"),
        plain_text=Capability(True),
        force_edit_mode=Capability(True, note="it never asks"),
        approval_controls=Capability(True, note="by which tools it has"),
        session_resume=Capability(True),
        emits_usage=Capability(True, note="of each answer; Hydra adds them up"),
    ),
    environment=(
        *OWN_KEYS,
        *AZURE,
        "CLOUDFLARE_ACCOUNT_ID",
        "CLOUDFLARE_GATEWAY_ID",
        "PI_CODING_AGENT_DIR",
    ),
    environment_if=CLOUDS,
    secret_environment=(*OWN_KEYS, *CLOUD_SECRETS),
    sign_in_environment=tuple(name for name in (*OWN_KEYS, *CLOUDS) if not name.endswith("*")),
    config=ConfigFolder(
        variable="PI_CODING_AGENT_DIR",
        default=".pi/agent",
        credentials=("auth.json",),
        # As 0.73.1 wrote it; it goes by the clock alone. Not github-copilot: of that access token
        # pi takes the service's address.
        renewals=(
            TokenFields(
                file="auth.json",
                entries=("anthropic", "openai-codex"),
                kind="oauth",
                access="access",
                refresh="refresh",
                expiries=("expires",),
                account=("accountId",),
            ),
        ),
        copied=names(
            "settings.json models.json AGENTS.md CLAUDE.md SYSTEM.md APPEND_SYSTEM.md skills"
            " prompts extensions"
        ),
    ),
    probes=common_probes(
        "--help", "--offline", "--no-extensions", "--no-session", timeout=20, stderr=True
    ),
    instructions=(SETTINGS,),
    forks=True,
    modes=MODES,
    efforts={Effort.LOW: "low", Effort.MEDIUM: "medium", Effort.HIGH: "high", Effort.MAX: "xhigh"},
)

PRINT = required("--print", "to run without a terminal", "plain_text")
MODE = required("--mode", "to read what it does", "json_stream", "emits_usage")
NO_EXTENSIONS = required("--no-extensions", "to keep the repository's own extensions from running")
NO_TEMPLATES = Flag(
    "--no-prompt-templates",
    "to keep a task that begins with a slash as it is",
    loss="a task that begins with / may be taken for one of its templates",
)
NO_APPROVE = Flag("--no-approve", "to keep the repository's settings out")
TOOLS = Flag("--tools", "to say what it may do", drops=("approval_controls",))
PROVIDER = Flag("--provider", "to choose a provider")
MODEL = Flag("--model", "to choose a model")
THINKING = Flag("--thinking", "to say how hard it thinks")
PREFACE = Flag("--append-system-prompt", "for the preface")
SESSION = Flag("--session", "to go on later", drops=("session_resume",))
FORK = Flag("--fork", "to go on with a copy of a session")

ENVIRONMENT = (("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0"), ("PI_SKIP_VERSION_CHECK", "1"))
"""No update check, no package of the repository's installed at its start, no ping."""

REPOSITORY = (
    f"the repository has {SETTINGS}: this pi reads it, and a shellPath or shellCommandPrefix in it"
    " runs with every command of the agent's"
)


class PiOutput(PiStream):
    """One attempt's `--mode json`."""

    label = "pi"


class Pi(CliAdapter):
    """`pi --print --mode json --no-extensions --no-prompt-templates ...`, prompt on stdin."""

    descriptor = DESCRIPTOR
    identity = AgentIdentity(
        re.compile(r"(?m)^(\d+\.\d+\.\d+\S*)\s*$"), re.compile(r"(?m)^pi - AI coding assistant")
    )
    table = tuple(flag for flag in named_flags(globals()) if flag is not NO_APPROVE)
    stream = PiOutput

    def _compose(self, line: CommandBuilder, request: SpawnRequest) -> None:
        line.env += ENVIRONMENT
        line.add(PRINT)
        line.add(MODE, MODE.name, "json")
        line.add(NO_EXTENSIONS)
        line.add(NO_TEMPLATES)
        if NO_APPROVE.name in line.options:
            line.add(NO_APPROVE)
        elif SETTINGS in request.instructions:
            line.warnings.append(REPOSITORY)
        if request.permission in (Permission.PLAN, Permission.EDIT):
            line.need(TOOLS, MODES[request.permission])
        if request.model:
            provider, model = split_model(request.model)
            named = provider and line.add(PROVIDER, PROVIDER.name, provider)
            line.need(MODEL, model if named else request.model)
        line.need(THINKING, request.effort and self.descriptor.efforts[request.effort])
        line.add_preface(PREFACE, request)
        line.add_session(FORK if request.fork else SESSION, request.resume)

    def _prompt(self, request: SpawnRequest) -> str:
        return request.prompt


ADAPTER = Pi()
