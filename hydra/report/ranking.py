"""The lanes in the order of a verdict: a table, the sentence for it, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec.structs import replace

from hydra.ranking.evidence import Note
from hydra.ranking.model import LaneVerdict, Verdict
from hydra.records.outcome import Status
from hydra.report import checks
from hydra.report.board import STATUS_WORDS
from hydra.report.phrases import size_of, spent
from hydra.report.style import paint
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import clean, duration, gist, paragraph, quote
from hydra.text import joined, of_run

STATES = {"proved": "proved", "untested": "untested", "broken": "broken", "held_back": "held back"}
"""A lane's state in words,"""

_STYLES = {"proved": "good", "untested": "warn"}
"""and their colours; all others are bad."""

_HEAD = (Column("rank", right=True), Column("lane", least=10), Column("state"))
_TAIL = (
    Column("+/-", optional=2),
    Column("cost", right=True, optional=3),
    Column("time", right=True, optional=4),
    Column("why", wraps=True, least=32),
)
_ODDS = (
    (0.75, "likely right"),
    (0.6, "more likely right than wrong"),
    (0.4, "even odds"),
    (0.0, "more likely wrong than right"),
)
"""Words for how often such winners were right, each from its share on."""

_LINE = 300
"""Characters of a sentence that a table's cell shows; `--json` has it whole."""

_SENTENCE = 600

OVERRIDE = ' --override "why it may land"'
"""What the line of a broken patch needs, or of one that is held back."""

ASKS = "you are asked first: "
"""How the sentence begins on what the line beside it asks."""


def ranks(
    verdict: Verdict, width: int | None, color: bool = False, *, marked: Collection[str] = ()
) -> list[str]:
    """The table of all lanes; those in `marked` carry a `!`."""
    lanes = verdict.lanes
    checked = [replace(column, optional=1) for column in checks.columns(lanes)]
    rows = [_row(lane, verdict, lane.lane in marked) for lane in lanes]
    return table(rows, [*_HEAD, *checked, *_TAIL], width, color)


def _row(lane: LaneVerdict, verdict: Verdict, marked: bool) -> list[Cell]:
    return [
        place(lane, verdict),
        lane.lane + (" !" if marked else ""),
        StyledText(state_word(lane), style(lane)),
        *checks.cells(lane, verdict.lanes),
        size_of(lane.patch),
        spent(lane),
        duration(lane.seconds),
        gist(reason(lane, verdict), _LINE),
    ]


def reason(lane: LaneVerdict, verdict: Verdict) -> str:
    """Its sentence; with a new test that it fails, where the first has the same one."""
    line, first = lane.reason or lane.why, verdict.lanes[0]
    same = lane.lane != first.lane and proof(lane) == proof(first) and "; fails " not in line
    return f"{line}; {failing}" if same and (failing := fails(lane)) else line


def proof(lane: LaneVerdict) -> str:
    """Its reason without how many tests pass: a lane may bring some."""
    return re.sub(r" \([\d,]+ passed\)", "", lane.reason)


def fails(lane: LaneVerdict) -> str:
    """Another's new test that it fails, as a sentence without the tests' names."""
    cross = [row.text for row in lane.reasons if row.kind == "cross"]
    return next((gist(name.partition(": ")[0]) for name in cross if name.startswith("fails ")), "")


def state_word(lane: LaneVerdict) -> str:
    """Its state; how it ended, where it left no patch or came to no end of its own."""
    ending = STATUS_WORDS.get(lane.status, "")
    if lane.rank is None:
        return ending or "no patch"
    stopped = bool(ending) and lane.status != Status.COMPLETED.value
    return ending if stopped and lane.state == "held_back" else STATES[lane.state]


def style(lane: LaneVerdict) -> str:
    """The colour of that word."""
    return "bad" if lane.rank is None else _STYLES.get(lane.state, "bad")


def place(lane: LaneVerdict, verdict: Verdict) -> str:
    """Its rank, which lanes that are tied share; `-` where there is nothing to rank, or to rank
    by."""
    return checks.NOTHING if lane.rank is None or is_all_untested(verdict) else str(lane.rank)


def is_all_untested(verdict: Verdict) -> bool:
    """Whether no check tested a patch in a race of several lanes: none of them comes first."""
    return not (verdict.tested and verdict.checked) and len(verdict.lanes) > 1


