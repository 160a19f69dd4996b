"""Java and Kotlin: JUnit 4 and 5, TestNG, AssertJ, Hamcrest, kotlin.test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from hydra.analysis.tampering.languages import calls
from hydra.analysis.tampering.languages.braces import BraceSource, squeeze
from hydra.analysis.tampering.languages.calls import CaseBody, Claim, Rounds
from hydra.analysis.tampering.languages.expectations import expectation
from hydra.analysis.tampering.languages.expressions import opposite, split, truth
from hydra.analysis.tampering.languages.functions import Functions, read_all
from hydra.analysis.tampering.model import Assertion, FileReading, SkipMark, assertion

_METHOD = re.compile(
    r"(?:\b(?:void|boolean|int|String|T|Object)\s+(\w+)|\bfun\s+(?:<[^>]*>\s*)?(`[^`\n]+`|\w+))\s*\("
)
_CLASS = re.compile(r"\b(?:class|object)\s+(\w+)")
_ANNOTATION = re.compile(r"@([\w.]+)")
_CALL = re.compile(
    r"(?<![\w.$])(?:Assert(?:ions)?\.|Truth\.)?(assert\w*|fail|verify|expectThat)\s*"
    r"(?:<([\w.]+)>\s*)?([({])"
)
_STEP = re.compile(r"\s*\.\s*([\w$]+)")
_INFIX = re.compile(r"\bshould(Be|Equal|NotBe|Contain)\b")
_CALLED = re.compile(r"(?<![\w.])(?:this\.)?([a-z_]\w*)\s*\(")
_ASSUME = re.compile(r"\b(?:Assumptions?\.)?assume(?:True|False|That)\s*\(")
_LOOP = re.compile(
    r"\bfor\s*\(\s*(?:(?:final\s+)?[\w<>\[\],. ]+?\s+)?\(?([\w, ]+?)\)?\s*(?::|\bin\b)"
    r"\s*([^{}\n]+?)\)\s*\{"
)


def read(texts: Mapping[str, str]) -> Mapping[str, FileReading]:
    """Each file by its path."""
    return read_all(texts, "jvm", _file)


def _file(path: str, text: BraceSource) -> Functions:
    file = Functions(path, text, _CALLED, skips=_ASSUME)
    imports = {last: package for package, last in _IMPORT.findall(text.bare)}
    classes: list[tuple[str, int, int, list[SkipMark]]] = []
    for match in _CLASS.finditer(text.bare):
        opening = text.bare.find("{", match.end())
        if opening >= 0:
            marks = _marks(_before(text, match.start()), text.line(match.start()), True, imports)
            classes.append((match[1], *text.inside(opening), marks))
    file.loops = list(_loops(text))
    extra: list[Claim] = []
    for match in _METHOD.finditer(text.bare):
        first, last = text.inside(match.end() - 1)
        body = re.compile(r"[^{};=]*(?:=[^{};]*)?\{").match(text.bare, last)
        if body is None:
            continue
        start, end = text.inside(body.end() - 1)
        inside = [row for row in classes if row[1] <= match.start() < row[2]]
        short = (match[1] or text.code[match.start(2) : match.end(2)]).strip("`")
        head = _before(text, match.start())
        line = text.line(match.start())
        # The outermost class is the file's own: its name tells nothing where it is renamed.
        name = ".".join([*(row[0] for row in inside[1:]), short])
        block = CaseBody(name, short, line, start, end, _marks(head, line, False, imports))
        for row in inside:
            block.marks += row[3]
        names = [document.rpartition(".")[2] for document in _ANNOTATION.findall(head)]
        if any(document.endswith("Test") or document == "TestFactory" for document in names):
            file.tests.append(block)
            params = [_param(param) for param in split(text.squeezed(first, last))]
            rows = _rows(head)
            if rows:
                rounds = calls.rounds(start, end, f"[{','.join(params)}]", rows)
                file.loops += [rounds] if rounds is not None else []
            expected = re.search(r"expected\s*=\s*([\w.]+?)(?:\.class|::class)", head)
            if expected is not None:
                extra.append((start, [_raising("the test", expected[1], line)]))
        else:
            file.others.append(block)
            file.params[short] = [_param(param) for param in split(text.squeezed(first, last))]
    file.claims = sorted([*_claims(text), *extra], key=lambda claim: claim[0])
    return file


def _param(text: str) -> str:
    """A parameter's name, in Java or in Kotlin."""
    if ":" in text:
        return text.partition(":")[0].rpartition(" ")[2]
    return text.rpartition(" ")[2]


