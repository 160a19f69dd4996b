"""What keeps a test from running, or from counting, in each way of writing tests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from hydra.analysis.tampering.wording import listed_words


@dataclass(frozen=True, slots=True)
class SkipMark:
    """`spelling` is how the code says it; not `certain` where that hangs on something unknown.
    `of` is the class it stands on, or the test within a test, "" where it stands on its function or
    on the file. `at` is its place in its piece of code, -1 where none is known."""

    kind: Literal["skip", "expected_failure", "only"]
    spelling: str
    certain: bool = True
    of: str = ""
    at: int = field(default=-1, compare=False)


class Named(Struct, frozen=True):
    """What a file calls by which name: what it imports, from where, and the values that the
    patch's tests give to names."""

    imported: Mapping[str, str]
    values: Mapping[str, str]
    declared: frozenset[str] = frozenset()
    contexts: str = "t"


_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([\w \t,\n]+)", re.M)
_IMPORTS = re.compile(r"^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)", re.M)
_ASSIGNED = re.compile(
    r"^[ \t]*(?:export\s+)?(?:(?:const|let|var)[ \t]+)?(\w+)[ \t]*=(?!=)[ \t]*([^\n;]{1,200})", re.M
)
_DECLARED = re.compile(
    r"\b(?:const|let|var|function)\s+(t|ctx|context|pending)\b"
    r"|\bimport\b[^;\n]{0,200}\b(pending|ctx|context)\b"
    r"|\b(?:const|let|var|import)\s+(?:type\s+|[\w$]+\s*,\s*)?[{\[][^}\]]{0,300}"
    r"\b(t|ctx|context|pending)\b"
)
_TESTING = re.compile(r"\b(\w+)\s+\*?testing\.(?:T|B|F|TB)\b")


def names_of(code: str, others: Mapping[str, str]) -> Named:
    """Of one file; `others` are the values of names in the patch's tests."""
    imported, declared, contexts, own = _names(code)
    return Named(imported, {**others, **own}, declared, contexts)


@lru_cache(maxsize=1024)
def _names(code: str) -> tuple[dict[str, str], frozenset[str], str, dict[str, str]]:
    names = _IMPORTS.findall(code)
    imported = {part: name for name in names for part in (name.split(".")[0], name.split(".")[-1])}
    for module, many in _FROM.findall(code):
        for name in re.findall(r"\w+(?:[ \t]+as[ \t]+\w+)?", many):
            first, _, other = name.partition(" as ")
            imported[(other or first).strip()] = f"{module}.{first.strip()}"
    declared = frozenset(name for many in _DECLARED.findall(code) for name in many if name)
    contexts = "|".join([r"\w+\.T\(\)", *sorted({"t", *_TESTING.findall(code)})[:20]])
    return imported, declared, contexts, assigned(code)


def assigned(code: str) -> dict[str, str]:
    """The values that a text gives to names."""
    return {name: value.strip() for name, value in _ASSIGNED.findall(code)}


def marks(path: str, code: str, bare: str, whole: Named) -> Counter[SkipMark]:
    """All marks in a piece of code, each as often as it stands there."""
    ending = path.rpartition(".")[2].lower()
    reader = _READERS.get(ending)
    return Counter(reader(code, bare, whole)) if reader else Counter()


# ---- Python.

_DECORATOR = re.compile(
    r"^[ \t]*(?:@|pytestmark[ \t]*=[ \t]*)(?P<expression>[^\n]*(?:\n[^\n@]*\S)*?)"
    r"(?=\n[ \t]*(?:@|async[ \t]|def[ \t]|class[ \t])|\n\n|\n?\Z|\n(?![ \t)\]]))",
    re.M,
)
_OF_CLASS = re.compile(r"(?:\s*@[^\n]*\n)*\s*class[ \t]+(\w+)")
_SKIPS = ("skip", "skipif", "skipIf", "skipUnless", "SkipTest", "skip_if", "skip_unless")
_TELLS_SKIP = re.compile(
    r"(?:^|\.)(?:xfail|skip)_?(?:[Ii]f|[Uu]nless|[Oo]n|[Ii]n|[Ff]or|[Ww]hen|[Uu]ntil|[Ww]ithout)"
    r"(?=[_A-Z]|$)\w*$|(?:^|\.)skip_(?:all|ci|flaky|slow|tests?)(?:_\w*)?$"
)
"""How decorators of a project's own that keep tests from running are called."""
_LEFT_OUT = frozenset(
    listed_words(
        "slow live integration network manual nightly wip quarantine broken disabled ignore"
        " external online long expensive todo stress benchmark"
    )
)
"""Marks of a project's own that its runs often leave out."""
_CALLED = re.compile(
    r"^(?P<indent>[ \t]*)(?:raise[ \t]+)?(?P<name>(?:pytest|self|unittest)\.(?:skip|skipTest|xfail"
    r"|importorskip|SkipTest)|SkipTest)\b",
    re.M,
)
_UNTESTED = re.compile(r"^[ \t]*(?:\w+\.)?__test__[ \t]*=[ \t]*(?:False|0)\b", re.M)
_TAKEN = re.compile(r"^(?:del[ \t]+(test\w*|Test\w*)|(test\w*)[ \t]*=[ \t]*None)\b", re.M)


