"""What a scripted agent answers to `--separate`: upstream's telling tests, or some turned round."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from benchmarks.fixes.checkout import Checkout
from benchmarks.fixes.mining import files_of
from benchmarks.fixes.roles import by_file
from benchmarks.fixes.task import Task


def telling(task: Task, checkout: Checkout) -> list[str]:
    """Those that fail on the base and pass with the fix's sources alone."""
    files = {path: _text(tree) for path, tree in _files(task, checkout).items()}
    fix = files_of(checkout, task.commit)
    assert fix is not None
    source = {path: checkout.read(task.commit, path) for path in fix.source}
    ends = []
    for changes in ({}, source):
        checkout.at(f"{task.commit}^", {**changes, **files})
        ends.append(checkout.tests(list(files)))
    base, fixed = ends
    ids = sorted(base.failed & fixed.passed) if base and fixed else []
    return list(dict.fromkeys(_name(id) for id in ids))


def _name(id: str) -> str:
    return id.partition("[")[0].rpartition("::")[2]


def _files(task: Task, checkout: Checkout) -> dict[str, ast.Module]:
    """Upstream's telling tests alone, in new files beside theirs, as many of each as it has
    assertions."""
    item = {}
    for path, names in by_file(task.telling).items():
        folder, _, name = path.rpartition("/")
        tree = ast.parse(checkout.read(task.commit, path) or "")
        tests = _Tests(dict.fromkeys(names, _parts))
        item[f"{folder}/test_apart_{name}".lstrip("/")] = tests.visit(tree)
    return item


def _text(tree: ast.Module) -> str:
    return f"{ast.unparse(ast.fix_missing_locations(tree))}\n"


class _Tests(ast.NodeTransformer):
    """Makes of each test what is said of its name, and of all others nothing."""

    def __init__(self, item: Mapping[str, Callable[[ast.FunctionDef], Iterable[ast.stmt]]]) -> None:
        self._made = item

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | list[ast.stmt]:
        if not node.name.startswith("test"):
            return node
        return list(self._made[node.name](node)) if node.name in self._made else []


def _parts(node: ast.FunctionDef) -> Iterator[ast.stmt]:
    asserts = [at for at, item in enumerate(node.body) if _asserts(item)]
    for count, item in enumerate(asserts or [-1]):
        part = copy.deepcopy(node)
        part.name = f"{node.name}_{count}"
        gone = {*asserts} - {item}
        part.body = [item for at, item in enumerate(part.body) if at not in gone]
        yield part


def _asserts(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr | ast.With):
        return any(item in ast.unparse(statement) for item in ("assert", "raises"))
    return isinstance(statement, ast.Assert)


def _turned(node: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Passes where the test fails."""
    (whole,) = ast.parse("with __import__('pytest').raises(BaseException): 0").body
    assert isinstance(whole, ast.With)
    whole.body, node.body = node.body, [whole]
    yield node


def answer(
    task: Task, checkout: Checkout, names: Collection[str], false: Collection[str] = ()
) -> str:
    """What the model says: these tests, the `false` ones turned round."""
    tests = _Tests({name: _turned if name in false else lambda item: [item] for name in names})
    blocks = (
        f"path: {path}\n```python\n{_text(tests.visit(tree))}```\n"
        for path, tree in _files(task, checkout).items()
    )
    return "\n".join(blocks)
