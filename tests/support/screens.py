"""Everything that a reporter can show, of made-up races: tests/data/golden/screens.txt, which
`python -m tests.support.earlier show` writes anew where other words were meant.

A screen at several widths stands there once for each; in colour it is the same without its colours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hydra.errors import AuthMissing, HydraError, Refused
from hydra.records.agent import Tier
from hydra.records.codec import dump
from hydra.records.events import Event
from hydra.records.outcome import Status
from hydra.records.plan import Confinement
from hydra.report import doctor, listing, runs
from hydra.report.board import Board, BoardRow, step, tool_word
from hydra.report.document import error_document, plan_document
from hydra.report.dryrun import plan_text
from hydra.report.hunks import shown as shown_diff
from hydra.report.live import LiveTable
from hydra.report.phrases import describe
from hydra.report.runs import RaceCost, RunRow
from hydra.report.stream import PlainLines
from hydra.report.text import error_text
from tests.support import driver, verdicts
from tests.support.golden_text import Documents
from tests.support.rendering import lane_line, opening, race_end, summary, table_text
from tests.support.sample_agents import AGENTS, CHECKS, RUNS
from tests.support.sample_race import PLAN, RESULT, STALLED, Tape, events, lane_plan
from tests.support.screen import Screen

Document = dict[str, Any]
Section = Iterator[tuple[str, str]]

DATA = Path(__file__).parents[1] / "data"
_KINDS = (DATA.parents[1] / "docs/reference/events.md").read_text().partition("## From Hydra")[2]
HYDRA_KINDS = re.findall(r"^\| `([a-z_]+)` \|", _KINDS, re.MULTILINE)
"""The kinds of Hydra's own events."""
HOSTILE = "\x1b]52;c;eA==\x07\x1b[2J\x9b31m\u202eevil\u2066\r\x08\x7f\u2028\ud800\n\u0301x"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def at(name: str, render: Callable[..., str], *widths: int | None, **options: Any) -> Section:
    """A screen at these widths, to which it keeps; its colours say nothing that letters do not."""
    for width in widths:
        shown = render(width=width, **options)
        coloured = render(width=width, color=True, **options)
        assert _COLOUR.sub("", coloured) == shown, f"{name} in colour"
        if width and "hostile" not in name:
            assert driver.too_wide(shown, width) == []
        yield f"{name}, {width or 'a pipe'}", shown


# --- a race while it runs ------------------------------------------------------------------------


def checked() -> list[Event]:
    """A lane that goes into its checks."""
    e = Tape()
    why = "it took over 1 s and was ended"
    ended: Document = {"status": "timed_out", "says": "timed out", "reason": why, "seconds": 1.0}
    return [
        e(0.0, "run_started", lanes=["claude", "codex"]),
        e(1.0, "agent_started", "claude", pid=1, argv=["x"]),
        e(1.1, "check_started", check="unit", command="pytest -q", again=False),
        e(2.0, "check_waiting", "claude", **{"for": "place"}),
        e(3.0, "check_ended", check="unit", status="failed", says="1 failed", seconds=2.0),
        e(4.0, "check_started", "claude", check="unit", command="pytest -q", again=False),
        e(5.0, "check_ended", "claude", check="unit", **ended),
        e(6.0, "lane_ended", "claude", status="completed", seconds=6.0, held_back=[f"unit: {why}"]),
    ]


def live() -> Section:
    for columns in (120, 80, 40):
        screens = []
        for color in (False, True):
            screen = Screen(columns, 30)
            table = LiveTable(screen.write, lambda s=screen: (s.columns, s.lines), color)  # type: ignore[misc]
            for event in events():
                table.event(event)
                table.tick(event.mono)
            table.tick(93.1)
            assert (screen.row, screen.column) == (len(screen.picture().split("\n")), 0)
            screens.append(screen.picture())
        assert screens[0] == screens[1]
        yield f"the live table, {columns}", screens[0]
    screen = Screen(100, 24)
    table = LiveTable(screen.write, lambda: (100, 24), color=False)
    for event in checked():
        table.event(event)
    table.close()
    yield "the live table with a baseline", screen.picture()
    for name, seen in (("the sample", events()), ("checks", iter(checked()))):
        lines: list[str] = []
        plain = PlainLines(lines.append)
        for event in seen:
            plain.event(event)
        plain.tick(100.0)
        plain.close()
        yield f"line by line, {name}", "".join(lines)


