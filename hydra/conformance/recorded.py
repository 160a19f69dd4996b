"""What was recorded of an agent's CLI, read back: its answers to probes, and its streams.

A version is a folder, `<root>/<agent>/<version>/`:

- `<probe>.txt` is what the CLI answered to a probe, on stdout: `help.txt`, and `exec-help.txt` for
  the probe `exec_help`. The probe's arguments name it as well: `auth-status.txt` for `auth status`.
  `<probe>.<variant>.txt` (or `.json`) is one of several answers. The variants `ok`, `key` and `in`
  are good ones; any other ended with exit 1. `<the same>.stderr.txt` is its stderr.
- `stream.<name>.jsonl` is a whole stdout, `stream.<name>.stderr.txt` its stderr, and `exits.json`
  has the exit code by name (below 0: the signal, negated). `side.<name>.<n>.txt` is the n-th side
  file of the descriptor, from 0. `stream.<name>.expected.json` are the events
  that it has to give.
- `made.json` holds runs that no CLI wrote, by name: `{"lines": [a text or an object], "stderr",
  "exit", "sides": [texts]}`, and `made.expected.json` their events. They show what a parser does
  with what a CLI is known to say, and nothing of what the CLI does: no record counts them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from hydra.adapters.contract import Adapter, Probe
from hydra.adapters.detection import order
from hydra.errors import RecordError
from hydra.paths import fixtures
from hydra.records.agent import ProbeOutput
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

_GOOD = ("", "ok", "key", "in")


class Stream(Struct, frozen=True, kw_only=True):
    """One recorded run: what the CLI wrote, and how it ended.

    `expected` are the events it gives, as documents, or None where nobody has said. `files` are
    side files by their place in the descriptor. `synthetic` says that no CLI wrote it.
    """

    name: str
    lines: list[bytes]
    stderr: bytes = b""
    exit: ExitStatus
    expected: list[Mapping[str, Any]] | None = None
    files: Mapping[int, bytes] = field(default_factory=dict)
    synthetic: bool = False


class Recording:
    """One version's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.agent = folder.parent.name
        self.version = folder.name

    @property
    def version_text(self) -> str:
        """What `--version` printed; "" where that was not recorded."""
        return self._text("version.txt")

    @property
    def helps(self) -> Mapping[str, str]:
        """The help texts by their probe's name."""
        paths = sorted(self.folder.glob("*help.txt"))
        return {path.stem.replace("-", "_"): _read(path) for path in paths}

    def probes(self, probes: Sequence[Probe] = ()) -> Mapping[str, ProbeOutput]:
        """The good answer to each probe that was recorded. `probes`: else the known agent's own."""
        first = {name: answers[0] for name, answers in self.answers(probes).items()}
        return {name: answer for name, answer in first.items() if answer.exit_code == 0}

    def answers(self, probes: Sequence[Probe] = ()) -> Mapping[str, list[ProbeOutput]]:
        """Every recorded answer to each probe, the good ones first."""
        rows = {}
        for probe in probes or _asked_of(self.agent):
            files = self._files(probe)
            if files:
                outputs = [self._answer(probe, path) for path in files]
                rows[probe.name] = sorted(outputs, key=lambda answer: answer.exit_code != 0)
        return rows

    def streams(self) -> list[Stream]:
        """Every recorded run, by name; those written by hand come last."""
        exits = self._named("exits.json")
        streams = [self._stream(path, exits) for path in sorted(self.folder.glob("stream.*.jsonl"))]
        expected = self._named("made.expected.json")
        document = self._named("made.json")
        return [
            *streams,
            *(
                _synthetic(name, document, expected.get(name))
                for name, document in document.items()
            ),
        ]

    def document(self, name: str) -> Any:
        """A JSON file of the folder; None where it is not there. Raises `RecordError`."""
        path = self.folder / name
        try:
            return json.loads(path.read_bytes()) if path.is_file() else None
        except (OSError, ValueError, RecursionError) as error:
            raise _damaged(path, str(error)) from error

    def _named(self, name: str) -> Mapping[str, Any]:
        document = self.document(name) or {}
        if not isinstance(document, dict):
            raise _damaged(self.folder / name, "it holds no names")
        return document

    def _files(self, probe: Probe) -> list[Path]:
        terms = [arg for arg in probe.args if not arg.startswith("-")]
        stems = {probe.name.replace("_", "-"), "-".join(terms)} - {""}
        either = "|".join(re.escape(stem) for stem in stems)
        named = re.compile(rf"(?:{either})(?:\.(?!stderr|expected)[\w-]+)?\.(?:txt|json)")
        names = sorted(os.listdir(self.folder))  # noqa: PTH208  # hundreds of times: names will do
        return [self.folder / name for name in names if named.fullmatch(name)]

    def _answer(self, probe: Probe, path: Path) -> ProbeOutput:
        variant = path.stem.partition(".")[2]
        stderr = path.with_name(f"{path.stem}.stderr.txt")
        return ProbeOutput(
            name=probe.name,
            argv=(self.agent, *probe.args),
            exit_code=0 if variant in _GOOD else 1,
            stdout=_read(path),
            stderr=_read(stderr) if stderr.is_file() else "",
        )

    def _stream(self, path: Path, exits: Mapping[str, int]) -> Stream:
        name = path.stem.partition(".")[2]
        stderr = path.with_name(f"stream.{name}.stderr.txt")
        sides = {int(side.stem.rpartition(".")[2]): side for side in self._sides(name)}
        return Stream(
            name=name,
            lines=path.read_bytes().split(b"\n"),
            stderr=stderr.read_bytes() if stderr.is_file() else b"",
            exit=_exit(int(exits.get(name, 0))),
            expected=self.document(f"{path.stem}.expected.json"),
            files={number: side.read_bytes() for number, side in sides.items()},
        )

    def _sides(self, name: str) -> list[Path]:
        return sorted(self.folder.glob(f"side.{name}.[0-9].txt"))

    def _text(self, name: str) -> str:
        path = self.folder / name
        return _read(path) if path.is_file() else ""


