"""One scripted agent: a process that answers, streams, edits and ends as a real CLI does.

It is never run by its own name. A shim called `claude`, `codex` or `cursor-agent`, made by
`hydra.commands.demo.shims.place`, starts it as `python -I -S agent.py SCRIPT ARGUMENTS`: no
environment variable is needed, because Hydra hands an agent only what its allowlist names.
"""

# ruff: noqa: PTH100, PTH109, PTH123
# (pathlib would cost a third of the start-up time)

from __future__ import annotations

import json
import os
import signal
import sys
import time

if __name__ == "__main__":
    # -I leaves this package off the path. It goes last, so that it shadows no standard module.
    sys.path.append(os.path.abspath(f"{__file__}/../../../.."))

from hydra.commands.demo.steps import AgentExit, AgentStop, Performer, finish
from hydra.commands.demo.wires import speaker
from hydra.commands.demo.wires.base import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType
    from typing import Any

    from hydra.commands.demo.wires.base import Wire

SCRIPT_BROKEN = 70
"""Exit code (sysexits' EX_SOFTWARE) when the script itself is wrong: no real CLI uses it."""


def main(script_path: str, argv: Sequence[str]) -> int:
    """Answers a probe, or performs a run; the exit code."""
    with open(script_path, encoding="utf-8") as file:
        script = json.loads(file.read().split("\n", 2)[2])
    more: dict[str, Any] = {"__name__": "more", "before": lambda *_: None}
    exec(script["more"], more)  # noqa: S102  of who made the script
    answer = find_answer(script["answers"], argv)
    if answer is not None:
        more["before"](script_path, script, argv, None, None)
        return _give(answer)
    wire = speaker(script["agent"])(argv, script)
    return _run(wire, script, script_path, more["before"])


def find_answer(
    answers: Sequence[Mapping[str, Any]], argv: Sequence[str]
) -> Mapping[str, Any] | None:
    """The first answer all of whose words stand in argv in their order."""
    for answer in answers:
        terms = iter(argv)
        if all(document in terms for document in answer["words"]):
            return answer
    return None


def _give(answer: Mapping[str, Any]) -> int:
    time.sleep(answer.get("pause", 0))
    write(1, answer.get("stdout", "").encode())
    write(2, answer.get("stderr", "").encode())
    code: int = answer.get("exit", 0)
    return code


def _run(wire: Wire, script: Mapping[str, Any], script_path: str, before: Any) -> int:
    performer = Performer(wire)
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _raise_stopped)
        stdin = b"" if os.isatty(0) else _read_all(0)
        before(script_path, script, wire.argv, stdin, wire)
        last = wire.argv[-1] if wire.argv else ""
        argument = "" if last.startswith("-") else last
        prompt = stdin.decode("utf-8", "surrogateescape") or argument
        wire.begin(prompt)
        performer.perform(_steps(script, prompt, wire.argv))
        finish(performer, "")
    except AgentExit as end:
        return end.code
    except AgentStop as stop:
        return _stopped(performer, stop.signum)
    return 0


def _steps(script: Mapping[str, Any], prompt: str, argv: Sequence[str]) -> Sequence[Any]:
    """The steps of the first case whose `when` is found in folder, arguments or prompt, or is
    its `/LANE/`."""
    place = "\n".join((os.getcwd(), *argv, prompt, f"/{os.environ.get('HYDRA_LANE', '')}/"))
    for case in script["cases"]:
        if case["when"] in place:
            chosen: Sequence[Any] = case["steps"]
            return chosen
    steps: Sequence[Any] = script["steps"]
    return steps


def _read_all(fd: int) -> bytes:
    parts = []
    while part := os.read(fd, 1 << 16):
        parts.append(part)
    return b"".join(parts)


def _raise_stopped(signum: int, _: FrameType | None) -> None:
    raise AgentStop(signum)


def _stopped(performer: Performer, signum: int) -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    performer.stop()
    code = performer.wire.stopped(signum)
    if code is None:
        signal.signal(signum, signal.SIG_DFL)
        os.kill(os.getpid(), signum)
        signal.pause()
    return code or 0


if __name__ == "__main__":
    try:
        exit_code = main(sys.argv[1], sys.argv[2:])
    except SystemExit as closed:
        exit_code = closed.code if isinstance(closed.code, int) else 1
    except Exception:
        sys.excepthook(*sys.exc_info())
        exit_code = SCRIPT_BROKEN
    # Everything is written by now; the interpreter's own clean-up would only cost time.
    sys.stderr.flush()
    os._exit(exit_code)
