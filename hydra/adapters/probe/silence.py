"""A program that gave no answer: that is said, and not what its silence would mean."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from hydra.adapters.command_line import options
from hydra.adapters.contract import Descriptor
from hydra.errors import Failure, SpawnFailed
from hydra.records.agent import UNKNOWN_CAPABILITIES, DetectResult, ProbeOutput

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
