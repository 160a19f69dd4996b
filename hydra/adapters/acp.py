"""Agents that speak the Agent Client Protocol: one adapter, a row of `ROWS` for each.

What they are asked and told is in `protocols/acp.py`; here is how they are started. The protocol's
own words (session, mode, model) are chosen while it is spoken, from what the agent offers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hydra.adapters import claude, codex, copilot, gemini, hermes, omp, opencode, qwen
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import Flag, Pairs
from hydra.adapters.config_dirs import lane_home
from hydra.adapters.contract import (
    ConfigFolder,
    Conversation,
    Descriptor,
    InstallMethod,
    Parser,
    Probe,
    Sessions,
)
from hydra.adapters.copilot import SECRETS
from hydra.adapters.detection import AgentIdentity
from hydra.adapters.prompts import as_session, as_stdin, prefaced
from hydra.adapters.protocols.acp_session import AcpDialect
from hydra.records.agent import (
    BuiltCommand,
    Capability,
    CapabilitySet,
    DetectResult,
    SpawnRequest,
    Tier,
)
from hydra.records.request import Effort, Permission

# ---- Two programs between the Agent Client Protocol and a CLI: claude-agent-acp 0.101.0, with a
# Claude Code of its own, and codex-acp 2.6.0, with a Codex of its own.

PLAN_MODE, EDIT_MODE = Permission.PLAN, Permission.EDIT


def claude_agent() -> AcpRow:
    """claude-agent-acp."""
    dialect = AcpDialect(
        label="Claude Agent (ACP)",
        modes={
            PLAN_MODE: ("plan",),
            EDIT_MODE: ("acceptEdits",),
            # Not `auto`, its own choice: a model is asked of every command then.
            FULL: ("bypassPermissions", "default"),
            OPEN: ("bypassPermissions", "default"),
        },
    )
    install = "npm install -g @agentclientprotocol/claude-agent-acp"
    return AcpRow(
        descriptor=over(
            claude.DESCRIPTOR,
            dialect,
            "claude-acp",
            ("--cli", "--help"),
            binaries=("claude-agent-acp",),
            homepage="https://github.com/agentclientprotocol/claude-agent-acp",
            minimum_version="0.101.0",
            install_hint=install,
            installs=(InstallMethod("all", "npm", install),),
            efforts=EFFORTS,
            config=_silent(claude.DESCRIPTOR.config),
        ),
        identity=AgentIdentity(version=NUMBER, help=re.compile(r"Claude Code")),
        dialect=dialect,
        proof=(spoken("--print"),),
        environment=claude.ENVIRONMENT,
        by_permission=_claude_consent,
        meta=_claude_options,
    )


def _silent(folder: ConfigFolder | None) -> ConfigFolder | None:
    """The protocol has no word for a refusal that the CLI gets over by renewing its token."""
    if folder is None:
        return None
    renewals = (replace(fields, silent=True) for fields in folder.renewals)
    return replace(folder, renewals=tuple(renewals))


def _claude_consent(request: SpawnRequest) -> Pairs:
    """As root it bypasses only where it is told that it stands in a sandbox."""
    is_asked = request.permission in (FULL, OPEN) and (
        request.confined or request.permission is OPEN
    )
    return (("IS_SANDBOX", "1"),) if request.as_root and is_asked else ()


def _claude_options(request: SpawnRequest) -> Mapping[str, object]:
    """The repository's own settings, hooks and MCP servers stay out; its instructions are sent."""
    options: dict[str, object] = {
        "settingSources": ["user"],
        "strictMcpConfig": True,
        "disallowedTools": claude.TOOLS_DENIED.split(","),
    }
    if request.instructions:
        flag = claude.INSTRUCTIONS.name.removeprefix("--")
        options["extraArgs"] = {flag: request.instructions[0]}
    return {"claudeCode": {"options": options}}


