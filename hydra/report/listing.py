"""`hydra agents`: the adapters as a table, or one whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from hydra.adapters.contract import Descriptor
from hydra.adapters.json_fields import Object, string
from hydra.adapters.probe.health import Health, HealthState, judge
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.errors import NOT_INSTALLED
from hydra.records.agent import CapabilitySet, DetectResult, SignIn, Tier
from hydra.report.style import paint
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import bullets, clean, command_line, facts, gist, wrapped

WIDE = 96
"""Cells from which on the list of agents has a column for the version that was tried live."""


class AgentRow(Struct, frozen=True):
    """One adapter, and what its probes found (None: it was not probed).

    `proved` says which version was tried live, `proof` the same as data (None: none was).
    """

    descriptor: Descriptor
    detection: DetectResult | None = None
    proved: str = ""
    proof: Object | None = None

    @property
    def is_absent(self) -> bool:
        """Whether nothing of its name is here; what is no program of it says so itself."""
        error = self.detection.error if self.detection else None
        return error is not None and error.reason == NOT_INSTALLED

    @property
    def health(self) -> Health:
        """How it is, in one word with one next step."""
        return judge(self.descriptor, self.detection)


def tier_words(descriptor: Descriptor) -> str:
    """`default`, `experimental`, or `third party`, which is experimental too."""
    return "third party" if descriptor.third_party else KINDS[descriptor.tier]


def sandbox_mark(descriptor: Descriptor) -> str:
    """Which of its tools an agent's own options can forbid it: a sign and a word."""
    return "limited" if descriptor.sandbox == "hard" else "! all"


_TOOLS = (
    "tools: limited where the agent's own options can forbid it some, ! all where not; what keeps"
    " every agent to its lane is Hydra's confinement: `hydra doctor`"
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
    lines += [
        "",
        *(part for name in (_KINDS, _TOOLS) for part in wrapped(name, width, 0, least=20)),
    ]
    if any(row.health.state is HealthState.NOT_PROBED for row in rows):
        look = f"not probed: `hydra agents {EXPERIMENTAL_FLAG}` looks for these"
        lines += ["", *wrapped(look, width, 0, least=20)]
    return "\n".join(lines) + "\n"


def notes(problems: Sequence[str], width: int | None) -> list[str]:
    """Why an adapter that was found is not in the table, a paragraph each."""
    return [f"{line}\n" for problem in problems for line in bullets([clean(problem)], width)]


def _agent_cells(row: AgentRow, wide: bool) -> list[Cell]:
    version = row.detection.version if row.detection else ""
    descriptor = row.descriptor
    return [
        descriptor.key,
        tier_words(descriptor),
        StyledText(sandbox_mark(descriptor), "" if descriptor.sandbox == "hard" else "warn"),
        version or "-",
        *([string(row.proof or {}, "version") or "-"] if wide else []),
        _readiness(row),
    ]


_STYLES = {
    HealthState.READY: "good",
    HealthState.NOT_PROBED: "",
}


def _readiness(row: AgentRow) -> Cell:
    health = row.health
    why = health.why
    if row.is_absent:
        return StyledText("not installed", "bad")
    if health.state is HealthState.READY and row.detection is not None and not why:
        why = _SIGNED.get(row.detection.sign_in, "")
    line = f"{health.state}: {gist(why)}" if why else str(health.state)
    return StyledText(line, _STYLES.get(health.state, "bad"))


_SIGNED = {SignIn.CONFIRMED: "signed in", SignIn.SEEMS_SO: "seems signed in"}


def agent_text(
    row: AgentRow, argv: Sequence[str], *, width: int | None, color: bool = False
) -> str:
    """`hydra agents NAME`: the whole descriptor, and the exact line it would run."""
    descriptor = row.descriptor
    result = row.detection
    rows = [
        ("label", descriptor.label),
        ("homepage", descriptor.homepage),
        ("kind", KINDS[descriptor.tier]),
        ("third party", _origin(descriptor)),
        ("tools", sandbox_mark(descriptor)),
        (
            "programs",
            ", ".join(
                (*descriptor.binaries, *(f"{n} (if proved)" for n in descriptor.generic_binaries))
            ),
        ),
        ("protocol", f"{descriptor.protocol}, {descriptor.stream_format}"),
        ("minimum", descriptor.minimum_version),
        *(("broken", f"{version}: {why}") for version, why in descriptor.broken_versions.items()),
        ("environment", ", ".join(descriptor.environment)),
        ("exit codes", "; ".join(f"{code} {why}" for code, why in descriptor.exit_codes.items())),
        ("install", descriptor.install_hint),
        ("sign in", descriptor.sign_in_hint),
        *place_facts(descriptor),
        *_found_facts(result),
        ("health", _health_words(row.health)),
        ("next", row.health.next),
        ("tried", row.proved),
    ]
    lines = [paint(clean(descriptor.key), "bold", color), *facts(rows, width)]
    lines += ["", "capabilities"]
    lines += _capabilities(result.capabilities if result else descriptor.capabilities, width, color)
    if argv:
        lines += ["", "the line it would run", f"  $ {command_line(list(argv))}"]
    return "\n".join(lines) + "\n"


def _health_words(health: Health) -> str:
    return f"{health.state}: {health.why}" if health.why else str(health.state)


def _origin(descriptor: Descriptor) -> str:
    origin = descriptor.third_party
    if origin is None:
        return ""
    return (
        f"{origin} ({origin.spec})" if origin.distribution else f"{origin.spec}, by your hydra.toml"
    )


def _found_facts(result: DetectResult | None) -> list[tuple[str, str]]:
    if result is None:
        return [("here", "not probed (--allow-experimental-adapters)")]
    detail = f" ({result.sign_in_detail})" if result.sign_in_detail else ""
    return [
        ("here", str(result.binary) if result.binary else "not found"),
        ("version", result.version or "?"),
        ("signed in", f"{result.sign_in.value}{detail}"),
        *(("warning", warning) for warning in result.warnings),
    ]


_PRESENT: dict[bool | None, Cell] = {True: StyledText("yes", "good"), False: "no", None: "?"}


def _capabilities(capability_set: CapabilitySet, width: int | None, color: bool) -> list[str]:
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
            _PRESENT[capability.present],
            capability.confidence.value,
            capability.seen_in or "-",
            capability.note,
        ]
        for name, capability in capability_set.items()
    ]
    return table(rows, columns, width, color, header=False)


