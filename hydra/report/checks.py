"""What came of checks: a line an event, a table's cells, the baseline, and the reasons."""

from __future__ import annotations

import re

from hydra.report.document import Data, number, record, records, strings, text
from hydra.report.style import paint
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import bullets, clean, duration, gist
from hydra.text import of_run, plural, quoted, shortened

COLUMNS = 3
"""Checks that have a column each; more of them share one."""

_STYLES = {"passed": "good", "failed": "bad", "flaky": "warn"}
NOTHING = "-"


def line(lane: str, kind: str, data: Data) -> str:
    """One event of a check as a line; "" for one that is not worth it."""
    value = describe(kind, data)
    who = clean(lane) or nobodys(kind) or "hydra"
    return f"{who:<10} {value}" if value else ""


def nobodys(kind: str) -> str:
    """Whose an event is that is no lane's; "" where it is the whole run's."""
    if kind.startswith(("check_", "setup_")):
        return "base"
    return "tests" if kind in ("trial_started", "trial_ended") else ""


def describe(kind: str, data: Data) -> str:
    """What an event of a check says, without its lane."""
    if kind == "check_waiting":
        return waits(data)
    if kind == "check_started":
        again = "again: " if data.get("again") else ""
        return f"check {again}$ {gist(text(data, 'command'))}"
    if kind == "check_ended":
        again = ", again" if data.get("again") else ""
        took = duration(number(data, "seconds"))
        value = f"{says(data)}, {took}{_reason(data)}{_telling(data)}"
        return f"check {clean(text(data, 'check'))}{again}: {value}"
    if kind == "setup_started":
        return f"set-up: $ {gist(text(data, 'command'))}"
    if kind == "trial_started":
        return f"trying {trial(data)}"
    if kind == "trial_ended":
        return f"{trial(data)}: {says(data)}, {duration(number(data, 'seconds'))}"
    if kind == "run_warning":
        return f"warning: {gist(text(data, 'text'))}"
    return ""


def trial(data: Data) -> str:
    """Which trial: "claude's tests on codex's patch"."""
    author, on = clean(text(data, "author")), clean(text(data, "on"))
    both = " and settings" if data.get("configuration") else ""
    tests = f"{author}'s tests" if author else f"the base's tests{both}"
    tests = "tests that must fail" if data.get("kind") == "canary" else tests
    again = ", again" if data.get("again") else ""
    where = f"{on}'s patch" if on else "the base"
    return f"{tests} on {where}{again}"


def waits(data: Data) -> str:
    """What a lane's checks wait for."""
    if text(data, "for") == "same":
        return f"waits for {clean(text(data, 'lane'))}'s checks, which are its own: the same tree"
    values = {"baseline": "the base's checks", "agents": "all agents to end"}
    return f"waits for {values.get(text(data, 'for'), _ANOTHERS)}"


_ANOTHERS = "another lane's checks"


def _reason(data: Data) -> str:
    reason = gist(text(data, "reason"))
    if reason == "it exited with 1" or text(data, "status") == "passed":  # what failing means
        return ""
    return f" ({reason})" if reason else ""


def _telling(data: Data) -> str:
    """What it printed of why, as the end of a line; of a second run it is the same once more."""
    if data.get("again"):
        return ""
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


def says(check: Data) -> str:
    """A check's result in two or three words."""
    return gist(text(check, "says")) or clean(text(check, "status")).replace("_", " ") or "?"


def names(lanes: list[Data]) -> list[str]:
    """The names of all checks, in the order in which the first lane has them."""
    return list(
        dict.fromkeys(text(row, "check") for lane in lanes for row in records(lane, "checks"))
    )


def columns(lanes: list[Data]) -> list[Column]:
    """A column for each check, one for all where there are many, none where there is none."""
    texts = names(lanes)
    titles = texts if len(texts) <= COLUMNS else ["checks"]
    return [Column(clean(title), floor=6) for title in titles]


def cells(lane: Data, lanes: list[Data]) -> list[Cell]:
    """A lane's cells in `columns`."""
    texts = names(lanes)
    documents = {text(check, "check"): check for check in records(lane, "checks")}
    if len(texts) <= COLUMNS:
        return [_cell(documents[name]) if name in documents else NOTHING for name in texts]
    if not documents:
        return [NOTHING]
    good = sum(1 for check in documents.values() if text(check, "status") == "passed")
    style = "good" if good == len(documents) else "bad"
    return [StyledText(f"{good} of {len(documents)} passed", style)]


