"""What the page opens on: the answer, why, the lines to type, and a line for each lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from hydra.ranking.model import EndedRace, LaneVerdict, Verdict
from hydra.report import ranking
from hydra.report.compare import answer as separated
from hydra.report.html.harmless import prose
from hydra.report.html.patches import Json
from hydra.report.race_end import answer, lane_why
from hydra.report.text import clean, gist
from hydra.text import of_run, plural


def opening(verdict: Verdict, plans: Mapping[str, str]) -> Json:
    """`says` and `why` are one sentence in two parts; `help` is what is to be done where it names
    no lane, `lines` are what lands, `sure` how often such a winner was right, `separated` what
    came of tests that an agent was asked for. `plans` are texts by lane, of a race that asked for
    them."""
    patched = any(lane.patch and lane.patch.files for lane in verdict.lanes)
    landed = [lane for lane in verdict.lanes if lane.lane in verdict.landed]
    if plans and not patched:
        says, why, help = plural(len(plans), "plan"), _PLANS_ONLY, "Read them below."
    elif landed:
        says, why = _landed(landed), landed[0].reason
        help = f"hydra merge --undo{of_run(verdict.run)} takes it back."
    else:
        says, _, why = clean(answer(EndedRace(), verdict)).partition(": ")
        why, help = why or _why(verdict), _help(verdict, patched)
        names = (_sentence(line) for line in ranking.asks(verdict))
        help = " ".join(filter(None, (help, *names)))
    lines = _lines(verdict) if patched and not landed else []
    why = f"{_INTERRUPTED} {_sentence(why)}" if verdict.interrupted else _sentence(why)
    rows = {"says": says.rstrip("."), "why": why.strip(), "help": help, "lines": lines}
    sure = _sentence(clean(ranking.sure(verdict)).removeprefix("how sure: "))
    return {**rows, "sure": sure, "separated": separated(verdict.separated or {})}


_INTERRUPTED = "The race was interrupted: what follows is of the work done until then."


_PLANS_ONLY = "this race asked for plans and not for patches, so there is nothing to land"


def _landed(landed: Sequence[LaneVerdict]) -> str:
    names = ranking.named([lane.lane for lane in landed])
    return f"{names} {'has' if len(landed) == 1 else 'have'} landed"


def lane_line(lane: LaneVerdict, verdict: Verdict, plans: Mapping[str, str]) -> Json:
    """A lane's state in a word, how good that is, its reason, and its plan if it has one."""
    plan = plans.get(lane.lane, "")
    why = lane_why(lane, verdict) or (gist(lane.reason) if lane.lane == verdict.top else "")
    return {
        "word": "plan" if plan else clean(ranking.state_word(lane)),
        "place": ranking.place(lane, verdict),
        "style": "none" if plan else ranking.style(lane),
        "line": clean(gist(plan, 120) if plan else why),
        "plan": prose(plan),
    }


def _sentence(why: str) -> str:
    """With a capital, unless it begins with a path or the name of a check."""
    first = why.partition(" ")[0].rstrip(",;:")
    return f"{why[:1].upper() if first.isalpha() else why[:1]}{why[1:].rstrip('.')}." if why else ""


def _why(verdict: Verdict) -> str:
    """How many lanes are what, where the answer has no reason of its own."""
    lanes = verdict.lanes
    if not verdict.checked:
        top = verdict.lane(verdict.top)
        return gist(top.why) if top else ""
    if len(lanes) == 1:
        return f"{clean(ranking.state_word(lanes[0]))}: {gist(lanes[0].reason)}"
    counts = Counter(clean(ranking.state_word(lane)) for lane in lanes)
    every = "all " if len(counts) == 1 else ""
    return ", ".join(f"{every}{count} {_PREDICATES.get(w, w)}" for w, count in counts.items())


_PREDICATES = {"no changes": "changed nothing", "no patch": "left no patch"}
"""Where a state in a word makes no sentence with a number before it."""


def _help(verdict: Verdict, patched: bool) -> str:
    if not patched:
        run = of_run(verdict.run)
        return f"Why each ended is said beside it, and in full by hydra runs show{run}."
    if not verdict.checked or ranking.is_all_untested(verdict):
        _, test, when = ranking.untested_steps(verdict)
        return f"{when[:1].upper()}{when[1:]}: {test}"
    if verdict.top:
        return ""
    if ranking.tied_for_first(verdict):
        return "Look at both, then land the one that you choose."
    if verdict.lanes[0].state == "untested":
        return _UNTESTED
    return "What is good in them can be picked, file by file, under Changes."


_UNTESTED = "A test that fails on the base and passes with it would prove it. To land it as it is:"


def _lines(verdict: Verdict) -> list[str]:
    if ranking.is_all_untested(verdict):
        return []
    names = [verdict.top] if verdict.top else ranking.tied_for_first(verdict)
    if not names and ranking.lands_by_name(verdict.lanes[0], verdict):
        names = [verdict.lanes[0].lane]
    both = ranking.merge_of_both(verdict)
    rests = (
        line.strip()
        for lane in verdict.lanes
        if lane.lane in names[:_MOST]
        for line in ranking.merge_without_made(lane, verdict)[1:]
    )
    lands = (ranking.to_merge(verdict, name) for name in names[:_MOST])
    return [*lands, *([both] if both else ()), *rests]


_MOST = 3
"""Lines to type on the first screen."""
