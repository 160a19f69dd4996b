"""`hydra doctor` on a screen: this machine's checks, then the agents, each with one next step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from hydra.adapters.probe.health import Health, HealthState, race_line
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.process.sandbox.places import entry_for
from hydra.process.sandbox.view import ShownPlace, View
from hydra.records.agent import SignIn, Tier
from hydra.report.listing import AgentRow, tier_words
from hydra.report.style import paint
from hydra.report.text import bullets, clean, wrapped

_ASIDE = (HealthState.NOT_FOUND, HealthState.NOT_PROBED)
"""Of experimental agents these have no paragraph of their own."""
_INDENT = 21


class DoctorCheck(Struct, frozen=True):
    """One line of `hydra doctor`. `ok` None: it works, but less than it could."""

    name: str
    ok: bool | None
    text: str
    hint: str = ""


def doctor_text(
    checks: Sequence[DoctorCheck],
    agents: Sequence[AgentRow],
    *,
    width: int | None,
    color: bool = False,
) -> str:
    """This machine's checks, the agents, what is there of the experimental ones, who is ready."""
    screen = _DoctorScreen(width, color)
    for check in checks:
        screen.check(check)
    rows = [(row, row.health) for row in agents]
    first = [pair for pair in rows if pair[0].descriptor.tier is Tier.TIER1]
    other = [pair for pair in rows if pair[0].descriptor.tier is not Tier.TIER1]
    screen.group("Agents", first, whole=True)
    screen.group("Experimental agents", [pair for pair in other if pair[1].state not in _ASIDE])
    absent = [_name(row) for row, health in other if health.state is HealthState.NOT_FOUND]
    step = "`hydra agents NAME` says how to install one"
    screen.names("Experimental, not installed", absent, step)
    unseen = sum(health.state is HealthState.NOT_PROBED for _, health in other)
    if unseen:
        look = f"`hydra doctor {EXPERIMENTAL_FLAG}` looks for them"
        screen.lines += ["", *screen.folded(f"Experimental agents: {unseen}; {look}", 0)]
    screen.lines += ["", *screen.folded(_sum(rows), 0)]
    return "\n".join(screen.lines) + "\n"


def _sum(rows: Sequence[tuple[AgentRow, Health]]) -> str:
    """`ready: claude, codex`, and how to race one."""
    ready = [row.descriptor for row, health in rows if health.state is HealthState.READY]
    if not ready:
        unseen = any(health.state is HealthState.NOT_PROBED for _, health in rows)
        more = f"; for the experimental ones: hydra doctor {EXPERIMENTAL_FLAG}" if unseen else ""
        return f"neither Claude Code nor Codex is ready{more}" if unseen else "no agent is ready"
    tier1 = any(descriptor.tier is Tier.TIER1 for descriptor in ready)
    line = 'hydra race "your task"' if tier1 else race_line(ready[0])
    return f"ready: {', '.join(descriptor.key for descriptor in ready)}; to race: {line}"


