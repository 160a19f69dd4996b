"""The lanes in the order of a verdict: a table, the sentence for it, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec.structs import replace

from hydra.ranking.model import Way, is_alone, may_land, passes_gates, way_to_land
from hydra.records.outcome import Status
from hydra.report import checks
from hydra.report.board import STATUS_WORDS
from hydra.report.document import Data, number, record, records, strings, text
from hydra.report.phrases import plus_minus, spent
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
    verdict: Data, width: int | None, color: bool = False, *, marked: Collection[str] = ()
) -> list[str]:
    """The table of all lanes; those in `marked` carry a `!`."""
    lanes = records(verdict, "lanes")
    checked = [replace(column, optional=1) for column in checks.columns(lanes)]
    columns = [*_HEAD, *checked, *_TAIL]
    rows = [_row(lane, verdict, lanes, text(lane, "lane") in marked) for lane in lanes]
    return table(rows, columns, width, color)


def _row(lane: Data, verdict: Data, lanes: list[Data], marked: bool) -> list[Cell]:
    patch = record(lane, "patch")
    return [
        place(lane, verdict),
        text(lane, "lane") + (" !" if marked else ""),
        StyledText(state_word(lane), style(lane)),
        *checks.cells(lane, lanes),
        plus_minus(patch) if number(patch, "files") else checks.NOTHING,
        spent(lane),
        duration(number(lane, "seconds")),
        gist(reason(lane, lanes), _LINE),
    ]


def reason(lane: Data, lanes: list[Data]) -> str:
    """Its sentence; with a new test that it fails, where the first has the same one."""
    line = text(lane, "reason") or text(lane, "why")
    same = lane is not lanes[0] and proof(lane) == proof(lanes[0])
    return f"{line}; {failing}" if same and (failing := fails(lane)) else line


def proof(lane: Data) -> str:
    """Its reason without how many tests pass: a lane may bring some."""
    return re.sub(r" \([\d,]+ passed\)", "", text(lane, "reason"))


def fails(lane: Data) -> str:
    """Another's new test that it fails, as a sentence without the tests' names."""
    cross = [text(row, "text") for row in records(lane, "reasons") if text(row, "kind") == "cross"]
    return next((gist(name.partition(": ")[0]) for name in cross if name.startswith("fails ")), "")


def state_words(lane: Data) -> str:
    """Its state as a person reads it."""
    return STATES.get(text(lane, "state")) or "not known"


def state_word(lane: Data) -> str:
    """Its state; how it ended, where it left no patch or came to no end of its own."""
    ending = STATUS_WORDS.get(text(lane, "status"), "")
    if number(lane, "rank") is None:
        return ending or "no patch"
    stopped = bool(ending) and text(lane, "status") != Status.COMPLETED.value
    return ending if stopped and text(lane, "state") == "held_back" else state_words(lane)


def style(lane: Data) -> str:
    """The colour of that word."""
    return "bad" if number(lane, "rank") is None else _STYLES.get(text(lane, "state"), "bad")


def place(lane: Data, verdict: Data) -> str:
    """Its rank, which lanes that are tied share; `-` where there is nothing to rank, or to rank
    by."""
    rank = number(lane, "rank")
    return checks.NOTHING if rank is None or is_all_untested(verdict) else f"{rank:.0f}"


def is_all_untested(verdict: Data) -> bool:
    """Whether no check tested a patch in a race of several lanes: none of them comes first."""
    tested = verdict.get("tested", verdict.get("checked"))
    return tested is False and len(records(verdict, "lanes")) > 1


def untested_steps(verdict: Data) -> tuple[list[str], str, str]:
    """The lines that show the patches of a race in which nothing was tested; the one that tests
    them, and what stands before it."""
    patched = [text(lane, "lane") for lane in records(verdict, "lanes") if number(lane, "rank")]
    looks = [to_see(verdict, lane) for lane in patched]
    can_run = verdict.get("checked") is False or " --" in text(verdict, "check_now")
    when = "test them now" if can_run else "test them once tests can run"
    when = "test what was kept" if verdict.get("interrupted") else when
    return looks, text(verdict, "check_now") or f"hydra check{of_run(text(verdict, 'run'))}", when


def to_see(verdict: Data, *lanes: str) -> str:
    """The line that shows the patch of a lane, or what two of them differ in."""
    return f"hydra diff {' '.join(map(quote, lanes))}{of_run(text(verdict, 'run'))}"


def to_merge(verdict: Data, lane: str, options: str = "") -> str:
    """The line that lands a lane; all of it, or what `options` say."""
    where = landing_options(verdict)
    return f"hydra merge{lane and f' {quote(lane)}'}{options}{of_run(text(verdict, 'run'))}{where}"


def review_title(note: Data) -> str:
    """Whose review it is."""
    return f"{gist(text(note, 'reviewer'))} on the patches (it changes no rank)"


def review_lines(note: Data) -> list[str]:
    """Its lines that hold anything."""
    return [clean(line) for line in text(note, "text").splitlines() if line.strip()]


def tied_for_first(verdict: Data) -> list[str]:
    """The lanes between which a verdict does not choose; [] where it names one or none may land."""
    if text(verdict, "top"):
        return []
    lanes = records(verdict, "lanes")
    alone = is_alone(verdict.get("checked"), lanes)
    first = [
        lane
        for lane in lanes
        if number(lane, "rank") == 1 and may_land(text(lane, "state"), passes_gates(lane), alone)
    ]
    return [text(lane, "lane") for lane in first] if len(first) > 1 else []


def lands_by_name(lane: Data, verdict: Data) -> bool:
    """Whether a lane lands once it is named, be it after a question; else for a reason only."""
    return _way(lane, verdict) != "override"


def question(lane: Data, verdict: Data) -> str:
    """What a person has to say yes to before a lane lands; "" where nobody is asked."""
    asks = _way(lane, verdict) == "yes"
    return f"{text(lane, 'lane')} {text(lane, 'decision')}" if asks else ""


def _way(lane: Data, verdict: Data) -> Way:
    decided = (text(lane, "decision"), lane.get("agreed"))
    alone = is_alone(verdict.get("checked"), records(verdict, "lanes"))
    return way_to_land(text(lane, "state"), passes_gates(lane), alone, *decided)


def gate_paths(lane: Data) -> frozenset[str]:
    """The files in which lies what speaks against a lane, or what it leaves to decide."""
    decisions = (row for row in records(lane, "reasons") if text(row, "kind") == "decision")
    documents = (*records(lane, "gates"), *decisions)
    return frozenset(path for row in documents if (path := text(row, "path")))


def is_held_back_whole(lane: Data) -> bool:
    """Whether a lane is held back for what lies in no file of its patch."""
    pathless = any(not text(gate, "path") for gate in records(lane, "gates"))
    return pathless and text(lane, "state") == "held_back"


def says(verdict: Data, width: int | None, color: bool = False) -> list[str]:
    """The verdict in one sentence, and how sure it is."""
    answer = gist(text(verdict, "says"), _SENTENCE)
    top = text(verdict, "top")
    verb = "Landed" if top in strings(verdict, "landed") else "Land"
    lines = paragraph(f"{verb} {answer}" if top else answer, width)
    style = "good" if top else "warn"
    return [*(paint(line, style, color) for line in lines), *paragraph(sure(verdict), width)]


def sure(verdict: Data) -> str:
    """What proves it, where that is the user's own; else who agrees, and how often such a winner
    was right, in words; "" where there is none to speak of, and where nothing was measured and
    nothing is in doubt: no other patch is proved."""
    document = record(verdict, "confidence")
    share, why = number(document, "share"), gist(text(document, "why"))
    tied, proof = tied_for_first(verdict), text(document, "proof")
    if not (text(verdict, "top") or tied):
        return ""
    if proof in ("tests", "checks"):
        return f"how sure: your own {proof} prove {'each of them' if tied else 'it'}"
    if proof and not tied and number(document, "agree") == 1:
        return "how sure: no second patch agrees: read it before you land it"
    if share is None:
        rivals = sum(text(lane, "state") == "proved" for lane in records(verdict, "lanes"))
        return f"how sure: not measured: {why}" if why and rivals != 1 else ""
    odds = next(term for least, term in _ODDS if share >= least)
    who = "patches that were tied so" if tied else "such winners"
    often = f"{odds} ({_of_ten(share)} {who} were right in measured cases)"
    return f"how sure: {'; '.join(part for part in (often, why) if part)}"


def _of_ten(share: float) -> str:
    """`about 1 in 2`, `about 7 in 10`; never none and never all."""
    tenths = min(max(round(share * 10), 1), 9)
    return "about 1 in 2" if tenths == 5 else f"about {tenths} in 10"


def asks(verdict: Data) -> list[str]:
    """What is asked before the lanes land that are offered, a sentence each."""
    lanes = to_land(verdict)
    return [f"{ASKS}{gist(line, _SENTENCE)}" for lane in lanes if (line := question(lane, verdict))]


def to_land(verdict: Data) -> list[Data]:
    """The lanes that are offered to land: the top, the tied, else the first that has a patch."""
    patched = [lane for lane in records(verdict, "lanes") if number(lane, "rank")]
    names = [text(verdict, "top")] if text(verdict, "top") else tied_for_first(verdict)
    return [lane for lane in patched if text(lane, "lane") in names] or patched[:1]


def steps(verdict: Data, width: int | None = None) -> list[str]:
    """What to do next: land, look, compare. Of `width` are the sentences, and no line to type."""
    beside = f"side by side:  hydra compare --html --open{of_run(text(verdict, 'run'))}"
    names = [line for value in asks(verdict) for line in paragraph(value, width)]
    rests = [line for lane in to_land(verdict) for line in merge_without_made(lane, verdict)]
    patched = [text(lane, "lane") for lane in records(verdict, "lanes") if number(lane, "rank")]
    if not patched:
        return []
    if landed := [lane for lane in patched if lane in strings(verdict, "landed")]:
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
    if top := text(verdict, "top"):
        both = merge_of_both(verdict)
        return [
            f"land it:       {to_merge(verdict, top)}",
            *([f"{or_both(verdict)}:", f"  {both}"] if both else []),
            *rests,
            *names,
            f"see it:        {to_see(verdict, top)}",
            beside,
        ]
    if tied := tied_for_first(verdict):
        head = f"{named(tied)} are tied: look, then land the one that you choose"
        lands = [f"  {to_merge(verdict, lane)}" for lane in tied]
        look = f"  {to_see(verdict, *tied[:2])}"
        return [head, look, *lands, *rests, *names, *_separation(verdict), beside]
    named_only = lands_by_name(records(verdict, "lanes")[0], verdict)
    override = "" if named_only else OVERRIDE
    return [
        f"see it:        {to_see(verdict, patched[0])}",
        beside,
        f"land it still: {to_merge(verdict, patched[0])}{override}",
        *rests,
        *names,
        *_separation(verdict),
    ]


def _separation(verdict: Data) -> list[str]:
    """How patches may be told apart that pass their gates, unless it was tried."""
    able = [lane for lane in records(verdict, "lanes") if passes_gates(lane)]
    if len(able) < 2 or verdict.get("checked") is not True or record(verdict, "separated"):
        return []
    agent, run = quote(text(able[0], "adapter")), of_run(text(verdict, "run"))
    return [f"tell them apart: hydra compare --separate {agent}{run}"]


def merge_of_both(verdict: Data) -> str:
    """The line that lands the code of one lane with the tests of the first, which is equal to it
    in all tests; "" where there is none."""
    picks = [f" --pick {quote(pick)}" for pick in strings(verdict, "picks")]
    return to_merge(verdict, "", "".join(picks)) if picks else ""


def merge_without_made(lane: Data, verdict: Data) -> list[str]:
    """The line that lands a lane without the folders that a build may have left in its patch, below
    what stands before it; none where there is nothing else in it, or no such folder."""
    folders = [text(row, "folder").rstrip("/") for row in records(lane, "made")]
    count = sum(int(number(row, "files") or 0) for row in records(lane, "made"))
    if not folders or count >= len(records(lane, "files")):
        return []
    options = "".join(f" --except {quote(folder)}" for folder in folders)
    override = "" if lands_by_name(lane, verdict) else OVERRIDE
    line = f"  {to_merge(verdict, text(lane, 'lane'), options)}{override}"
    return ["or without what a build may have left:", line]


def or_both(verdict: Data) -> str:
    """Whose code and whose tests that line takes."""
    code, *_ = (pick.partition(":")[0] for pick in strings(verdict, "picks"))
    return f"or {clean(code)}'s code with {clean(text(verdict, 'top'))}'s tests"


def landing_options(verdict: Data) -> str:
    """What a line that lands needs besides: where a commit would take the user's own changes, and
    where HEAD is on no branch that could take it."""
    if verdict.get("uncommitted") is True:
        return " --no-commit"
    return " --branch NAME" if verdict.get("detached") is True else ""


def named(lanes: list[str]) -> str:
    """`a and b`, `a, b and c`."""
    return joined([clean(lane) for lane in lanes])