def _before(text: BraceSource, at: int) -> str:
    """Annotations and modifiers before a declaration."""
    start = max(text.bare.rfind(sign, max(0, at - 4000), at) for sign in ";}")
    opening = text.bare.rfind("{", max(0, at - 4000), at)
    # An annotation may have a list in braces: such a brace is closed before the declaration.
    while opening >= 0 and text.ends.get(opening, at) < at:
        inner = text.bare.rfind("@", max(0, opening - 60), opening)
        if inner < 0:
            break
        start = max(text.bare.rfind(sign, max(0, inner - 4000), inner) for sign in ";}")
        opening = text.bare.rfind("{", max(0, inner - 4000), inner)
    return text.code[max(start, opening, -1) + 1 : at]


_IMPORT = re.compile(r"^[ \t]*import\s+([\w.]+)\.(Disabled|Ignored?)\b", re.M)
_OF_OTHERS = re.compile(r"(?!org\.(?:junit|testng)\b|junit\b|kotlin\.test\b|io\.kotest\b)\w")
_NOT_ENABLED = re.compile(r"@(?:\w+\.)*Test\s*\([^()]*\benabled\s*=\s*false")


def _marks(head: str, line: int, whole: bool, imports: Mapping[str, str]) -> list[SkipMark]:
    skip_marks: list[SkipMark] = []
    for name in _ANNOTATION.findall(head):
        package, _, last = name.rpartition(".")
        if _OF_OTHERS.match(package or imports.get(last, "")):
            continue
        if last in ("Disabled", "Ignore", "Ignored"):
            skip_marks.append(SkipMark("skip", f"@{last}", line, True, whole))
        elif last.startswith(("DisabledIf", "DisabledOn", "EnabledIf", "EnabledOn")):
            skip_marks.append(SkipMark("skip", f"@{last}", line, False, whole))
    if _NOT_ENABLED.search(head):
        skip_marks.append(SkipMark("skip", "enabled = false", line, True, whole))
    return skip_marks


def _rows(head: str) -> list[str]:
    """The rows of `@CsvSource` and `@ValueSource`."""
    match = re.search(
        r"@(Csv|Value)Source\s*\((?:\s*\w+\s*=)?\s*[\[{]?(.*?)[\]}]?\s*\)\s*(?:@|\w|$)", head, re.S
    )
    if match is None:
        return []
    values = split(squeeze(match[2]))
    if match[1] == "Value":
        return [f"[{value}]" for value in values]
    return [
        f"[{','.join(_plain(part) for part in value.strip(chr(34)).split(','))}]"
        for value in values
    ]


def _plain(part: str) -> str:
    bare = part.strip().strip("'")
    return bare if re.fullmatch(r"-?[\d.]+|true|false", bare) else f'"{bare}"'


def _loops(text: BraceSource) -> Iterator[Rounds]:
    for match in _LOOP.finditer(text.bare):
        line = text.squeezed(match.start(2), match.end(2))
        inner = re.fullmatch(
            r"(?:List\.of|Arrays\.asList|listOf|arrayOf|setOf|Set\.of)\((.*)\)", line
        )
        if inner is None:
            continue
        start, end = text.inside(match.end() - 1)
        rounds = calls.rounds(start, end, match[1].strip(), split(inner[1]))
        if rounds is not None:
            yield rounds


