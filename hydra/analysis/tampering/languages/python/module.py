"""One file of Python: its functions, classes and names, and what marks them."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from hydra.analysis.tampering.frameworks import is_python_tool
from hydra.analysis.tampering.languages.python.flow import Function
from hydra.analysis.tampering.languages.python.render import Bound, dotted, render
from hydra.analysis.tampering.languages.python.values import bind
from hydra.analysis.tampering.model import SkipMark
from hydra.analysis.tampering.wording import listed_words

FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


@dataclass(slots=True)
class Class:
    """One class; `bases` by the names that the code gives them."""

    name: str
    node: ast.ClassDef
    bases: tuple[str, ...]
    methods: dict[str, Function] = field(default_factory=dict)
    decorators: list[ast.expr] = field(default_factory=list)
    """Those of all its methods: its own, and its `pytestmark`."""
    marks: list[SkipMark] = field(default_factory=list)


@dataclass(slots=True)
class Module:
    """One file, parsed."""

    path: str
    lines: Sequence[str]
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    names: dict[str, Bound] = field(default_factory=dict)
    aliases: dict[str, ast.expr] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    near: set[str] = field(default_factory=set)
    """Names that it imports from beside itself."""
    decorators: list[ast.expr] = field(default_factory=list)
    """Its `pytestmark`."""
    marks: list[SkipMark] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    """Functions that the file takes away again (`del test_x`, `test_x = None`)."""

    def source(self, node: Function) -> str:
        """A function's text without its decorators."""
        return "\n".join(self.lines[node.lineno - 1 : node.end_lineno])

    def marks_of(self, decorators: Sequence[ast.expr], whole: bool = False) -> Iterator[SkipMark]:
        """What among decorators keeps a test from running or counting."""
        for decorator in decorators:
            name = dotted(decorator)
            if name in self.aliases or not self._is_of_others(name):
                for mark in _mark(decorator, self.aliases, whole):
                    yield replace(mark, line=decorator.lineno)
            elif _TELLS_SKIP.search(name):
                yield SkipMark("skip", name, decorator.lineno, False, whole)

    def _is_of_others(self, name: str) -> bool:
        """Whether a decorator comes of code that is no test's nor a test tool's."""
        first, _, rest = name.partition(".")
        is_known = first in self.near or (first == "mark" and rest)  # whoever passes pytest's on
        origin = "" if is_known else self.imported.get(first, "")
        return bool(origin) and not (is_python_tool(origin) or "test" in origin.lower())


