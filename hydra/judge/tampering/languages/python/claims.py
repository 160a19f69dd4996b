"""What one `assert`, one `self.assertX(...)` or one `pytest.raises` asks."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hydra.judge.tampering.languages.python.render import Names, dotted, render
from hydra.judge.tampering.reading import Assertion, assertion
from hydra.judge.tampering.words import listed_words

BROAD = frozenset(("Exception", "BaseException", "", "object"))

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ORDERS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_OPPOSITE = {"==": "!=", "!=": "==", "in": "not in", "not in": "in", "is there": "== None"}


def claims(test: ast.expr, names: Names, line: int) -> Iterator[Assertion]:
    """What `assert test` asks, each part of an `and` by itself."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            for one in values:
                yield from claims(one, names, line)
        case ast.BoolOp(op=ast.Or(), values=values):
            yield _either(values, names, line)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield negated(operand, names, line)
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [left, *others]
            for at, way in enumerate(ops):
                yield _compared(sides[at], way, sides[at + 1], names, line)
        case ast.Constant(value=value):
            yield Assertion("always holds" if value else "asserts", render(test, names), "", line)
        case ast.Tuple(elts=[_, *_]):
            yield Assertion("always holds", render(test, names), "", line)
        case ast.Call():
            yield _called(test, names, line)
        case _:
            yield assertion("is true", render(test, names), "", line)


def negated(test: ast.expr, names: Names, line: int) -> Assertion:
    """What `assert not test` asks."""
    inner = list(claims(test, names, line))
    if len(inner) == 1:
        (one,) = inner
        if one.op == "is true":
            return replace(one, op="is false")
        if one.op == "is false":
            return replace(one, op="is true")
        if one.op == "is there":
            return assertion("==", one.subject, "None", line)
        if one.op in _OPPOSITE:
            return assertion(_OPPOSITE[one.op], one.subject, one.expected, line)
        if one.op == "always holds":
            return one
    return assertion("is false", render(test, names), "", line)


def _either(values: Sequence[ast.expr], names: Names, line: int) -> Assertion:
    """`a or b`: as weak as one of several values; nothing at all where one always holds."""
    parts = [part for value in values for part in claims(value, names, line)]
    if any(part.op == "always holds" for part in parts):
        return Assertion("always holds", parts[0].subject, "or True", line)
    told = " or ".join(part.words for part in parts)
    return Assertion("in", parts[0].subject, told, line)


def _compared(
    left: ast.expr, way: ast.cmpop, right: ast.expr, names: Names, line: int
) -> Assertion:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, ast.Call) and dotted(one).endswith("approx") and one.args:
            return _near(other, one.args[0], one, names, line)
    a, b = render(left, names), render(right, names)
    match way:
        case ast.Eq() | ast.Is():
            return assertion("==", a, b, line)
        case ast.NotEq() | ast.IsNot():
            return assertion("!=", a, b, line)
        case ast.In() | ast.NotIn():
            written = isinstance(left, ast.Constant)
            op = "in" if isinstance(way, ast.In) else "not in"
            return Assertion(op, b if written else a, a if written else b, line)
    op = _ORDERS[type(way)]
    if isinstance(left, ast.Constant):
        return Assertion(_FLIPPED[op], b, a, line)
    return Assertion(op, a, b, line)


_TOLERANCES = ("abs", "rel", "delta", "abs_tol", "rel_tol", "atol", "rtol")


def _near(a: ast.expr, b: ast.expr, call: ast.Call, names: Names, line: int) -> Assertion:
    found = assertion("approx", render(a, names), render(b, names), line)
    return replace(found, tolerance=_tolerance(call)) if found.op == "approx" else found


def _tolerance(call: ast.Call) -> float:
    """The widest that it allows, in whatever unit; 0 where it says none."""
    given: list[float] = []
    for word in call.keywords:
        number = _number(word.value)
        if word.arg == "places" and number is not None:
            given.append(10.0 ** -min(max(number, -300), 300))
        elif word.arg in _TOLERANCES and number is not None:
            given.append(number)
    if dotted(call).rpartition(".")[2].lower().startswith("assert") and len(call.args) > 2:
        number = _number(call.args[2])
        given += [] if number is None else [10.0 ** -min(max(number, -300), 300)]
    elif dotted(call).endswith("approx"):
        given += [number for one in call.args[1:3] if (number := _number(one)) is not None]
    return max(given, default=0.0)


def _number(node: ast.expr) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        try:
            return float(node.value)
        except OverflowError:
            return None
    return None


def _called(call: ast.Call, names: Names, line: int) -> Assertion:
    """`assert f(...)`, where f may be a comparison in other words."""
    name, args = dotted(call), call.args
    last = name.rpartition(".")[2]
    if last == "isinstance" and len(args) == 2:
        return Assertion("is a", render(args[0], names), render(args[1], names), line)
    if last in ("isclose", "allclose") and len(args) >= 2:
        return _near(args[0], args[1], call, names, line)
    if last == "array_equal" and len(args) == 2:
        return assertion("==", render(args[0], names), render(args[1], names), line)
    if last in ("startswith", "endswith") and isinstance(call.func, ast.Attribute) and args:
        subject = render(call.func.value, names)
        return Assertion("matches", subject, f"{last} {render(args[0], names)}", line)
    if name in ("re.match", "re.search", "re.fullmatch") and len(args) >= 2:
        return Assertion("matches", render(args[1], names), render(args[0], names), line)
    if name == "bool" and len(args) == 1:
        return next(claims(args[0], names, line), Assertion("is true", "", "", line))
    return assertion("is true", render(call, names), "", line)


