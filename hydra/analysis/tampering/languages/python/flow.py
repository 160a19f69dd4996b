"""The way through a test's body: which assertions run, how often, and which cannot fail."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from hydra.analysis.tampering.languages.python.claims import RAISES, asserted, claims, raising
from hydra.analysis.tampering.languages.python.render import Bound, dotted, render
from hydra.analysis.tampering.languages.python.values import MOST_ROUNDS, bind, elements
from hydra.analysis.tampering.model import MAY_ASK, Assertion, SilencedAssertion, SkipMark

Function = ast.FunctionDef | ast.AsyncFunctionDef
Find = Callable[[ast.Call], Function | None]

_MOST = 2000
_DEEPEST = 4
_SWALLOWED = frozenset(("AssertionError", "Exception", "BaseException"))


@dataclass(slots=True)
class Walk:
    """One test's. `find` gives the function that a call runs, if a file of the patch has it."""

    find: Find
    names: dict[str, Bound]
    assertions: list[Assertion] = field(default_factory=list)
    silenced: list[SilencedAssertion] = field(default_factory=list)
    marks: list[SkipMark] = field(default_factory=list)
    rounds: int = 0
    calls: list[Function] = field(default_factory=list)
    line: int = 0
    """The line of the call by which a helper was reached, 0 in the test itself."""
    guards: list[str] = field(default_factory=list)
    why: str = ""
    """Why what is reached now cannot fail, "" where it can."""

    def body(self, statements: Sequence[ast.stmt]) -> bool:
        """Follows a block; True where it never gets past its end."""
        level = len(self.guards)
        ended = False
        for at, statement in enumerate(statements):
            ended = self._step(statement)
            if ended:
                self._unreached(statements[at + 1 :])
                break
            if leaves := self._leaves(statement):
                self.guards.append(leaves)
        del self.guards[level:]
        return ended

    def _leaves(self, statement: ast.stmt) -> str:
        """`if a: return` puts all that follows under `not a`."""
        if not isinstance(statement, ast.If) or _constant(statement.test) is not None:
            return ""
        if statement.orelse or not isinstance(statement.body[-1], ast.Return | ast.Continue):
            return ""
        return f"not {render(statement.test, self.names)[:300]}"

    def _unreached(self, rest: Sequence[ast.stmt]) -> None:
        if rest and not self.calls:
            before, self.why = self.why, self.why or "return"
            self.body(rest)
            self.why = before

    def _step(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assert(test=test):
                self._claim(test, statement.lineno)
            case ast.Expr(value=value):
                return self._expression(value)
            case ast.Assign(targets=targets, value=value):
                self._calls_in(value)
                for target in targets:
                    self._bind(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._calls_in(value)
                self._bind(target, value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                was = self.names[name].text if name in self.names else name
                self.names[name] = Bound(f"{was} += {render(value, self.names)}"[:1500])
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                return self._with(items, body)
            case ast.If():
                return self._if(statement)
            case ast.For(target=target) | ast.AsyncFor(target=target):
                return self._for(statement, target)
            case ast.While(test=test, body=body):
                if _constant(test) is False:
                    self._under("never", body)
                else:
                    self.body(body)
            case ast.Try() | ast.TryStar():
                return self._try(statement)
            case ast.Return(value=value):
                if value is not None:
                    self._calls_in(value)
                return True
            case ast.Continue() | ast.Break():
                return True
            case ast.Raise(exc=exc):
                self._raise(exc, statement.lineno)
                return True
            case ast.Match(cases=cases):
                for case in cases:
                    self.body(case.body)
        return False

    def _claim(self, test: ast.expr, line: int) -> None:
        for claim in claims(test, self.names, line):
            self._add(claim)

    def _add(self, assertion: Assertion) -> None:
        if len(self.assertions) + len(self.silenced) >= _MOST:
            return
        assertion = replace(
            assertion, line=self.line or assertion.line, guard=" and ".join(self.guards)[:500]
        )
        if self.why:
            self.silenced.append(SilencedAssertion(assertion, self.why))
        else:
            self.assertions.append(assertion)

    def _expression(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Await | ast.Yield) and value.value is not None:
            value = value.value
        if not isinstance(value, ast.Call):
            return False
        if self._skips(value):
            return not self.guards
        return self._call(value)

    def _calls_in(self, value: ast.expr) -> None:
        """A helper that asserts may also give a value."""
        inner = value.value if isinstance(value, ast.Await) else value
        if isinstance(inner, ast.Call):
            self._call(inner, plain=False)

    def _call(self, call: ast.Call, plain: bool = True) -> bool:
        """One call; True where nothing after it runs."""
        name = dotted(call)
        last = name.rpartition(".")[2]
        if last in RAISES or last in ("warns", "assertWarns", "deprecated_call"):
            if plain and (len(call.args) > 1 or call.keywords):
                for assertion in raising(call, "", self.names, call.lineno):
                    self._add(assertion)
            return False
        if name in ("pytest.fail", "self.fail", "fail"):
            self._fails(call.lineno)
            return not self.guards
        function = self.find(call)
        if function is not None:
            self._helper(call, function)
            return False
        many = asserted(call, self.names, call.lineno)
        for assertion in many:
            self._add(assertion)
        if not many and MAY_ASK.fullmatch(last):
            self._add(Assertion("may ask", render(call, self.names), "", call.lineno))
        return False

    def _fails(self, line: int) -> None:
        """`if a != b: fail()` asks what `assert a == b` asks."""
        if not self.guards:
            self._add(Assertion("asserts", "fail()", "", line))
            return
        guard = self.guards.pop()
        self._add(Assertion("is false", guard, "", line))
        self.guards.append(guard)

    def _raise(self, exc: ast.expr | None, line: int) -> None:
        name = dotted(exc) if exc is not None else ""
        if name == "AssertionError":
            self._fails(line)
        elif name in ("unittest.SkipTest", "SkipTest"):
            self._skip(name, line)

    def _skips(self, call: ast.Call) -> bool:
        name = dotted(call)
        if name in ("pytest.skip", "self.skipTest", "pytest.importorskip"):
            self._skip(name, call.lineno)
            return name != "pytest.importorskip"
        if name in ("pytest.xfail",):
            self.marks.append(SkipMark("expected_failure", name, call.lineno, not self.guards))
            return True
        return False

    def _skip(self, text: str, line: int) -> None:
        certain = not self.guards and text != "pytest.importorskip"
        value = f"{text} where {self.guards[-1]}" if self.guards else text
        self.marks.append(SkipMark("skip", value, self.line or line, certain))

    def _helper(self, call: ast.Call, function: Function) -> None:
        """Follows a call into a function of the same patch, its parameters bound."""
        if len(self.calls) >= _DEEPEST or function in self.calls:
            return
        outer, before = self.names, self.line
        self.names = {k: v for k, v in outer.items() if k.startswith("self.") or v.node}
        self.names |= _bound(call, function, outer)
        self.line = self.line or call.lineno
        self.calls.append(function)
        self.body(function.body)
        self.calls.pop()
        self.names, self.line = outer, before

    def _under(self, why: str, body: Sequence[ast.stmt]) -> None:
        before, self.why = self.why, self.why or why
        self.body(body)
        self.why = before

    def _with(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt]) -> bool:
        raised: list[ast.Call] = []
        swallows = False
        for item in items:
            call = item.context_expr
            if not isinstance(call, ast.Call):
                continue
            name = dotted(call)
            last = name.rpartition(".")[2]
            if last in RAISES or last in ("warns", "assertWarns", "assertLogs"):
                raised.append(call)
            elif last == "suppress":
                swallows |= any(dotted(arg) in _SWALLOWED for arg in call.args)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, call)
        for call in raised:
            subject = render(body[-1], self.names) if body else ""
            for assertion in raising(call, subject, self.names, call.lineno):
                self._add(assertion)
        if swallows:
            self._under("swallowed", body)
            return False
        return self.body(body) and not raised

    def _if(self, statement: ast.If) -> bool:
        is_known = _constant(statement.test)
        if is_known is not None:
            live, dead = statement.body, statement.orelse
            if not is_known:
                live, dead = dead, live
            self._under("never", dead)
            return self.body(live)
        guard = render(statement.test, self.names)[:300]
        ends = []
        for body, text in ((statement.body, guard), (statement.orelse, f"not {guard}")):
            before = dict(self.names)
            self.guards.append(text)
            ends.append(self.body(body))
            self.guards.pop()
            self.names = before | self.names if not ends[-1] else before
        return all(ends)

    def _for(self, loop: ast.For | ast.AsyncFor, target: ast.expr) -> bool:
        rows = elements(loop.iter, self.names)
        if rows is not None and not rows:
            self._under("nothing", loop.body)
        elif rows is not None and self.rounds + len(rows) <= MOST_ROUNDS:
            self.rounds += len(rows)
            for row in rows:
                self._bind(target, row)
                self.body(loop.body)
        else:
            self._each(target, render(loop.iter, self.names))
            self.body(loop.body)
        self.body(loop.orelse)
        return False

    def _each(self, target: ast.expr, of: str) -> None:
        for at, name in enumerate(_targets(target)):
            self.names[name] = Bound(f"each{at or ''}({of})"[:1500])

    def _try(self, statement: ast.Try | ast.TryStar) -> bool:
        swallowing = [handler for handler in statement.handlers if _swallows(handler)]
        ended = False
        if swallowing:
            self._under("swallowed", [*statement.body, *statement.orelse])
        else:
            ended = self.body([*statement.body, *statement.orelse])
        for handler in statement.handlers:
            text = render(handler.type, self.names) or "any error"
            self.guards.append(f"it raises {text}")
            self.body(handler.body)
            self.guards.pop()
        self.body(statement.finalbody)
        return ended and not statement.handlers

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = self._value(value)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                self.names[f"self.{name}"] = self._value(value)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                rows = value.elts if isinstance(value, ast.Tuple | ast.List) else None
                if rows is not None and len(rows) == len(elts):
                    before = dict(self.names)
                    for node, row in zip(elts, rows, strict=True):
                        self._bind_from(node, row, before)
                    return
                whole = render(value, self.names)
                for at, node in enumerate(elts):
                    if isinstance(node, ast.Name):
                        self.names[node.id] = Bound(f"{whole}[{at}]"[:1500])
                    else:
                        self._each(node, f"{whole}[{at}]")

    def _bind_from(self, target: ast.expr, value: ast.expr, before: dict[str, Bound]) -> None:
        """One of several that are set together: none of them sees another's new value."""
        if isinstance(target, ast.Name):
            self.names[target.id] = bind(value, before)
        else:
            self._bind(target, value)

    def _value(self, value: ast.expr) -> Bound:
        return bind(value, self.names)


def _bound(call: ast.Call, function: Function, names: Mapping[str, Bound]) -> dict[str, Bound]:
    """A function's parameters by name, as a call gives them."""
    node = function.args
    params = [node.arg for node in (*node.posonlyargs, *node.args)]
    bounds: dict[str, Bound] = {}
    for name, default in zip(reversed(params), reversed(node.defaults), strict=False):
        bounds[name] = bind(default, {})
    for only, other in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        if other is not None:
            bounds[only.arg] = bind(other, {})
    if params and params[0] in ("self", "cls"):
        params = params[1:]
    for name, value in zip(params, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        bounds[name] = bind(value, names)
    for keyword in call.keywords:
        if keyword.arg is not None:
            bounds[keyword.arg] = bind(keyword.value, names)
    return bounds


def _targets(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _constant(test: ast.expr) -> bool | None:
    """What a condition always is, None where only a run can tell."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _constant(test.operand)
        return None if inner is None else not inner
    return bool(test.value) if isinstance(test, ast.Constant) else None


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a failing assertion ends in this handler and nobody hears of it."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    caught = {dotted(kind) if kind is not None else "BaseException" for kind in kinds}
    if not caught & _SWALLOWED:
        return False
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise | ast.Assert):
            return False
        if isinstance(node, ast.Call):
            last = dotted(node).rpartition(".")[2].lower()
            if last.startswith("assert") or last in ("fail", "exit", "_exit"):
                return False
    return True