def untested_steps(verdict: Verdict) -> tuple[list[str], str, str]:
    """The lines that show the patches of a race in which nothing was tested; the one that tests
    them, and what stands before it."""
    looks = [to_see(verdict, lane.lane) for lane in patched(verdict)]
    can_run = not verdict.checked or " --" in verdict.check_now
    when = "test them now" if can_run else "test them once tests can run"
    when = "test what was kept" if verdict.interrupted else when
    return looks, verdict.check_now or f"hydra check{of_run(verdict.run)}", when


def patched(verdict: Verdict) -> list[LaneVerdict]:
    """The lanes that have a patch."""
    return [lane for lane in verdict.lanes if lane.rank]


def to_see(verdict: Verdict, *lanes: str) -> str:
    """The line that shows the patch of a lane, or what two of them differ in."""
    return f"hydra diff {' '.join(map(quote, lanes))}{of_run(verdict.run)}"


def to_merge(verdict: Verdict, lane: str, options: str = "") -> str:
    """The line that lands a lane; all of it, or what `options` say."""
    where = landing_options(verdict.uncommitted, verdict.detached)
    return f"hydra merge{lane and f' {quote(lane)}'}{options}{of_run(verdict.run)}{where}"


def review_title(note: Note) -> str:
    """Whose review it is."""
    return f"{gist(note.reviewer)} on the patches (it changes no rank)"


def review_lines(note: Note) -> list[str]:
    """Its lines that hold anything."""
    return [clean(line) for line in note.text.splitlines() if line.strip()]


def tied_for_first(verdict: Verdict) -> list[str]:
    """The lanes between which a verdict does not choose; [] where it names one or none may land."""
    if verdict.top:
        return []
    first = [lane.lane for lane in verdict.lanes if lane.rank == 1 and verdict.lands(lane)]
    return first if len(first) > 1 else []


def lands_by_name(lane: LaneVerdict, verdict: Verdict) -> bool:
    """Whether a lane lands once it is named, be it after a question; else for a reason only."""
    return verdict.way_to_land(lane) != "override"


def question(lane: LaneVerdict, verdict: Verdict) -> str:
    """What a person has to say yes to before a lane lands; "" where nobody is asked."""
    return f"{lane.lane} {lane.decision}" if verdict.way_to_land(lane) == "yes" else ""


def gate_paths(lane: LaneVerdict) -> frozenset[str]:
    """The files in which lies what speaks against a lane, or what it leaves to decide."""
    decisions = (row for row in lane.reasons if row.kind == "decision")
    return frozenset(row.path for row in (*lane.gates, *decisions) if row.path)


def is_held_back_whole(lane: LaneVerdict) -> bool:
    """Whether a lane is held back for what lies in no file of its patch."""
    return lane.state == "held_back" and any(not gate.path for gate in lane.gates)


def says(verdict: Verdict, width: int | None, color: bool = False) -> list[str]:
    """The verdict in one sentence, and how sure it is."""
    answer, top = gist(verdict.says, _SENTENCE), verdict.top
    verb = "Landed" if top in verdict.landed else "Land"
    lines = paragraph(f"{verb} {answer}" if top else answer, width)
    style = "good" if top else "warn"
    return [*(paint(line, style, color) for line in lines), *paragraph(sure(verdict), width)]


def sure(verdict: Verdict) -> str:
    """What proves it, where that is the user's own; else who agrees, and how often such a winner
    was right, in words; "" where there is none to speak of, and where nothing was measured and
    nothing is in doubt: no other patch is proved."""
    confidence, tied = verdict.confidence, tied_for_first(verdict)
    share, why, proof = confidence.share, gist(confidence.why), confidence.proof
    if not (verdict.top or tied):
        return ""
    if proof in ("tests", "checks"):
        return f"how sure: your own {proof} prove {'each of them' if tied else 'it'}"
    if proof and not tied and confidence.agree == 1:
        return "how sure: no second patch agrees: read it before you land it"
    if share is None:
        rivals = sum(lane.state == "proved" for lane in verdict.lanes)
        return f"how sure: not measured: {why}" if why and rivals != 1 else ""
    odds = next(term for least, term in _ODDS if share >= least)
    who = "patches that were tied so" if tied else "such winners"
    often = f"{odds} ({_of_ten(share)} {who} were right in measured cases)"
    return f"how sure: {'; '.join(part for part in (often, why) if part)}"


def _of_ten(share: float) -> str:
    """`about 1 in 2`, `about 7 in 10`; never none and never all."""
    tenths = min(max(round(share * 10), 1), 9)
    return "about 1 in 2" if tenths == 5 else f"about {tenths} in 10"