_STATES: list[tuple[str, str, Document]] = [
    ("lane_waiting", "", {"position": 4}),
    ("lane_opening", "", {}),
    ("setup_started", "", {"command": "npm ci"}),
    ("agent_started", "", {"pid": 1}),
    ("progress", "session", {"session": "s"}),
    ("tool_call", "", {"id": "1", "name": "Read", "summary": "Read a.py"}),
    ("tool_call", "", {"id": "2", "name": "Bash", "summary": "$ ls"}),
    ("tool_result", "", {"id": "2", "ok": True}),
    ("tool_result", "", {"id": "1", "ok": True}),
    ("usage", "", {"input_tokens": 5}),
    ("usage", "", {"cost_usd": float("nan")}),
    ("progress", "retry", {"attempt": 2, "of": 10, "status": 529}),
    ("limit_warning", "", {"limit": "tool", "seconds": 600, "of": 1200}),
    ("message", "", {"text": "on it"}),
    ("progress", "closing", {"ok": True, "text": "done"}),
    ("limit_warning", "waiting", {"limit": "background", "of": 120, "for": ["npm run dev"]}),
    ("failed", "", {"message": "429", "terminal": True}),
    ("lane_retrying", "", {"attempt": 2, "after": "rate_limit", "seconds": 70}),
    ("lane_opening", "", {}),
    ("completed", "", {"text": "done"}),
    ("stopping", "", {"reason": "idle", "signal": "SIGINT"}),
    ("agent_exited", "", {"code": 0}),
    ("patch_taken", "", {"files": 2}),
    ("check_ended", "", {"check": "unit", "says": "4 passed", "skipped": 23, "seconds": 2.0}),
    ("check_waiting", "", {"for": "baseline"}),
    *(("lane_ended", "", {"status": status.value, "seconds": 9.0}) for status in Status),
]
_TOOLS = (
    *(("Bash", "$ python -m pytest tests"), ("command_execution", "$ cargo test --all")),
    *(("Bash", "$ npm run test"), ("Bash", "$ cat contest.py"), ("Edit", "Edit a.py")),
    *(("file_change", "update a.py"), ("Grep", "Grep x"), ("mcp__jira", "look")),
)


def board() -> Section:
    def row(event: Event, shown: BoardRow, limits: Any) -> str:
        state, last = shown.view(event.mono, limits)
        known = [shown.tokens, shown.cost, shown.files, shown.elapsed(event.mono)]
        return f"{event.kind} {event.sub}: {state} | {last} | {known}\n"

    e, now, lines = Tape(), Board(), []
    for second, (kind, sub, data) in enumerate(_STATES):
        event = e(float(second), kind, "x", sub, **data)
        now = step(now, event)
        lines.append(row(event, now.rows["x"], now.limits))
    yield "a lane's states", "".join(lines)
    whole = reduce(step, events(), Board())
    moments = [Tape()(93.0, "now"), Tape()(700.0, "later")]
    yield (
        "where the sample's lanes are",
        "".join(row(at, lane, whole.limits) for at in moments for lane in whole.rows.values()),
    )
    yield "what a tool call is", "".join(f"{tool_word(*call)}: {call}\n" for call in _TOOLS)