def _cell(check: Data) -> Cell:
    value = says(check)
    if text(check, "status") == "failed" and not text(check, "held_back"):
        return StyledText(value, "warn")
    return StyledText(value, _STYLES.get(text(check, "status"), "bad"))


def baseline(document: Data) -> list[str]:
    """`base  pytest  41 passed, 2 failed, 5 skipped  3.1s`, a line a check."""
    documents = records(document, "baseline")
    rows: list[list[Cell]] = [
        [
            "base" if not number_of else "",
            text(check, "check"),
            says(check) + skipped(record(check, "tests")),
            _took(number(check, "seconds")),
            gist(text(check, "reason"))
            if text(check, "status") not in ("passed", "failed")
            else "",
        ]
        for number_of, check in enumerate(documents)
    ]
    return table(rows, [Column("")] * 5, None, False, indent=0, header=False)


def skipped(counts: Data) -> str:
    """On the base: tests that prove nothing of any patch."""
    count = int(number(counts, "skipped") or 0)
    return f", {count:,} skipped" if count else ""


def _took(seconds: float | None) -> str:
    return f"{seconds:.1f}s" if seconds is not None and seconds < 60 else duration(seconds)


def reasons(lane: Data) -> str:
    """Why its checks keep a lane from being usable."""
    return "; ".join(map(gist, strings(lane, "held_back")))


def remarks(lane: Data, key: str = "checks") -> list[str]:
    """What is to be said of a lane's checks, a sentence each; of the base's, by `baseline`."""
    return [
        f"{clean(text(check, 'check'))}: {clean(remark)}"
        for check in records(lane, key)
        for remark in strings(check, "remarks")
    ]


def table_text(document: Data, *, width: int | None, color: bool) -> str:
    """The document of `hydra check` for a person; ends with a newline."""
    lanes, run = records(document, "lanes"), text(document, "run")
    head = [Column("lane", least=10), *columns(lanes), Column("why", wraps=True, least=32)]
    rows: list[list[Cell]] = [
        [text(lane, "lane"), *cells(lane, lanes), reasons(lane)] for lane in lanes
    ]
    blocks = [
        [f"checks of run {clean(run)}", *_notes(document)],
        [*baseline(document), *_recorded(document)],
        table(rows, head, width, color),
        *(_changes(lane, width, color) for lane in (_as_a_lane(document), *lanes)),
        [f"output: {clean(text(document, 'folder'))}", compare_again(run)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def compare_again(run: str) -> str:
    """The line that shows what its checks have changed."""
    return f"compare again:  hydra compare{of_run(run)}"


def _notes(document: Data) -> list[str]:
    return [f"  - {clean(note)}" for note in strings(document, "warnings")]


def _as_a_lane(document: Data) -> Data:
    # What the base's own checks are to be remarked for stands before the lanes'.
    return {"lane": "base", "checks": records(document, "baseline")}


def _recorded(document: Data) -> list[str]:
    return ["(as it ran before)"] if document.get("baseline_recorded") else []


def _changes(lane: Data, width: int | None, color: bool) -> list[str]:
    """Which tests changed, by name, and what is to be remarked."""
    lines = []
    for check in records(lane, "checks"):
        document = record(check, "comparison")
        counts = record(document, "counts")
        for change in ("fixed", "broken", "new_failing", "vanished", "flaky"):
            ids = strings(document, change)
            count = int(number(counts, change) or 0)
            if ids:
                more = f" and {count - 5} more" if count > 5 else ""
                term = change.replace("_", " ")
                named = ", ".join(clean(quoted(id)) for id in ids[:5])
                lines.append(
                    f"{clean(text(check, 'check'))}: {plural(count, 'test')} {term}: {named}{more}"
                )
        lines += [
            f"{clean(text(check, 'check'))}: {gist(string)}" for string in strings(check, "telling")
        ]
    lines += remarks(lane)
    if not lines:
        return []
    head = paint(clean(text(lane, "lane")), "bold", color)
    return [head, *bullets(lines, width)]