def _python(code: str, bare: str, whole: Named) -> Iterator[SkipMark]:
    for match in _DECORATOR.finditer(code):
        is_leading = match[0].lstrip().startswith("@")
        on_class = _OF_CLASS.match(code, match.end()) if is_leading else None
        of = on_class[1] if on_class else ""
        for expression in _listed(match["expression"].strip()):
            for mark in _decorator(expression, whole, of):
                yield replace(mark, at=match.start("expression"))
    for match in _CALLED.finditer(bare):
        name = match["name"]
        kind: Literal["skip", "expected_failure"] = (
            "expected_failure" if name.endswith("xfail") else "skip"
        )
        certain = len(match["indent"]) <= _level(code) and not name.endswith("importorskip")
        yield SkipMark(kind, name, certain, at=match.start("name"))
    for match in _UNTESTED.finditer(bare):
        yield SkipMark("skip", "__test__ = False", at=match.start())
    for match in _TAKEN.finditer(bare):
        yield SkipMark("skip", match[0], of=match[1] or match[2], at=match.start())


def _listed(expression: str) -> list[str]:
    if expression[:1] not in ("[", "("):
        return [expression]
    return [part.strip() for part in re.split(r",(?![^()]*\))", expression[1:-1]) if part.strip()]


def _level(code: str) -> int:
    """How far in the body of a function stands; its file's own level where it is none."""
    head = re.search(r"^([ \t]*)(?:async[ \t]+)?def[ \t]", code, re.M)
    return len(head[1]) + 4 if head else 0


def _decorator(expression: str, whole: Named, of: str, depth: int = 0) -> Iterator[SkipMark]:
    name, _, rest = expression.partition("(")
    name = name.strip()
    first, _, after = name.partition(".")
    last = name.rpartition(".")[2]
    value = whole.values.get(last, "")
    if depth < 3 and re.match(r"(?:\w+\.)*\w+(?:\(.*)?$", value) and last not in value.split("("):
        yield from _decorator(value, whole, of, depth + 1)
        return
    origin = "" if first == "mark" and after else whole.imported.get(first, "")
    is_theirs = origin and not re.match(r"\.|.*(?:test|nose|_pytest)", origin, re.I)
    if is_theirs:
        if _TELLS_SKIP.search(name):
            yield SkipMark("skip", name, False, of)
    elif last in _SKIPS:
        condition = "" if last in ("skip", "SkipTest") else rest.strip().rstrip(")").strip()
        condition = re.split(r",\s*(?=reason|[\"'])", condition)[0].removeprefix("condition=")
        if condition == ("True" if last in ("skipUnless", "skip_unless") else "False"):
            return
        sure = condition in ("", "True", "1") or (last == "skipUnless" and condition == "False")
        spelling = f"{name} {condition}".strip() if not sure else name
        yield SkipMark("skip", spelling, sure, of)
    elif last in ("xfail", "expectedFailure"):
        yield SkipMark("expected_failure", name, True, of)
    elif (".mark." in f".{name}" and last in _LEFT_OUT) or _TELLS_SKIP.search(name):
        yield SkipMark("skip", name, False, of)


# ---- JavaScript and TypeScript.

