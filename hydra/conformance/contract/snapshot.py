"""Expectations as data: made once by a command, read by a person, then held against each run.

    python -m hydra.conformance.contract.snapshot [MODULE:NAME RECORDINGS]

writes them for the built-in agents, or for a third party's. Read the diff: what stands there is
what the suite takes for right.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hydra.adapters.plugins import from_words
from hydra.conformance import recorded
from hydra.conformance.contract import detection, lines, suite
from hydra.conformance.contract.expectation import DETECT, LINES, write
from hydra.conformance.contract.subject import ContractSubject


def write_all(subject: Any) -> list[Path]:
    """Writes every expectation of a subject; the files."""
    documents: list[Path] = []
    for recording in subject.versions():
        for name, document in (
            (DETECT, detection.situations_as_data(subject, recording)),
            (LINES, lines.lines_as_data(subject, recording)),
        ):
            documents.append(recording.folder / name)
            write(documents[-1], document)
        documents += _write_streams(subject, recording)
    return documents


def _write_streams(subject: Any, recording: Any) -> Iterator[Path]:
    by_hand = {}
    for stream in recording.streams():
        events = recorded.parse(subject.adapter, stream)
        if stream.synthetic:
            by_hand[stream.name.removeprefix("made ")] = recorded.documents(events)
            continue
        path = recording.folder / f"stream.{stream.name}.expected.json"
        path.write_text(recorded.expectation(events), encoding="utf-8")
        yield path
    if by_hand:
        path = recording.folder / "made.expected.json"
        texts = []
        for name, documents in by_hand.items():
            rows = ",\n  ".join(json.dumps(event) for event in documents)
            texts.append(f"{json.dumps(name)}: [\n  {rows}\n]")
        path.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")
        yield path


def _main(terms: list[str]) -> None:
    if len(terms) not in (0, 2):
        sys.exit("give MODULE:NAME and RECORDINGS, or neither for Hydra's own")
    subjects = suite.built_in()
    if terms:
        adapter = from_words(terms[0])
        subjects = [ContractSubject(adapter, Path(terms[1]), spec=terms[0], third_party=True)]
    for subject in subjects:
        for path in write_all(subject):
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
