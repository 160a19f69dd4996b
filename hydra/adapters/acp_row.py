"""What a row of agents that speak the Agent Client Protocol is, and what all of them share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hydra.adapters.contract import Descriptor, Probe
from hydra.adapters.detecting import Identity
from hydra.adapters.flags import Flag, Pairs
from hydra.adapters.protocols.acp_manner import Manner
from hydra.model import Capability, CapabilitySet, Effort, Permission, SpawnRequest, Tier

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
class Row:
    """One agent. `words` come first on its line, then `options` (a flag, and what stands there if
    its help has it); `environment` is set always, `by_permission` by what is asked for; `meta`
    goes into the session's `_meta`. `files` are written in the lane's home, which is `{home}` in
    options and environment.
    """

    descriptor: Descriptor
    identity: Identity
    manner: Manner
    words: tuple[str, ...] = ()
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
    base: Descriptor, manner: Manner, key: str, help: tuple[str, ...], **own: object
) -> Descriptor:
    """A CLI's own descriptor as that of the same CLI over the protocol."""
    modes = {permission: words[0] for permission, words in manner.modes.items()}
    usage = bool(manner.usage)
    return replace(
        base,
        **{
            "key": key,
            "label": manner.label,
            "tagline": f"{base.label} over the Agent Client Protocol",
            "tier": Tier.EXPERIMENTAL,
            "protocol": "acp",
            "stream_format": "json-rpc",
            "converses": True,
            "sandbox": "soft",
            "confines_itself": False,
            "own_preface": False,
            "side_files": (),
            "budgets": (),
            "service_tiers": {},
            "efforts": {},
            "modes": modes,
            "broken_versions": {},
            "hidden_flags": {},
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


def any_agent() -> Row:
    """The row of whatever the user names."""
    manner = Manner(
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
    return Row(
        descriptor=Descriptor(
            key="acp",
            label=manner.label,
            tagline="any other agent that speaks the Agent Client Protocol",
            homepage="https://agentclientprotocol.com",
            tier=Tier.EXPERIMENTAL,
            binaries=("acp-agent",),
            protocol="acp",
            stream_format="json-rpc",
            converses=True,
            install_hint=hint,
            sign_in_hint="sign in with the agent's own program",
            exit_codes=EXITS,
            capabilities=capabilities(usage=True),
            modes={permission: words[0] for permission, words in manner.modes.items()},
            efforts=EFFORTS,
            probes=(
                Probe(name="version", args=("--version",), timeout=45, stderr=True),
                Probe(name="help", args=("--help",), timeout=45, stderr=True),
            ),
            platforms={"linux": "", "macos": "not tried", "windows": "not tried"},
        ),
        identity=Identity(version=re.compile(r"(\d+\.\d+\S*)"), help=re.compile("")),
        manner=manner,
        any_mode=True,
    )
