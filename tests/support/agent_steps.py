"""Steps of scripted agents that tests alone have, beside those of the demo.

An agent gets this text with its script, and runs it; in the tests it is imported, so that both know
the same names. Plain os calls: subprocess would cost a fifth of the agent's start-up time.
"""

# ruff: noqa: PTH109, PTH116, PTH123
# (pathlib would cost a third of the start-up time)

from __future__ import annotations

import binascii
import fcntl
import json
import os
import re
import signal
import stat
import sys
import time

from hydra.commands.demo.steps import STEPS, AgentExit, Performer
from hydra.commands.demo.wires.base import encode, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_POLL = 0.01
DAEMON_LIFE = ("sleep", "1000")
"""What a daemon does when its step names nothing else."""


CLAUDE_FAILURES: dict[str, tuple[str, int, str, str]] = {
    # reason: (error, api_error_status, terminal_reason, text)
    "rate_limit": ("rate_limit", 429, "api_error", "API Error: 429 rate limit reached"),
    "context_overflow": ("invalid_request", 400, "prompt_too_long", "Prompt is too long"),
    "error": ("server_error", 500, "api_error", "API Error: 500 the service failed"),
}
"""An API failure: the result's `subtype` stays "success", only `is_error` tells (2.1.330)."""

CODEX_FAILURES = {
    "rate_limit": "exceeded retry limit, last status: 429 Too Many Requests",
    "error": "stream disconnected before completion: the service failed",
}


def _emit(run: Performer, what: Any) -> None:
    run.wire.print(what if isinstance(what, str) else encode(what))


def _emit_base64(run: Performer, data: str) -> None:
    write(1, binascii.a2b_base64(data), run.wire.exit_on_closed_stdout)


def _stderr(run: Performer, options: Mapping[str, Any]) -> None:
    for _ in range(options["times"]):
        write(2, options["text"].encode("utf-8", "surrogateescape"))


