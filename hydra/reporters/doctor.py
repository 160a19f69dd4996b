"""`hydra doctor` on a screen: this machine's checks, then the agents, each with one next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hydra.health import Health, State, race_line
from hydra.lanes import EXPERIMENTAL_FLAG
from hydra.model import CapabilitySet, SignIn, Tier
from hydra.reporters.listing import AgentRow, fact_lines, tier_words
from hydra.reporters.style import paint
from hydra.reporters.text import clean
from hydra.reporters.wrapping import bullets, wrapped

_ASIDE = (State.NOT_FOUND, State.NOT_PROBED, State.NOT_RUN)
"""Of experimental agents these have no paragraph of their own."""
_INDENT = 21


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of `hydra doctor`. `ok` None: it works, but less than it could."""

    name: str
    ok: bool | None
    text: str
    hint: str = ""


def doctor_text(
    checks: Sequence[Check], agents: Sequence[AgentRow], *, width: int | None, color: bool = False
) -> str:
    """This machine's checks, Tier 1, what is found of the others, and the names of the rest."""
    screen = _Screen(width, color)
    for check in checks:
        screen.check(check)
    told = [(row, row.health) for row in agents]
    first = [one for one in told if one[0].descriptor.tier is Tier.TIER1]
    other = [one for one in told if one[0].descriptor.tier is not Tier.TIER1]
    screen.group("Tier 1", first, whole=True)
    here = [one for one in other if one[1].state not in _ASIDE]
    screen.group("Experimental, found here", here)
    ready = next((row for row, health in here if health.state is State.READY), None)
    if ready is not None:
        screen.aside(f"-> to race one: {race_line(ready.descriptor)}")
    names = [_name(row) for row, health in other if health.state is State.NOT_FOUND]
    screen.names("Experimental, not found", names, "`hydra agents NAME` says how to install one")
    names = [_name(row) for row, health in other if health.state is State.NOT_PROBED]
    step = f"`hydra doctor {EXPERIMENTAL_FLAG}` looks for them"
    screen.names("Experimental, not probed", names, step)
    names = [_name(row) for row, health in other if health.state is State.NOT_RUN]
    step = "`hydra agents NAME` says why; race another agent"
    screen.names("Known, and not run by Hydra", names, step)
    screen.lines += ["", _sum([health for _, health in told])]
    return "\n".join(screen.lines) + "\n"


def _sum(told: Sequence[Health]) -> str:
    """`2 of 3 agents ready, 1 limited`: what cannot be run at all is not counted."""
    count = Counter(health.state for health in told)
    known = sum(count.values()) - count[State.NOT_RUN]
    others = (State.LIMITED, State.UNREACHABLE, State.SIGN_IN, State.TOO_OLD, State.BROKEN)
    more = "".join(f", {count[state]} {state}" for state in others if count[state])
    return f"{count[State.READY]} of {known} agents ready{more}"


class _Screen:
    """The lines so far, each at most `width` cells."""

    def __init__(self, width: int | None, color: bool) -> None:
        self.lines: list[str] = []
        self._width = width
        self._color = color

    def check(self, check: Check) -> None:
        """One line with its sign, and the next step below it."""
        signs = {True: ("ok", "good"), None: ("note", "warn"), False: ("FAIL", "bad")}
        word, style = signs[check.ok]
        first, *more = self._folded(check.text)
        name = clean(check.name)
        sign = f"{paint(word, style, self._color)}{'':{6 - len(word)}}"
        self.lines.append(f"{sign}{name:13}  {first}".rstrip())
        self.lines += [f"{'':{_INDENT}}{part}" for part in more]
        if check.hint:
            self.step(check.hint)

    def step(self, text: str) -> None:
        """What to do next."""
        self.lines += [f"{'':{_INDENT}}{part}" for part in self._folded(f"-> {text}")]

    def group(
        self, title: str, told: Sequence[tuple[AgentRow, Health]], *, whole: bool = False
    ) -> None:
        """A paragraph of agents, each with its health."""
        if not told:
            return
        self.lines += ["", paint(title, "bold", self._color)]
        for row, health in told:
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
        self.lines += [f"{'':6}{part}" for part in self._folded(text, 6)]

    def _agent(self, row: AgentRow, health: Health, whole: bool) -> None:
        ready = health.state is State.READY
        # What may run later, and what runs only on demand, is no failure of this machine.
        mild = health.state in (State.LIMITED, State.UNREACHABLE) or not whole
        ok = True if ready else None if mild else False
        hint = health.next if health.why or not ready else ""
        self.check(Check(name=row.descriptor.key, ok=ok, text=_said(row, health), hint=hint))
        if whole:
            self._facts(row)
        warnings = [clean(text) for text in row.found.warnings] if row.found else []
        self.lines += [f"    {one}" for one in bullets(warnings, self._width and self._width - 4)]

    def _facts(self, row: AgentRow) -> None:
        found = row.found
        if found is None or found.binary is None:
            return
        detail = f" ({found.sign_in_detail})" if found.sign_in_detail else ""
        signed_out = found.sign_in is SignIn.MISSING  # said already
        facts = [
            ("found", str(found.binary)),
            ("signed in", "" if signed_out else f"{found.sign_in.value}{detail}"),
            *_abilities(found.capabilities),
        ]
        lines = fact_lines(facts, self._width and self._width - 4)
        self.lines += [f"      {line[2:]}" for line in lines]

    def _folded(self, text: str, indent: int = _INDENT) -> list[str]:
        return wrapped(clean(text), self._width, indent, least=20)


def _name(row: AgentRow) -> str:
    """A key, marked where its adapter is a third party's."""
    mark = f" ({tier_words(row.descriptor)})" if row.descriptor.third_party else ""
    return f"{row.descriptor.key}{mark}"


def _said(row: AgentRow, health: Health) -> str:
    """`ready: Claude Code 2.1.330, hard sandbox, signed in`, or why not."""
    one, found = row.descriptor, row.found
    what = [f"{one.label} {found.version if found else ''}".strip()]
    if one.third_party:
        what.append(tier_words(one))
    if health.state is State.READY:
        what.append(f"{one.sandbox} sandbox")
        if found is not None and found.sign_in in (SignIn.CONFIRMED, SignIn.SEEMS_SO):
            what.append("signed in" if found.sign_in is SignIn.CONFIRMED else "seems signed in")
    why = f"; {health.why}" if health.why else ""
    return f"{health.state}: {', '.join(what)}{why}"


def _abilities(held: CapabilitySet) -> list[tuple[str, str]]:
    """`a, b (verified); c (observed)`, and what it cannot do."""
    able: dict[str, list[str]] = {}
    for name, one in held.items():
        if one.present:
            able.setdefault(one.confidence.value, []).append(name)
    said = "; ".join(f"{', '.join(names)} ({how})" for how, names in able.items())
    unable = [name for name, one in held.items() if not one.present]
    return [("can", said), ("cannot", ", ".join(unable))]
