"""What is known of an agent's sign-in, from names, files and the CLI's own word."""

from __future__ import annotations

from collections.abc import Container

from hydra.adapters.contract import Descriptor
from hydra.model import ProbeOutput, SignIn


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
