"""One question to one program, whoever of the adapters asks it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from hydra import __version__
from hydra.adapters.command_line import options
from hydra.adapters.config_dirs import folders_of, place_of
from hydra.adapters.contract import Descriptor, Probe
from hydra.adapters.environment import matches
from hydra.adapters.probe.cache import LASTS, WRAPPER_LASTS, ProgramIdentity
from hydra.adapters.probe.context import ProbeContext
from hydra.errors import Failure, SpawnFailed
from hydra.process.identity import boot_id
from hydra.records.agent import UNKNOWN_CAPABILITIES, DetectResult, ProbeOutput, SignIn

SIGN_IN = "sign_in"

SETTINGS_LAST = 600.0
"""Seconds for which a CLI's own word counts on its settings, and on whether it is signed in. A
variable that is set, or a file of its settings that was written, ends it at once; a race believes
of a sign-in only that it is there."""

_LANGUAGE = ("LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "NODE_OPTIONS")
"""Variables of everybody's that change what a help text says, or whether there is one."""


@dataclass(eq=False, slots=True, kw_only=True)
class Question:
    """`key` is all that its answer depends on, "" where it cannot be told: two questions of one key
    are one."""

    descriptor: Descriptor
    probe: Probe
    binary: Path
    key: str
    wrapper: bool = False

    @property
    def argv(self) -> tuple[str, ...]:
        """Program and arguments."""
        return (str(self.binary), *self.probe.args)

    def lasts(self, answer: ProbeOutput) -> float:
        """Seconds for which an answer counts, as long as the program is the same."""
        if self.probe.name == SIGN_IN and answer.ran:
            # Elsewhere a system's keychain may hold the sign-in, and no file tells.
            believed = answer.exit_code == 0 or sys.platform == "linux"
            return SETTINGS_LAST if believed else 0.0
        if answer.exit_code != 0:
            return 0.0  # what is broken is asked again: somebody may have mended it
        if self.probe.settings:
            return SETTINGS_LAST  # one file of them may name another
        return WRAPPER_LASTS if self.wrapper else LASTS


def ask(
    descriptor: Descriptor,
    probe: Probe,
    binary: Path,
    identity: ProgramIdentity,
    around: ProbeContext,
) -> Question:
    """The question that an adapter's probe is here."""
    line = "\x1f".join((str(binary), *probe.args))
    key = _key(descriptor, probe, line, identity, around) if identity.text else ""
    return Question(
        descriptor=descriptor, probe=probe, binary=binary, key=key, wrapper=identity.wrapper
    )


def _key(
    descriptor: Descriptor, probe: Probe, line: str, identity: ProgramIdentity, around: ProbeContext
) -> str:
    own_names = around.extra_names.get(descriptor.key, ())
    parts = [__version__, line, identity.text, around.confinement.kind]
    if around.confinement.holds:
        parts += ["show", *around.show]  # a program may need it to start, and so to answer
    parts += [f"{name}={around.environ.get(name, '')}" for name in _LANGUAGE]
    if probe.own_folder and descriptor.config is not None:
        parts.append(f"own {descriptor.config.variable}")
    if probe.confined:
        # A preflight depends on the machine's state and not on the binary alone.
        parts += [descriptor.key, str(os.getuid()), boot_id()]
    if probe.name == SIGN_IN:
        names = (*descriptor.sign_in_environment, *own_names)
        parts += [descriptor.key, *(name for name in names if around.environ.get(name))]
        parts += _looks(_files(descriptor, around, settings=True))
    if probe.settings:
        names = (*descriptor.environment, *own_names)
        environ = {name: text for name, text in around.environ.items() if matches(name, names)}
        # A digest: one of them may be a key.
        parts += [descriptor.key, sha256(repr(sorted(environ.items())).encode()).hexdigest()]
        parts += _looks(_files(descriptor, around, settings=True, beside=True))
    return "|".join(parts)


def seems_signed_in(descriptor: Descriptor, around: ProbeContext) -> str:
    """By what it seems so, from names and files only; "" for nothing. No value is ever read."""
    own = around.extra_names.get(descriptor.key, ())
    for name in (*descriptor.sign_in_environment, *own):
        if around.environ.get(name):
            return f"{name} is set"
    for path in _files(descriptor, around):
        if path.is_file():
            return f"{path} is there"
    return ""


def with_sign_in(result: DetectResult, detail: str) -> DetectResult:
    """`result`, where a key or a file (`detail`) outweighs that nobody, or the CLI's no, was heard;
    "" is none."""
    if not detail or result.sign_in not in (SignIn.UNKNOWN, SignIn.MISSING):
        return result
    signed_out = result.error is not None and result.error.kind == "AuthMissing"
    error = None if signed_out else result.error
    return replace(result, sign_in=SignIn.SEEMS_SO, sign_in_detail=detail, error=error)


def _looks(paths: Iterable[Path]) -> list[str]:
    """Of files from outside: what tells that one was written, or taken away."""
    traces = []
    for path in paths:
        try:
            stat = path.stat()
        except OSError:
            traces.append(f"{path} -")
            continue
        traces.append(f"{path} {stat.st_size}:{stat.st_mtime_ns}:{stat.st_ino}")
    return traces


def _files(
    descriptor: Descriptor, around: ProbeContext, *, settings: bool = False, beside: bool = False
) -> list[Path]:
    """Where its credentials lie, its `settings`, and those `beside` in HOME. They are never
    opened."""
    return [
        path
        for folder in folders_of(descriptor)
        for place in (place_of(folder, around.environ, around.home),)
        for path in (
            *(place / name for name in folder.credentials),
            *(place / name for name in folder.copied if settings),
            *(around.home / name for name in folder.home_files if beside),
        )
    ]


# ---- A program that gave no answer: that is said, and not what its silence would mean.

_LINE = 300
"""Characters of what a program said last."""


def unanswered(
    result: DetectResult, descriptor: Descriptor, answers: Mapping[str, ProbeOutput]
) -> DetectResult:
    """`result`; where a help text never came, or a sandbox was never tried, with that as its error,
    and not that flags are gone or the sandbox is broken. With what the program said last."""
    error = result.error
    if error is None:
        return result
    silent = next((answer for answer in answers.values() if _is_silent(answer, error)), None)
    if silent is None:
        return result
    return replace(result, error=_failure(silent, descriptor), capabilities=UNKNOWN_CAPABILITIES)


def _is_silent(answer: ProbeOutput, error: Failure) -> bool:
    if error.kind == "UnsupportedFlag" and answer.timed_out:
        return True
    if answer.argv != error.command:
        return False
    if error.reason in ("cannot_start", "probe_failed"):
        return True
    failed = error.kind == "UnsupportedFlag" and answer.exit_code != 0
    never_ran = error.reason == "sandbox_broken" and not answer.ran
    return (failed and not options(answer.stdout)) or never_ran


def _failure(answer: ProbeOutput, descriptor: Descriptor) -> Failure:
    how, reason = answer.ending
    lines = f"{answer.stdout}\n{answer.stderr}".strip().splitlines()
    last = f": {lines[-1].strip()[:_LINE]}" if lines and not answer.timed_out else ""
    return SpawnFailed(
        f"`{' '.join(answer.argv)}` {how}{last}",
        adapter=descriptor.key,
        command=answer.argv,
        stderr=answer.stderr,
        hint=descriptor.install_hint,
        reason=reason,
    ).failure
