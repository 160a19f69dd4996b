"""`hydra agents`: the adapters as a table, or one whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hydra.adapters.contract import Descriptor
from hydra.errors import NOT_INSTALLED
from hydra.health import Health, State, Trouble, judge
from hydra.lanes import EXPERIMENTAL_FLAG
from hydra.model import CapabilitySet, DetectResult, SignIn
from hydra.reporters import agent_facts
from hydra.reporters.agent_facts import KINDS
from hydra.reporters.fields import Data, text
from hydra.reporters.style import paint
from hydra.reporters.table import Cell, Column, Styled, table
from hydra.reporters.text import clean, command_line, gist
from hydra.reporters.wrapping import bullets, wrapped

WIDE = 96
"""Cells from which on the list of agents has a column for the version that was tried live."""


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One adapter, and what its probes found (None: it was not probed).

    `proved` says which version was tried live, `proof` the same as data (None: none was); `trouble`
    is what the last races had with its service, `at` when it was looked at (seconds since 1970).
    """

    descriptor: Descriptor
    found: DetectResult | None = None
    proved: str = ""
    proof: Data | None = None
    trouble: Trouble | None = None
    at: float = 0.0

    @property
    def is_absent(self) -> bool:
        """Whether nothing of its name is here; what is no program of it says so itself."""
        error = self.found.error if self.found else None
        return error is not None and error.reason == NOT_INSTALLED

    @property
    def health(self) -> Health:
        """How it is, in one word with one next step."""
        return judge(self.descriptor, self.found, self.trouble, self.at)


def tier_words(descriptor: Descriptor) -> str:
    """`default`, `experimental`, or `third party`, which is experimental too."""
    return "third party" if descriptor.third_party else KINDS[descriptor.tier]


def sandbox_mark(descriptor: Descriptor) -> str:
    """Which of its tools an agent's own options can forbid it: a sign and a word."""
    return "limited" if descriptor.sandbox == "hard" else "! all"


_TOOLS = (
    "tools: limited where the agent's own options can forbid it some; what keeps every agent to its"
    " lane is Hydra's confinement: `hydra doctor`"
)
_KINDS = (
    "kind: default agents race when you name none; an experimental one where you name it with -a"
    f" and add {EXPERIMENTAL_FLAG}"
)


def agents_table(rows: Sequence[AgentRow], *, width: int | None, color: bool = False) -> str:
    """`hydra agents`: one line an adapter; where there is room, the version that was tried."""
    wide = width is None or width >= WIDE
    columns = (
        Column("agent"),
        Column("kind"),
        Column("tools"),
        Column("version", least=8),
        *([Column("tried", least=7)] if wide else []),
        Column("health", wraps=True, least=20),
    )
    lines = table([_agent_cells(row, wide) for row in rows], columns, width, color)
    lines += ["", *(part for it in (_KINDS, _TOOLS) for part in wrapped(it, width, 0, least=20))]
    if any(row.health.state is State.NOT_PROBED for row in rows):
        look = f"not probed: `hydra agents {EXPERIMENTAL_FLAG}` looks for these"
        lines += ["", *wrapped(look, width, 0, least=20)]
    return "\n".join(lines) + "\n"


def notes(problems: Sequence[str], width: int | None) -> list[str]:
    """Why an adapter that was found is not in the table, a paragraph each."""
    return [f"{line}\n" for one in problems for line in bullets([clean(one)], width)]


def _agent_cells(row: AgentRow, wide: bool) -> list[Cell]:
    version = row.found.version if row.found else ""
    descriptor = row.descriptor
    return [
        descriptor.key,
        tier_words(descriptor),
        Styled(sandbox_mark(descriptor), "" if descriptor.sandbox == "hard" else "warn"),
        version or "-",
        *([text(row.proof or {}, "version") or "-"] if wide else []),
        _readiness(row),
    ]