# ---- What a descriptor tells of an agent beyond what a race needs: for `hydra agents NAME`.

TIERS = {Tier.TIER1: "tier 1", Tier.EXPERIMENTAL: "experimental"}
"""A tier as people read it in the tables of what is proved."""

KINDS = {Tier.TIER1: "default", Tier.EXPERIMENTAL: "experimental"}
"""A tier as people read it where they choose: the default ones race when none is named."""


def place_facts(descriptor: Descriptor) -> list[tuple[str, str]]:
    """(label, words) in the order in which they are shown; without words it is left out."""
    return [
        ("about", descriptor.tagline),
        ("permissions", _pairs({key.value: term for key, term in descriptor.modes.items()})),
        (
            "hidden",
            f"confined, of a repository: {', '.join(descriptor.hidden_paths)}"
            if descriptor.hidden_paths
            else "",
        ),
        ("effort", _pairs({key.value: term for key, term in descriptor.efforts.items()})),
        ("budget", f"itself keeps {', '.join(descriptor.budgets)}" if descriptor.budgets else ""),
        ("tiers", ", ".join(descriptor.service_tiers)),
        (
            "models",
            f"only {', '.join(descriptor.families)}" if descriptor.families else "of any provider",
        ),
    ]


def document(descriptor: Descriptor) -> dict[str, object]:
    """The same as JSON; every field is always there."""
    return {
        "tagline": descriptor.tagline or None,
        "permissions": {key.value: term for key, term in descriptor.modes.items()},
        "efforts": {key.value: term for key, term in descriptor.efforts.items()},
        "budgets": list(descriptor.budgets),
        "service_tiers": list(descriptor.service_tiers),
        "families": list(descriptor.families),
        "masked": list(descriptor.hidden_paths),
    }


def _pairs(values: Mapping[str, str]) -> str:
    return ", ".join(name if name == term else f"{name} ({term})" for name, term in values.items())