def _damaged(path: Path, why: str) -> RecordError:
    return RecordError(
        f"the recording {'/'.join(path.parts[-3:])} cannot be read: {why}",
        hint="correct the file, or put back the one that was recorded",
    )


def root() -> Path:
    """Where the recordings of the built-in agents lie."""
    return fixtures() / "adapters"


def versions(root: Path, agent: str) -> list[str]:
    """The recorded versions of an agent, the oldest first; empty where there is none."""
    folder = root / agent
    if not folder.is_dir():
        return []
    names = [path.name for path in folder.iterdir() if path.is_dir()]
    return sorted(names, key=order)


def recordings(root: Path, agent: str) -> list[Recording]:
    """The same, as recordings."""
    return [Recording(root / agent / version) for version in versions(root, agent)]


def parse(
    adapter: Adapter, stream: Stream, lines: Sequence[bytes] | None = None
) -> list[AgentEvent]:
    """What a fresh parser of the adapter makes of a stream, or of other lines in its place."""
    parser = adapter.parser()
    events = [
        event
        for line in (stream.lines if lines is None else lines)
        for event in parser.parse_line(line)
    ]
    names = adapter.descriptor.side_files
    files = {names[n]: data for n, data in stream.files.items() if n < len(names)}
    return [*events, *parser.end(stream.exit, {**files, "stderr": stream.stderr})]


def documents(events: Iterable[AgentEvent]) -> list[dict[str, Any]]:
    """Events as the expectation files hold them."""
    return [
        {"kind": e.kind, "sub": e.sub, "data": json.loads(json.dumps(dict(e.data)))} for e in events
    ]


def expectation(events: Iterable[AgentEvent]) -> str:
    """The text of an `.expected.json`: an event a line, so that a diff shows what changed."""
    rows = ",\n".join(json.dumps(event) for event in documents(events))
    return f"[\n{rows}\n]\n"


def _synthetic(name: str, document: Mapping[str, Any], expected: Any) -> Stream:
    lines = (line if isinstance(line, str) else json.dumps(line) for line in document["lines"])
    return Stream(
        name=f"made {name}",
        lines=[line.encode("utf-8", "surrogateescape") for line in lines],
        stderr=str(document.get("stderr", "")).encode(),
        exit=_exit(int(document.get("exit", 0))),
        expected=expected,
        files={number: text.encode() for number, text in enumerate(document.get("sides", ()))},
        synthetic=True,
    )


def _exit(code: int) -> ExitStatus:
    return ExitStatus(code=code) if code >= 0 else ExitStatus(signal=-code)


def _asked_of(agent: str) -> Sequence[Probe]:
    from hydra.adapters import registry

    return registry.OWN[agent].descriptor.probes if agent in registry.OWN else ()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