def codex_agent() -> AcpRow:
    """codex-acp."""
    dialect = AcpDialect(
        label="Codex (ACP)",
        modes={
            PLAN_MODE: ("read-only",),
            EDIT_MODE: ("workspace-write",),
            FULL: ("workspace-write",),
            OPEN: ("agent-full-access",),
        },
        sign_in=("api-key",),
        meta="codex",
    )
    install = "npm install -g @agentclientprotocol/codex-acp"
    return AcpRow(
        descriptor=over(
            codex.DESCRIPTOR,
            dialect,
            "codex-acp",
            ("cli", "--help"),
            binaries=("codex-acp",),
            homepage="https://github.com/agentclientprotocol/codex-acp",
            minimum_version="2.6.0",
            install_hint=install,
            installs=(InstallMethod("all", "npm", install),),
            efforts=EFFORTS,
            hidden_paths=(".codex",),
            extensions=codex.DESCRIPTOR.extensions._replace(
                mcp="config.toml; a repository's own start as well, where .codex is not hidden"
            ),
        ),
        identity=AgentIdentity(
            version=re.compile(r"codex-acp (\d+\.\d+\.\d+\S*)"), help=re.compile(r"Codex")
        ),
        dialect=dialect,
        proof=(spoken("--config"),),
        environment=(("NO_BROWSER", "1"),),
        by_permission=_codex_settings,
        warnings=(
            "codex-acp starts a repository's own MCP servers, confined as its tools are: it has no"
            " switch against it",
        ),
    )


def _codex_settings(request: SpawnRequest) -> Pairs:
    """Told not to trust the worktree, it starts the repository's MCP servers all the same."""
    config = {
        "analytics": {"enabled": False},
        "check_for_update_on_startup": False,
        "features": {"plugins": False},
        "shell_environment_policy": {"ignore_default_excludes": False},
        "sandbox_workspace_write": {"exclude_slash_tmp": True},
        "projects": {str(request.worktree): {"trust_level": "untrusted"}},
    }
    return (("CODEX_CONFIG", json.dumps(config)),)


# ---- What a row of agents that speak the Agent Client Protocol is, and what all of them share.

FULL, OPEN = Permission.FULL_AUTO, Permission.UNRESTRICTED


def spoken(name: str) -> Flag:
    """The option that makes an agent speak the protocol, or shows in its help that it does."""
    drops = ("json_stream", "emits_usage")
    return Flag(name=name, purpose="to be talked to", required=True, drops=drops)