_BLOCK = re.compile(
    r"(?<![\w$.])(?P<of>(?:x|f)?(?:it|test|describe|context|specify|suite))\b(?P<more>(?:\.\w+)*)"
    r"(?=\s*[(`])"
)
_OPTION = re.compile(r"[{,]\s*[\"']?(skip|todo|only|fails)[\"']?\s*(?::\s*([^,}\n]+))?(?=[,}\n])")
_OPTIONS = re.compile(r",\s*(\{(?:[^{}]|\{[^{}]*\})*\})\s*(?=,|\))")
_ON = re.compile(r"true\b|[\"'`]|[1-9]")
_OFF = re.compile(r"(?:false|undefined|null|0)\b")
_IN_BODY = re.compile(
    r"(?<![\w$.])(?P<of>this|t|ctx|context|test)\.(?:skip|todo)\s*\((?!\s*\d)(?!\s*[\"'`][^\n]*=>)"
    r"|(?:(?<=[;{}\n])|^)[ \t]*(?P<named>pending)\s*\(\s*\)"
)


def _javascript(code: str, bare: str, whole: Named) -> Iterator[SkipMark]:
    for match in _BLOCK.finditer(bare):
        flags = match["more"].split(".")
        spelling = ".".join([match["of"], *(f for f in flags if f not in ("", "only", "each"))])
        if "only" in flags or match["of"].startswith("f"):
            yield SkipMark("only", ".only")
        if match["of"].startswith("x") or {"skip", "todo"} & {*flags}:
            yield SkipMark("skip", spelling)
        elif {"failing", "fails"} & {*flags}:
            yield SkipMark("expected_failure", spelling)
        elif {"skipIf", "runIf"} & {*flags}:
            yield SkipMark("skip", spelling, False)
    yield from _options(code, bare, whole)
    for match in _IN_BODY.finditer(bare):
        if (match["of"] or match["named"]) not in whole.declared:
            before = bare[: match.start()]
            is_nested = before.count("{") - before.count("}") > 1
            of = _inner(code, bare, match.start(), 1)
            spelling = match[0].strip().rstrip("( )")
            yield SkipMark("skip", spelling, not is_nested, of, match.start())


def _options(code: str, bare: str, whole: Named) -> Iterator[SkipMark]:
    for match in _OPTIONS.finditer(code):
        flat = re.sub(r"\{[^{}]*\}", "0", match[1][1:-1])
        of, at = _inner(code, bare, match.start(), 1), match.start(1)
        for name, value in _OPTION.findall(f"{{{flat}}}"):
            text = (value or name).strip()
            text = whole.values.get(text, text)
            if name == "only" and not _OFF.match(text):
                yield SkipMark("only", "only", True, of, at)
            elif not _OFF.match(text):
                kind: Literal["skip", "expected_failure"] = (
                    "expected_failure" if name == "fails" else "skip"
                )
                yield SkipMark(kind, name, bool(_ON.match(text)), of, at)


_INNER = re.compile(
    r"\b(?:test|it|step|subtest|Run)\s*(\()\s*([\"'`])(?P<title>(?:(?!\2)[^\\\n]|\\.)+)\2"
)
_ROUND = re.compile(r"[()]")


def _inner(code: str, bare: str, at: int, outer: int) -> str:
    """The title of the test within a test that a place lies in; `outer` is how many calls stand for
    the test itself."""
    calls = _INNER.finditer(code, 0, at)
    around = [call["title"] for call in calls if _is_open(bare[call.start(1) : at])]
    return around[-1] if len(around) > outer else ""


def _is_open(bare: str) -> bool:
    """Whether the bracket that a text begins with is not closed in it."""
    depth = 0
    for match in _ROUND.finditer(bare):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return False
    return True


# ---- Others.

_BUILD = re.compile(r"^//(?:go:build| \+build)\s+(.+)", re.M)
_IGNORE_TAG = re.compile(r"(?<![\w!])ignore\b(?!_)")
_ATTRIBUTE = re.compile(r"#!?\[\s*((?:ignore(?=[\s=(\]])|cfg(?:_attr)?\()[^\]\n]*)\]")
_ANNOTATION = re.compile(r"@((?:\w+\.)*)(Disabled|Ignored?|(?:Dis|En)abled(?:If|On)\w*)\b")
_OURS = re.compile(r"org\.(?:junit|testng)\b|junit\b|kotlin\.test\b|io\.kotest\b")
_NOT_ENABLED = re.compile(r"@(?:\w+\.)*Test\s*\([^()]*\benabled\s*=\s*false")
_PRIVATE = re.compile(r"@(?:\w+\.)*Test\b[^;{}@]*\bprivate\s+void\b")
_ASSUMES = re.compile(r"\bassum(?:e|ing)(?:True|False|That|NotNull)(?=\s*\()")
_RUBY_BLOCK = re.compile(
    r"^[ \t]*(?:RSpec\.)?(?P<word>[xf]?(?:it|describe|context|specify|example|scenario|test))\b"
    r"(?P<rest>[^\n]*)",
    re.M,
)
_RUBY_FLAG = re.compile(
    r"(?<![:\w])(?<!: )(?<!=> ):?(skip|pending|focus)\b(?!\s*(?::|=>)\s*(?:false|nil)\b)"
)
_RUBY_CALL = re.compile(
    r"^(?P<indent>[ \t]*)(?P<word>skip|pending)\b(?!!|\s*(?:[:=.\[,*/<>&|?+-]|\(?\d))"
    r"(?P<rest>[^\n]*)",
    re.M,
)