def phrases() -> Section:
    rows = [json.loads(line) for line in (DATA / "events.jsonl").read_text().splitlines()]
    rows += [[kind, "", {}] for kind in HYDRA_KINDS]
    rows += [["message", "", {"text": HOSTILE}], ["failed", "", {"message": HOSTILE}]]
    rows += [["lane_warning", "", {"text": HOSTILE}], ["completed", "", {"text": HOSTILE}]]
    said = [(kind, sub, describe(Tape()(1.0, kind, "x", sub, **data))) for kind, sub, data in rows]
    yield "of each event", "".join(f"{kind} {sub}: {line}\n" for kind, sub, line in said)


# --- its end -------------------------------------------------------------------------------------


def four(**more: Any) -> Document:
    """Two that fix it, a cheat, and one that idled."""
    data = verdicts.verdict()
    why = "changes what test_a_full_page_has_ten_items expects"
    cheat = verdicts.lane("cursor-agent", rank=3, state="held_back", reason=why)
    data["lanes"].insert(2, cheat)
    document = {"run": verdicts.RUN, "seconds": 601.0, "lanes": data["lanes"]}
    return {**document, "warnings": ["3 files stay out"], "verdict": {**data, **more}}


def changed(document: Document, *changes: Document, **more: Any) -> Document:
    """Its first lanes are these, too."""
    for lane, change in zip(document["verdict"]["lanes"], changes, strict=False):
        lane |= change
    return {**document, **more}


def ends() -> Section:
    yield from at("the end", lambda **o: race_end(four(), **o), 80, 120, None)
    none = {"state": "untested", "reason": "no check ran: `hydra check --check COMMAND` tests it"}
    asked = four(checked=False, top=None, check_now="hydra check -r k3f --check 'npm test'")
    passing = {"state": "untested", "reason": "pytest passes with and without it"}
    broken = {"state": "broken", "reason": "breaks test_up, which passed on the base"}
    binary = {"kind": "binary", "path": "a.png", "text": "is binary"}
    folders = [f"packages/number {number}/coverage" for number in range(3)]
    built = [{"folder": f"{name}/", "files": 1, "by_hand": []} for name in folders]
    copy = "--copy data/of/the/year/in/which/it/was/measured brings it"
    note = f"a check misses {', '.join(folders)}, which your checkout has: {copy}"
    equal = {"reason": four()["verdict"]["lanes"][0]["reason"]}
    fails = "fails codex's 1 new test, which passes on the base: t::test_a_number_is_kept"
    tied, idle = verdicts.tie(), {"lane": "codex", "status": "timed_out"}
    wants = "hydra check -r 20261121t203415-k3f --setup 'pip install -r requirements.txt'"
    lacks = f"its dependencies changed (requirements.txt) and were not installed: {wants} tests it"
    typed = {"state": "untested", "reason": lacks, "gates": [], "held_back": [lacks]}
    long = [{"reason": f"{n} fixes it, " + "and says so at great length " * 20} for n in range(4)]
    base = [{"check": "unit", "status": "passed", "remarks": ["it writes into the checkout"]}]
    patch = four()["verdict"]["lanes"][0]["patch"]
    noted = {"patch": {**patch, "notes": ["vendor/.git was taken as files"], "remarks": [binary]}}
    for name, document in {
        "where nothing was checked": changed(asked, none, none),
        "where nothing is proved": changed(four(top=None), passing, passing, passing),
        "where all is broken": changed(four(top=None), broken, broken, broken),
        "of a first that is none": four(top="nobody"),
        "of a lane that was interrupted": changed(
            four(top=None), {}, {}, {"status": "interrupted", "reason": "was interrupted"}
        ),
        "of equals": changed(four(), {}, equal | {"reasons": [verdicts.reason("cross", fails)]}),
        "of code and tests": four(picks=["claude:src/pager.py", "codex:tests/test a.py"]),
        "of a tie": {"lanes": tied["lanes"], "verdict": tied},
        "of nothing": {
            **{"lanes": [{**idle, "error": {"message": "no progress for 600 s"}}]},
            **{"interrupted": "SIGINT", "seconds": 41.0},
        },
        "with what was built": changed(
            four(warnings=[note]), {"made": built, "files": [{"path": f"{n}"} for n in range(4)]}
        ),
        "with nothing but that": changed(
            four(), {"made": built, "files": [{"path": f"{n}"} for n in range(3)]}
        ),
        "with warnings": changed(four(), noted, baseline=base),
        "of what others need a look for": changed(four(), {}, {"patch": noted["patch"]}),
        "with long sentences": changed(four(), *long),
        "of what has to be installed": changed(four(), {}, typed),
        "of hostile words": changed(four(warnings=[HOSTILE]), {"reason": HOSTILE, "why": HOSTILE}),
    }.items():
        yield from at(f"the end {name}", lambda d=document, **o: race_end(d, **o), 80)


