"""Whether an object that others have written is an adapter at all, before anything relies on it.

Only what Hydra would stumble over: what an adapter should do is the contract suite's
(`hydra conformance`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from hydra.adapters.contract import PROTOCOLS, ConfigFolder, Descriptor, Probe, TokenFields
from hydra.adapters.thirdparty import KEY
from hydra.model import Capability, CapabilitySet, Confidence, Tier

_CALLED = ("key", "detect", "capabilities", "build_command", "parser")
_WORDS = (
    "label",
    "homepage",
    "protocol",
    "stream_format",
    "install_hint",
    "sign_in_hint",
    "minimum_version",
)
_LISTS = (
    "binaries",
    "generic_binaries",
    "side_files",
    "environment",
    "secret_environment",
    "sign_in_environment",
    "instructions",
)


def problem(found: Any, key: str) -> str:
    """What keeps `found` from being an adapter, in words; "" for nothing.

    `key` is the name that it was found by, "" for any. May raise what the object's own code does.
    """
    if isinstance(found, type):
        return "it is a class: name an instance of it"
    lacking = [name for name in _CALLED if not callable(getattr(found, name, None))]
    descriptor = getattr(found, "descriptor", None)
    if lacking or not isinstance(descriptor, Descriptor):
        missing = [*lacking, *([] if isinstance(descriptor, Descriptor) else ["descriptor"])]
        return f"it is no adapter: it has no {', '.join(missing)}"
    if found.key() != descriptor.key:
        return f"its key() gives {found.key()!r} and its descriptor {descriptor.key!r}"
    if key and descriptor.key != key:
        return f"its own key is {descriptor.key!r}: it has to be found by that name"
    return next(_wrong(descriptor), "")


def _wrong(told: Any) -> Iterator[str]:
    if not (isinstance(told.key, str) and KEY.fullmatch(told.key)):
        yield f"its key {told.key!r} is not of a-z, 0-9 and -, at most 40, or begins like `2x`"
    for name in _WORDS:
        if not isinstance(getattr(told, name), str):
            yield f"descriptor: {name} is no text"
    for name in _LISTS:
        value = getattr(told, name)
        if not (isinstance(value, tuple) and all(isinstance(one, str) for one in value)):
            yield f"descriptor: {name} is no tuple of texts"
    if not isinstance(told.tier, Tier) or told.sandbox not in ("hard", "soft"):
        yield "descriptor: tier is no Tier, or sandbox neither hard nor soft"
    if told.protocol not in PROTOCOLS:
        yield f"descriptor: protocol is {told.protocol!r}, not one of {', '.join(PROTOCOLS)}"
    if not capable(told.capabilities):
        yield "descriptor: capabilities is no CapabilitySet of Capability"
    yield from _programs(told)
    yield from _probes(told)
    yield from _environment(told)
    yield from _tables(told)
    if told.config is not None:
        yield from _config(told.config)


def capable(held: Any) -> bool:
    """Whether it is a whole set of capabilities, which can be shown."""
    return isinstance(held, CapabilitySet) and all(
        isinstance(one, Capability)
        and isinstance(one.confidence, Confidence)
        and isinstance(one.seen_in, str)
        and isinstance(one.note, str)
        for _, one in held.items()
    )


def _programs(told: Any) -> Iterator[str]:
    if not told.binaries:
        yield "descriptor: binaries is empty, so no program can be found"
    for name in (*told.binaries, *told.generic_binaries):
        if not name or PurePath(name).name != name:
            yield f"descriptor: binaries has {name!r}, which is no plain file name"


def _probes(told: Any) -> Iterator[str]:
    for one in told.probes if isinstance(told.probes, tuple) else (None,):
        if not isinstance(one, Probe) or not one.args:
            yield "descriptor: probes is no tuple of Probe with arguments"


def _environment(told: Any) -> Iterator[str]:
    more = [name for names in told.environment_if.values() for name in names]
    for name in (*told.environment, *more):
        # It would take every key of the user's along, or lead git out of the lane.
        if name.rstrip("*") == "" or name.upper().startswith("GIT_"):
            yield f"descriptor: environment has {name!r}, which no agent may be given"


def _tables(told: Any) -> Iterator[str]:
    for code, words in told.exit_codes.items():
        if not (isinstance(code, int) and isinstance(words, str)):
            yield "descriptor: exit_codes is no table of numbers and texts"
    for version, words in told.broken_versions.items():
        if not (isinstance(version, str) and isinstance(words, str)):
            yield "descriptor: broken_versions is no table of texts"


def _config(folder: Any) -> Iterator[str]:
    if not isinstance(folder, ConfigFolder):
        yield "descriptor: config is no ConfigFolder"
        return
    for name in (folder.default, *folder.credentials, *folder.copied, *folder.beside):
        path = PurePath(name)
        if not name or path.is_absolute() or ".." in path.parts:
            yield f"descriptor: config has {name!r}, which does not stay inside HOME"
    for fields in folder.renewals:
        if not isinstance(fields, TokenFields) or fields.file not in folder.credentials:
            yield "descriptor: config.renewals is no tuple of TokenFields for files of credentials"
