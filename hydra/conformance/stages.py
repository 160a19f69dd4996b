"""The six stages of maturity (seed 002), each with the evidence that it was reached. Pure.

No stage is skipped: the one that counts is the last before the first gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hydra.adapters.proofs.proven_capabilities import standing
from hydra.conformance.facts import DETECTION, LINES, PARSER, Facts
from hydra.conformance.live.agent_settings import AGENTS, reaches
from hydra.conformance.notes import HEADINGS, NOTE
from hydra.conformance.report.promotion import Requirement

CORE = ("headless", "stream", "edit", "errors", "limits", "interrupt")
"""What has to be verified live before clients may count on an agent (stage 6)."""


def stages(facts: Facts) -> tuple[Requirement, ...]:
    """All six, in their order."""
    return (
        _research(facts),
        _construction(facts),
        _detection(facts),
        _launch(facts),
        _replay(facts),
        _clients(facts),
    )


def reached(requirements: Sequence[Requirement]) -> int:
    """The last stage before the first gap, 0 for none."""
    return next(
        (number for number, requirement in enumerate(requirements) if not requirement.met),
        len(requirements),
    )


def of_cases(facts: Facts, groups: Iterable[str], what: str) -> tuple[bool, str]:
    """Whether the suite's cases of these groups passed, and a sentence about it."""
    tried = facts.of(*groups)
    failed = sorted(name for name, passed in tried.items() if not passed)
    if not tried:
        return False, f"no case of the offline suite about {what} was tried"
    if failed:
        return False, f"{', '.join(failed)} failed"
    by_hand = "" if facts.real else ", on answers of the CLI that were written by hand"
    return True, f"{len(tried)} cases about {what} passed{by_hand}"


def offline(facts: Facts) -> str:
    """The command that runs the agent's offline suite."""
    return f"hydra conformance {facts.key}"


def beside(facts: Facts, name: str) -> str:
    """Where a file about the agent lies: a third party's beside its module."""
    return f"fixtures/{'' if facts.third_party else 'adapters/'}{facts.key}/{name}"


def live(facts: Facts) -> str:
    """What tries the installed CLI and keeps what came of it; first of all Hydra has to know how
    the CLI finds its model server."""
    is_known = facts.key in reaches()
    place = f"hydra/conformance/live/{AGENTS.name}"
    return f"{offline(facts)} --live --record" if is_known else f"$EDITOR {place}"


def _research(facts: Facts) -> Requirement:
    place = beside(facts, NOTE)
    text = " and ".join(heading.removeprefix("## ") for heading in HEADINGS)
    return Requirement(
        name="research",
        text="research note: the CLI's shape and its risks",
        met=facts.noted,
        says=place if facts.noted else f"{place} does not say something under {text}",
        command="" if facts.noted else f"$EDITOR {place}",
    )


def _construction(facts: Facts) -> Requirement:
    met, says = of_cases(facts, LINES, "its lines")
    return Requirement(
        name="command",
        text="command construction: every line is tried",
        met=met,
        says=says,
        command="" if met else offline(facts),
    )


def _detection(facts: Facts) -> Requirement:
    descriptor = facts.adapter.descriptor
    met, says = of_cases(facts, DETECTION, "detection")
    hints = {"an install hint": descriptor.install_hint, "a sign-in hint": descriptor.sign_in_hint}
    lacking = [what for what, hint in hints.items() if not hint]
    if met and lacking:
        met, says = False, f"its descriptor lacks {' and '.join(lacking)}"
    return Requirement(
        name="doctor",
        text="doctor detection, with what to install and how to sign in",
        met=met,
        says=says,
        command="" if met else offline(facts),
    )


def _launch(facts: Facts) -> Requirement:
    met, says = proven(facts, ("edit",))
    return Requirement(
        name="launch",
        text="launch smoke: the real CLI edits a file in a scratch project",
        met=met,
        says=says,
        command="" if met else live(facts),
    )


def _replay(facts: Facts) -> Requirement:
    parsed, says = of_cases(facts, PARSER, "the parser")
    if parsed and not facts.streams:
        parsed, says = False, "no stream of the real CLI is recorded with the events it gives"
    read_back, seen = proven(facts, ("stream",))
    met = parsed and read_back
    text = f"{facts.streams} recorded streams give their events; {seen}"
    return Requirement(
        name="replay",
        text="replay smoke: recorded streams give their events, a run's are read back",
        met=met,
        says=text if met else says if not parsed else seen,
        command="" if met else live(facts) if parsed or not facts.streams else offline(facts),
    )


def _clients(facts: Facts) -> Requirement:
    met, says = proven(facts, CORE)
    if met and facts.third_party:
        met, says = False, "Hydra's own pages and tests do not cover a third party's adapter"
    return Requirement(
        name="clients",
        text=f"client compatibility: {', '.join(CORE)} verified live, on docs/reference/agents.md",
        met=met,
        says=says,
        command="" if met else live(facts),
    )


def proven(facts: Facts, dimensions: Iterable[str]) -> tuple[bool, str]:
    """Whether each dimension passed live where it was tried last, and a sentence about it."""
    proofs = {name: standing(facts.records, name) for name in dimensions}
    untried = [name for name, proof in proofs.items() if proof is None]
    dimension_proofs = [proof for proof in proofs.values() if proof is not None]
    failed = [proof for proof in dimension_proofs if not proof.passed]
    if failed:
        return False, failed[0].note
    if untried:
        return False, f"never tried live: {', '.join(untried)}"
    files = dict.fromkeys(proof.evidence for proof in dimension_proofs)
    where = {f"{proof.version} on {proof.platform}" for proof in dimension_proofs}
    return True, f"passed live in {', '.join(sorted(where))} ({', '.join(files)})"
