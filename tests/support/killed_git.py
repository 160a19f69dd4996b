"""A `git` for PATH that is killed, as by the kernel where memory runs out, at one verb of git's."""

from __future__ import annotations

import shutil
from pathlib import Path

_SCRIPT = """#!/bin/sh
for word in "$@"; do
  if [ "$word" = {verb} ]; then
    for number in {numbers}; do
      if mkdir "{flags}/$number" 2>/dev/null; then
        {first}
        {git} "$@" {discard}
        code=$?
        {then}
        {end}
      fi
    done
  fi
done
exec {git} "$@"
"""


_SHORT = "echo 'fatal: cannot fork: Resource temporarily unavailable' >&2; exit 128"


def kill_git(folder: Path, verb: str, *, times: int, at: str = "begin", then: str = "") -> Path:
    """Places it in `folder`; the first `times` commands with that verb are killed.

    `at` is `begin`, `end` (it is done, and answers nothing), `short` (it ends for want of a process
    of its own) or `never`. `then` is a shell line that
    is run after it, where `git` is the real one. Gives the folder in which each leaves a mark.
    """
    real = shutil.which("git")
    assert real is not None
    flags = folder / "flags"
    flags.mkdir(parents=True)
    script = _SCRIPT.format(
        verb=verb,
        numbers=" ".join(map(str, range(times))),
        flags=flags,
        git=real,
        first={"begin": "kill -9 $$", "short": _SHORT}.get(at, ""),
        discard="> /dev/null 2>&1" if at == "end" else "",
        then=then.replace("git ", f"env -i PATH=/usr/bin:/bin HOME=/nonexistent {real} "),
        end="kill -9 $$" if at == "end" else "exit $code",
    )
    (folder / "git").write_text(script)
    (folder / "git").chmod(0o755)
    return flags
