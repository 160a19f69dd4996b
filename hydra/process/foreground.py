"""Programs that take over the terminal for a while: the user's own pager."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

_NO_PAGER = (126, 127)
"""What a shell exits with when the program is not there, or cannot be executed."""


def pager_of(config: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> str:
    """The pager git would use for `git diff`, "" for none (git 2.39, pager.c).

    `config` is git's own, as the user has it. `GIT_PAGER`, then `pager.diff`, `core.pager`,
    `PAGER`, then less.
    """
    if environ.get("GIT_PAGER") == "":
        return ""
    own = config.get("pager.diff", "")
    if own.lower() in ("false", "no", "off", "0"):
        return ""
    command = own if own.lower() not in ("", "true", "yes", "on", "1") else ""
    named = (environ.get("GIT_PAGER"), command, config.get("core.pager"), environ.get("PAGER"))
    return next((pager for pager in named if pager), "less")


def page(text: bytes, pager: str) -> None:
    """Shows `text` through `pager`, a shell command as git takes it; without one, on stdout.

    `LESS` and `LV` are set as git sets them where the user has not (git 2.39, pager.c).
    """
    if not pager or pager == "cat" or shutil.which("sh") is None:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
        return
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    with subprocess.Popen(["sh", "-c", pager], stdin=subprocess.PIPE, env=environment) as shown:
        assert shown.stdin is not None
        try:
            shown.stdin.write(text)
            shown.stdin.close()
        except BrokenPipeError:
            # The reader has seen enough.
            pass
        while True:
            try:
                code = shown.wait()
                break
            except KeyboardInterrupt:
                # Ctrl-C is the pager's to answer.
                continue
    if code in _NO_PAGER:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