def asks(verdict: Verdict) -> list[str]:
    """What is asked before the lanes land that are offered, a sentence each."""
    lanes = to_land(verdict)
    return [f"{ASKS}{gist(line, _SENTENCE)}" for lane in lanes if (line := question(lane, verdict))]


def to_land(verdict: Verdict) -> list[LaneVerdict]:
    """The lanes that are offered to land: the top, the tied, else the first that has a patch."""
    names = [verdict.top] if verdict.top else tied_for_first(verdict)
    able = patched(verdict)
    return [lane for lane in able if lane.lane in names] or able[:1]


def steps(verdict: Verdict, width: int | None = None) -> list[str]:
    """What to do next: land, look, compare. Of `width` are the sentences, and no line to type."""
    beside = f"side by side:  hydra compare --html --open{of_run(verdict.run)}"
    questions = [line for value in asks(verdict) for line in paragraph(value, width)]
    rests = [line for lane in to_land(verdict) for line in merge_without_made(lane, verdict)]
    names = [lane.lane for lane in patched(verdict)]
    if not names:
        return []
    if landed := [lane for lane in names if lane in verdict.landed]:
        see = f"see it:        {to_see(verdict, landed[0])}"
        return [f"{named(landed)} landed already", see, beside]
    if is_all_untested(verdict):
        looks, test, when = untested_steps(verdict)
        heads = ["look at each:", *[""] * len(looks)]
        return [
            *(f"{head:<14} {line}" for head, line in zip(heads, looks, strict=False)),
            f"{when}: {test}",
            beside,
        ]
    if top := verdict.top:
        both = merge_of_both(verdict)
        return [
            f"land it:       {to_merge(verdict, top)}",
            *([f"{or_both(verdict)}:", f"  {both}"] if both else []),
            *rests,
            *questions,
            f"see it:        {to_see(verdict, top)}",
            beside,
        ]
    if tied := tied_for_first(verdict):
        head = f"{named(tied)} are tied: look, then land the one that you choose"
        lands = [f"  {to_merge(verdict, lane)}" for lane in tied]
        look = f"  {to_see(verdict, *tied[:2])}"
        return [head, look, *lands, *rests, *questions, *_separation(verdict), beside]
    override = "" if lands_by_name(verdict.lanes[0], verdict) else OVERRIDE
    return [
        f"see it:        {to_see(verdict, names[0])}",
        beside,
        f"land it still: {to_merge(verdict, names[0])}{override}",
        *rests,
        *questions,
        *_separation(verdict),
    ]


def _separation(verdict: Verdict) -> list[str]:
    """How patches may be told apart that pass their gates, unless it was tried."""
    able = [lane for lane in verdict.lanes if lane.passes_gates]
    if len(able) < 2 or not verdict.checked or verdict.separated:
        return []
    agent, run = quote(able[0].adapter), of_run(verdict.run)
    return [f"tell them apart: hydra compare --separate {agent}{run}"]


def merge_of_both(verdict: Verdict) -> str:
    """The line that lands the code of one lane with the tests of the first, which is equal to it
    in all tests; "" where there is none."""
    picks = "".join(f" --pick {quote(pick)}" for pick in verdict.picks)
    picks += "".join(f" --hunk {quote(hunk)}" for hunk in verdict.hunks)
    return to_merge(verdict, "", picks) if picks else ""


def merge_without_made(lane: LaneVerdict, verdict: Verdict) -> list[str]:
    """The line that lands a lane without the folders that a build may have left in its patch, below
    what stands before it; none where there is nothing else in it, or no such folder."""
    if not lane.made or sum(row.files for row in lane.made) >= len(lane.files):
        return []
    options = "".join(f" --except {quote(row.folder.rstrip('/'))}" for row in lane.made)
    override = "" if lands_by_name(lane, verdict) else OVERRIDE
    line = f"  {to_merge(verdict, lane.lane, options)}{override}"
    return ["or without what a build may have left:", line]


def or_both(verdict: Verdict) -> str:
    """Whose code and whose tests that line takes."""
    code = verdict.picks[0].partition(":")[0]
    return f"or {clean(code)}'s code with {clean(verdict.top or '')}'s tests"


def landing_options(uncommitted: bool, detached: bool = False) -> str:
    """What a line that lands needs besides: where a commit would take the user's own changes, and
    where HEAD is on no branch that could take it."""
    return " --no-commit" if uncommitted else " --branch NAME" * detached


def named(lanes: list[str]) -> str:
    """`a and b`, `a, b and c`."""
    return joined([clean(lane) for lane in lanes])
