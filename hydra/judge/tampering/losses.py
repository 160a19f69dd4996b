"""What became of the assertions that a test has lost: weaker, other, merged, silenced or gone."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hydra.judge.tampering.pairing import Pair
from hydra.judge.tampering.reading import Assertion, is_literal, words_in

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
    found = Losses()
    for was, now in pair.kept:
        if now.tolerance != was.tolerance and _wider(was, now):
            found.weakened.append((was, now))
        elif now.guard and not was.guard:
            found.guarded.append((was, now))
    lost = [one for one in pair.lost if one.strength > _NOTHING]
    gained = list(pair.gained)
    lost = _silenced(pair, lost, found)
    lost = _matched(lost, gained, _same_question, found)
    lost = _matched(lost, gained, _same_subject, found)
    live = [now for _, now in pair.kept] + list(pair.new.assertions if pair.new else ())
    found.redundant = [one for one in lost if _implied(one, [now for _, now in pair.kept])]
    lost = [one for one in lost if not _implied(one, live)]
    lost = _merged(lost, gained, pair, found)
    _rest(lost, gained, found)
    return found


def _silenced(pair: Pair, lost: Sequence[Assertion], found: Losses) -> list[Assertion]:
    """Takes out those that stand there still and cannot fail."""
    quiet: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    loops: Counter[str] = Counter()
    for held in pair.new.silenced if pair.new else ():
        quiet[held.assertion.key].append(held.why)
        if held.why == "nothing":
            loops[held.assertion.op] += 1
    left: list[Assertion] = []
    for one in lost:
        if quiet[one.key]:
            found.silenced.setdefault(quiet[one.key].pop(), []).append(one)
        elif loops[one.op]:
            found.silenced.setdefault("nothing", []).append(one)
        else:
            left.append(one)
    return left


def _matched(
    lost: Sequence[Assertion],
    gained: list[Assertion],
    alike: Callable[[Assertion], tuple[str, ...] | None],
    found: Losses,
) -> list[Assertion]:
    """Takes out those for which the test has gained one that is `alike`, and notes what differs."""
    there: defaultdict[tuple[str, ...], list[Assertion]] = defaultdict(list)
    for one in gained:
        key = alike(one)
        if key is not None:
            there[key].append(one)
    left: list[Assertion] = []
    for was in lost:
        key = alike(was)
        if key is None or not there[key]:
            left.append(was)
            continue
        now = max(there[key], key=lambda one: one.strength)
        there[key].remove(now)
        gained.remove(now)
        _note(was, now, found)
    return left


def _same_question(one: Assertion) -> tuple[str, ...] | None:
    """The same demand, on what may be the same thing by another name."""
    telling = one.expected and one.op not in ("raises", "raises anything")
    return (one.op, one.expected) if telling else None


def _same_subject(one: Assertion) -> tuple[str, ...] | None:
    return (one.subject,)


def _note(was: Assertion, now: Assertion, found: Losses) -> None:
    if was.subject != now.subject:
        if not words_in(was.subject) & words_in(now.subject) and is_literal(was.expected):
            found.replaced.append((was, now))
        elif now.op == "approx" and _wider(was, now):
            found.weakened.append((was, now))
    elif now.strength < was.strength:
        (found.doubtful if _nearly(was, now) else found.weakened).append((was, now))
    elif now.op == "approx" and _wider(was, now):
        found.weakened.append((was, now))
    elif now.strength == was.strength and now.expected != was.expected:
        found.changed.append((was, now))
    elif now.guard and not was.guard:
        found.guarded.append((was, now))


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
    lost: Sequence[Assertion], gained: list[Assertion], pair: Pair, found: Losses
) -> list[Assertion]:
    """`r[0] == 1` and `len(r) == 2` may be in `r == [1, 2]`; one that does not fit is a change."""
    kept = [now for _, now in pair.kept]
    live = [*kept, *(pair.new.assertions if pair.new else ())]
    whole = [one for one in live if one.op == "==" and is_literal(one.expected)]
    left: list[Assertion] = []
    for was in lost:
        over = next((one for one in whole if _inside(was.subject, one)), None)
        if over is None:
            left.append(was)
            continue
        fits = _fits(was, over)
        if fits is False:
            found.changed.append((was, over))
        elif any(over is now for now in kept):
            found.redundant.append(was)
        if over in gained:
            gained.remove(over)
    return left


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


def _rest(lost: Sequence[Assertion], gained: Sequence[Assertion], found: Losses) -> None:
    """What is left on both sides, the strongest with the strongest."""
    calls = [one for one in gained if one.op == "may ask"]
    if calls and lost:
        found.handed, found.to = list(lost), calls[0].subject
        return
    strong = sorted(gained, key=lambda one: -one.strength)
    pairs = list(zip(sorted(lost, key=lambda one: -one.strength), strong, strict=False))
    for was, now in pairs:
        if now.strength == 0:
            found.weakened.append((was, now))
        elif now.strength < was.strength:
            found.doubtful.append((was, now))
        else:
            found.replaced.append((was, now))
    done = {id(was) for was, _ in pairs}
    found.added = sum(now.strength > _NOTHING for _, now in pairs)
    for one in lost:
        if id(one) not in done:
            doubt = found.added or one.subject in ("fail", "fail()")
            (found.unsure if doubt else found.removed).append(one)
