"""The steps of a script, one small function each; docs/how-to/demo.md shows them together."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from hydra.commands.demo.steps import STEPS

Step = dict[str, object]


def say(text: str) -> Step:
    """The agent says `text`."""
    return {"say": text}


def think(text: str) -> Step:
    """The agent reasons."""
    return {"think": text}


def edit(path: str, content: str, *, denied: bool = False) -> Step:
    """Writes a whole file with the agent's own tool, folders made; `denied`: the CLI refuses."""
    return {"edit": {"path": path, "content": content, "denied": denied}}


def replace(path: str, old: str, new: str, *, denied: bool = False) -> Step:
    """Replaces `old` once; where it is not found the tool fails and the run goes on."""
    return {"edit": {"path": path, "replace": [old, new], "denied": denied}}


def delete(path: str) -> Step:
    """Removes a file with the agent's own tool."""
    return {"delete": path}


def shell(*argv: str, show: str = "", denied: bool = False) -> Step:
    """Runs a real command in a session of its own. `show` is what the stream tells of it."""
    text = show or (argv[2] if argv[:2] == ("sh", "-c") else shlex.join(argv))
    return {"shell": {"argv": list(argv), "show": text, "denied": denied}}


def retry(attempt: int = 1, of: int = 10, status: int = 500) -> Step:
    """The CLI tells that it tries the service again."""
    return {"retry": {"attempt": attempt, "of": of, "status": status}}


def finish(text: str = "") -> Step:
    """The run ends well. A script that ends without an ending ends so too."""
    return {"finish": text}


def fail(reason: str = "error") -> Step:
    """The run ends by `sign_in`, `bad_key`, `rate_limit`, `context_overflow`, `budget`, `error`."""
    return {"fail": reason}


def emit(event: Mapping[str, object] | str | bytes) -> Step:
    """An event as one line, or text or bytes exactly as they are (no newline added)."""
    if isinstance(event, bytes):
        return {"emit_base64": base64.b64encode(event).decode()}
    return {"emit": event if isinstance(event, str) else dict(event)}


def stderr(text: str, times: int = 1) -> Step:
    """Text on stderr, exactly as it is."""
    return {"stderr": {"text": text, "times": times}}


def flood(size: int, *, line: int = 0, to: str = "stdout") -> Step:
    """`size` bytes in lines of `line` bytes (0: no newline at all) to stdout or stderr."""
    return {"flood": {"bytes": size, "line": line, "to": to}}


def close_stdout() -> Step:
    """Stdout is closed while the process lives on."""
    return {"close_stdout": True}


def daemon(
    *,
    setsid: bool = True,
    double_fork: bool = True,
    clear_env: bool = False,
    ignore_term: bool = False,
    hold_stdout: bool = False,
    name: str = "",
    argv: Sequence[str] = (),
) -> Step:
    """Leaves a process behind that tries to outlive the agent; `name` is its argv[0]."""
    return {
        "spawn_daemon": {
            "setsid": setsid,
            "double_fork": double_fork,
            "clear_env": clear_env,
            "ignore_term": ignore_term,
            "hold_stdout": hold_stdout,
            "name": name,
            "argv": list(argv),
        }
    }


def wait_for(path: Path | str) -> Step:
    """Waits until `path` exists."""
    return {"wait_for": str(path)}


def touch(path: Path | str) -> Step:
    """Makes a file, or writes one byte to the FIFO that is there."""
    return {"touch": str(path)}


def pause(seconds: float) -> Step:
    """A human pace. For demonstrations only: tests order things by `touch` and `wait_for`."""
    return {"pause": seconds}


def repeat(times: int, *steps: Step) -> Step:
    """The same steps several times."""
    return {"repeat": {"times": times, "steps": list(steps)}}


def hang() -> Step:
    """Lives on without a word until a signal comes."""
    return {"hang": True}


def ignore(*names: str) -> Step:
    """Ignores these signals from here on: "SIGTERM", "SIGINT"."""
    return {"ignore": list(names)}


def leave(code: int) -> Step:
    """Ends at once with this exit code and without a closing event."""
    return {"exit": code}


def signal_self(number: int) -> Step:
    """Dies by this signal."""
    return {"signal_self": number}


def check(steps: Sequence[Step]) -> None:
    """Raises `ValueError` where a step is none that the driver knows."""
    for step in steps:
        for name, value in step.items():
            if name not in STEPS:
                raise ValueError(f"no step is called {name!r}; there are: {', '.join(STEPS)}")
            if name == "repeat" and isinstance(value, dict):
                check(value["steps"])