def _claims(text: BraceSource) -> Iterator[Claim]:
    for match in _CALL.finditer(text.bare):
        start, end = text.inside(match.end() - 1)
        args = list(text.parts(start, end)) if match[3] == "(" else []
        line = text.line(match.start())
        chain = _chain(text, end + 1)
        yield match.start(), _expectation(match[1], match[2] or "", args, chain, line)
    for match in _INFIX.finditer(text.bare):
        line = text.line(match.start())
        subject = text.squeezed(text.starts[line - 1], match.start())
        last = text.starts[line] if line < len(text.starts) else len(text.code)
        expected = text.squeezed(match.end(), last)
        op = {"NotBe": "!=", "Contain": "in"}.get(match[1], "==")
        yield match.start(), [assertion(op, subject, expected.strip("()"), line)]


def _chain(text: BraceSource, at: int) -> list[tuple[str, list[str] | None]]:
    pairs: list[tuple[str, list[str] | None]] = []
    while len(pairs) < 12 and (step := _STEP.match(text.bare, at)) is not None:
        at = step.end()
        args: list[str] | None = None
        if text.bare[at : at + 1] == "(":
            start, end = text.inside(at)
            args, at = list(text.parts(start, end)), end + 1
        pairs.append((step[1], args))
    return pairs


_MATCHERS = re.compile(r"(?:is|equalTo|eq)\((.*)\)")


def _expectation(
    name: str, kind: str, args: list[str], chain: Sequence[tuple[str, list[str] | None]], line: int
) -> list[Assertion]:
    first = args[0] if args else ""
    second = args[1] if len(args) > 1 else ""
    if name in ("assertThat", "expectThat"):
        if second:
            plain = _MATCHERS.fullmatch(second)
            if plain is not None:
                return [assertion("==", first, plain[1], line)]
            term, _, rest = second.partition("(")
            return [expectation(first, [(term, [rest[:-1]] if rest else None)], line)]
        asking = [step for step in chain if step[0] not in ("as", "describedAs", "withFailMessage")]
        return [expectation(first, [step], line) for step in asking if step[1] is not None] or [
            Assertion("always holds", f"assertThat({first})", "", line)
        ]
    if name in ("assertEquals", "assertSame", "assertArrayEquals", "assertIterableEquals"):
        return [_equal(args, line)]
    if name in ("assertNotEquals", "assertNotSame"):
        return [assertion("!=", second, first, line)]
    if name == "assertNull":
        return [assertion("==", first, "null", line)]
    if name == "assertNotNull":
        return [assertion("is there", first, "", line)]
    if name in ("assertTrue", "assert", "assertFalse"):
        text = second if first.startswith('"') and second else first
        whole = truth(text, line)
        return whole if name != "assertFalse" else [opposite(claim) for claim in whole[:1]]
    if name in ("assertThrows", "assertThrowsExactly", "assertFailsWith", "assertFails"):
        raised = kind or first.removesuffix(".class").removesuffix("::class")
        return [_raising(second or "the block", raised if name != "assertFails" else "", line)]
    if name == "verify":
        text = ".".join(f"{term}({','.join(names or [])})" for term, names in chain)
        return [Assertion("called with", first, f"{text} {second}".strip(), line)]
    if name == "fail":
        return [Assertion("asserts", "fail", "", line)]
    if name == "assertAll":
        return []
    return [Assertion("asserts", first, f"{name} {', '.join(args[1:])}".strip(), line)]


def _equal(args: list[str], line: int) -> Assertion:
    """Expected first, then actual; a third that is a number is how far off it may be."""
    first = args[0] if args else ""
    second = args[1] if len(args) > 1 else ""
    if len(args) == 3 and not args[2].startswith('"'):
        if first.startswith('"') and not args[2].replace(".", "").isdigit():
            return assertion("==", args[2], second, line)
        try:
            near = assertion("approx", second, first, line)
            return replace(near, tolerance=float(args[2].rstrip("dfDF")))
        except ValueError:
            return assertion("==", second, first, line)
    return assertion("==", second, first, line)


def _raising(subject: str, kind: str, line: int) -> Assertion:
    broad = kind in ("", "Exception", "Throwable", "RuntimeException", "Error")
    return Assertion("raises anything" if broad else "raises", subject, kind, line)