SPOKEN = spoken("--acp")
NUMBER = re.compile(r"^(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE)
EFFORTS = {effort: effort.value for effort in Effort}
EXITS = {
    0: "it ended by itself, or with its stdin: the stream tells how",
    1: "a bad command line, or no sign-in",
    130: "stopped by SIGINT",
    143: "stopped by SIGTERM",
}


def _nothing(request: SpawnRequest) -> Pairs:
    return ()


def _no_meta(request: SpawnRequest) -> Mapping[str, object]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpRow:
    """One agent. `words` come first on its line, then `options` (a flag, and what stands there if
    its help has it); `environment` is set always, `by_permission` by what is asked for; `meta`
    goes into the session's `_meta`. `files` are written in the lane's home, which is `{home}` in
    options and environment.
    """

    descriptor: Descriptor
    identity: AgentIdentity
    dialect: AcpDialect
    args: tuple[str, ...] = ()
    options: tuple[tuple[Flag, tuple[str, ...]], ...] = ()
    environment: Pairs = ()
    proof: tuple[Flag, ...] = ()
    """Options of its help text that are on no line: without them it is not what was tried."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    by_permission: Callable[[SpawnRequest], Pairs] = _nothing
    meta: Callable[[SpawnRequest], Mapping[str, object]] = _no_meta
    any_mode: bool = False
    """Whether its modes are names for one thing: else one but the first is a difference."""
    warnings: tuple[str, ...] = ()
    """What each lane is told of where what the descriptor masks is not hidden."""

    @property
    def flags(self) -> tuple[Flag, ...]:
        """Those of its line, and its proof."""
        return (*(flag for flag, _ in self.options), *self.proof)


def alone(*flags: Flag) -> tuple[tuple[Flag, tuple[str, ...]], ...]:
    """Flags that take no value."""
    return tuple((flag, (flag.name,)) for flag in flags)


def over(
    base: Descriptor, dialect: AcpDialect, key: str, help: tuple[str, ...], **own: object
) -> Descriptor:
    """A CLI's own descriptor as that of the same CLI over the protocol."""
    modes = {permission: terms[0] for permission, terms in dialect.modes.items()}
    usage = bool(dialect.usage)
    return replace(
        base,
        **{
            "key": key,
            "label": dialect.label,
            "tagline": f"{base.label} over the Agent Client Protocol",
            "tier": Tier.EXPERIMENTAL,
            "protocol": "acp",
            "stream_format": "json-rpc",
            "interactive": True,
            "sandbox": "soft",
            "confines_itself": False,
            "own_preface": False,
            "side_files": (),
            "budgets": (),
            "service_tiers": {},
            "efforts": {},
            "modes": modes,
            "broken_versions": {},
            "exit_codes": EXITS,
            "capabilities": capabilities(usage=usage),
            "probes": (
                Probe(name="version", args=("--version",), timeout=45),
                Probe(name="help", args=help, timeout=45, stderr=True),
            ),
            **own,
        },  # type: ignore[arg-type]
    )


def capabilities(*, usage: bool) -> CapabilitySet:
    """What the protocol gives, whatever the agent."""
    return CapabilitySet(
        json_stream=Capability(True, note="JSON-RPC, Agent Client Protocol 1"),
        force_edit_mode=Capability(True, note="by its session mode, and by Hydra's answers"),
        approval_controls=Capability(True, note="it asks, and Hydra answers from the permission"),
        session_resume=Capability(True, note="session/resume, else session/load"),
        emits_usage=Capability(usage, note="" if usage else "it tells none, or of its last step"),
    )


def any_agent() -> AcpRow:
    """The row of whatever the user names."""
    dialect = AcpDialect(
        label="ACP agent",
        modes={
            FULL: ("bypassPermissions", "yolo", "full-access", "dont_ask"),
            OPEN: ("bypassPermissions", "yolo", "full-access", "dont_ask"),
        },
    )
    hint = (
        'set `path` (the program) and `args` (the words that make it speak ACP, as ["acp"]) in'
        " [agents.acp] of ~/.config/hydra/hydra.toml (`hydra init --user` writes one)"
    )
    return AcpRow(
        descriptor=Descriptor(
            key="acp",
            label=dialect.label,
            tagline="any other agent that speaks the Agent Client Protocol",
            homepage="https://agentclientprotocol.com",
            tier=Tier.EXPERIMENTAL,
            binaries=("acp-agent",),
            protocol="acp",
            stream_format="json-rpc",
            interactive=True,
            install_hint=hint,
            sign_in_hint="sign in with the agent's own program",
            exit_codes=EXITS,
            capabilities=capabilities(usage=True),
            modes={permission: terms[0] for permission, terms in dialect.modes.items()},
            efforts=EFFORTS,
            probes=(
                Probe(name="version", args=("--version",), timeout=45, stderr=True),
                Probe(name="help", args=("--help",), timeout=45, stderr=True),
            ),
            platforms={"linux": "", "macos": "not tried", "windows": "not tried"},
        ),
        identity=AgentIdentity(version=re.compile(r"(\d+\.\d+\S*)"), help=re.compile("")),
        dialect=dialect,
        any_mode=True,
    )


# ---- The agents that speak the Agent Client Protocol, a row each: how one is started so that it
# does, what it calls a permission, and where it differs. Seen in runs of the versions named here.
#
# What is known of a CLI anyway (keys, folders, sign-in) is its own adapter's.

PLAN, EDIT = Permission.PLAN, Permission.EDIT


def _gemini() -> AcpRow:
    dialect = AcpDialect(
        label="Gemini CLI (ACP)",
        modes={PLAN: ("plan",), EDIT: ("autoEdit",), FULL: ("yolo",), OPEN: ("yolo",)},
        sign_in=("gemini-api-key", "vertex-ai"),
        usage="quota",
        notice=re.compile(r"^\[MODE_UPDATE\] "),
    )
    return AcpRow(
        descriptor=over(
            gemini.ADAPTER.descriptor,
            dialect,
            "gemini-acp",
            ("--help",),
            # `session/load` of a session of its own: "No previous sessions found" (0.61.0).
            capabilities=replace(capabilities(usage=True), session_resume=Capability(False)),
            sessions=Sessions(".gemini/tmp", "jsonl"),
        ),
        identity=gemini.Gemini.identity,
        dialect=dialect,
        options=alone(SPOKEN, gemini.TRUST),
        environment=gemini.ENVIRONMENT,
    )


def _opencode() -> AcpRow:
    dialect = AcpDialect(
        label="OpenCode (ACP)",
        modes={PLAN: ("plan",), EDIT: ("build",), FULL: ("build",), OPEN: ("build",)},
        usage="",  # of its last step alone
    )
    return AcpRow(
        descriptor=over(
            opencode.ADAPTER.descriptor, dialect, "opencode-acp", ("acp", "--help"), efforts=EFFORTS
        ),
        identity=AgentIdentity(version=NUMBER, help=re.compile(r"^opencode acp", re.MULTILINE)),
        dialect=dialect,
        args=("acp",),
        options=alone(opencode.PURE),
        proof=(spoken("--cwd"),),
        environment=opencode.ENVIRONMENT,
        # Its build mode runs every command unasked, its plan mode too: rules keep them from it.
        by_permission=opencode.settings,
    )


def _qwen() -> AcpRow:
    dialect = AcpDialect(
        label="Qwen Code (ACP)",
        modes={PLAN: ("plan",), EDIT: ("auto-edit",), FULL: ("yolo",), OPEN: ("yolo",)},
        sign_in=("openai",),
        usage="chunks",
    )
    settings = "qwen-settings.json"
    return AcpRow(
        descriptor=over(qwen.ADAPTER.descriptor, dialect, "qwen-acp", ("--help",)),
        identity=qwen.Qwen.identity,
        dialect=dialect,
        options=(
            *alone(SPOKEN),
            (qwen.MCP, (qwen.MCP.name, qwen.NO_SERVER)),
            (qwen.EXCLUDED, (qwen.EXCLUDED.name, qwen.TOOLS_EXCLUDED)),
        ),
        environment=(
            ("QWEN_CODE_SYSTEM_SETTINGS_PATH", f"{{home}}/{settings}"),
            *qwen.ENVIRONMENT,
        ),
        files={settings: qwen.SETTINGS.encode()},
    )


def _copilot() -> AcpRow:
    dialect = AcpDialect(
        label="GitHub Copilot CLI (ACP)",
        modes={PLAN: ("plan",), EDIT: ("agent",), FULL: ("agent",), OPEN: ("agent",)},
        trouble=re.compile(r"^Error: "),
        retry=re.compile(r"^Info: Request failed"),
        notice=re.compile(r"^(?:Info|Warning): "),
    )
    flags = (copilot.NO_ASK, copilot.NO_UPDATE, copilot.TELEMETRY, copilot.REMOTE, copilot.BUILTIN)
    secret = f"{copilot.SECRET.name}={','.join(SECRETS)}"
    return AcpRow(
        descriptor=over(
            copilot.ADAPTER.descriptor,
            dialect,
            "copilot-acp",
            ("--help",),
            hidden_paths=(
                ".claude/settings.json",
                ".claude/settings.local.json",
                ".github/hooks",
                ".github/copilot/settings.json",
                ".github/copilot/settings.local.json",
            ),
        ),
        identity=copilot.Copilot.identity,
        dialect=dialect,
        options=(*alone(SPOKEN, *flags), (copilot.SECRET, (secret,))),
        environment=copilot.ENVIRONMENT,
        warnings=(
            "GitHub Copilot CLI over ACP runs a repository's own hooks, confined as its tools are:"
            " only `disableAllHooks` in your ~/.copilot/settings.json keeps them out",
        ),
    )


def _hermes() -> AcpRow:
    dialect = AcpDialect(
        label="Hermes Agent (ACP)",
        # It asks before an edit and never before a command: edit and plan would promise too much.
        modes={FULL: ("dont_ask",), OPEN: ("dont_ask",)},
        trouble=re.compile(
            r"^(?:HTTP [45]\d\d: |API call failed|Error: |Context length exceeded \()"
        ),
        forgets=True,
    )
    return AcpRow(
        descriptor=over(
            hermes.ADAPTER.descriptor,
            dialect,
            "hermes-acp",
            ("acp", "--help"),
            install_hint='python -m pip install "hermes-agent[acp]"',
            installs=(InstallMethod("all", "pip", 'python -m pip install "hermes-agent[acp]"'),),
        ),
        identity=AgentIdentity(
            version=hermes.Hermes.identity.version, help=re.compile(r"^usage: hermes acp", re.M)
        ),
        dialect=dialect,
        args=("acp",),
        proof=(spoken("--check"),),
        environment=hermes.ENVIRONMENT,
    )


def _omp() -> AcpRow:
    dialect = AcpDialect(
        label="omp (ACP)",
        modes={PLAN: ("plan",), EDIT: ("default",), FULL: ("default",), OPEN: ("default",)},
        sign_in=("agent",),
        trouble=re.compile(r"^(?:[45]\d\d |Error: |E(?:CONN|PIPE|TIMEDOUT|NOTFOUND)[A-Z]*: )"),
    )
    overlay = "omp.yml"
    return AcpRow(
        descriptor=over(
            omp.ADAPTER.descriptor,
            dialect,
            "omp-acp",
            ("--help",),
            efforts=EFFORTS,
            # It notes its processes there, and does not start where it cannot.
            folders=(ConfigFolder(variable="OMP_RUN_DIR", default=".omp/run"),),
        ),
        identity=omp.Omp.identity,
        dialect=dialect,
        options=(
            (omp.MODE, (omp.MODE.name, "acp")),
            (omp.CONFIG, (omp.CONFIG.name, f"{{home}}/{overlay}")),
            *alone(omp.NO_EXTENSIONS, omp.NO_LSP, omp.NO_TITLE, omp.NO_PTY),
        ),
        environment=omp.ENVIRONMENT,
        files={overlay: omp.OVERLAY},
    )


ROWS = (
    _gemini(),
    _qwen(),
    _opencode(),
    _copilot(),
    _omp(),
    _hermes(),
    claude_agent(),
    codex_agent(),
    any_agent(),
)
"""In the order in which they are listed."""


PROMPT_BYTES = 10_000_000
"""The longest prompt that is sent: the agents name no limit of their own."""


class AcpAgent(CliAdapter):
    """The adapter of one row. Whether it is signed in is found out in the conversation."""

    def __init__(self, row: AcpRow) -> None:
        self.row = row
        self.descriptor = row.descriptor
        self.identity = row.identity
        self.table = row.flags

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        """`gemini --acp` and its like; what else is wanted goes into the conversation.

        Raises `UnsupportedFlag` where a required flag is gone, and for what no agent is told by
        this protocol: a network that is off, and permissions that it has no mode for.
        """
        self._check(request)
        row = self.row
        line = self.line(result)
        home = lane_home(request)
        line.args.extend(row.args)
        for flag, terms in row.options:
            line.add(flag, *(term.replace("{home}", str(home)) for term in terms))
        if not request.masked:
            line.warnings += row.warnings
        mode = () if row.any_mode else row.dialect.modes.get(request.permission, ())[:1]
        named = () if request.effort is None else (("effort", str(request.effort)),)
        env = ((name, value.replace("{home}", str(home))) for name, value in row.environment)
        prompt = prefaced(request.preface, request.prompt)
        built = line.command(
            request,
            result,
            env=(*env, *row.by_permission(request)),
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_BYTES, unit="bytes"),
            files=tuple((home / name, data) for name, data in row.files.items()),
            expected_settings=(*(("permission", term) for term in mode), *named),
        )
        return replace(built, session_params=self._dialogue(request))

    def conversation(self, command: BuiltCommand) -> Conversation:
        """A fresh conversation for one attempt."""
        from hydra.adapters.protocols.acp import AcpConversation
        from hydra.adapters.protocols.acp_session import AcpRequest

        values = dict(command.session_params)
        wish = AcpRequest(
            root=str(command.cwd),
            prompt=(command.stdin or b"").decode("utf-8", "replace"),
            permission=Permission(values["permission"]),
            model=values.get("model", ""),
            effort=values.get("effort", ""),
            resume=values.get("resume", ""),
            fork="fork" in values,
            masked="masked" in values,
            meta=json.loads(values.get("meta", "{}")),
        )
        return AcpConversation(self.row.dialect, wish)

    def parser(self) -> Parser:
        """Reads a recorded stream: the agent's side of a conversation."""
        from hydra.adapters.protocols.acp import AcpConversation

        return AcpConversation(self.row.dialect)

    def _check(self, request: SpawnRequest) -> None:
        label = self.descriptor.label
        self.check_network(request)
        if request.resume and not self.descriptor.capabilities.session_resume.present:
            raise self.cannot(f"{label} does not go on with a session", "begin a new one")
        if request.permission not in self.descriptor.modes:
            text = ", ".join(str(permission) for permission in self.descriptor.modes)
            raise self.cannot(
                f"{label} has nothing for the permission {request.permission}", f"it takes {text}"
            )

    def _dialogue(self, request: SpawnRequest) -> Pairs:
        rows = [("permission", str(request.permission))]
        if request.model:
            rows.append(("model", request.model))
        if request.effort is not None:
            rows.append(("effort", self.descriptor.efforts[request.effort]))
        if request.resume:
            rows.append(("resume", as_session(request.resume, adapter=self.key())))
        if request.fork:
            rows.append(("fork", "yes"))
        if request.masked and request.permission is EDIT:  # in no other a path is looked at
            rows.append(("masked", "yes"))
        if meta := self.row.meta(request):
            rows.append(("meta", json.dumps(meta)))
        return tuple(rows)


ADAPTERS: tuple[AcpAgent, ...] = tuple(AcpAgent(row) for row in ROWS)
