"""Which flags of a line nothing proves for the version that is installed. Pure, of any adapter.

A flag is proved where this version's own help text shows it, or runs of Hydra's have seen it work
though no help does (`Descriptor.hidden_flags`); and where the version is one of those that Hydra
was tried with, or newer. Outside of these the flags that carry a capability are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hydra.adapters import detection
from hydra.adapters.contract import Adapter, Descriptor
from hydra.records.agent import DetectResult

_OPTION = re.compile(r"(--[a-zA-Z][a-zA-Z0-9-]*)(?:=.*)?", re.DOTALL)


def unproved_flags(adapter: Adapter, detected: DetectResult, args: Sequence[str]) -> list[str]:
    """A sentence for each reason, with the names; none where all of the line is proved."""
    descriptor, names = adapter.descriptor, _options(args)
    label = f"{descriptor.label} {detected.version}".rstrip()
    hidden = [name for name in names if not _is_shown(descriptor, detected, name)]
    warnings = []
    if hidden:
        warnings.append(
            f"{label} does not show {', '.join(hidden)} in its help: not known to work in it"
        )
    reason = _out_of_range(descriptor, detected.version)
    carrying = [name for name in names if name not in hidden and _carries(adapter, detected, name)]
    if reason and carrying:
        warnings.append(f"{', '.join(carrying)} of {label} may not work: {reason}")
    return warnings


def _options(args: Sequence[str]) -> list[str]:
    """The long options of a line, up to a `--`, each once."""
    return list(dict.fromkeys(_matches(args)))


def _matches(args: Iterable[str]) -> Iterator[str]:
    for arg in args:
        if arg == "--":
            return
        if match := _OPTION.fullmatch(arg):
            yield match[1]


def _is_shown(descriptor: Descriptor, detected: DetectResult, name: str) -> bool:
    if name in detected.flags:
        return True
    oldest, newest = descriptor.hidden_flags.get(name, ("", ""))
    version = detected.version
    outside = detection.older(version, oldest) or detection.older(newest, version)
    return bool(oldest and version) and not outside


def _out_of_range(descriptor: Descriptor, version: str) -> str:
    """Why its version is none that Hydra knows; "" where it is one."""
    if not descriptor.minimum_version:
        return "no version of it was tried"
    if not version:
        return "its version is not known"
    older = detection.older(version, descriptor.minimum_version)
    return f"{descriptor.minimum_version} is the oldest that was tried" if older else ""


def _carries(adapter: Adapter, detected: DetectResult, name: str) -> bool:
    """Whether it would lack a capability without that flag."""
    flags = detected.flags
    return adapter.capabilities(flags) != adapter.capabilities(flags - {name})