def check(name: str, status: str = "passed", says: str = "3 passed", **more: Any) -> Document:
    return {"check": name, "status": status, "says": says, "seconds": 3.14, **more}


def with_checks(*checks: Document, held_back: tuple[str, ...] = ()) -> Document:
    first = replace(RESULT.outcomes[0], checks=checks, held_back=held_back)
    base = check("unit", "failed", "2 passed, 1 failed", tests={"skipped": 1200})
    outcomes = (first, *RESULT.outcomes[1:])
    return replace(RESULT, outcomes=outcomes, baseline=(base,)).document(PLAN)


def summaries() -> Section:
    unconfined = RESULT.document(PLAN) | {"confinement": {"kind": "none"}}
    yield from at("the summary", lambda **o: summary(unconfined, **o), 80, 120, None)
    first, last = RESULT.outcomes[0], RESULT.outcomes[2]
    gone = {"patch": None, "failure": STALLED, "warnings": ()}
    large = replace(STALLED, numbers={"limit": 8388608.0, "share": 0.25})
    why = "unit: 1 test passed on the base and fails now: a::b"
    evil = check("unit", "failed", "1 broken", held_back=HOSTILE, remarks=[HOSTILE], reason=HOSTILE)
    broken = check("unit", "failed", "1 broken", held_back=why, remarks=["it was cut"])
    tries = [{"attempt": 1, "status": "failed", "usage": {"cost_usd": 0.25}}]
    more = [*tries, {"attempt": 2, "status": "failed", "usage": {"cost_usd": None}}]
    prices = {"cost_usd": 0.5, "prices_of": None, "source": ""}
    reckoned = [{"attempt": 1, "status": "failed", "usage": {}, "usage_estimate": prices}]
    unjudged = RESULT.document(PLAN)
    del unjudged["verdict"]

    def of(*outcomes: Any, **result: Any) -> Document:
        return replace(RESULT, outcomes=outcomes, **result).document(PLAN)

    def tried(rows: list[Document]) -> Document:
        (lane,) = json.loads(json.dumps(of(first)["lanes"]))
        ended = {"attempt": len(rows) + 1, "status": "completed"}
        return {**of(first), "lanes": [{**lane, **ended, "attempts": [*rows, ended]}]}

    many = [*(check(name) for name in ("a", "b", "c")), check("d", "failed", "failed")]
    for name, document in {
        "where something confines": RESULT.document(PLAN),
        "without a verdict": unjudged,
        "of what was not started": of(
            replace(last, status=Status.NOT_STARTED, **gone), interrupted=2
        ),
        "of what failed": of(replace(first, status=Status.FAILED, failure=large)),
        "of what was cut short": of(replace(first, status=Status.INTERRUPTED, failure=STALLED)),
        "of two tries": tried(tries),
        "of three tries": tried(more),
        "of a try that was reckoned": tried(reckoned),
        "with checks": with_checks(broken, check("lint", says="passed"), held_back=(why,)),
        "with many checks": with_checks(*many),
        "of hostile words": with_checks(evil, held_back=(HOSTILE,)),
    }.items():
        yield from at(f"the summary {name}", lambda d=document, **o: summary(d, **o), 80)
    lane = {"lane": "claude", "checks": [evil], "held_back": [HOSTILE]}
    rows = {"run": "r", "folder": "/f", "baseline": [check("unit")], "lanes": [lane]}
    yield from at("checks again", lambda **o: table_text(rows, **{"color": False, **o}), 80, None)


