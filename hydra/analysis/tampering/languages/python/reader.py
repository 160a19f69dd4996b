"""All Python files of one side of a patch: which tests they have and what each asks."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence

from hydra.analysis.tampering.languages.python import lines
from hydra.analysis.tampering.languages.python.flow import Function, Walk
from hydra.analysis.tampering.languages.python.module import FAILURES, Class, Module, parse
from hydra.analysis.tampering.languages.python.render import Bound, dotted, render
from hydra.analysis.tampering.languages.python.values import MOST_ROUNDS, bind, elements
from hydra.analysis.tampering.model import (
    Assertion,
    FileReading,
    SkipMark,
    TestRead,
    last_of_each,
    too_much,
    words_in,
)
from hydra.analysis.tampering.test_files import is_configuration, name_of

_COLLECTED_FILE = re.compile(r"tests?[^/]*\.py|.*_tests?\.py", re.I)
_SETUPS = ("setUpClass", "setup_class", "setUp", "asyncSetUp", "setup_method", "setup")
_NO_TESTS = frozenset(("object", "ABC", "abc.ABC", "Enum", "enum.Enum", "Protocol", "NamedTuple"))


def read(texts: Mapping[str, str]) -> Mapping[str, FileReading]:
    """Each file by its path. What does not parse is read by its lines, and says so."""
    modules: dict[str, Module] = {}
    readings: dict[str, FileReading] = {}
    for path, text in texts.items():
        problem = too_much(text)
        if problem:
            readings[path] = FileReading(problem=f"is not read: {problem}")
            continue
        try:
            modules[path] = parse(path, text)
        except FAILURES as error:
            readings[path] = lines.read(path, text, f"cannot be parsed{_where(error)}")
    project = _Project(modules)
    for module in modules.values():
        module.aliases = {**project.taken(module), **module.aliases}
    for path, module in modules.items():
        try:
            readings[path] = _File(module, project).reading()
        except RecursionError:
            readings[path] = lines.read(path, texts[path], "is nested too deeply to be followed")
    return readings


def _where(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.lineno:
        return f" (line {error.lineno:,}: {error.msg})"
    return ""


class _Project:
    """What files of tests take from each other: functions and fixtures of a module's top."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self.called: dict[str, list[Module]] = {}
        for module in modules.values():
            self.called.setdefault(name_of(module.path).removesuffix(".py"), []).append(module)
        self.functions: dict[str, list[tuple[Module, Function]]] = {}
        for module in modules.values():
            for name, function in module.functions.items():
                if not name.startswith("test"):
                    self.functions.setdefault(name, []).append((module, function))

    def taken(self, module: Module) -> Mapping[str, ast.expr]:
        """What names that a module imports stand for in those that are read here."""
        named: dict[str, ast.expr] = {}
        for name, origin in module.imported.items():
            place, _, last = origin.rpartition(".")
            for other in self.called.get(place.rpartition(".")[2], ()):
                named |= {name: other.aliases[last]} if last in other.aliases else {}
            for other in self.called.get(last, ()):
                named |= {f"{name}.{of}": value for of, value in other.aliases.items()}
        return named

    def find(self, name: str, origin: str) -> Function | None:
        """The function of a name; `origin` is the module that it was imported from."""
        many = self.functions.get(name, ())
        stem = origin.rpartition(".")[2]
        for module, function in many:
            if name_of(module.path) == f"{stem}.py":
                return function
        return many[0][1] if many else None

    def fixture(self, name: str) -> Function | None:
        """One that a conftest.py of the patch has."""
        for module, function in self.functions.get(name, ()):
            if is_configuration(module.path) and _is_fixture(function):
                return function
        return None