_EQUAL = frozenset(
    listed_words(
        "assertEqual assertEquals assertListEqual assertDictEqual assertTupleEqual assertSetEqual "
        "assertSequenceEqual assertMultiLineEqual assertIs assert_equal assert_array_equal "
        "assert_frame_equal assert_series_equal assertQuerySetEqual assertQuerysetEqual "
        "assertJSONEqual assertHTMLEqual assertXMLEqual failUnlessEqual assert_string_equal"
    )
)
_NEAR = frozenset(
    listed_words(
        "assertAlmostEqual assertAlmostEquals assert_allclose assert_almost_equal "
        "assert_array_almost_equal assert_approx_equal"
    )
)
_ORDER = {"Less": "<", "LessEqual": "<=", "Greater": ">", "GreaterEqual": ">="}
RAISES = frozenset(("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"))
_CALLED_WITH = ("assert_called_with", "assert_called_once_with", "assert_any_call")
_CALLED = ("assert_called", "assert_called_once", "assert_not_called")


def asserted(call: ast.Call, names: Names, line: int) -> Sequence[Assertion]:
    """What a call asks that is an assertion by its name; none where it is not."""
    last, args = dotted(call).rpartition(".")[2], call.args
    if not last.lower().startswith(("assert", "failunless")):
        return ()
    first = args[0] if args else None
    second = args[1] if len(args) > 1 else None
    if last in _CALLED_WITH or last in ("assert_has_calls", *_CALLED):
        return (_mock(call, last, names, line),)
    if first is None:
        return (Assertion("asserts", last, _rest(call, 0, names), line),)
    if last in ("assertTrue", "assert_", "failUnless"):
        return tuple(claims(first, names, line))
    if last == "assertFalse":
        return (negated(first, names, line),)
    subject = render(first, names)
    if last == "assertIsNone":
        return (assertion("==", subject, "None", line),)
    if last == "assertIsNotNone":
        return (assertion("is there", subject, "", line),)
    if second is not None and (found := _two(last, first, second, call, names, line)):
        return (found,)
    return (Assertion("asserts", subject, f"{last} {_rest(call, 1, names)}".strip(), line),)


def _two(
    last: str, first: ast.expr, second: ast.expr, call: ast.Call, names: Names, line: int
) -> Assertion | None:
    """An assertion on two values."""
    a, b = render(first, names), render(second, names)
    if last in _EQUAL:
        return assertion("==", a, b, line)
    if last in ("assertNotEqual", "assertNotEquals", "assertIsNot"):
        return assertion("!=", a, b, line)
    if last in ("assertCountEqual", "assertItemsEqual"):
        return assertion("same items", a, b, line)
    if last in _NEAR:
        return _near(first, second, call, names, line)
    if last in ("assertIn", "assertNotIn"):
        way = ast.In() if last == "assertIn" else ast.NotIn()
        return _compared(first, way, second, names, line)
    if last == "assertIsInstance":
        return Assertion("is a", a, b, line)
    if last in ("assertRegex", "assertRegexpMatches"):
        return Assertion("matches", a, b, line)
    order = _ORDER.get(last.removeprefix("assert"))
    if order and isinstance(first, ast.Constant):
        return Assertion(_FLIPPED[order], b, a, line)
    return Assertion(order, a, b, line) if order else None


def _mock(call: ast.Call, last: str, names: Names, line: int) -> Assertion:
    of = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    op = "called" if last in _CALLED else "called with"
    return Assertion(op, render(of, names), f"{last} {_rest(call, 0, names)}".strip(), line)


def _rest(call: ast.Call, start: int, names: Names) -> str:
    """Its other arguments; a message is none."""
    rest = [render(one, names) for one in call.args[start:]]
    rest += [
        f"{one.arg}={render(one.value, names)}"
        for one in call.keywords
        if one.arg not in ("msg", "message", "err_msg")
    ]
    return ", ".join(rest)


def raising(call: ast.Call, body: str, names: Names, line: int) -> Sequence[Assertion]:
    """What `pytest.raises(...)`, `assertRaises` ask of `body`; the words of the error are an
    assertion of their own."""
    last, args = dotted(call).rpartition(".")[2], call.args
    expected = render(args[0], names) if args else ""
    subject, message = body, ""
    if last.startswith("assertRaisesRegex") and len(args) > 1:
        message = render(args[1], names)
    elif len(args) > 1 and not body:
        subject = f"{render(args[1], names)}({', '.join(render(a, names) for a in args[2:])})"
    for word in call.keywords:
        if word.arg in ("match", "expected_regex"):
            message = render(word.value, names)
        elif word.arg in ("expected_exception", "exception") and not expected:
            expected = render(word.value, names)
    op = "raises anything" if expected in BROAD else "raises"
    found = [Assertion(op, subject, expected, line)]
    if message:
        found.append(Assertion("matches", f"the error of {subject}", message, line))
    return found