def _go(code: str, bare: str, whole: Named) -> Iterator[SkipMark]:
    for match in re.finditer(rf"\b(?:{whole.contexts})\.(?:Skip|Skipf|SkipNow)\s*\(", bare):
        before = bare[: match.start()]
        certain = before.count("{") - before.count("}") < 2
        of = _inner(code, bare, match.start(), 0)
        yield SkipMark("skip", match[0].rstrip("( "), certain, of, match.start())


def _rust(code: str, bare: str, whole: Named) -> Iterator[SkipMark]:
    for match in _ATTRIBUTE.finditer(bare):
        text = match[1].strip()
        if text.startswith("ignore"):
            yield SkipMark("skip", "#[ignore]")
        elif text.startswith("cfg(any())"):
            yield SkipMark("skip", f"#[{text}]")
        elif re.match(r"cfg\((?!\s*test\s*\)$)|cfg_attr\(.*,\s*(?:ignore\b(?!::)|cfg\()", text):
            yield SkipMark("skip", f"#[{text}]", False)


def _jvm(code: str, bare: str, whole: Named) -> Iterator[SkipMark]:
    for match in _ANNOTATION.finditer(bare):
        package = match[1].rstrip(".") or whole.imported.get(match[2], "")
        if not package or _OURS.match(package):
            on_class = re.match(
                r"[^;{}()]*(?:\([^)]*\))?[^;{}()]*\bclass\s+(\w+)", bare[match.end() :]
            )
            certain = match[2].startswith(("Disabled", "Ignore")) and "If" not in match[2]
            certain = certain and "On" not in match[2]
            of = on_class[1] if on_class else ""
            yield SkipMark("skip", f"@{match[2]}", certain, of, match.start())
    for _ in _PRIVATE.finditer(bare):
        yield SkipMark("skip", "private")
    for match in _ASSUMES.finditer(bare):
        yield SkipMark("skip", match[0], False)
    for _ in _NOT_ENABLED.finditer(bare):
        yield SkipMark("skip", "enabled = false")


def _ruby(code: str, bare: str, whole: Named) -> Iterator[SkipMark]:
    for match in _RUBY_BLOCK.finditer(bare):
        head = re.split(r"\bdo\b|(?<![,(])\s\{", match["rest"])[0]
        flags = _RUBY_FLAG.findall(re.sub(r"[\"'][^\"'\n]*[\"']", "", head))
        if match["word"].startswith("x"):
            yield SkipMark("skip", match["word"])
        elif match["word"] in ("fit", "fdescribe", "fcontext") or "focus" in flags:
            yield SkipMark("only", "focus")
        for flag in {*flags} - {"focus"}:
            yield SkipMark("skip" if flag == "skip" else "expected_failure", flag)
    for match in _RUBY_CALL.finditer(bare):
        certain = not re.search(r"\b(?:if|unless)\b", match["rest"])
        kind: Literal["skip", "expected_failure"] = (
            "skip" if match["word"] == "skip" else "expected_failure"
        )
        yield SkipMark(kind, match["word"], certain)


def tags(path: str, text: str) -> Counter[SkipMark]:
    """What keeps a whole file of Go from being built."""
    rows = _BUILD.finditer(text) if path.endswith(".go") else ()
    return Counter(
        SkipMark("skip", row[0].strip(), _IGNORE_TAG.search(row[1]) is not None) for row in rows
    )


_READERS = {
    "py": _python,
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"), _javascript),
    "go": _go,
    "rs": _rust,
    **dict.fromkeys(("java", "kt", "kts"), _jvm),
    "rb": _ruby,
}
