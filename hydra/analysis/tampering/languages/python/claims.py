"""What one `assert`, one `self.assertX(...)` or one `pytest.raises` asks."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from hydra.analysis.tampering.languages.python.render import Names, dotted, render
from hydra.analysis.tampering.model import Assertion, assertion
from hydra.analysis.tampering.wording import listed_words

BROAD = frozenset(("Exception", "BaseException", "", "object"))

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ORDERS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_OPPOSITE = {"==": "!=", "!=": "==", "in": "not in", "not in": "in", "is there": "== None"}


def claims(test: ast.expr, names: Names, line: int) -> Iterator[Assertion]:
    """What `assert test` asks, each part of an `and` by itself."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            for node in values:
                yield from claims(node, names, line)
        case ast.BoolOp(op=ast.Or(), values=values):
            yield _either(values, names, line)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield negated(operand, names, line)
        case ast.Compare(left=inner, ops=ops, comparators=others):
            sides = [inner, *others]
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
        (claim,) = inner
        if claim.op == "is true":
            return replace(claim, op="is false")
        if claim.op == "is false":
            return replace(claim, op="is true")
        if claim.op == "is there":
            return assertion("==", claim.subject, "None", line)
        if claim.op in _OPPOSITE:
            return assertion(_OPPOSITE[claim.op], claim.subject, claim.expected, line)
        if claim.op == "always holds":
            return claim
    return assertion("is false", render(test, names), "", line)


def _either(values: Sequence[ast.expr], names: Names, line: int) -> Assertion:
    """`a or b`: as weak as one of several values; nothing at all where one always holds."""
    parts = [part for value in values for part in claims(value, names, line)]
    if any(part.op == "always holds" for part in parts):
        return Assertion("always holds", parts[0].subject, "or True", line)
    text = " or ".join(part.description for part in parts)
    return Assertion("in", parts[0].subject, text, line)


def _compared(
    node: ast.expr, way: ast.cmpop, right: ast.expr, names: Names, line: int
) -> Assertion:
    for inner, other in ((node, right), (right, node)):
        if isinstance(inner, ast.Call) and dotted(inner).endswith("approx") and inner.args:
            return _near(other, inner.args[0], inner, names, line)
    a, b = render(node, names), render(right, names)
    match way:
        case ast.Eq() | ast.Is():
            return assertion("==", a, b, line)
        case ast.NotEq() | ast.IsNot():
            return assertion("!=", a, b, line)
        case ast.In() | ast.NotIn():
            written = isinstance(node, ast.Constant)
            op = "in" if isinstance(way, ast.In) else "not in"
            return Assertion(op, b if written else a, a if written else b, line)
    op = _ORDERS[type(way)]
    if isinstance(node, ast.Constant):
        return Assertion(_FLIPPED[op], b, a, line)
    return Assertion(op, a, b, line)


_TOLERANCES = ("abs", "rel", "delta", "abs_tol", "rel_tol", "atol", "rtol")


def _near(a: ast.expr, b: ast.expr, call: ast.Call, names: Names, line: int) -> Assertion:
    claim = assertion("approx", render(a, names), render(b, names), line)
    return replace(claim, tolerance=_tolerance(call)) if claim.op == "approx" else claim


def _tolerance(call: ast.Call) -> float:
    """The widest that it allows, in whatever unit; 0 where it says none."""
    numbers: list[float] = []
    for keyword in call.keywords:
        number = _number(keyword.value)
        if keyword.arg == "places" and number is not None:
            numbers.append(10.0 ** -min(max(number, -300), 300))
        elif keyword.arg in _TOLERANCES and number is not None:
            numbers.append(number)
    if dotted(call).rpartition(".")[2].lower().startswith("assert") and len(call.args) > 2:
        number = _number(call.args[2])
        numbers += [] if number is None else [10.0 ** -min(max(number, -300), 300)]
    elif dotted(call).endswith("approx"):
        numbers += [number for arg in call.args[1:3] if (number := _number(arg)) is not None]
    return max(numbers, default=0.0)


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
    if second is not None and (claim := _two(last, first, second, call, names, line)):
        return (claim,)
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
    rest = [render(arg, names) for arg in call.args[start:]]
    rest += [
        f"{keyword.arg}={render(keyword.value, names)}"
        for keyword in call.keywords
        if keyword.arg not in ("msg", "message", "err_msg")
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
    for keyword in call.keywords:
        if keyword.arg in ("match", "expected_regex"):
            message = render(keyword.value, names)
        elif keyword.arg in ("expected_exception", "exception") and not expected:
            expected = render(keyword.value, names)
    op = "raises anything" if expected in BROAD else "raises"
    assertions = [Assertion(op, subject, expected, line)]
    if message:
        assertions.append(Assertion("matches", f"the error of {subject}", message, line))
    return assertions
