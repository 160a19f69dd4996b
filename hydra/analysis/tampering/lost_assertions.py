"""What became of the assertions that a test has lost: weaker, other, merged, silenced or gone."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hydra.analysis.tampering.model import Assertion, is_literal, words_in
from hydra.analysis.tampering.pairs import Pair

Change = tuple[Assertion, Assertion]

_DEFAULT_TOLERANCE = 1e-6
_NOTHING = 5
"""Strength up to which the loss of an assertion is none."""


@dataclass(slots=True)
class Losses:
    """One test's. `doubtful` are weakened in form, where the two may ask the same; `replaced` ask
    something else now; `guarded` run only under a new condition; what `redundant` ones asked,
    another one that was there before asks too; `handed` ones may be asked by a call that is new
    (`to`) of a function that the patch does not have; where the test has `added` others, or fails
    in another way, `unsure` ones may be in them."""

    removed: list[Assertion] = field(default_factory=list)
    weakened: list[Change] = field(default_factory=list)
    doubtful: list[Change] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    replaced: list[Change] = field(default_factory=list)
    guarded: list[Change] = field(default_factory=list)
    redundant: list[Assertion] = field(default_factory=list)
    handed: list[Assertion] = field(default_factory=list)
    unsure: list[Assertion] = field(default_factory=list)
    added: int = 0
    to: str = ""
    silenced: dict[str, list[Assertion]] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """Whether there is anything to tell."""
        return any(getattr(self, name) for name in self.__slots__)


def losses(pair: Pair) -> Losses:
    """Sorts what a pair has lost. Its test is still there, perhaps under another name."""
    loss_counts = Losses()
    for was, now in pair.matched:
        if now.tolerance != was.tolerance and _wider(was, now):
            loss_counts.weakened.append((was, now))
        elif now.guard and not was.guard:
            loss_counts.guarded.append((was, now))
    loss_counts.replaced += pair.elsewhere
    remaining = {(now.line, *now.key) for now, _ in pair.matched}
    lost = [assertion for assertion in pair.lost if assertion.strength > _NOTHING]
    loss_counts.redundant = [case for case in lost if (case.line, *case.key) in remaining]
    lost = [case for case in lost if (case.line, *case.key) not in remaining]
    gained = list(pair.gained)
    lost = _silenced(pair, lost, loss_counts)
    lost = _matched(lost, gained, _same_question, loss_counts)
    lost = _matched(lost, gained, _same_subject, loss_counts)
    live = [now for _, now in pair.matched] + list(pair.new.assertions if pair.new else ())
    loss_counts.redundant += [
        assertion for assertion in lost if _implied(assertion, [now for _, now in pair.matched])
    ]
    lost = [assertion for assertion in lost if not _implied(assertion, live)]
    lost = _merged(lost, gained, pair, loss_counts)
    _rest(lost, gained, loss_counts)
    return loss_counts


def _silenced(pair: Pair, lost: Sequence[Assertion], loss_counts: Losses) -> list[Assertion]:
    """Takes out those that stand there still and cannot fail."""
    quiet: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    loops: Counter[str] = Counter()
    for assertion in pair.new.silenced if pair.new else ():
        quiet[assertion.assertion.key].append(assertion.why)
        if assertion.why == "nothing":
            loops[assertion.assertion.op] += 1
    assertions: list[Assertion] = []
    for claim in lost:
        if quiet[claim.key]:
            loss_counts.silenced.setdefault(quiet[claim.key].pop(), []).append(claim)
        elif loops[claim.op]:
            loss_counts.silenced.setdefault("nothing", []).append(claim)
        else:
            assertions.append(claim)
    return assertions


def _matched(
    lost: Sequence[Assertion],
    gained: list[Assertion],
    alike: Callable[[Assertion], tuple[str, ...] | None],
    loss_counts: Losses,
) -> list[Assertion]:
    """Takes out those for which the test has gained one that is `alike`, and notes what differs."""
    rows: defaultdict[tuple[str, ...], list[Assertion]] = defaultdict(list)
    for assertion in gained:
        key = alike(assertion)
        if key is not None:
            rows[key].append(assertion)
    assertions: list[Assertion] = []
    for was in lost:
        key = alike(was)
        if key is None or not rows[key]:
            assertions.append(was)
            continue
        now = max(rows[key], key=lambda assertion: assertion.strength)
        rows[key].remove(now)
        gained.remove(now)
        _note(was, now, loss_counts)
    return assertions


def _same_question(assertion: Assertion) -> tuple[str, ...] | None:
    """The same demand, on what may be the same thing by another name."""
    telling = assertion.expected and assertion.op not in ("raises", "raises anything")
    return (assertion.op, assertion.expected) if telling else None


def _same_subject(assertion: Assertion) -> tuple[str, ...] | None:
    return (assertion.subject,)


def _note(was: Assertion, now: Assertion, loss_counts: Losses) -> None:
    if was.subject != now.subject:
        if not words_in(was.subject) & words_in(now.subject) and is_literal(was.expected):
            loss_counts.replaced.append((was, now))
        elif now.op == "approx" and _wider(was, now):
            loss_counts.weakened.append((was, now))
    elif now.strength < was.strength:
        (loss_counts.doubtful if _nearly(was, now) else loss_counts.weakened).append((was, now))
    elif now.op == "approx" and _wider(was, now):
        loss_counts.weakened.append((was, now))
    elif now.strength == was.strength and now.expected != was.expected:
        loss_counts.changed.append((was, now))
    elif now.guard and not was.guard:
        loss_counts.guarded.append((was, now))


def _wider(was: Assertion, now: Assertion) -> bool:
    before = was.tolerance or _DEFAULT_TOLERANCE
    return (now.tolerance or _DEFAULT_TOLERANCE) > before * 1.001


_EMPTY = frozenset(("[]", "{}", "()", "''", '""', "0", "None", "null", "nil", "set()", "0.0"))


def _nearly(was: Assertion, now: Assertion) -> bool:
    """`x == []` and `not x`: a matter of style to many, though the second lets more through."""
    return was.op == "==" and was.expected in _EMPTY and now.op == "is false"


def _implied(was: Assertion, live: Sequence[Assertion]) -> bool:
    """Whether a stronger one on the same subject says it too."""
    weak = was.op in ("is there", "is true", "is a", "!=")
    return weak and any(now.op == "==" and now.subject == was.subject for now in live)


def _merged(
    lost: Sequence[Assertion], gained: list[Assertion], pair: Pair, loss_counts: Losses
) -> list[Assertion]:
    """`r[0] == 1` and `len(r) == 2` may be in `r == [1, 2]`; one that does not fit is a change."""
    assertions = [now for _, now in pair.matched]
    live = [*assertions, *(pair.new.assertions if pair.new else ())]
    whole = [
        assertion for assertion in live if assertion.op == "==" and is_literal(assertion.expected)
    ]
    items: list[Assertion] = []
    for was in lost:
        over = next((assertion for assertion in whole if _inside(was.subject, assertion)), None)
        if over is None:
            items.append(was)
            continue
        fits = _fits(was, over)
        if fits is False:
            loss_counts.changed.append((was, over))
        elif any(over is now for now in assertions):
            loss_counts.redundant.append(was)
        if over in gained:
            gained.remove(over)
    return items


def _inside(part: str, whole: Assertion) -> bool:
    of = whole.subject
    if part == f"len({of})" or part.startswith(f"{of}["):
        return True
    sized = part in (f"{of}.length", f"{of}.size", f"{of}.size()", f"{of}.len()")
    return sized or (part.startswith(f"{of}.") and whole.expected.startswith("{"))


def _fits(was: Assertion, over: Assertion) -> bool | None:
    """Whether a whole value has the part that was asked for; None where that cannot be told."""
    if was.op != "==" or len(over.expected) > 5000:
        return None
    rest = was.subject.removeprefix(over.subject)
    try:
        value = ast.literal_eval(over.expected)
        expected = ast.literal_eval(was.expected)
        if was.subject == f"len({over.subject})":
            return bool(len(value) == expected)
        if rest.startswith("[") and rest.endswith("]"):
            return bool(value[ast.literal_eval(rest[1:-1])] == expected)
    except (ValueError, SyntaxError, TypeError, LookupError, RecursionError, MemoryError):
        return None
    return None


def _rest(lost: Sequence[Assertion], gained: Sequence[Assertion], loss_counts: Losses) -> None:
    """What is left on both sides, the strongest with the strongest."""
    calls = [assertion for assertion in gained if assertion.op == "may ask"]
    if calls and lost:
        loss_counts.handed, loss_counts.to = list(lost), calls[0].subject
        return
    strong = sorted(gained, key=lambda assertion: -assertion.strength)
    pairs = list(zip(sorted(lost, key=lambda assertion: -assertion.strength), strong, strict=False))
    for was, now in pairs:
        if now.strength == 0:
            loss_counts.weakened.append((was, now))
        elif now.strength < was.strength:
            loss_counts.doubtful.append((was, now))
        else:
            loss_counts.replaced.append((was, now))
    done = {id(was) for was, _ in pairs}
    loss_counts.added = sum(now.strength > _NOTHING for _, now in pairs)
    for assertion in lost:
        if id(assertion) not in done:
            doubt = loss_counts.added or assertion.subject in ("fail", "fail()")
            (loss_counts.unsure if doubt else loss_counts.removed).append(assertion)
