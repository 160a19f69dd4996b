"""Variables that name files which a lane does not see: a tool that gets one fails for it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from hydra.process.sandbox.policy import SandboxPolicy

_PATH = re.compile(r"(?:^|(?<=[\s=:,;\"'(]))(~?/(?!/)[^\s:,;\"'()]+)")
"""`--require /home/ada/x.js`, `/a:/b`, `file=~/x`; what follows `//` is an address."""

_LED = frozenset(("PATH", "HOME"))
"""What PATH names is shown, or not, by its own rule; HOME is the lane's."""


def hidden_variables(environment: Mapping[str, str], policy: SandboxPolicy) -> dict[str, Path]:
    """Those that name something which is there and which the policy does not show, and what."""
    pairs = ((name, _hidden(value, policy)) for name, value in environment.items())
    return {name: path for name, path in pairs if path is not None and name not in _LED}


def _hidden(value: str, policy: SandboxPolicy) -> Path | None:
    named = _paths(value, policy.view.home)
    return next(
        (path for path in named if os.path.lexists(path) and not is_seen(path, policy)), None
    )


def _paths(value: str, home: Path) -> Iterator[Path]:
    for match in _PATH.findall(value):
        yield home / match[2:] if match.startswith("~/") else Path(match)


def is_seen(path: Path, policy: SandboxPolicy) -> bool:
    """Whether a command under `policy` finds something at `path`."""
    real = Path(os.path.realpath(path))
    place = policy.placement.path
    if place is not None and real.is_relative_to(place):
        return True  # or its lane's own has not got it: VIRTUAL_ENV, PYTHONPATH=$PWD/src
    own = (*policy.writable, *(target for _, target in policy.binds), *policy.readonly)
    return policy.view.is_visible(path) or any(map(real.is_relative_to, own))
