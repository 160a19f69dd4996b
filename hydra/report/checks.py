"""What came of checks: a line an event, a table's cells, the baseline, and the reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from hydra.adapters.json_fields import Object, number, string, strings
from hydra.checks.record import ChangedTests, CheckDocument, CheckStatus
from hydra.ranking.model import LaneResult, LaneVerdict
from hydra.records.codec import SCHEMA
from hydra.report.style import paint
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import bullets, clean, duration, gist
from hydra.text import of_run, plural, quoted, shortened

COLUMNS = 3
"""Checks that have a column each; more of them share one."""

NOTHING = "-"


def line(lane: str, kind: str, data: Object) -> str:
    """One event of a check as a line; "" for one that is not worth it."""
    value = describe(kind, data)
    who = clean(lane) or nobodys(kind) or "hydra"
    return f"{who:<10} {value}" if value else ""


def nobodys(kind: str) -> str:
    """Whose an event is that is no lane's; "" where it is the whole run's."""
    if kind.startswith(("check_", "setup_")):
        return "base"
    return "tests" if kind in ("trial_started", "trial_ended") else ""


def describe(kind: str, data: Object) -> str:
    """What an event of a check says, without its lane."""
    again = bool(data.get("again"))
    took = duration(number(data, "seconds"))
    match kind:
        case "check_waiting":
            return waits(data)
        case "check_started":
            return f"check {'again: ' * again}$ {gist(string(data, 'command'))}"
        case "check_ended":
            value = f"{_says(data)}, {took}{_reason(data)}{'' if again else _telling(data)}"
            return f"check {clean(string(data, 'check'))}{', again' * again}: {value}"
        case "setup_started":
            return f"set-up: $ {gist(string(data, 'command'))}"
        case "trial_started":
            return f"trying {trial(data)}"
        case "trial_ended":
            return f"{trial(data)}: {_says(data)}, {took}"
        case "run_warning":
            return f"warning: {gist(string(data, 'text'))}"
    return ""


def trial(data: Object) -> str:
    """Which trial: "claude's tests on codex's patch"."""
    author, on = clean(string(data, "author")), clean(string(data, "on"))
    both = " and settings" if data.get("configuration") else ""
    tests = f"{author}'s tests" if author else f"the base's tests{both}"
    tests = "tests that must fail" if data.get("kind") == "canary" else tests
    again = ", again" if data.get("again") else ""
    where = f"{on}'s patch" if on else "the base"
    return f"{tests} on {where}{again}"


def waits(data: Object) -> str:
    """What a lane's checks wait for."""
    if string(data, "for") == "same":
        return f"waits for {clean(string(data, 'lane'))}'s checks, which are its own: the same tree"
    values = {"baseline": "the base's checks", "agents": "all agents to end"}
    return f"waits for {values.get(string(data, 'for'), _ANOTHERS)}"


_ANOTHERS = "another lane's checks"


def _reason(data: Object) -> str:
    reason = gist(string(data, "reason"))
    if reason == "it exited with 1" or string(data, "status") == "passed":  # what failing means
        return ""
    return f" ({reason})" if reason else ""


def _telling(data: Object) -> str:
    """What it printed of why, as the end of a line; a second run prints the same once more."""
    printed = "; ".join(gist(_sentence(line), _TELLING) for line in strings(data, "telling"))
    return f": {printed}" if printed else ""


_TELLING, _NAME = 80, 48
"""Characters of one printed line, where two of them end a line of the log, and of a name in it."""
_NAMED = re.compile(r"\S{49,}")


def _sentence(line: str) -> str:
    """Up to where a text that a test compares goes on in lines of its own; what is long in it is
    mostly a test's name."""
    first, escaped, _ = line.partition("\\n")
    first = _NAMED.sub(lambda name: shortened(name[0], _NAME), first)
    return f"{first}\u2026" if escaped else first


def _says(data: Object) -> str:
    return gist(string(data, "says")) or clean(string(data, "status")).replace("_", " ") or "?"


# ---- Checks that have ended, as documents have them.


class CheckedLane(Struct, frozen=True):
    """What `hydra check` found of one lane."""

    lane: str
    checks: tuple[CheckDocument, ...]
    held_back: tuple[str, ...] = ()


class CheckedRun(Struct, frozen=True, kw_only=True):
    """What `hydra check` found, as `--json` prints it and as the run's folder keeps it."""

    schema: int = SCHEMA
    kind: str = "check"
    run: str
    folder: str
    baseline: tuple[CheckDocument, ...] = ()
    baseline_recorded: bool = False
    lanes: tuple[CheckedLane, ...] = ()
    exit_code: int = 0
    warnings: tuple[str, ...] = ()


