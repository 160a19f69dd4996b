"""Expectations as data: made once by a command, read by a person, then held against each run.

    python -m hydra.conformance.contract.snapshot [MODULE:NAME RECORDINGS]

writes them for the built-in agents, or for a third party's. Read the diff: what stands there is
what the suite takes for right.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from hydra.adapters.contract import Descriptor
from hydra.adapters.thirdparty import from_words
from hydra.conformance import recorded
from hydra.conformance.contract.subject import NotTried, Subject
from hydra.model import Tier

DESCRIPTOR, LINES, DETECT = (
    "descriptor.expected.json",
    "lines.expected.json",
    "detect.expected.json",
)
_NOT_HELD = (
    "label",
    "tagline",
    "install_hint",
    "installs",
    "sign_in_hint",
    "third_party",
    "platforms",
)
_LATER = (
    "hidden_flags",
    "litter",
    "masked",
    "own_places",
    "folders",
    "modes",
    "efforts",
    "budgets",
    "service_tiers",
    "own_preface",
    "families",
    "local_models",
    "stdin_pipe",
    "pty",
    "converses",
    "unrunnable",
    "sessions",
    "extensions",
)
_LATER_PARTS = ("parent", "stderr", "own_folder", "renewals", "trust")
_EMPTY = Descriptor(key="", label="", homepage="", tier=Tier.EXPERIMENTAL, binaries=())


def descriptor(told: Descriptor) -> Mapping[str, Any]:
    """All of a descriptor but what only a person reads, and what Hydra itself sets."""
    data: dict[str, Any] = plain(dataclasses.asdict(told))
    data["exit_codes"] = sorted(told.exit_codes)
    data["broken_versions"] = sorted(told.broken_versions)
    data["capabilities"] = {
        name: [claim.present, claim.confidence, claim.seen_in, claim.note]
        for name, claim in told.capabilities.items()
    }
    empty = plain(dataclasses.asdict(_EMPTY))
    kept = {
        name: value
        for name, value in data.items()
        # A field that came later says nothing where it was left as it is.
        if name not in _NOT_HELD and not (name in _LATER and value == empty[name])
    }
    parts = (kept.get("config"), *kept.get("folders", ()), *kept["probes"])
    for part in filter(None, parts):
        for name in [name for name in _LATER_PARTS if part.get(name) in (False, [])]:
            del part[name]
    held: Mapping[str, Any] = plain(kept)
    return held


def plain(value: Any) -> Any:
    """`value` as JSON gives it back."""
    return json.loads(json.dumps(value, default=_known))


def against(path: Path, found: Mapping[str, Any]) -> Iterator[str]:
    """What differs from the file, a sentence each. Raises `NotTried` where there is no file."""
    if not path.is_file():
        raise NotTried(f"no {path.name} beside the recordings")
    expected = json.loads(path.read_bytes())
    yield from differences(expected, plain(found), "")


def differences(expected: Any, found: Any, place: str) -> Iterator[str]:
    """Where two values part, by the names on the way there."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted({*expected, *found}):
            below = f"{place}.{name}" if place else str(name)
            if name not in found:
                yield f"{below} is gone: it was {_short(expected[name])}"
            elif name not in expected:
                yield f"{below} is new: {_short(found[name])}"
            else:
                yield from differences(expected[name], found[name], below)
    elif expected != found:
        yield f"{place} is {_short(found)} and should be {_short(expected)}"


def write(path: Path, found: Mapping[str, Any]) -> None:
    """One entry a line, so that a diff of two shows what changed."""
    rows = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in plain(found).items()]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 300 else f"{text[:299]}…"


def _known(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, Path):
        return value.as_posix()
    raise TypeError(f"{type(value).__name__} is no JSON")


def write_all(subject: Any) -> list[Path]:
    """Writes every expectation of a subject; the files."""
    from hydra.conformance.contract import detecting, lines

    made = [subject.folder / DESCRIPTOR]
    write(made[0], descriptor(subject.adapter.descriptor))
    for recording in subject.versions():
        for name, found in (
            (DETECT, detecting.found(subject, recording)),
            (LINES, lines.found(subject, recording)),
        ):
            made.append(recording.folder / name)
            write(made[-1], found)
        made += _write_streams(subject, recording)
    return made


def _write_streams(subject: Any, recording: Any) -> Iterator[Path]:
    by_hand = {}
    for stream in recording.streams():
        events = recorded.parse(subject.adapter, stream)
        if stream.made:
            by_hand[stream.name.removeprefix("made ")] = recorded.documents(events)
            continue
        path = recording.folder / f"stream.{stream.name}.expected.json"
        path.write_text(recorded.expectation(events), encoding="utf-8")
        yield path
    if by_hand:
        path = recording.folder / "made.expected.json"
        texts = []
        for name, told in by_hand.items():
            rows = ",\n  ".join(json.dumps(event) for event in told)
            texts.append(f"{json.dumps(name)}: [\n  {rows}\n]")
        path.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")
        yield path


def _main(words: list[str]) -> None:
    from hydra.conformance.contract import suite

    if len(words) not in (0, 2):
        sys.exit("give MODULE:NAME and RECORDINGS, or neither for Hydra's own")
    subjects = suite.built_in()
    if words:
        adapter = from_words(words[0])
        subjects = [Subject(adapter, Path(words[1]), spec=words[0], third_party=True)]
    for subject in subjects:
        for path in write_all(subject):
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