# --- lists, plans and errors ---------------------------------------------------------------------


def lists() -> Section:
    def plainly(render: Callable[..., str]) -> Callable[..., str]:
        return lambda width, color=False: render(width=width)

    yield from at("agents", lambda **o: listing.agents_table(AGENTS, **o), 80, 40)
    for agent, line in zip(AGENTS, (("claude", "-p", "it's"), (), ()), strict=True):
        yield from at("an agent", lambda a=agent, r=line, **o: listing.agent_text(a, r, **o), 80)
    yield from at("doctor", lambda **o: doctor.doctor_text(CHECKS, AGENTS, **o), 80)
    assert AGENTS[0].detection is not None
    seen = replace(AGENTS[0].detection, version=HOSTILE, warnings=(HOSTILE,), error=STALLED)
    evil = replace(AGENTS[0], detection=replace(seen, sign_in_detail=HOSTILE))
    bad = [replace(CHECKS[0], text=HOSTILE, hint=HOSTILE)]
    yield from at("a hostile agent", lambda **o: listing.agent_text(evil, (HOSTILE,), **o), 80)
    yield from at("a hostile machine", lambda **o: doctor.doctor_text(bad, [evil], **o), 80)
    rows = [
        *RUNS,
        replace(RUNS[0], landed=("codex",), spending=RaceCost(1, reckoned=True), age=59),
        replace(RUNS[0], landed=(), undone=True, spending=RaceCost(1, whole=True), age=-5),
        replace(RUNS[0], state="running", spending=RaceCost(), age=60),
        replace(RUNS[0], title="\u65e5\u672c\u8a9e " * 40, lanes=(("a" * 40, "completed"),) * 5),
        replace(
            *RUNS[:1],
            **{"run": "20261121t203415-k3fx", "age": 9e5, "title": "a task " * 40},
            **{"winner": "a-profile-of-a-long-name", "spending": RaceCost(12.34, reckoned=True)},
            landed=("codex", "a-profile-of-a-long-name"),
        ),
        RunRow(run="r", age=1, title=HOSTILE, lanes=((HOSTILE, HOSTILE),), folder=HOSTILE),
    ]
    yield from at("runs", plainly(lambda **o: runs.runs_table(rows, **o)), 80, 120, None)
    for row in (*RUNS, rows[-1]):
        yield from at("a run", lambda r=row, **o: runs.run_text(r, "ENDING\n", **o), 80)


def plans() -> Section:
    failing = replace(lane_plan("codex", "codex", failure=STALLED), tier=Tier.EXPERIMENTAL)
    bare = Confinement(kind="none", reason="bwrap was not found")
    none = replace(PLAN, lanes=(failing,), confinement=bare, network=False)
    words = {"title": HOSTILE, "prompt": HOSTILE, "base_name": HOSTILE, "warnings": (HOSTILE,)}
    first = replace(PLAN.lanes[0], label=HOSTILE, version=HOSTILE, warnings=(HOSTILE,))
    evil = replace(PLAN, **words, lanes=(first,))
    for name, plan in {"": PLAN, " of nobody": none, " of hostile words": evil}.items():
        yield from at(f"a plan{name}", lambda p=plan, **o: plan_text(p, **o), 80, None)
    refused = Refused("the first line is long\n  a/path: in the way", hint="add it, or let it be")
    auth: Document = {"adapter": "claude", "command": ("claude", "-p"), "stderr": "401\n\nno\n"}
    errors: dict[str, HydraError] = {
        "one to fold": refused,
        "one with a line to paste": Refused("no", hint='git fetch "$(hydra runs path)/x.git"'),
        "an agent's": AuthMissing("the key was refused", **auth, hint="run claude, type /login"),
        "a hostile one": AuthMissing(HOSTILE, adapter="x", command=(HOSTILE,), stderr=HOSTILE),
    }
    documents = Documents()
    for name, error in errors.items():
        yield from at(f"an error, {name}", lambda e=error, **o: error_text(e, **o), 28, None)
        yield f"its document, {name}", documents.lay_out(dump(error_document(error)), name)
    yield "a plan's document", documents.lay_out(dump(plan_document(PLAN)), "plan")
    yield "a result's document", documents.lay_out(dump(RESULT.document(PLAN)), "result")
    diff = shown_diff(f"+{HOSTILE}\n-a\tb\r\n".encode("utf-8", "surrogatepass"), color=False)
    yield "a hostile diff", diff.decode().replace("\t", "<TAB>")