Lane = LaneVerdict | LaneResult | CheckedLane


def says(check: CheckDocument) -> str:
    """A check's result in two or three words."""
    return gist(check.says) or check.status.value.replace("_", " ")


def names(lanes: Sequence[Lane]) -> list[str]:
    """The names of all checks, in the order in which the first lane has them."""
    return list(dict.fromkeys(check.check for lane in lanes for check in lane.checks))


def columns(lanes: Sequence[Lane]) -> list[Column]:
    """A column for each check, one for all where there are many, none where there is none."""
    texts = names(lanes)
    titles = texts if len(texts) <= COLUMNS else ["checks"]
    return [Column(clean(title), floor=6) for title in titles]


def cells(lane: Lane, lanes: Sequence[Lane]) -> list[Cell]:
    """A lane's cells in `columns`."""
    texts, mine = names(lanes), {check.check: check for check in lane.checks}
    if len(texts) <= COLUMNS:
        return [_cell(mine[name]) if name in mine else NOTHING for name in texts]
    if not mine:
        return [NOTHING]
    good = sum(check.status is CheckStatus.PASSED for check in mine.values())
    style = "good" if good == len(mine) else "bad"
    return [StyledText(f"{good} of {len(mine)} passed", style)]


def _cell(check: CheckDocument) -> Cell:
    if check.status is CheckStatus.FAILED and not check.held_back:
        return StyledText(says(check), "warn")
    return StyledText(says(check), "good" if check.status is CheckStatus.PASSED else "bad")


def baseline(checks: Sequence[CheckDocument]) -> list[str]:
    """`base  pytest  41 passed, 2 failed, 5 skipped  3.1s`, a line a check."""
    ran = (CheckStatus.PASSED, CheckStatus.FAILED)
    rows: list[list[Cell]] = [
        [
            "" if number_of else "base",
            check.check,
            says(check) + skipped(check.tests.skipped if check.tests else 0),
            f"{check.seconds:.1f}s" if 0 <= check.seconds < 60 else duration(check.seconds),
            "" if check.status in ran else gist(check.reason),
        ]
        for number_of, check in enumerate(checks)
    ]
    return table(rows, [Column("")] * 5, None, False, indent=0, header=False)


def skipped(count: int) -> str:
    """On the base: tests that prove nothing of any patch."""
    return f", {count:,} skipped" if count else ""


def remarks(checks: Sequence[CheckDocument]) -> list[str]:
    """What is to be said of them, a sentence each."""
    return [f"{clean(row.check)}: {clean(remark)}" for row in checks for remark in row.remarks]


def table_text(checked: CheckedRun, *, width: int | None, color: bool) -> str:
    """What `hydra check` found, for a person; ends with a newline."""
    lanes = checked.lanes
    head = [Column("lane", least=10), *columns(lanes), Column("why", wraps=True, least=32)]
    rows: list[list[Cell]] = [
        [lane.lane, *cells(lane, lanes), "; ".join(map(gist, lane.held_back))] for lane in lanes
    ]
    # What the base's own checks are to be remarked for stands before the lanes'.
    changed = (CheckedLane("base", checked.baseline), *lanes)
    recorded = ["(as it ran before)"] if checked.baseline_recorded else []
    blocks = [
        [
            f"checks of run {clean(checked.run)}",
            *(f"  - {clean(note)}" for note in checked.warnings),
        ],
        [*baseline(checked.baseline), *recorded],
        table(rows, head, width, color),
        *(_changes(lane, width, color) for lane in changed),
        [f"output: {clean(checked.folder)}", compare_again(checked.run)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def compare_again(run: str) -> str:
    """The line that shows what its checks have changed."""
    return f"compare again:  hydra compare{of_run(run)}"


def _changes(lane: CheckedLane, width: int | None, color: bool) -> list[str]:
    """Which tests changed, by name, and what is to be remarked."""
    lines = []
    for check in lane.checks:
        changed, name = check.comparison or ChangedTests(), clean(check.check)
        for change in ("fixed", "broken", "new_failing", "vanished", "flaky"):
            ids = getattr(changed, change)
            count = changed.counts.get(change, len(ids))
            if ids:
                more = f" and {count - 5} more" if count > 5 else ""
                named = ", ".join(clean(quoted(id)) for id in ids[:5])
                term = change.replace("_", " ")
                lines.append(f"{name}: {plural(count, 'test')} {term}: {named}{more}")
        lines += [f"{name}: {gist(string)}" for string in check.telling]
    lines += remarks(lane.checks)
    return [paint(clean(lane.lane), "bold", color), *bullets(lines, width)] if lines else []
