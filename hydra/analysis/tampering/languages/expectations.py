"""The words of JavaScript's assertion libraries, and what each asks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from hydra.analysis.tampering.languages.expressions import opposite, truth
from hydra.analysis.tampering.model import Assertion, assertion
from hydra.analysis.tampering.wording import listed_words

Chain = Sequence[tuple[str, list[str] | None]]

_FILLERS = frozenset(
    listed_words(
        "to be been is that which and has have with at of same but does still also deep own nested "
        "any all exhaustively a an resolves rejects not should include contain"
    )
)
_EQUAL = "tobe toequal tostrictequal equal equals eq eql eqls strictequal deepequal is samemembers"
_EQUAL += " deepstrictequal same members tomatchsnapshot tomatchinlinesnapshot looseequal like"
_EQUAL += " deepequals strictequals looseequals isequalto issameas containsexactly shouldbe"
_EXPECTATIONS: Mapping[str, str] = {
    **dict.fromkeys(_EQUAL.split(), "=="),
    **dict.fromkeys(listed_words("tobetruthy ok true istrue truthy isok assert"), "is true"),
    **dict.fromkeys(listed_words("tobefalsy false isfalse falsy notok isnotok"), "is false"),
    **dict.fromkeys(
        listed_words(
            "tobedefined exist exists isdefined isnotnull isnotundefined notnullvalue ispresent"
        ),
        "is there",
    ),
    **dict.fromkeys(listed_words("tobecloseto closeto approximately"), "approx"),
    **dict.fromkeys(
        listed_words(
            "tocontain tocontainequal include includes contain contains tomatchobject "
            "property keys string hasitem hasitems containsonly contains containsentry"
        ),
        "in",
    ),
    **dict.fromkeys(
        listed_words("tomatch match matches regex startswith endswith hasmessage"), "matches"
    ),
    **dict.fromkeys(
        listed_words("tobegreaterthan above gt isabove greaterthan isgreaterthan ispositive"), ">"
    ),
    **dict.fromkeys(listed_words("tobegreaterthanorequal least gte atleast isatleast"), ">="),
    **dict.fromkeys(
        listed_words("tobelessthan below lt isbelow lessthan islessthan isnegative"), "<"
    ),
    **dict.fromkeys(listed_words("tobelessthanorequal most lte atmost isatmost"), "<="),
    **dict.fromkeys(
        listed_words("tobeinstanceof instanceof tobetypeof a an typeof instance isa isinstanceof"),
        "is a",
    ),
    **dict.fromkeys(
        listed_words(
            "tothrow tothrowerror throw throws rejects throwsasync rejectedwith rejected "
            "tothrowerrormatchingsnapshot tothrowerrormatchinginlinesnapshot"
        ),
        "raises",
    ),
    **dict.fromkeys(listed_words("doesnotthrow notthrows doesnotreject"), "raises nothing"),
    **dict.fromkeys(
        listed_words(
            "isnotequalto isnotempty notequal notstrictequal notdeepequal notdeepstrictequal not"
        ),
        "!=",
    ),
    **dict.fromkeys(
        listed_words("tohavebeencalled called calledonce tohavebeencalledonce"), "called"
    ),
    **dict.fromkeys(
        listed_words(
            "tohavebeencalledwith tohavebeenlastcalledwith tohavebeennthcalledwith calledwith "
            "tohavebeencalledtimes calledoncewith calledwithexactly callcount"
        ),
        "called with",
    ),
}
_VALUES = {
    "tobenull": "null",
    "null": "null",
    "isnull": "null",
    "tobeundefined": "undefined",
    "undefined": "undefined",
    "isundefined": "undefined",
    "tobenan": "NaN",
    "nan": "NaN",
    "empty": "[]",
    "isempty": "[]",
}
_LENGTHS = frozenset(("tohavelength", "lengthof", "length", "hassize"))
_PARTLY = re.compile(
    r"expect\.(objectContaining|arrayContaining|stringContaining|stringMatching)\("
)
_EXCEPTIONS = frozenset(("", "Error", "Exception", "Throwable"))


def expectation(subject: str, chain: Chain, line: int) -> Assertion:
    """What `expect(subject)` and its chain ask; nothing at all where it has none."""
    pairs = [(term.lower(), args) for term, args in chain]
    negative = any(term == "not" for term, _ in pairs)
    if any(term == "rejects" for term, _ in pairs):
        subject = f"rejects {subject}"
    telling = [(term, args) for term, args in pairs if args is not None or term not in _FILLERS]
    telling = [(w, a) for w, a in telling if w in _EXPECTATIONS or w in _VALUES or a is not None]
    if not telling:
        return Assertion("always holds", f"expect({subject})", "", line)
    term, args = telling[-1]
    claim = _message(subject, term, args or [], line)
    return opposite(claim) if negative else claim


def _message(subject: str, term: str, args: Sequence[str], line: int) -> Assertion:
    first = args[0] if args else ""
    if term in _VALUES:
        return assertion("==", subject, _VALUES[term], line)
    if term in _LENGTHS:
        return assertion("==", f"{subject}.length", first, line)
    if term == "tohaveproperty" and len(args) == 2:
        return assertion("==", f"{subject}.{first.strip(chr(34))}", args[1], line)
    op = _EXPECTATIONS.get(term)
    if op == "approx":
        return replace(assertion(op, subject, first, line), tolerance=_tolerance(term, args))
    if op == "raises":
        kind = first if first not in _EXCEPTIONS else ""
        return Assertion("raises" if kind else "raises anything", subject, kind, line)
    if op == "==":
        return _equal(subject, first or term, line)
    if op in ("is true", "is there", "is false", "called", "raises nothing"):
        return assertion(op, subject, "", line)
    if op is not None:
        text = ", ".join(args)
        return assertion(op, subject, f"{term} {text}" if op == "called with" else text, line)
    return Assertion("asserts", subject, f"{term} {', '.join(args)}".strip(), line)


def _equal(subject: str, expected: str, line: int) -> Assertion:
    if expected == "expect.anything()":
        return assertion("is there", subject, "", line)
    if expected.startswith("expect.any("):
        return Assertion("is a", subject, expected[11:-1], line)
    if _PARTLY.match(expected):
        return Assertion("in", subject, expected, line)
    sides = truth(subject, line) if expected == "true" else []
    if len(sides) == 1 and sides[0].op == "==":
        return sides[0]
    return assertion("==", subject, expected, line)


def _tolerance(term: str, args: Sequence[str]) -> float:
    text = args[1] if len(args) > 1 else ""
    try:
        number = float(text) if text else 2.0
    except ValueError:
        return 0.0
    return 10.0 ** -min(max(number, -300), 300) if term == "tobecloseto" else number


def asked_of(how: str, args: Sequence[str], line: int, is_known: bool) -> list[Assertion]:
    """What `assert.how(...)` asks; none where it is not one (`is_known` False: only words that are
    in the table are)."""
    term, first = how.lower(), args[0] if args else ""
    if term == "fail":
        return [Assertion("asserts", "fail()", "", line)]
    op = _EXPECTATIONS.get(term)
    if not is_known and op is None and term not in _VALUES:
        return []
    if op == "is true":
        return truth(first, line) if first else []
    if op == "is false":
        return [opposite(claim) for claim in truth(first, line)[:1]]
    claim = _message(first, term, args[1:], line)
    return [claim]
