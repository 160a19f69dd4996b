"""Streams made of spoiled lines: each from its seed and number alone, to be replayed by it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hydra.records.outcome import ExitStatus, Patch
from hydra.records.request import Limits
from tests.support import stream_corpus as corpus
from tests.support import stream_mutations as mutations

BASE = "4be1c02a9f0c5d1e7b3a8c6d2f4e5a6b7c8d9e0f"
_EXITS = (
    *(ExitStatus(code=code) for code in (0, 0, 0, 1, 2, 101, 130, 137, 143, 255)),
    *(ExitStatus(signal=number) for number in (1, 2, 9, 11, 15)),
    ExitStatus(),
    ExitStatus(code=0, survivors=("node server.js\x1b[2J", "\u202egnp")),
    ExitStatus(keeper_lost=True),
)
_WELL = ExitStatus(code=0)
_STOPPED = ("idle", "tool", "total", "interrupt", "disk_floor", "sign_in", "stdout_closed")
_EMPTY = Patch(commit=BASE, base=BASE)
_PATCHES = (
    *(_EMPTY, None),
    Patch(commit="c" * 40, base=BASE, files=2, insertions=18, deletions=4),
    Patch(commit="c" * 40, base=BASE, files=1, incomplete="a\x1b]0;x\x07b", notes=("\u202en",)),
    Patch(commit=BASE, base=BASE, incomplete="over 20,000 untracked files"),
)
HUGE = 1_000_000
"""Bytes of a line that is too long for anything but a file."""
FLOOD = 4_000_000
"""Bytes of a stream of nothing but new ids: the storm's own memory is not to hide Hydra's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One attempt's output and end. `lines` are joined by newlines; `salt` decides the chunks."""

    agent: str
    lines: tuple[bytes, ...]
    stderr: bytes = b""
    terminated: bool = True
    exit: ExitStatus = _WELL
    stopped: str = ""
    patch: Patch | None = _EMPTY
    salt: int = 0
    line_limit: int = Limits().line_bytes
    raw_limit: int = Limits().raw_bytes
    width: int = 80

    @property
    def stdout(self) -> bytes:
        """All that the agent writes."""
        return b"\n".join(self.lines) + (b"\n" if self.terminated and self.lines else b"")


def make(seed: int, number: int, agent: str = "") -> Case:
    """The stream of this number: the same one each time, as long as the recordings are."""
    rng = Random(f"{seed}:{number}:{agent}")
    agent = agent or rng.choice(corpus.AGENTS)
    lines = _ordered(rng, agent, _composed(rng, agent))
    if rng.random() < 0.004:
        lines[rng.randrange(len(lines))] = _huge(rng, rng.choice(corpus.lines(agent)))
    small = rng.random()
    return Case(
        agent=agent,
        lines=tuple(lines),
        stderr=_stderr(rng),
        terminated=rng.random() < 0.8,
        exit=rng.choice(_EXITS),
        stopped=rng.choice(_STOPPED) if rng.random() < 0.1 else "",
        patch=rng.choice(_PATCHES),
        salt=rng.getrandbits(32),
        line_limit=rng.choice((1_000, 20_000)) if small < 0.1 else Limits().line_bytes,
        raw_limit=rng.choice((4_000, 40_000)) if small > 0.95 else Limits().raw_bytes,
        width=rng.choice((20, 40, 80, 80, 132)),
    )


def _composed(rng: Random, agent: str) -> list[bytes]:
    """Whole recordings or any lines, some of them spoiled."""
    if rng.random() < 0.002:
        line = rng.choice(corpus.lines(agent))
        count = min(rng.randrange(1_000, 12_000), FLOOD // len(line))
        return [mutations.identify(rng, line) for _ in range(count)]
    size = rng.choice((1, 4, 20, 60, 120, 300))
    contents: list[bytes] = []
    while len(contents) < size:
        if rng.random() < 0.5:
            contents += mutations.renewed(rng, rng.choice(corpus.recordings(agent)))
        else:
            contents += rng.choices(corpus.lines(agent), k=min(20, size))
    rate = rng.choice((0.0, 0.05, 0.3, 0.9))
    return [mutations.spoil(rng, line) if rng.random() < rate else line for line in contents[:300]]


def _ordered(rng: Random, agent: str, lines: list[bytes]) -> list[bytes]:
    match rng.randrange(10):
        case 0:
            rng.shuffle(lines)
        case 1:
            return [line for line in lines for _ in range(rng.choice((1, 1, 2, 3)))]
        case 2:
            other = list(rng.choice(corpus.recordings(rng.choice(corpus.AGENTS))))
            return [line for pair in zip(lines, other * 300, strict=False) for line in pair]
        case 3:
            return [lines[-1], *lines, lines[-1]]  # the ending first, and twice
        case 4:
            return lines[: max(len(lines) * 2 // 3, 1)]  # without one
        case 5:
            return [line for line in lines for line in (line, rng.choice((b"", b" ", b"\x00")))]
        case _:
            pass
    return lines


def _huge(rng: Random, line: bytes) -> bytes:
    if rng.random() < 0.5:
        return mutations.stutter(rng, line, HUGE)
    return rng.choice((b"x", b"[", b'{"a":', b"\\u0041", b"\x1b[", b"eyJ", b"\xff")) * (HUGE // 6)


def _stderr(rng: Random) -> bytes:
    if rng.random() < 0.6:
        return b""
    output = b"".join(rng.choices(corpus.complaints(), k=rng.randrange(1, 3)))
    if rng.random() < 0.05:
        output += rng.choice(corpus.words()).encode() * 3_000
    return mutations.spoil(rng, output) if rng.random() < 0.6 else output
