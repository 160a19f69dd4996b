"""How every adapter reads its probes: which program it is, what it can do, why it cannot run."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from msgspec import Struct

from hydra.adapters.command_line import Flag, missing, options, without_lost
from hydra.adapters.contract import Descriptor
from hydra.errors import (
    AgentError,
    AuthMissing,
    BinaryMissing,
    SpawnFailed,
    UnsupportedFlag,
    UnsupportedVersion,
)
from hydra.records.agent import UNKNOWN_CAPABILITIES, DetectResult, ProbeOutput, SignIn

Probes = Mapping[str, ProbeOutput]

_BARE = "1.2.3"
"""A version text of which nobody knows whose it is."""


class AgentIdentity(NamedTuple):
    """What proves that a program is the agent: its version text, or words of its help text."""

    version: re.Pattern[str]
    """Matches the version probe's stdout; its first group is the version."""
    help: re.Pattern[str]


class ProbeReading(Struct, frozen=True, kw_only=True):
    """One agent's probes, and what to read them by. `help` names the probe with the flags."""

    descriptor: Descriptor
    identity: AgentIdentity
    table: Sequence[Flag]
    binary: str
    probes: Probes
    help: str = "help"

    @property
    def version(self) -> str:
        """The version, or nothing where the text was not understood. stdout only."""
        match = self.identity.version.search(self._stdout("version"))
        return match[1] if match else ""

    @property
    def flags(self) -> frozenset[str]:
        """The long options of the help text, with the values it lists."""
        return options(self._stdout(self.help))

    @property
    def proves_itself(self) -> bool:
        """Whether its version text, or with a bare number the flags that it shows, are the
        agent's."""
        help = self.probes.get(self.help)
        if self.identity.version.search(_BARE) is None or help is None or help.exit_code != 0:
            return bool(self.version)
        return bool(self.version) and not missing(self.table, self.flags)

    def _stdout(self, name: str) -> str:
        probe = self.probes.get(name)
        return probe.stdout if probe is not None else ""


def read(reading: ProbeReading, *, extra: Sequence[AgentError] = ()) -> DetectResult:
    """The result: the first thing that stands in the way, in the order a person mends it.

    `extra` are the adapter's own errors (a broken sandbox); they come before sign-in.
    """
    descriptor, flags = reading.descriptor, reading.flags
    sign_in, detail = sign_in_state(descriptor, probe=reading.probes.get("sign_in"))
    another = _not_it(reading)
    if another is not None:
        sign_in, detail = SignIn.UNKNOWN, ""  # another program has answered for it
    capabilities = descriptor.capabilities
    if reading.help in reading.probes:
        capabilities = without_lost(capabilities, reading.table, flags)
    errors = (
        _not_started(reading),
        another,
        _known_broken(reading),
        _flags_gone(reading, flags),
        *extra,
        _signed_out(reading, sign_in, detail),
    )
    return DetectResult(
        adapter=descriptor.key,
        binary=Path(reading.binary),
        version=reading.version,
        flags=flags,
        capabilities=UNKNOWN_CAPABILITIES if another is not None else capabilities,
        sign_in=sign_in,
        sign_in_detail=detail,
        warnings=_warnings(reading),
        error=next((error.failure for error in errors if error is not None), None),
    )


def _not_started(reading: ProbeReading) -> AgentError | None:
    probe = reading.probes.get("version")
    if probe is None or probe.exit_code == 0 or reading.version:
        return None
    text, reason = probe.ending
    hint = reading.descriptor.install_hint
    return _error(SpawnFailed, f"`{' '.join(probe.argv)}` {text}", reading, probe, hint, reason)


def _not_it(reading: ProbeReading) -> AgentError | None:
    """Another program by that name: neither its version nor its help says what it should.

    A bare number is any program's version: there the help has to say it, or to show what a lane
    needs. One that gave no help is told by that.
    """
    generic = PurePath(reading.binary).name in reading.descriptor.generic_binaries
    helped = any(
        reading.identity.help.search(probe.stdout)
        for name, probe in reading.probes.items()
        if name.endswith("help")
    )
    if reading.proves_itself or (helped and not generic) or "version" not in reading.probes:
        return None
    return BinaryMissing(
        f"{reading.binary} is not {reading.descriptor.label}: neither its version nor its help"
        " says so",
        adapter=reading.descriptor.key,
        command=reading.probes["version"].argv,
        hint=reading.descriptor.install_hint,
        reason="not_it",
    )


