"""Python code that changes modules that are not its own: test tools, the interpreter, others.

Only the text is read. What is built at run time (a name put together, a class looked for among
all objects) has no name here: for such code `capable` says that it could, and a test that must
fail is run on it (`hydra.checks.cross.canary`).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from hydra.analysis.tampering.frameworks import PYTHON, is_python_tool
from hydra.analysis.tampering.languages.python.module import FAILURES, syntax_tree
from hydra.analysis.tampering.model import too_much

_SETTERS = frozenset(("setattr", "delattr", "__setattr__", "__delattr__"))
_PATCHERS = frozenset(("patch", "object", "multiple", "dict", "setitem", "delitem"))
_MAPS = frozenset(("update", "setdefault", "pop", "__setitem__", "clear"))
_LISTS = frozenset(("insert", "append", "extend", "remove", "clear"))
_HOOKS = ("sys.meta_path", "sys.path_hooks", "sys.modules", "builtins", "importlib.")

_CAPABLE_NAMES = frozenset(
    (
        *("__import__", "exec", "eval", "compile", "globals", "vars", "setattr", "delattr"),
        *("__builtins__", "__setattr__", "__subclasses__", "__dict__", "__globals__", "__code__"),
        *("_exit", "abort", "kill", "killpg", "dup2", "settrace", "setprofile", "attrgetter"),
        *("execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe"),
        *("posix_spawn", "__getattribute__"),
        *("meta_path", "path_hooks", "modules", "addaudithook", "excepthook", "f_locals"),
        *("testsfailed", "exitstatus"),
    )
)
_CAPABLE_MODULES = frozenset(
    (
        *("gc", "ctypes", "builtins", "atexit", "importlib", "mock", "signal", "imp", "runpy"),
        *("site", "subprocess"),
    )
)
_CAPABLE_TEXTS = (
    *("HYDRA_JUNIT", "PYTEST_ADDOPTS", "junitxml", "_pytest", "pytest", "unittest"),
    *("conftest", "tests/", "test_", "site-packages"),
)


_CAPABLE = re.compile(
    "|".join(sorted((*_CAPABLE_NAMES, *_CAPABLE_MODULES, *_CAPABLE_TEXTS, *PYTHON, "getattr")))
)


class ModulePatch(Struct, frozen=True):
    """One place that changes an attribute of `target`, a dotted name of another module."""

    target: str
    line: int
    text: str

    @property
    def of_tool(self) -> bool:
        """Whether a test tool is changed."""
        return is_python_tool(self.target)


def patchings(old: str, new: str) -> tuple[ModulePatch, ...]:
    """Those of `new` that `old` has not; nothing where it cannot be parsed."""
    before = Counter((item.target, item.text) for item in _patchings(old))
    fresh: list[ModulePatch] = []
    for patching in _patchings(new):
        key = patching.target, patching.text
        before[key] -= 1
        if before[key] < 0:
            fresh.append(patching)
    return tuple(fresh)


def capable(old: str, new: str) -> bool:
    """Whether code has come by a means of changing what runs it that it had not. So has code that
    is too long to be read."""
    return (
        bool(too_much(new))
        or bool(_capabilities(new) - _capabilities(old))
        or bool(patchings(old, new))
    )


def reaches(old: str, new: str) -> str:
    """What a file of tests has come to change beside itself, in its own words; "" for nothing.

    What pytest's `monkeypatch`, or a decorator or a `with` of mock, undoes by itself is left out.
    """
    fresh = patchings(old, new)
    if fresh:
        return fresh[0].text
    means = _capabilities(new) - _capabilities(old)
    usual = (*_USUAL, *_CAPABLE_TEXTS)
    names = [name for name in means if name not in usual and not is_python_tool(name)]
    if names:
        return names[0]
    return "writes a file of code" if _writes(new) and not _writes(old) else ""


_USUAL = frozenset(
    (
        *("setattr", "delattr", "signal", "kill", "compile", "mock", "subprocess", "modules"),
        *("vars", "globals", "__dict__", "excepthook", "importlib", "runpy", "exitstatus"),
    )
)
"""Means that tests have for reasons of their own; what is changed by them is read by its target."""

_WRITERS = frozenset(
    ("write_text", "write_bytes", "replace", "rename", "copyfile", "copy", "symlink_to", "write")
)
_NAMES_CODE = re.compile(r"\.(?:py|pth|so)\b|__file__")


def _writes(text: str) -> bool:
    """Whether a file of tests writes files and names one of code, or itself."""
    tree = _parsed(text) if _NAMES_CODE.search(text) else None
    nodes = list(ast.walk(tree)) if tree is not None else []
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    code = any(isinstance(item, str) and item.endswith((".py", ".pth", ".so")) for item in texts)
    itself = any(isinstance(node, ast.Name) and node.id == "__file__" for node in nodes)
    return bool(names & _WRITERS) and (code or itself)


@lru_cache(maxsize=256)
def _patchings(text: str) -> tuple[ModulePatch, ...]:
    tree = _parsed(text)
    return () if tree is None else tuple(_Reader(tree).read())


@lru_cache(maxsize=256)
def _capabilities(text: str) -> Counter[str]:
    tree = _parsed(text) if _CAPABLE.search(text) else None
    return Counter() if tree is None else Counter(_named(tree))


def _parsed(text: str) -> ast.Module | None:
    if not text or too_much(text):
        return None
    try:
        return syntax_tree(text)
    except FAILURES:
        return None


def _named(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in _CAPABLE_NAMES:
                yield name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (
                name for name in _modules(node) if name in _CAPABLE_MODULES or is_python_tool(name)
            )
            yield from (item.name for item in node.names if item.name in _CAPABLE_NAMES)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (part for part in _CAPABLE_TEXTS if part in node.value)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("pytest_"):
            yield node.name
        elif isinstance(node, ast.Call) and _looks_up(node):
            yield "getattr"


def _looks_up(node: ast.Call) -> bool:
    """Whether a call is `getattr` by a name that is put together."""
    by_name = isinstance(node.func, ast.Name) and node.func.id == "getattr"
    return by_name and len(node.args) > 1 and isinstance(node.args[1], ast.BinOp | ast.JoinedStr)


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The top-level modules of an import."""
    if isinstance(node, ast.ImportFrom):
        return [] if node.level else [(node.module or "").partition(".")[0]]
    return [item.name.partition(".")[0] for item in node.names]