def syntax_tree(text: str) -> ast.Module:
    """As Python itself reads the file: after a byte order mark, in the encoding that it names.

    Raises one of `FAILURES`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.encode())


def parse(path: str, text: str) -> Module:
    """Raises one of `FAILURES`."""
    tree = syntax_tree(text)
    module = Module(path, text.split("\n"))
    _block(tree.body, module)
    return module


def _block(body: Sequence[ast.stmt], module: Module) -> None:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                module.functions.pop(name, None)
                module.functions[name] = statement
                module.gone.discard(name)
            case ast.ClassDef(name=name):
                module.classes[name] = _class(statement, module)
            case ast.Assign(targets=[target], value=value):
                _assign(target, value, module)
            case ast.Import(names=many):
                for node in many:
                    module.imported[node.asname or node.name.partition(".")[0]] = node.name
            case ast.ImportFrom(names=many):
                for node in many:
                    name = node.asname or node.name
                    module.imported[name] = f"{statement.module}.{node.name}"
                    module.near |= {name} if statement.level else set()
            case ast.Delete(targets=targets):
                module.gone.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.If(test=test):
                if not (isinstance(test, ast.Constant) and not test.value):
                    _block(statement.body, module)
                _block(statement.orelse, module)
            case ast.Try():
                _block(statement.body, module)
                for handler in statement.handlers:
                    _block(handler.body, module)
            case ast.Expr(value=ast.Call() as call):
                if dotted(call) in ("pytest.skip", "pytest.importorskip"):
                    certain = dotted(call) == "pytest.skip"
                    module.marks.append(
                        SkipMark("skip", dotted(call), call.lineno, certain, whole=True)
                    )
            case ast.Raise(exc=ast.expr() as exc):
                if dotted(exc).endswith("SkipTest"):
                    module.marks.append(SkipMark("skip", dotted(exc), exc.lineno, whole=True))


def _assign(target: ast.expr, value: ast.expr, module: Module) -> None:
    if isinstance(target, ast.Attribute) and target.attr == "__test__":
        if isinstance(value, ast.Constant) and not value.value:
            module.gone.add(dotted(target.value))
        return
    if not isinstance(target, ast.Name):
        return
    if target.id == "pytestmark":
        module.decorators += _listed(value)
        return
    if target.id == "__test__" and isinstance(value, ast.Constant) and not value.value:
        module.marks.append(SkipMark("skip", "__test__ = False", target.lineno, whole=True))
    if target.id in module.functions or target.id in module.classes:
        module.gone.add(target.id)
    module.aliases[target.id] = value
    module.names[target.id] = bind(value, module.names)


def _class(node: ast.ClassDef, module: Module) -> Class:
    bases = tuple(dotted(base) for base in node.bases)
    kind = Class(node.name, node, bases, decorators=[*node.decorator_list])
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            kind.methods.pop(statement.name, None)
            kind.methods[statement.name] = statement
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name, value = statement.targets[0].id, statement.value
            if name == "pytestmark":
                kind.decorators += _listed(value)
            elif name == "__test__" and isinstance(value, ast.Constant) and not value.value:
                mark = SkipMark("skip", "__test__ = False", statement.lineno, whole=True)
                kind.marks.append(mark)
            elif name in kind.methods:
                del kind.methods[name]
        elif isinstance(statement, ast.ClassDef):
            inner = _class(statement, module)
            inner.name = f"{node.name}.{statement.name}"
            module.classes[inner.name] = inner
    return kind


def _listed(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, ast.List | ast.Tuple) else [value]


_SKIPS = frozenset(("skip", "skipif", "skipIf", "skipUnless", "SkipTest", "skip_if", "skip_unless"))
_FAILS = frozenset(("xfail", "expectedFailure"))
_TELLS_SKIP = re.compile(
    r"(?:^|\.)(?:xfail|skip)_?(?:[Ii]f|[Uu]nless|[Oo]n|[Ii]n|[Ff]or|[Ww]hen|[Uu]ntil|[Ww]ithout)"
    r"(?=[_A-Z]|$)\w*$|(?:^|\.)skip_(?:all|ci|flaky|slow|tests?)(?:_\w*)?$"
)
"""How decorators of a project's own that keep tests from running are called."""
_SURROUNDINGS = (
    "sys.platform",
    "os.name",
    "sys.version_info",
    "platform.",
    "shutil.which",
    "find_spec",
    "HAS_",
    "environ",
    "getenv",
    "IS_",
    "WIN",
    "MAC",
    "LINUX",
    "PY",
    "CI",
)
_LEFT_OUT = frozenset(
    listed_words(
        "slow live integration network manual nightly wip quarantine broken disabled ignore "
        "external online long expensive todo stress benchmark"
    )
)
"""Marks of a project's own that its runs often leave out."""


def _mark(
    node: ast.expr, aliases: dict[str, ast.expr], whole: bool, depth: int = 0
) -> Iterator[SkipMark]:
    name = dotted(node)
    if name in aliases and depth < 3:
        yield from _mark(aliases[name], aliases, whole, depth + 1)
        return
    *above, last = name.split(".")
    if last in _SKIPS:
        condition = _condition(node, last)
        if condition == "False":
            return
        sure = condition in ("", "True") or not any(name in condition for name in _SURROUNDINGS)
        text = f"{name} {condition}".strip() if condition != "True" else name
        yield SkipMark("skip", text, node.lineno, sure, whole)
    elif last in _FAILS:
        yield SkipMark("expected_failure", name, node.lineno, True, whole)
    elif (above[-1:] == ["mark"] and last in _LEFT_OUT) or _TELLS_SKIP.search(name):
        yield SkipMark("skip", name, node.lineno, False, whole)


def _condition(node: ast.expr, last: str) -> str:
    """Under which condition it skips, "" where always."""
    if last in ("skip", "SkipTest") or not isinstance(node, ast.Call):
        return ""
    nodes = [keyword.value for keyword in node.keywords if keyword.arg == "condition"]
    test = node.args[0] if node.args else (nodes[0] if nodes else None)
    if test is None:
        return ""
    if last == "skipUnless":
        return (
            f"unless {render(test, {})}"
            if not isinstance(test, ast.Constant)
            else str(not test.value)
        )
    if isinstance(test, ast.Constant) and not isinstance(test.value, str):
        return str(bool(test.value))
    return render(test, {})