def _known_broken(reading: ProbeReading) -> AgentError | None:
    reason = broken(reading.version, reading.descriptor.broken_versions)
    if not reason:
        return None
    return UnsupportedVersion(
        f"{reading.descriptor.label} {reading.version} does not work with Hydra: {reason}",
        adapter=reading.descriptor.key,
        command=(reading.binary, "--version"),
        hint=f"update it: {reading.descriptor.install_hint}",
        reason="broken_version",
    )


def _flags_gone(reading: ProbeReading, flags: frozenset[str]) -> AgentError | None:
    probe = reading.probes.get(reading.help)
    gone = missing(reading.table, flags) if probe is not None else []
    if probe is None or not gone:
        return None
    names = ", ".join(flag.name for flag in gone)
    message = f"this {reading.descriptor.label} does not show {names} in its help"
    hint = f"needed {gone[0].purpose}; {reading.descriptor.install_hint}"
    return _error(UnsupportedFlag, message, reading, probe, hint, "flag_gone")


def _signed_out(reading: ProbeReading, sign_in: SignIn, detail: str) -> AgentError | None:
    probe = reading.probes.get("sign_in")
    if probe is None or sign_in is not SignIn.MISSING:
        return None
    message = f"{reading.descriptor.label} is not signed in ({detail})"
    return _error(AuthMissing, message, reading, probe, reading.descriptor.sign_in_hint, "sign_in")


def _error(
    kind: type[AgentError],
    message: str,
    reading: ProbeReading,
    probe: ProbeOutput,
    hint: str,
    reason: str,
) -> AgentError:
    return kind(
        message,
        adapter=reading.descriptor.key,
        command=probe.argv,
        stderr=probe.stderr,
        hint=hint,
        reason=reason,
    )


def _warnings(reading: ProbeReading) -> tuple[str, ...]:
    descriptor, version = reading.descriptor, reading.version
    probe = reading.probes.get("version")
    if probe is not None and probe.exit_code == 0 and not version:
        text = probe.stdout.strip().splitlines()[:1] or ["nothing"]
        return (f"{descriptor.label}: its version text was not understood ({text[0][:80]!r})",)
    if older(version, descriptor.minimum_version):
        return (
            f"{descriptor.label} {version} is older than {descriptor.minimum_version}, the oldest"
            " that Hydra was tried with",
        )
    return ()


# ---- What is known of an agent's sign-in, from names, files and the CLI's own word.


def sign_in_state(
    descriptor: Descriptor,
    env_names: Container[str] = (),
    files_present: bool = False,
    probe: ProbeOutput | None = None,
) -> tuple[SignIn, str]:
    """The state and a few words on how it is known. No value is ever read.

    `probe` is the CLI's own sign-in command, exit 0 for signed in; a key in the environment or a
    credentials file outweighs its no, because `codex login status` looks at neither.
    """
    if probe is not None and probe.exit_code == 0:
        return SignIn.CONFIRMED, f"`{_command(descriptor, probe)}` says so"
    for name in descriptor.sign_in_environment:
        if name in env_names:
            return SignIn.SEEMS_SO, f"{name} is set"
    if files_present:
        return SignIn.SEEMS_SO, "its credentials file is there"
    if probe is None or not probe.ran:
        return SignIn.UNKNOWN, ""
    return SignIn.MISSING, f"`{_command(descriptor, probe)}` says signed out"


def _command(descriptor: Descriptor, probe: ProbeOutput) -> str:
    return " ".join((descriptor.binaries[0], *probe.argv[1:]))


# ---- Version numbers as CLIs print them: found in a text, compared, looked up as broken.

_NUMBERS = re.compile(r"\d+")


def parts(version: str) -> tuple[int, ...]:
    """The numbers of `version` up to the first suffix: `2.1.330-beta.1` gives (2, 1, 330)."""
    return tuple(
        int(n) for n in _NUMBERS.findall(re.split(r"[-+ ]", version.strip(), maxsplit=1)[0])
    )


def order(version: str) -> tuple[tuple[int, ...], bool, str]:
    """What sorts versions: numbers as numbers, a beta before its release."""
    return parts(version), "-" not in version, version


def older(version: str, than: str) -> bool:
    """Whether `version` comes before `than`; an empty one on either side never does."""
    numbers, right = parts(version), parts(than)
    return bool(numbers) and bool(right) and numbers < right


def broken(version: str, table: Mapping[str, str]) -> str:
    """Why `version` is known not to work, or nothing. A key `<X` stands for all before X."""
    for key, reason in table.items():
        if key.startswith("<") and older(version, key[1:]):
            return reason
        if key == version:
            return reason
    return ""