# --- the page's first screen ---------------------------------------------------------------------


def openings() -> Section:
    def lane(name: str, state: str, reason: str, **more: Any) -> Document:
        return verdicts.lane(name, state=state, reason=reason, **more)

    nothing: Document = {"rank": None, "patch": None, "status": "failed"}
    claude = lane("claude", "proved", "fixes both failing tests, breaks nothing (43 passed)")
    out = lane("codex", "held_back", "codex is not signed in", **nothing)
    idle = lane("codex", "held_back", "changed nothing", **{**nothing, "status": "no_changes"})
    broken = [lane(f"codex-{n}", "broken", "breaks test_up", rank=n + 2) for n in range(15)]
    asks = {"id": "test_zero", "counts": True, "why": ""}
    same = {"id": "test_rest", "counts": False, "why": "it passes everywhere"}
    alone = lane("claude", "untested", "no check ran: `hydra check --check COMMAND` tests it")
    in_path = "tools/c: make-test failed on the base and passes"

    def separated(*tests: Document) -> Document:
        shown = [test for test in tests if test["counts"]]
        return {"agent": "codex", "tests": [*tests], "shown": shown}

    documents = Documents()
    for name, lanes, more in (
        ("one alone", [claude], {"top": "claude"}),
        ("one of sixteen", [claude, *broken], {"top": "claude"}),
        ("an interrupted race", [claude], {"top": "claude", "interrupted": "SIGINT"}),
        ("all broken", broken[:2], {}),
        ("none to land", [broken[0], lane("codex", "held_back", "changes test_up")], {}),
        ("an untested one", [lane("claude", "untested", "pytest passes with it")], {}),
        ("what has landed", [claude], {"top": "claude", "landed": ["claude"]}),
        ("a path first", [lane("claude", "proved", in_path)], {"top": "claude"}),
        ("no checks", [alone, out], {"checked": False}),
        ("no checks, one lane", [alone], {"top": "claude", "checked": False}),
        ("no patch", [out], {}),
        ("no patch at all", [out, idle], {}),
        ("tests that tell", [claude], {"top": "claude", "separated": separated(asks, same)}),
        ("tests that all tell", [claude], {"top": "claude", "separated": separated(asks, asks)}),
        ("tests that do not", [claude], {"top": "claude", "separated": separated(same)}),
        ("no tests", [claude], {"top": "claude", "separated": separated()}),
    ):
        head = {**verdicts.verdict(), "checked": True, "top": None}
        document = {**head, "lanes": lanes, **more}
        first = opening(document, {})
        first["lanes"] = [lane_line(lane, document, {}) for lane in lanes[:2]]
        yield f"the page opens on {name}", documents.lay_out(json.dumps(first), name)
    tied = {**verdicts.tie(), "checked": True}
    for row in tied["lanes"][:2]:
        row |= {"state": "proved", "reason": "fixes both failing tests"}
    yield "the page opens on a tie", documents.lay_out(json.dumps(opening(tied, {})), "a tie")


SECTIONS = (live, board, phrases, ends, summaries, lists, plans, openings)


def screens() -> str:
    """All of it, each under its name."""
    return "".join(
        f"=== {name}\n{shown}{'' if shown.endswith(chr(10)) else chr(10)}"
        for section in SECTIONS
        for name, shown in section()
    )
