"""Why a stream ended without its closing event: read from the exit and from stderr.

stderr is only believed where the CLI wrote it about its own command line or sign-in and nothing
of its stream was understood before; otherwise it is noise (Codex logs there all the time).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hydra.adapters import said
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_USAGE = (
    # commander (Claude Code 2.1.330)
    re.compile(r"error: unknown option '(?P<flag>[^']+)'"),
    re.compile(
        r"error: option '(?P<flag>--?[\w-]++)[^']*+' argument '(?P<value>[^']*)' is invalid"
    ),
    # clap (Codex 0.169.0)
    re.compile(r"error: unexpected argument '(?P<flag>[^']+)' found"),
    re.compile(r"error: invalid value '(?P<value>[^']*)' for '(?P<flag>--?[\w-]+)"),
    # yargs (Gemini CLI 0.61.0, Qwen Code 0.24.4)
    re.compile(r"^Unknown arguments?: (?P<flag>[\w-]+)", re.MULTILINE),
    re.compile(r'^ *Argument: (?P<flag>[\w-]{1,80}), Given: "(?P<value>[^"]*)"', re.MULTILINE),
)
_SIGNED_OUT = re.compile(
    r"^.*(?:not logged in|please run /login|authentication required|please log ?in|sign in again"
    r"|missing environment variable|invalid api key).*$",
    re.IGNORECASE | re.MULTILINE,
)
_NO_MODEL = re.compile(
    # pi 0.73.1 and omp 18.2.3, before the first line of their streams
    r'^(?:Error: )?(?:Unknown provider "[^"\n]{1,4000}"\.|Model "[^"\n]{1,4000}" not found\b).*$',
    re.MULTILINE,
)
_STOPPED = {1: "SIGHUP", 2: "SIGINT", 15: "SIGTERM"}
_KILLED = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclosed:
    """A stream without an ending: how its process ended and how much was understood."""

    label: str
    exit: ExitStatus
    stderr: str
    understood: int
    malformed: int


def explain(seen: Unclosed) -> AgentEvent:
    """The one `failed` event for it."""
    known = _command_line(seen) or _signed_out(seen) or _no_model(seen)
    return known or _signal(seen) or _broken_off(seen)


def usage_error(stderr: str) -> AgentEvent | None:
    """`UnsupportedFlag` where the CLI refused its own command line, naming the flag."""
    for pattern in _USAGE:
        match = pattern.search(stderr)
        if match:
            named = match.groupdict()
            what = f"{named['flag']} {named['value']}" if named.get("value") else named["flag"]
            return said.failed("UnsupportedFlag", "usage", f"it does not take {what}")
    return None


def _command_line(seen: Unclosed) -> AgentEvent | None:
    return usage_error(seen.stderr) if not seen.understood else None


def _signed_out(seen: Unclosed) -> AgentEvent | None:
    match = None if seen.understood else _SIGNED_OUT.search(seen.stderr)
    return said.failed("AuthMissing", "sign_in", match[0].strip()) if match else None


def _no_model(seen: Unclosed) -> AgentEvent | None:
    match = None if seen.understood else _NO_MODEL.search(seen.stderr)
    return said.failed("AgentFailed", "model", match[0].strip()) if match else None


def _signal(seen: Unclosed) -> AgentEvent | None:
    # A shell, and Claude Code itself, tell a signal as 128 + its number.
    number = seen.exit.signal or max((seen.exit.code or 0) - 128, 0)
    if number in _STOPPED:
        text = f"it was stopped by {_STOPPED[number]}"
        return said.failed("Interrupted", "signal", text, {"signal": number})
    if number == _KILLED:
        text = "it was killed (SIGKILL: out of memory, or by hand)"
        return said.failed("AgentFailed", "killed", text, {"signal": number})
    return None


def _broken_off(seen: Unclosed) -> AgentEvent:
    how = f"signal {seen.exit.signal}" if seen.exit.signal else f"exit {seen.exit.code}"
    last = next((line for line in reversed(seen.stderr.splitlines()) if line.strip()), "")
    text = f"{seen.label} ended ({how}) without its closing event"
    numbers = {"understood": float(seen.understood), "malformed": float(seen.malformed)}
    return said.failed(
        "StreamParseError",
        "no_terminal_event",
        f"{text}: {said.one_line(last)}" if last else text,
        numbers,
    )
