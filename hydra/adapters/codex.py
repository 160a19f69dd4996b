"""OpenAI Codex: its line, and how it is probed. Seen in 0.169.0."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from hydra.adapters.base import CliAdapter
from hydra.adapters.codex_descriptor import DESCRIPTOR, EFFORTS, MODES
from hydra.adapters.contract import Parser
from hydra.adapters.detecting import Identity, Reading, read
from hydra.adapters.flags import Flag, Line, Pairs
from hydra.adapters.prompts import as_session, as_stdin, prefaced
from hydra.adapters.versions import older
from hydra.errors import AgentError, SpawnFailed, UnsupportedFlag
from hydra.model import BuiltCommand, DetectResult, Permission, ProbeOutput, SpawnRequest

JSON = Flag(
    name="--json",
    purpose="to read what it does",
    required=True,
    drops=("json_stream", "emits_usage"),
)
SANDBOX = Flag(
    name="--sandbox",
    purpose="to say what it may do",
    drops=("sandbox_controls", "force_edit_mode"),
)
BYPASS = Flag(name="--dangerously-bypass-approvals-and-sandbox", purpose="for --unsafe-full-access")
CONFIG = Flag(
    name="--config",
    purpose="to keep it from asking, and from reporting home",
    drops=("approval_controls",),
    loss="analytics, the update check and keys in its tools' environment stay as configured",
)
COLOR = Flag(name="--color", purpose="for plain output")
CD = Flag(name="--cd", purpose="to name the worktree, where it is started anyway")
REPO_CHECK = Flag(
    name="--skip-git-repo-check", purpose="for a worktree that it does not take for a repository"
)
DISABLE = Flag(
    name="--disable",
    purpose="to leave its plugins out",
    instead=("-c", "features.plugins=false"),
)
MODEL = Flag(name="--model", purpose="to choose a model")

TABLE = (JSON, SANDBOX, BYPASS, CONFIG, COLOR, CD, REPO_CHECK, DISABLE, MODEL)

TRUSTS_NOBODY = "0.169.0"
"""Before it (0.134.0 to 0.165.0 were tried) Codex starts the MCP servers of a repository that the
user never trusted. Told not to trust it, 0.165.0 leaves AGENTS.md out as well; 0.134.0 does not."""

FORKS = "0.169.0"
"""The version in which `codex exec fork` was run; it keeps the sandbox that stands before it."""

UNTRUSTED = '{trust_level="untrusted"}'

SETTINGS = (
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    # Keys and tokens stay out of its tools' environment; by default they are passed on.
    "shell_environment_policy.ignore_default_excludes=false",
    # /tmp is shared with everybody; a lane has a TMPDIR of its own.
    "sandbox_workspace_write.exclude_slash_tmp=true",
)

PROMPT_CHARACTERS = 1_048_576
"""What it takes at most: more is refused with `input_too_large` (0.169.0)."""


class Codex(CliAdapter):
    """The adapter."""

    descriptor = DESCRIPTOR
    identity = Identity(
        version=re.compile(r"^codex(?:-cli)? (\d+(?:\.\d+)+\S*)", re.MULTILINE),
        help=re.compile(r"Codex"),
    )
    table = TABLE

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """Reads the probes `version`, `help`, `exec_help`, `sign_in`, `sandbox`."""
        broken = self._sandbox(probes.get("sandbox"))
        return read(
            Reading(
                descriptor=self.descriptor,
                identity=self.identity,
                table=TABLE,
                binary=binary,
                probes=probes,
                help="exec_help",
            ),
            extra=(broken,) if broken else (),
        )

    def build_command(self, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
        """`codex exec --json --sandbox ... -`, the prompt on stdin.

        Raises `UnsupportedFlag` where a required flag is gone, or the network is to be off and
        no sandbox of its own is there to keep it off.
        """
        line = self.line(found)
        line.args.append("exec")
        line.add(JSON)
        line.add(COLOR, COLOR.name, "never")
        line.add(REPO_CHECK)
        line.add(CD, CD.name, str(request.worktree))
        line.add(DISABLE, DISABLE.name, "plugins")
        self._permission(line, request)
        self._settings(line, request, found)
        if request.model:
            line.need(MODEL, request.model)
        words = [*line.args, *request.extra_args]
        if request.resume:
            # Last: after `resume` it refuses --sandbox, and would fall back to read-only (0.169.0).
            words += self._session(request, found)
        prompt = prefaced(request.preface, request.prompt)
        return BuiltCommand(
            program=str(found.binary),
            args=(*words, "-"),
            cwd=request.worktree,
            stdin=as_stdin(prompt, adapter=self.key(), limit=PROMPT_CHARACTERS, unit="characters"),
            dropped=tuple(line.dropped),
            warnings=tuple(line.warnings),
            expects=_expected(request.permission),
        )

    def parser(self) -> Parser:
        """A fresh parser for one attempt."""
        from hydra.adapters.codex_stream import CodexStream

        return CodexStream()

    def _session(self, request: SpawnRequest, found: DetectResult) -> list[str]:
        session = as_session(request.resume, adapter=self.key())
        if not request.fork:
            return ["resume", session]
        if older(found.version, FORKS):
            raise self.cannot(
                f"OpenAI Codex {found.version} cannot go on with a copy of a session",
                f"update it: {self.descriptor.install_hint}",
            )
        return ["fork", session]

    def _permission(self, line: Line, request: SpawnRequest) -> None:
        if request.permission is Permission.UNRESTRICTED:
            if request.network is False:
                raise self._network("nothing confines it with --unsafe-full-access")
            line.need(BYPASS)
            return
        if request.permission is Permission.CONFIG:
            return
        if SANDBOX.name not in line.found:
            raise line.gone(SANDBOX.name, SANDBOX.purpose)
        line.add_value(SANDBOX, MODES[request.permission])

    def _settings(self, line: Line, request: SpawnRequest, found: DetectResult) -> None:
        settings = list(SETTINGS)
        if request.permission not in (Permission.UNRESTRICTED, Permission.CONFIG):
            settings.insert(0, "approval_policy=never")
        if request.effort:
            settings.append(f"model_reasoning_effort={EFFORTS[request.effort]}")
        if request.service_tier:
            settings.append(f"service_tier={self.descriptor.service_tiers[request.service_tier]}")
        settings += self._network_settings(line, request)
        if older(found.version, TRUSTS_NOBODY):
            settings.append(f"projects={{{json.dumps(str(request.worktree))}={UNTRUSTED}}}")
            line.warnings.append(
                f"OpenAI Codex {found.version} would run the repository's own MCP commands; told"
                " not to trust it, it may leave AGENTS.md out: update it"
            )
        if CONFIG.name not in line.found and request.network is not None:
            raise line.gone(CONFIG.name, "to turn its tools' network on or off")
        if CONFIG.name not in line.found and (request.effort or request.service_tier):
            raise line.gone(CONFIG.name, "to say how hard it thinks, or its service tier")
        line.add(CONFIG, *(word for setting in settings for word in ("-c", setting)))

    def _network_settings(self, line: Line, request: SpawnRequest) -> list[str]:
        if request.network is None or request.permission is Permission.UNRESTRICTED:
            return []
        if request.network and request.permission is Permission.PLAN:
            line.warnings.append("Codex's read-only sandbox has no network, --network or not")
            return []
        allowed = str(request.network).lower()
        settings = [f"sandbox_workspace_write.network_access={allowed}"]
        return settings if request.network else [*settings, "web_search=disabled"]

    def _network(self, why: str) -> UnsupportedFlag:
        return self.cannot(
            f"Codex's tools cannot be kept off the network: {why}",
            "leave out --no-network or --unsafe-full-access",
        )

    def _sandbox(self, probe: ProbeOutput | None) -> AgentError | None:
        if probe is None or probe.exit_code == 0:
            return None
        return SpawnFailed(
            "Codex's own sandbox does not start here: it would change nothing and say that it"
            " is done",
            adapter=self.key(),
            command=probe.argv,
            stderr=probe.stderr,
            hint="allow unprivileged user namespaces here; `codex sandbox -- true` must exit 0",
            reason="sandbox_broken",
        )


def _expected(permission: Permission) -> Pairs:
    return () if permission is Permission.CONFIG else (("sandbox", MODES[permission]),)


ADAPTER = Codex()