class _File:
    """Reads one parsed file."""

    def __init__(self, module: Module, project: _Project) -> None:
        self.module, self.project = module, project
        self.setups: dict[str, dict[str, Bound]] = {}
        self.fixtures: dict[str, Bound] = {}
        self.opening: set[str] = set()
        self.collects = bool(_COLLECTED_FILE.fullmatch(name_of(module.path)))

    def reading(self) -> FileReading:
        tests: list[TestRead] = []
        others: list[TestRead] = []
        for name, function in self.module.functions.items():
            if _is_fixture(function):
                continue
            mine = name.startswith("test") and name not in self.module.gone
            if mine or _asserts(function):
                (tests if mine else others).append(self._test(function, None, name))
        for owner in self.module.classes.values():
            collected = self._collected(owner) and owner.name not in self.module.gone
            for name, (function, of) in self._methods(owner, set()).items():
                if of is not owner and not collected:
                    continue
                mine = collected and name.startswith("test")
                full = f"{owner.name}.{name}"
                if mine or (of is owner and _asserts(function)):
                    (tests if mine else others).append(self._test(function, owner, full))
        if not self.collects:
            tests, others = [], [*others, *tests]
        return FileReading(tests=tuple(last_of_each(tests)), others=tuple(others))

    def _collected(self, owner: Class, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a runner takes the class's methods for tests."""
        if "__init__" in owner.methods:
            return False
        last = owner.name.rpartition(".")[2]
        if last.startswith("Test"):
            return True
        for base in owner.bases:
            local = self.module.classes.get(base)
            if local is not None:
                inherits = not local.name.startswith("Test") or _of_unittest(local)
                if base not in seen and inherits and self._collected(local, seen | {owner.name}):
                    return True
            elif base not in _NO_TESTS:
                return True
        return False

    def _methods(self, owner: Class, seen: set[str]) -> dict[str, tuple[Function, Class]]:
        """Its own and those that it has from classes of the same file."""
        pairs: dict[str, tuple[Function, Class]] = {}
        seen.add(owner.name)
        for base in reversed(owner.bases):
            if base in self.module.classes and base not in seen:
                pairs |= self._methods(self.module.classes[base], seen)
        return pairs | {name: (function, owner) for name, function in owner.methods.items()}

    def _test(self, function: Function, owner: Class | None, full: str) -> TestRead:
        module = self.module
        marks = [*module.marks, *module.marks_of(module.decorators, whole=True)]
        if owner is not None:
            marks += (*owner.marks, *module.marks_of(owner.decorators, whole=True))
        marks += module.marks_of(function.decorator_list)
        rows, is_open = self._rows(function, owner)
        assertions: list[Assertion] = []
        walks = [self._walk(function, owner, row) for row in rows]
        for walk in walks:
            assertions += walk.assertions
        first = walks[0] if walks else None
        if not rows:
            marks.append(SkipMark("skip", "parametrized over nothing", function.lineno))
        source = module.source(function)
        return TestRead(
            path=module.path,
            name=full,
            short=function.name,
            line=function.lineno,
            assertions=tuple(assertions),
            silenced=tuple(first.silenced) if first else (),
            marks=(*marks, *(first.marks if first else ())),
            is_open=is_open,
            identifiers=words_in(source),
            body=source,
        )

    def _walk(self, function: Function, owner: Class | None, row: Mapping[str, Bound]) -> Walk:
        names = dict(self.module.names)
        if owner is not None:
            names |= self._setup(owner)
        params = function.args
        for param in (*params.posonlyargs, *params.args, *params.kwonlyargs):
            if param.arg not in ("self", "cls"):
                names[param.arg] = self._fixture(param.arg)
        walk = Walk(lambda call: self._find(call, owner), names | dict(row))
        walk.body(function.body)
        return walk

    def _find(self, call: ast.Call, owner: Class | None) -> Function | None:
        name = dotted(call)
        head, _, rest = name.partition(".")
        if not rest:
            own = self.module.functions.get(name)
            origin = self.module.imported.get(name, "")
            if own is not None or not origin:
                return own
            return self.project.find(origin.rpartition(".")[2], origin.rpartition(".")[0])
        if head in ("self", "cls", "super") and owner is not None and "." not in rest:
            method = self._methods(owner, set()).get(rest)
            return method[0] if method else None
        if head in self.module.imported and "." not in rest:
            return self.project.find(rest, self.module.imported[head])
        return None

    def _setup(self, owner: Class) -> dict[str, Bound]:
        if owner.name not in self.setups:
            self.setups[owner.name] = {}
            methods = self._methods(owner, set())
            for name in _SETUPS:
                if name in methods:
                    start = dict(self.module.names) | self.setups[owner.name]
                    walk = Walk(lambda call: None, start)
                    walk.body(methods[name][0].body)
                    bounds = {k: v for k, v in walk.names.items() if k.startswith("self.")}
                    self.setups[owner.name] |= bounds
        return self.setups[owner.name]

    def _fixture(self, name: str) -> Bound:
        """What a parameter of a test is: what its fixture gives, or its own name."""
        if name in self.fixtures:
            return self.fixtures[name]
        function = self.module.functions.get(name)
        if function is None or not _is_fixture(function):
            function = self.project.fixture(name)
        if function is None or name in self.opening or len(self.opening) > 3:
            return Bound(name)
        self.opening.add(name)
        walk = self._walk(function, None, {})
        self.opening.discard(name)
        nodes = [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Return | ast.Yield) and node.value is not None
        ]
        self.fixtures[name] = bind(nodes[-1], walk.names) if nodes else Bound(name)
        return self.fixtures[name]

    def _rows(
        self, function: Function, owner: Class | None
    ) -> tuple[Sequence[Mapping[str, Bound]], bool]:
        """What the parameters are in each case of a parametrised test: one empty row where it has
        no cases; and whether there are more than these."""
        decorators = [*function.decorator_list, *(owner.node.decorator_list if owner else ())]
        tables: list[list[dict[str, Bound]]] = []
        is_open = False
        for names, values in (table for node in decorators for table in _table(node, function)):
            written = elements(values, self.module.names) if names else None
            is_open |= written is None
            if written is not None:
                tables.append([self._row(names, value) for value in written])
        if math.prod(map(len, tables)) > MOST_ROUNDS:
            return [{}], True
        rows = itertools.product(*tables)
        return [dict(itertools.chain(*(part.items() for part in row))) for row in rows], is_open

    def _row(self, names: Sequence[str], value: ast.expr) -> dict[str, Bound]:
        nodes: Sequence[ast.expr] = [value]
        if isinstance(value, ast.Call) and dotted(value).endswith("param"):
            nodes = value.args
        elif len(names) > 1 and isinstance(value, ast.Tuple | ast.List):
            nodes = value.elts
        if len(nodes) == len(names):
            return {k: bind(v, self.module.names) for k, v in zip(names, nodes, strict=True)}
        whole = render(value, self.module.names)
        return {name: Bound(f"{whole}[{at}]") for at, name in enumerate(names)}


def _table(decorator: ast.expr, function: Function) -> Iterator[tuple[Sequence[str], ast.expr]]:
    """The names and the values of a decorator that makes cases of a test."""
    if not isinstance(decorator, ast.Call) or not decorator.args:
        return
    name = dotted(decorator)
    if name.endswith("mark.parametrize") and len(decorator.args) > 1:
        yield _names(decorator.args[0]), decorator.args[1]
    elif name in ("parameterized.expand", "parameterized", "ddt.data", "data"):
        yield [arg.arg for arg in function.args.args if arg.arg != "self"], decorator.args[0]


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [part.strip() for part in node.value.split(",") if part.strip()]
    if isinstance(node, ast.Tuple | ast.List):
        return [str(elt.value) for elt in node.elts if isinstance(elt, ast.Constant)]
    return []


def _is_fixture(function: Function) -> bool:
    return any(dotted(node).endswith("fixture") for node in function.decorator_list)


def _of_unittest(owner: Class) -> bool:
    return any(base.endswith("TestCase") for base in owner.bases)


def _asserts(function: Function) -> bool:
    """Whether anything in it is an assertion, so that it is worth knowing beside the tests."""
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and "assert" in dotted(node).lower())
        for node in ast.walk(function)
    )
