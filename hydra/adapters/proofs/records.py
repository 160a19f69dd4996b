"""What was proved of a CLI, kept as files: one for each version, platform and Hydra release.

A record lies beside the recordings it was made with, as
`<root>/<agent>/<version>/record.<platform>.<hydra>.json`, so that what a CLI did under one Hydra is
never overwritten by what it did under the next. Everything that Hydra calls `verified` stands on
these files.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from hydra.adapters import detection
from hydra.errors import RecordError
from hydra.records.codec import parse, shaped

SCHEMA = 1
"""Version of a record. A reader refuses a newer one (exit 6)."""

PLATFORMS = ("linux", "macos", "windows")

DIMENSIONS = (
    "headless",
    "stream",
    "edit",
    "create",
    "delete",
    "plan",
    "denials",
    "thinking",
    "usage",
    "errors",
    "retries",
    "limits",
    "interrupt",
    "sandbox",
    "prompt",
    "network_off",
)
"""What a situation can prove of an agent, in the order in which the matrix shows it."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}")
Name = Annotated[str, Meta(min_length=1)]


class Proof(Struct, frozen=True, kw_only=True):
    """What one situation gave.

    `status`, `error` and `error_reason` are the outcome's; `events` are `kind/sub` in their order,
    a run of the same folded into one; `usage` says of each field whether the CLI told it; `patch`
    has git's letter for each path; `stream` names the recorded stream beside the record, "" for
    none. `proves` are the dimensions of the matrix that hold where it passed. `definition` is the
    situation's digest of that day (`definitions`), "" where it was not kept.
    """

    passed: bool
    status: str = ""
    error: str = ""
    error_reason: str = ""
    exit: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    usage: Mapping[str, bool] = field(default_factory=dict)
    patch: Mapping[str, str] = field(default_factory=dict)
    stream: str = ""
    proves: tuple[str, ...] = ()
    definition: str = ""


class Record(Struct, frozen=True, kw_only=True):
    """One CLI version on one platform, as one Hydra release met it.

    `date` is the day in UTC (`2026-11-22`). `situations` were met live; `contract` says of each
    case of the offline suite whether it passed (a skipped one is not there). A situation that was
    not tried is not there either: nothing is known of it.
    """

    agent: Name
    version: Name
    hydra: Name
    platform: Name
    date: Name
    situations: Mapping[str, Proof] = field(default_factory=dict)
    contract: Mapping[str, bool] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The file's name."""
        return f"record.{self.platform}.{self.hydra}.json"


def this_platform() -> str:
    """This machine's platform, as records name it."""
    named = {"darwin": "macos", "win32": "windows", "cygwin": "windows"}
    return named.get(sys.platform, sys.platform)


def write(folder: Path, record: Record) -> Path:
    """Writes the record into its version's folder (`<root>/<agent>/<version>`), and says where.

    One of the same version, platform and release is replaced. Raises `RecordError` where a name in
    it cannot be a file's.
    """
    for what in (record.agent, record.version, record.hydra, record.platform):
        if not _NAME.fullmatch(what):
            raise RecordError(
                f"{what!r} cannot name a record's file",
                hint="a version is letters, digits, dots, +, - and _",
            )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / record.name
    new = path.with_name(f"{path.name}.new")
    new.write_text(text(record), encoding="utf-8")
    new.replace(path)
    return path


def text(record: Record) -> str:
    """The file's text: sorted, so that two records of the same facts are the same bytes."""
    document = {"schema": SCHEMA, **asdict(record)}
    situations = sorted(record.situations.items())
    document["situations"] = {name: asdict(proof) for name, proof in situations}
    document["contract"] = dict(sorted(record.contract.items()))
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def read_all(root: Path, agent: str) -> list[Record]:
    """Every record of the agent, the newest version last; [] where there is none. Situations that
    are others by now than they were then, or no more, are not there: they were not tried.

    Versions are ordered as numbers, a beta before its release; those of one version by Hydra
    release, then by day. Raises `RecordError` for one that is damaged or from a newer Hydra.
    """
    paths = sorted((root / agent).glob("*/record.*.json"))
    records = [current(read(path)) for path in paths if path.is_file()]
    return sorted(records, key=lambda record: (*detection.order(record.version), *_age(record)))


def current(record: Record) -> Record:
    """A record with those of its situations alone that are as they were then."""
    situations = {
        name: proof
        for name, proof in record.situations.items()
        if proof.definition and proof.definition == definition(name)
    }
    return replace(record, situations=situations)


def _age(record: Record) -> tuple[tuple[int, ...], str, str]:
    return detection.parts(record.hydra), record.date, record.platform


def read(path: Path) -> Record:
    """One record. Raises `RecordError` where it is damaged, misplaced or from a newer Hydra."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError(f"it has more than {_LARGEST:,} bytes")
        document = parse(path.read_bytes())
        if (schema := shaped(document.get("schema"), int)) > SCHEMA:
            schemas = f"schema {schema}; this one reads up to {SCHEMA}"
            raise RecordError(
                f"{_field(path)} is from a newer Hydra ({schemas})", hint="update Hydra"
            )
        record = shaped(document, Record)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordError(f"{_field(path)} cannot be read: {why}", hint=_AGAIN) from error
    if (record.version, record.name) != (path.parent.name, path.name):
        raise RecordError(
            f"{_field(path)} says that it is {record.name} of {record.version}", hint=_AGAIN
        )
    return record


_LARGEST = 4_000_000
"""Bytes of a record: thirty situations take a hundredth of that."""

_AGAIN = "take the file away, or make it anew: hydra conformance --live --record"


def _field(path: Path) -> str:
    return f"the record {'/'.join(path.parts[-3:])}"


# ---- What a situation was when it was met: what a CLI did in another proves nothing of this one.

_CONFORMANCE = Path(__file__).parents[2] / "conformance"
_REMARKS = ("about", "seconds", "waits", "skip", "proves")
"""What of a situation changes nothing that happens in it."""


@lru_cache
def definition(name: str) -> str:
    """A digest of what is done and expected in a situation, of its script too; "" where there is
    no such situation. What one agent alone is expected to do is left out."""
    try:
        data = _data("live/situations", name)
    except (OSError, ValueError):
        return ""
    scripted = _data("scripts", str(data["script"])) if "script" in data else {}
    agents = {path.stem for path in (_CONFORMANCE / "live" / "agents").glob("*.toml")}
    return digest(data, scripted, agents)


def digest(data: Mapping[str, Any], script: Mapping[str, Any], agents: set[str]) -> str:
    """Of a situation's data and its script's, less the expectations of these agents."""
    expect = {key: value for key, value in data.get("expect", {}).items() if key not in agents}
    facts = {key: value for key, value in data.items() if key not in _REMARKS}
    document = [facts | {"expect": expect}, {**script, "about": ""}]
    text = json.dumps(document, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _data(folder: str, name: str) -> dict[str, Any]:
    return tomllib.loads((_CONFORMANCE / folder / f"{name}.toml").read_text(encoding="utf-8"))