_STYLES = {
    State.READY: "good",
    State.NOT_RUN: "warn",
    State.NOT_PROBED: "",
    State.LIMITED: "warn",
    State.UNREACHABLE: "warn",
}


def _readiness(row: AgentRow) -> Cell:
    health = row.health
    why = health.why
    if row.is_absent:
        return Styled("not installed", "bad")
    if health.state is State.READY and row.found is not None and not why:
        why = _SIGNED.get(row.found.sign_in, "")
    said = f"{health.state}: {gist(why)}" if why else str(health.state)
    return Styled(said, _STYLES.get(health.state, "bad"))


_SIGNED = {SignIn.CONFIRMED: "signed in", SignIn.SEEMS_SO: "seems signed in"}


def agent_text(
    row: AgentRow, argv: Sequence[str], *, width: int | None, color: bool = False
) -> str:
    """`hydra agents NAME`: the whole descriptor, and the exact line it would run."""
    one = row.descriptor
    found = row.found
    facts = [
        ("label", one.label),
        ("homepage", one.homepage),
        ("kind", KINDS[one.tier]),
        ("third party", _origin(one)),
        ("tools", sandbox_mark(one)),
        (
            "programs",
            ", ".join((*one.binaries, *(f"{n} (if proved)" for n in one.generic_binaries))),
        ),
        ("protocol", f"{one.protocol}, {one.stream_format}"),
        ("live input", "yes" if one.live_input else "no"),
        ("minimum", one.minimum_version),
        *(("broken", f"{version}: {why}") for version, why in one.broken_versions.items()),
        ("environment", ", ".join(one.environment)),
        ("exit codes", "; ".join(f"{code} {why}" for code, why in one.exit_codes.items())),
        ("install", one.install_hint),
        ("sign in", one.sign_in_hint),
        *agent_facts.facts(one),
        *_found_facts(found),
        ("health", _health_words(row.health)),
        ("next", row.health.next),
        ("tried", row.proved),
    ]
    lines = [paint(clean(one.key), "bold", color), *fact_lines(facts, width)]
    lines += ["", "capabilities"]
    lines += _capabilities(found.capabilities if found else one.capabilities, width, color)
    if argv:
        lines += ["", "the line it would run", f"  $ {command_line(list(argv))}"]
    return "\n".join(lines) + "\n"


def _health_words(health: Health) -> str:
    return f"{health.state}: {health.why}" if health.why else str(health.state)


def _origin(one: Descriptor) -> str:
    told = one.third_party
    if told is None:
        return ""
    return f"{told} ({told.spec})" if told.distribution else f"{told.spec}, by your hydra.toml"


def _found_facts(found: DetectResult | None) -> list[tuple[str, str]]:
    if found is None:
        return [("here", "not probed (--allow-experimental-adapters)")]
    detail = f" ({found.sign_in_detail})" if found.sign_in_detail else ""
    return [
        ("here", str(found.binary) if found.binary else "not found"),
        ("version", found.version or "?"),
        ("signed in", f"{found.sign_in.value}{detail}"),
        *(("warning", warning) for warning in found.warnings),
    ]


def fact_lines(facts: Sequence[tuple[str, str]], width: int | None) -> list[str]:
    """Facts one below the other, labels on the left; one without words is left out."""
    lines = []
    for label, said in facts:
        if not said:
            continue
        parts = wrapped(clean(said), width, 15, least=20)
        lines += [f"  {'' if i else label:11}  {part}" for i, part in enumerate(parts)]
    return lines


def _capabilities(held: CapabilitySet, width: int | None, color: bool) -> list[str]:
    columns = (
        Column("what"),
        Column(""),
        Column("confidence"),
        Column("seen in"),
        Column("note", wraps=True, least=16),
    )
    rows: list[list[Cell]] = [
        [
            name,
            Styled("yes", "good") if one.present else "no",
            one.confidence.value,
            one.seen_in or "-",
            one.note,
        ]
        for name, one in held.items()
    ]
    return table(rows, columns, width, color, header=False)