class _Reader:
    """One module: what its names stand for, and what it changes of that."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._undone = {id(item) for node in self._nodes for item in _undone(node)}
        self._origins: dict[str, str] = {}
        for _ in range(2):  # a name may stand for one that is bound further down
            for node in self._nodes:
                self._bind(node)

    def read(self) -> Iterator[ModulePatch]:
        for node in self._nodes:
            for target in self._targets(node):
                line = getattr(node, "lineno", 1)
                yield ModulePatch(target, line, ast.unparse(node)[:200])

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for name in node.names:
                top = name.name if name.asname else name.name.partition(".")[0]
                self._origins[name.asname or top] = top
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for name in node.names:
                self._origins[name.asname or name.name] = f"{module}.{name.name}"
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, origin = node.targets[0], self._origin(node.value)
            new = isinstance(node.value, ast.Call) and not self._gives_module(node.value)
            if isinstance(target, ast.Name) and origin and not new:
                self._origins[target.id] = origin

    def _gives_module(self, node: ast.Call) -> bool:
        """Whether it gives the very thing that its origin names, and no new one."""
        return self._called(node) in ("import_module", "__import__", "getattr", "get")

    @staticmethod
    def _called(node: ast.Call) -> str:
        function = node.func
        if isinstance(function, ast.Attribute):
            return function.attr
        return function.id if isinstance(function, ast.Name) else ""

    def _origin(self, node: ast.expr) -> str:
        """The dotted name that an expression stands for, "" where it is not another module's."""
        if isinstance(node, ast.Name):
            return self._origins.get(node.id, "")
        if isinstance(node, ast.Attribute):
            inner = self._origin(node.value)
            bare = node.attr in ("__dict__", "__func__", "__class__")
            return inner if bare or not inner else f"{inner}.{node.attr}"
        if isinstance(node, ast.Subscript):
            return self._member(self._origin(node.value), node.slice)
        return self._origin_of_call(node) if isinstance(node, ast.Call) else ""

    @staticmethod
    def _member(inner: str, key: ast.expr) -> str:
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
        if inner == "sys.modules":
            return name
        return f"{inner}.{name}" if inner and name else inner

    def _origin_of_call(self, node: ast.Call) -> str:
        called = self._called(node)
        first = node.args[0] if node.args else None
        if first is None:
            return ""
        name = first.value if isinstance(first, ast.Constant) else None
        if called in ("import_module", "__import__", "get") and isinstance(name, str):
            owner = self._origin(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            return name if called != "get" or owner == "sys.modules" else ""
        if called == "getattr" and len(node.args) > 1:
            return self._member(self._origin(first), node.args[1])
        return self._origin(first) if called in ("vars", "cast", "type") else ""

    def _targets(self, node: ast.AST) -> Iterator[str]:
        """What one statement or call changes of another module."""
        if isinstance(node, ast.Assign | ast.Delete):
            yield from (name for item in node.targets for name in self._changed(item))
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            yield from self._changed(node.target)
        elif isinstance(node, ast.Call) and id(node) not in self._undone:
            yield from self._by_call(node)

    def _changed(self, target: ast.expr) -> Iterator[str]:
        if isinstance(target, ast.Tuple | ast.List):
            yield from (name for item in target.elts for name in self._changed(item))
        elif isinstance(target, ast.Attribute | ast.Subscript) and (name := self._origin(target)):
            yield name

    def _by_call(self, node: ast.Call) -> Iterator[str]:
        called, function = self._called(node), node.func
        owner = self._origin(function.value) if isinstance(function, ast.Attribute) else ""
        first = node.args[0] if node.args else None
        if called in _SETTERS and first is not None and not _is_fixture(function):
            yield from filter(None, (self._origin(first),))
        elif called in _PATCHERS and "mock" in self._origin(function) and first is not None:
            text = first.value if isinstance(first, ast.Constant) else self._origin(first)
            yield from filter(None, (text if isinstance(text, str) else "",))
        elif (called in _MAPS and _is_map(function)) or (called in _LISTS and owner in _HOOKS):
            yield from filter(None, (owner,))
        elif owner in ("os", "posix", "_thread") and called in ("_exit", "abort", "kill"):
            yield f"{owner}.{called}"
        elif owner == "atexit" and called == "register":
            yield "atexit"


def _is_map(function: ast.expr) -> bool:
    """Whether a call is of a module's or a class's own table of names."""
    inner = function.value if isinstance(function, ast.Attribute) else None
    if isinstance(inner, ast.Call):
        return isinstance(inner.func, ast.Name) and inner.func.id == "vars"
    return isinstance(inner, ast.Attribute) and inner.attr in ("__dict__", "modules")


def _is_fixture(function: ast.expr) -> bool:
    """`monkeypatch.setattr(...)`: pytest undoes it after the test."""
    inner = function.value if isinstance(function, ast.Attribute) else None
    return isinstance(inner, ast.Name) and inner.id in ("monkeypatch", "mocker", "patcher")


def _undone(node: ast.AST) -> Iterator[ast.AST]:
    """Calls that are undone by themselves: a decorator's, and those of a `with`."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from node.decorator_list
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield from (item.context_expr for item in node.items)