def _flood(run: Performer, options: Mapping[str, Any]) -> None:
    fd = 2 if options["to"] == "stderr" else 1
    document, size = options["bytes"], options["line"]
    line = b"x" * (size - 1) + b"\n" if size else b"x" * 65536
    block = line * max(1, 65536 // len(line))
    while document > 0:
        write(fd, block[:document], run.wire.exit_on_closed_stdout)
        document -= len(block)


def _agent(run: Performer) -> str:
    agent: str = run.wire.script["agent"]
    return agent


def _wait_for(run: Performer, path: str) -> None:
    path = os.path.expandvars(path)
    while not os.path.lexists(path):
        time.sleep(_POLL)


def _touch(run: Performer, path: str) -> None:
    """Makes a file, or tells a waiting FIFO: those can be written on a read-only mount too."""
    path = os.path.expandvars(path)
    fifo = os.path.lexists(path) and stat.S_ISFIFO(os.stat(path).st_mode)
    fd = os.open(path, os.O_WRONLY if fifo else os.O_WRONLY | os.O_CREAT, 0o600)
    if fifo:
        os.write(fd, b".")
    os.close(fd)


def _repeat(run: Performer, options: Mapping[str, Any]) -> None:
    for _ in range(options["times"]):
        run.perform(options["steps"])


def _hang(run: Performer, _: Any) -> None:
    # Not pause(): a signal that comes just before it would be slept through.
    while True:
        time.sleep(0.2)


def _ignore(run: Performer, names: Sequence[str]) -> None:
    for name in names:
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def _close_stdout(run: Performer, _: Any) -> None:
    # Closed, and the number taken again, so that a later step writes nowhere and does not fail.
    os.close(1)
    null = os.open(os.devnull, os.O_WRONLY)
    if null != 1:
        os.dup2(null, 1)
        os.close(null)


def before(
    script_path: str,
    script: Mapping[str, Any],
    argv: Sequence[str],
    stdin: bytes | None,
    wire: Any,
) -> None:
    """Keeps the call where that was wanted; refuses a line as the real CLI would."""
    _record(script, script_path, argv, stdin)
    if wire is None or stdin is None:
        return
    last = argv[-1] if argv else ""
    prompt = stdin.decode("utf-8", "surrogateescape") or ("" if last[:1] == "-" else last)
    unknown = _unknown_option(argv, script["options_from"])
    code, why = _REFUSALS[script["agent"]](wire, argv, unknown, prompt)
    if why:
        write(2, why.encode())
        raise AgentExit(code)


def _claude_refuses(wire: Any, argv: Sequence[str], unknown: str, prompt: str) -> tuple[int, str]:
    """Without `-p` it would open the terminal UI; stream-json wants `--verbose`."""
    missing = "Error: Input must be provided either through stdin or as a prompt argument"
    excused = os.environ.get("IS_SANDBOX") == "1" or "CLAUDE_CODE_BUBBLEWRAP" in os.environ
    if unknown:
        return 1, f"error: unknown option '{unknown}'\n"
    if "-p" not in argv and "--print" not in argv:
        return 1, f"{missing}\n"
    if wire.streams and "--verbose" not in argv:
        needs = "--output-format=stream-json requires --verbose"
        return 1, f"Error: When using --print, {needs}\n"
    if wire._mode() == "bypassPermissions" and os.geteuid() == 0 and not excused:
        return 1, (
            "--dangerously-skip-permissions cannot be used with root/sudo privileges "
            "for security reasons\n"
        )
    return 1, "" if prompt.strip() else f"{missing} when using --print\n"


def _codex_refuses(wire: Any, argv: Sequence[str], unknown: str, prompt: str) -> tuple[int, str]:
    """Without `exec` it would open the terminal UI; clap says what it does not know."""
    if unknown:
        tip = f"  tip: to pass '{unknown}' as a value, use '-- {unknown}'"
        return 2, f"error: unexpected argument '{unknown}' found\n\n{tip}\n"
    return 1, "" if "exec" in argv else "Error: stdin is not a terminal\n"


def _cursor_refuses(wire: Any, argv: Sequence[str], unknown: str, prompt: str) -> tuple[int, str]:
    """Without `-p` it would open the terminal UI; an unapproved folder needs `--trust`."""
    if unknown:
        return 1, f"error: unknown option '{unknown}'\n"
    if "-p" not in argv and "--print" not in argv:
        return 1, "Error: a terminal is needed without --print\n"
    if "--trust" not in argv:
        return 1, "Error: Workspace trust required. Pass --trust to run headless here.\n"
    return 1, ""


_REFUSALS = {"claude": _claude_refuses, "codex": _codex_refuses, "cursor-agent": _cursor_refuses}


def _unknown_option(argv: Sequence[str], helps: Sequence[str]) -> str:
    """The first long option that none of these help texts shows, or ""; `--a[-b]` shows both."""
    shown: set[str] = set()
    for text in helps:
        for name, more in re.findall(r"(--[a-zA-Z][\w-]*)(?:\[(-[\w-]+)\])?", text):
            shown.update((name, name + more))
    for term in argv if helps else ():
        if term == "--":
            return ""
        name = term.partition("=")[0]
        if name.startswith("--") and name not in shown:
            return name
    return ""


def _record(
    script: Mapping[str, Any], script_path: str, argv: Sequence[str], stdin: bytes | None
) -> None:
    """One line about this call, where the script asks for it: a file or a FIFO."""
    if "record" not in script:
        return
    call = {
        "argv": list(argv),
        "env": dict(os.environ),
        "cwd": os.getcwd(),
        "pid": os.getpid(),
        "stdin": None if stdin is None else stdin.decode("utf-8", "surrogateescape"),
    }
    # Two calls at once must not mix; the script is there for both, on a read-only mount too.
    with open(script_path, "rb") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        fd = os.open(script["record"], os.O_WRONLY | os.O_APPEND)
        write(fd, json.dumps(call).encode() + b"\n")
        os.close(fd)


def _fail(run: Performer, reason: str) -> None:
    """The closing event of a run that failed, as each CLI has it, and exit 1."""
    wire: Any = run.wire
    if _agent(run) == "codex":
        message = CODEX_FAILURES[reason]
        wire.send({"type": "error", "message": message})
        wire.send({"type": "turn.failed", "error": {"message": message}})
    elif _agent(run) == "cursor-agent":
        wire.complain("Error: The service failed.")
    else:
        # A synthetic assistant line, then a result that says success and is an error.
        error, status, terminal, text = CLAUDE_FAILURES[reason]
        wire._assistant(
            {"type": "text", "text": text},
            model="<synthetic>",
            error=error,
            is_api_error_message=True,
            api_error_status=status,
        )
        wire._result("success", terminal, is_error=True, api_error_status=status, result=text)
    raise AgentExit(1)


def _exit(run: Performer, code: int) -> None:
    raise AgentExit(code)


def _signal_self(run: Performer, number: int) -> None:
    signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
    os.kill(os.getpid(), number)


def spawn_daemon(run: Performer, options: Mapping[str, Any]) -> None:
    """Starts a process that does not want to be found, in a session of its own and without a
    parent; returns once it runs.

    Options: `clear_env` (no marker left), `ignore_term`, `hold_stdout` (keeps the agent's pipe
    open). `argv` is what it becomes; `name` what it is called in a process list (argv[0]).
    """
    ready, count = os.pipe()
    child = os.fork()
    if child == 0:
        _become_daemon(options, count)
    os.close(count)
    os.read(ready, 1)  # EOF: the last holder has called exec, so all its wiles are in place
    os.close(ready)
    os.waitpid(child, 0)


def _become_daemon(options: Mapping[str, Any], count: int) -> None:
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        if options["ignore_term"]:
            for ignored in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(ignored, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 2) if options["hold_stdout"] else (0, 1, 2):
            os.dup2(null, fd)
        os.set_inheritable(count, False)
        argv = list(options["argv"] or DAEMON_LIFE)
        program = _find(argv[0])
        argv[0] = options["name"] or argv[0]
        os.execve(program, argv, {} if options["clear_env"] else os.environ)
    except BaseException as broken:
        sys.stderr.write(f"daemon: {broken}\n")
        os._exit(127)


def _find(program: str) -> str:
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = f"{folder}/{program}"
        if "/" not in program and os.access(path, os.X_OK):
            return path
    return program


STEPS.update(
    {
        "fail": _fail,
        "emit": _emit,
        "emit_base64": _emit_base64,
        "stderr": _stderr,
        "flood": _flood,
        "close_stdout": _close_stdout,
        "spawn_daemon": spawn_daemon,
        "wait_for": _wait_for,
        "touch": _touch,
        "repeat": _repeat,
        "hang": _hang,
        "ignore": _ignore,
        "exit": _exit,
        "signal_self": _signal_self,
    }
)
