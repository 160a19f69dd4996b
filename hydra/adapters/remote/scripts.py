"""What the shell there is told: POSIX sh, with `tar` and, for little traffic, `git` (`*.sh`).

Every text that is put in is quoted here, and none of it stands on a command line. `nonce` is
what only Hydra and that shell know: a line that begins with it is Hydra's, all else an agent's.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

MARK = "HYDRA_REMOTE"
"""Environment variable by which the agent's processes are found there."""

LINGER = 30
"""Seconds for which a folder waits for its changes to be fetched once the line was lost."""

SCRATCH = "tmp"

SILENT = 120
"""Seconds without a word from Hydra after which the line counts as lost; it speaks every 10."""


def run(*, folder: str, name: str, nonce: str, mark: str, live: bool, pipe: bool) -> str:
    """Makes the folder, waits for `g`, runs `agent.sh` in a session of its own and obeys stdin.

    `name` is the worktree's; `live`: the agent's stdin is what `i TEXT` says; `pipe`: it is a pipe.
    It leaves nothing: neither a process, nor the folder once `q` was said or the line is lost.
    """
    values = {"D": folder, "W": f"work/{name}", "N": nonce, "M": mark}
    agent = '(trap - HUP INT TERM PIPE; umask "$u"; exec $S sh ./agent.sh 3<&-) <prompt'
    if live:
        agent = agent.replace("<prompt", "<in")
    elif pipe:
        agent = f"cat prompt | {agent.removesuffix(' <prompt')}"
    script = _script("end", "run").replace("SILENT", str(SILENT)).replace("LINGER", str(LINGER))
    return f"{_set(values)}\n{script.replace('AGENT_LINE', agent)}"


def upload(*, folder: str, name: str) -> str:
    """Takes a tar on what is left of stdin, and makes a repository of the worktree where git is."""
    return f"{_set({'D': folder, 'W': f'work/{name}'})}\n{_script('git', 'upload')}"


def fetch(*, folder: str, name: str, nonce: str, mark: str, alone: bool) -> str:
    """Writes what has changed as tars one after another, between two lines of Hydra's.

    `alone`: the first line was lost; what still runs is ended, and the folder removed.
    """
    values = {"D": folder, "W": f"work/{name}", "N": nonce, "M": mark, "A": "1" if alone else ""}
    return f"{_set(values)}\n{_script('end', 'git', 'fetch')}"


def agent(
    argv: Sequence[str], *, name: str, environ: Mapping[str, str], mark: str, folder: str
) -> str:
    """`agent.sh`: the only place of the variables' values, removed before the agent begins."""
    exports = "".join(
        f"export {key}={shlex.quote(value)}\n"
        for key, value in {"TMPDIR": f"{folder}/{SCRATCH}", **environ, MARK: mark}.items()
    )
    program = argv[0]
    path = f"PATH={shlex.quote(program.rpartition('/')[0])}:$PATH\n" if "/" in program else ""
    return (
        f"rm -f agent.sh\necho $$ >pid\n{exports}{path}"
        f"command -v {shlex.quote(program)} >/dev/null 2>&1 || {{ echo missing >why; exit 127; }}\n"
        f"cd {shlex.quote(f'work/{name}')} || {{ echo folder >../why; exit 126; }}\n"
        f"exec {shlex.join(argv)}\n"
    )


def look(programs: Sequence[str], nonce: str) -> str:
    """Who is there: the system, the user, what it has, and which of `programs` it finds."""
    return f"{_set({'N': nonce})}\n{_script('look').replace('PROGRAMS', shlex.join(programs))}"


def ask(argv: Sequence[str], environ: Mapping[str, str], nonce: str, seconds: float) -> str:
    """One question to a CLI there, in an empty folder of its own."""
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in environ.items())
    program = argv[0]
    path = f"PATH={shlex.quote(program.rpartition('/')[0])}:$PATH\n" if "/" in program else ""
    line = _script("ask").replace("SECONDS", f"{math.ceil(seconds)}")
    return f"{_set({'N': nonce})}\n{exports}{path}{line.replace('LINE', shlex.join(argv))}"


def _set(values: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={shlex.quote(value)}" for name, value in values.items())


def _script(*names: str) -> str:
    return "\n".join(Path(__file__).with_name(f"{name}.sh").read_text() for name in names)