class _DoctorScreen:
    """The lines so far, each at most `width` cells."""

    def __init__(self, width: int | None, color: bool) -> None:
        self.lines: list[str] = []
        self._width = width
        self._color = color

    def check(self, check: DoctorCheck) -> None:
        """One line with its sign, and the next step below it."""
        signs = {True: ("ok", "good"), None: ("note", "warn"), False: ("FAIL", "bad")}
        term, style = signs[check.ok]
        first, *more = self.folded(check.text)
        name = clean(check.name)
        sign = f"{paint(term, style, self._color)}{'':{6 - len(term)}}"
        self.lines.append(f"{sign}{name:13}  {first}".rstrip())
        self.lines += [f"{'':{_INDENT}}{part}" for part in more]
        if check.hint:
            self.step(check.hint)

    def step(self, text: str) -> None:
        """What to do next."""
        self.lines += [f"{'':{_INDENT}}{part}" for part in self.folded(f"-> {text}")]

    def group(
        self, title: str, pairs: Sequence[tuple[AgentRow, Health]], *, whole: bool = False
    ) -> None:
        """A paragraph of agents, each with its health."""
        if not pairs:
            return
        self.lines += ["", paint(title, "bold", self._color)]
        for row, health in pairs:
            self._agent(row, health, whole)

    def names(self, title: str, names: Sequence[str], step: str) -> None:
        """One compact paragraph: who it is, and one next step for all."""
        if not names:
            return
        self.lines += ["", paint(f"{title} ({len(names)})", "bold", self._color)]
        self.aside(", ".join(names))
        self.aside(f"-> {step}")

    def aside(self, text: str) -> None:
        """What is of a whole paragraph."""
        self.lines += [f"{'':6}{part}" for part in self.folded(text, 6)]

    def _agent(self, row: AgentRow, health: Health, whole: bool) -> None:
        broken = whole and health.state in (HealthState.BROKEN, HealthState.TOO_OLD)
        ok = True if health.state is HealthState.READY else False if broken else None
        hint = "" if health.state is HealthState.READY or row.is_absent else health.next
        self.check(DoctorCheck(name=row.descriptor.key, ok=ok, text=_about(row, health), hint=hint))
        warnings = [clean(text) for text in row.detection.warnings] if row.detection else []
        self.lines += [f"    {line}" for line in bullets(warnings, self._width and self._width - 4)]

    def folded(self, text: str, indent: int = _INDENT) -> list[str]:
        """`text` in lines that leave `indent` cells free."""
        return wrapped(clean(text), self._width, indent, least=20)


def _name(row: AgentRow) -> str:
    """A key, marked where its adapter is a third party's."""
    mark = f" ({tier_words(row.descriptor)})" if row.descriptor.third_party else ""
    return f"{row.descriptor.key}{mark}"


def _about(row: AgentRow, health: Health) -> str:
    """`ready: Claude Code 2.1.330, signed in`, or why not."""
    descriptor, result = row.descriptor, row.detection
    if row.is_absent:
        return f"not installed: {health.next}"
    parts = [f"{descriptor.label} {result.version if result else ''}".strip()]
    if descriptor.third_party:
        parts.append(tier_words(descriptor))
    if health.state is HealthState.READY and result is not None:
        parts += [_SIGNED_IN[result.sign_in]] if result.sign_in in _SIGNED_IN else []
    why = f"; {health.why}" if health.why else ""
    return f"{health.state}: {', '.join(parts)}{why}"


_SIGNED_IN = {SignIn.CONFIRMED: "signed in", SignIn.SEEMS_SO: "seems signed in"}


# ---- What a lane sees of this machine, for a person and as a document.


def view_text(view: View) -> str:
    """One paragraph a reason; ends with a newline."""
    blocks = [
        ["Read-only, beyond the system's own folders; the rest of this machine is not there."],
        *_shown(view),
        _block("made anew of harmless keys", (_placed(view, at) for at in sorted(view.settings))),
        _block("with lines left out", (_placed(view, at) for at in view.stripped)),
        _block("covered", (_placed(view, at) for at in view.masked)),
        _block("remarks", map(clean, view.notes)),
        [f"To show more: [confine] show in your own hydra.toml ({len(view.show)} now)."],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def view_document(view: View) -> dict[str, object]:
    """The same for a program."""
    return {
        "schema": 1,
        "kind": "view",
        "home": str(view.home),
        "shown": [{"path": str(path), "reason": reason} for path, reason in view.shown],
        "links": {str(place): target for place, target in view.links.items()},
        "settings": list(map(str, view.settings)),
        "stripped": list(map(str, view.stripped)),
        "masked": list(map(str, view.masked)),
        "show": list(map(str, view.show)),
        "notes": list(view.notes),
    }


def _shown(view: View) -> Iterator[list[str]]:
    def reason(shown: ShownPlace) -> str:
        return shown.reason

    for name, group in groupby(sorted(view.shown, key=reason), key=reason):
        yield _block(name, (_placed(view, shown.path) for shown in group))


def _block(title: str, lines: Iterator[str]) -> list[str]:
    inside = [f"  {line}" for line in lines]
    return [clean(title), *inside] if inside else []


def _placed(view: View, path: Path) -> str:
    return clean(entry_for(path, view.home))
