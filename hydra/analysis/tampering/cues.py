"""What in a line of a test asserts, and how much; what keeps a test from failing.

By cues alone, the same in every language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, takewhile

from msgspec import Struct

from hydra.analysis.tampering.wording import listed_words

_SLASHES = r"//[^\n]*+|/\*(?:[\s\S]*?\*/|[\s\S]*+)"
_HASH = r"(?<![^\s;])#[^\n]*+"
_DOUBLE = r'"(?:[^"\\]++|\\[\s\S])*+(?:"|\Z)'
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,10}?)'"
_C = f"{_SLASHES}|{_DOUBLE}|{_CHARACTER}"
_SHELL = f"{_HASH}|{_DOUBLE}|'[^']*+(?:'|\\Z)"
_SKIPPED = {
    **dict.fromkeys(
        ("c", "cc", "cpp", "cxx", "h", "hh", "hpp", "cs", "scala", "swift", "json"), _C
    ),
    **dict.fromkeys(("sh", "bash", "zsh", "yml", "yaml"), _SHELL),
    "php": rf"{_SLASHES}|{_HASH}|{_DOUBLE}|'(?:[^'\\]++|\\[\s\S])*+(?:'|\Z)",
    "zig": rf"{_C}|\\\\[^\n]*+",
    "d": rf"{_C}|`[^`]*+(?:`|\Z)",
}
_PATTERNS = {ending: re.compile(pattern) for ending, pattern in _SKIPPED.items()}
_INK = re.compile(r"[^\n]")


def bare(ending: str, text: str) -> str | None:
    """A text with its comments, and what its strings hold, blanked; None where nothing is known of
    files with this ending."""
    pattern = _PATTERNS.get(ending)
    return pattern.sub(lambda match: _INK.sub(" ", match[0]), text) if pattern else None


class Statement(Struct, frozen=True):
    """One statement of a test: `text` in one way of writing it, `shown` as it stands. `strength` is
    2 where it asks for one value, 1 where it lets others through, 0 where it always holds, None
    where it asserts nothing. `values` are those written in it."""

    line: int
    text: str
    shown: str
    strength: int | None
    is_negative: bool
    values: tuple[str, ...]

    def asks_as(self, other: Statement) -> bool:
        """Whether both say the same in two ways."""
        if (self.force, self.is_negative) != (other.force, other.is_negative):
            return False
        return self.values == other.values or self._sides == other._sides

    @property
    def force(self) -> int:
        """Its strength; a call of what asserts may ask for anything."""
        return 2 if self.strength is None else self.strength

    @property
    def _sides(self) -> frozenset[str]:
        return frozenset(self.text.removeprefix("assert ").split("=="))

    @property
    def form(self) -> str:
        """Its text without the values in it."""
        return _VALUE.sub("0", _INDEX.sub("", self.text))

    @property
    def is_empty(self) -> bool:
        """Whether it asks for an empty value, of which some say that it is none."""
        return _EMPTY.search(self.text) is not None

    def is_about(self, other: Statement) -> bool:
        """Whether both name the same things, or begin alike."""
        heads = (row.text.partition("(")[0] for row in (self, other))
        return bool(self.names & other.names) or len({*heads}) == 1

    @property
    def names(self) -> frozenset[str]:
        """The names in it, but for the words of those who assert."""
        return frozenset(_NAME.findall(self.text)) - _COMMON


_NAME = re.compile(r"(?<![\"\w])[A-Za-z_]\w*")
_COMMON = frozenset(
    listed_words(
        "assert self assertEqual assertTrue assertFalse expect toBe toEqual None True False true"
        " false with raises pytest equal not should const let var eq is in or and if t s to be"
        " await"
    )
)
_STRING = (
    r'"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*+"'
    r"|'''[\s\S]*?'''|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`"
)
_VALUE = re.compile(
    rf"{_STRING}|(?<![\w.])\d[\w.]*|(?P<none>\b(?:None|null|nil|undefined)\b"
    r"|(?<=Is|is|Be|be|To)_?(?:Not)?(?:None|Null|Nil)\b|(?:assert|be|refute)_?(?:Not)?_?(?:[nN]ull?|[nN]il)\b"
    r"|\.(?:Not)?Nil\b)|\b(?!Base)(?!Exception\b)[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt)\b"
)
_NAMES_OF_CASES = re.compile(rf",\s*id\s*=\s*(?:{_STRING})|(?<=parametrize\()\s*\([^()]*\)")
_CSV = re.compile(r'"[^"\n]*,[^"\n]*"')
_INDEX = re.compile(r"(?<=[\w)\]])\[\d+\]")
_ITEM = rf"(?:\w+\s*[:=]\s*)?(?:{_STRING}|-?\d[\w.]*|None|null|nil|[Tt]rue|[Ff]alse)"
_ROW = re.compile(
    rf"(?:(?<![\w\]])\(|(?<=param)\(|(?<![\w)\]])\[|\{{)\s*{_ITEM}(?:\s*,\s*{_ITEM})+\s*,?\s*[)\]}}]"
)

_ASSERTS = re.compile(
    r"(?<![.\w@])(?:(?:\w+\.)*(?:assert(?!ed\b|ions?\b|ing\b)\w*|refute\w*|XCTAssert\w*)!?"
    r"|(?:\w+\.)*(?:expect(?!ed|ing|ation)\w*|fail)(?=\s*[(<.{])"
    r"|EXPECT_\w+|ASSERT_\w+|CHECK(?:_\w+)?|REQUIRE(?:_\w+)?|Assert\.\w+|debug_assert\w*!"
    r"|(?:self|t|b|tb|s|suite|chai|should|must)\.(?:assert\w*|Error|Errorf|Fatal|Fatalf|Fail|FailNow"
    r"|fail|[Ee]qual|Require|Assert)|require\.[A-Z]\w*|pytest\.(?:raises|warns|fail)|raises|warns"
    r"|should_panic|ck_assert\w*|TEST_ASSERT\w*)(?=[\s(.<{\[\]]|$)"
    r"|\.should\b|\.must_\w+|\.wont_\w+|->assert\w+|\.to(?:Be|Equal|Throw|Match|Have|Contain|Strict)"
    r"|\.shouldBe\b|^\s*(?:\[\[? |test )"
)
_FAILS_IN_GO = re.compile(r"^if\b.*\{\s*\w+\.(?:Error|Fatal|Fail)\w*\(")
_UNEQUAL = re.compile(r"!=|!(?:reflect|bytes|slices|maps|cmp)\.")
_TRIVIAL = "(?:[Tt]rue|[Ff]alse)"
_EMPTY = re.compile(r"==(?:\[\]|\{\}|\(\)|\"\"|0|set\(\))$")
_EXACT = re.compile(
    rf"(?<![<>!=])===?(?!=)(?!\s*{_TRIVIAL}\s*\)?;?$)|\bis None\b|\bapprox\b"
    r"|assert\w*(?:[Ee]q(?:ual)?s?|Equals?|Same|AlmostEqual|CountEqual|Is|IsNone|Regex|Contains)!?\("
    r"|assert_(?:equal|same|nil|match|in_delta)\b"
    r"|\.(?:Equal\w*|Exactly|Same|JSONEq|ElementsMatch|ErrorIs|ErrorAs|ErrorContains|Len|Nil)\("
    rf"|\.to(?:Strict)?(?:Equal|Be)\((?!\s*{_TRIVIAL}\s*\))"
    r"|\.to(?:BeCloseTo|HaveLength|HaveBeenCalledWith|MatchObject|BeNull|BeUndefined|Match)\b"
    r"|\.(?:[Dd]eep\w*|strict\w*|eql|equal)\(|\.(?:isEqualTo|isSameAs|containsExactly\w*|isNull)\("
    r"|\beql?\b(?=[\s(\[{\"'\w])|\bbe_nil\b|\bmatch_array\b|must_(?:equal|be_nil)|shouldBe\b|_EQ\b|STREQ"
    r"|called_(?:once_)?with|assertNull|assertNil"
    r"|(?:raises|assertRaises\w*|assertThrows\w*|[tT]hrows?\w*|raise_error|assert_raises?|warns"
    r"|assertFailsWith|should_panic)\s*[(<\s]\s*"
    r"(?:expected|(?!(?:Base)?Exception\b|Throwable\b|StandardError\b|Error\b|\(\)|\)|\{|->)[\w\"'`/])"
)
_OR = re.compile(r"\bor\b|\|\|")
_WEAK = re.compile(r"expect\.(?:any|anything|objectContaining|arrayContaining)\b|\bANY\b")
_NEGATIVE = re.compile(
    r"\bnot\b|(?<!\bif )!=|(?<![=!\w])!(?=[\w(])|assert(?:Is)?(?:Not|False)|to_not|not_to|refute"
    r"|wont_|isFalse|toBeFalsy|be_falsey|Not(?:Equal|Nil|Null|Empty)|assert_n|\bFalse\b|\bfalse\b"
)
_NEVER_FAILS = re.compile(
    r"\bor True\b|\|\| ?true\b|\bassert (?:not False|1)\b"
    r"|^(?:assert|assert_?[Tt]rue|self\.assertTrue|t\.ok|assert!)[ (]\s*(?:True|true|1)\b"
    r"|expect\((?:true|1|True)\)|expect\(false\)\.not"
    r"|^(?:self\.)?assert[\w.]*!?[ (]\(?(?P<same>[^=]{1,200}?)(?:==|,)(?P=same)\)?$"
)
_NESTED = r"[(\[{](?:[^()\[\]{}]|[(\[{][^()\[\]{}]*[)\]}])*+[)\]}]"
_TUPLE = re.compile(rf"assert \((?:[^()\[\]{{}},]|{_NESTED})++,(?:[^()\[\]{{}}]|{_NESTED})*+\)$")
"""Of Python, `assert (x == 1, "why")`: a tuple, which is true."""

_MESSAGE = re.compile(r"^(assert\b.*\S)\s*,\s*[rbfRBF]{0,2}([\"'])[^\"']*\2\s*$", re.S)
_LAST_TEXT = re.compile(r",\s*[\"'][^\"']*\s[^\"']*[\"']\s*(?=\)\s*;?$)")
_OF_ONE = re.compile(
    r"(?:assert_?(?:True|False|!|IsNone|IsNotNone|NotNull|Null)?!?|ok|True|False)\("
)

_OPENS = re.compile(r"(?:[)\]\w\"'>|]\s|=>|->|\))\s*\{$|\bdo(?:\s*\|[^|]*\|)?$|[\w)\]\"']\s*:$")
_DEEPER, _HIGHER = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")
_LONGEST = 80


def statements(
    code: Sequence[str], bare: Sequence[str], numbers: Sequence[int]
) -> Iterator[Statement]:
    """Those of these lines, which have these numbers: one goes on while a bracket or a text is
    open, or where a call follows on the next line."""
    at = 0
    while at < len(code):
        start, depth, quotes = at, 0, 0
        while True:
            line = bare[at].rstrip()
            at += 1
            if _FAILS_NEXT.search(line) and at < len(bare) and _FAILS_IN.match(bare[at]):
                at += 1
                break
            if _OPENS.search(line):
                break
            depth = max(0, depth + len(_DEEPER.findall(line)) - len(_HIGHER.findall(line)))
            quotes += line.count('"""') + line.count("'''") + line.count("`")
            goes_on = at < len(bare) and bare[at].lstrip().startswith((".", "?."))
            is_open = depth or quotes % 2 or goes_on or line.endswith("\\")
            if at >= len(code) or not is_open or at - start > _LONGEST:
                break
        shown, whole = "\n".join(code[start:at]), "\n".join(bare[start:at])
        for begins, ends in _parts(whole):
            if shown[begins:ends].strip("{}()[];, \t\n"):
                number = numbers[start + shown.count("\n", 0, begins)]
                yield _statement(number, shown[begins:ends].strip(), whole[begins:ends].strip())


_GOES_ON = re.compile(r"\s*(?:\}\s*)?(?:else\s+)?(?:if|for|while|switch)\b")
_MARK = re.compile(r"[;()\[\]{}]")


def _parts(bare: str) -> Iterator[tuple[int, int]]:
    """Where each of several statements on a line begins and ends."""
    begins = depth = 0
    if ";" in bare and not _GOES_ON.match(bare):
        for mark in _MARK.finditer(bare):
            if mark[0] != ";":
                depth = max(0, depth + (1 if mark[0] in "([{" else -1))
            elif not depth:
                yield begins, mark.start()
                begins = mark.end()
    yield begins, len(bare)


_FAILS_NEXT = re.compile(r"^\s*(?:\}\s*else\s+)?if\b.*\{$")
_FAILS_IN = re.compile(r"\s*\w+\.(?:Error|Fatal|Fail)\w*\(")


@lru_cache(maxsize=16384)
def _statement(line: int, shown: str, bare: str) -> Statement:
    asserted = _without_message(shown, bare)
    text = plain(asserted)
    strength: int | None = None
    is_negative = False
    if _FAILS_IN_GO.match(text):
        text = asserted = text.partition("{")[0]
        strength = 2 if _UNEQUAL.search(text) and "&&" not in text else 1
        is_negative = "==" in text
    elif _ASSERTS.search(bare):
        exact = _EXACT.search(text) and not _WEAK.search(text) and not _OR.search(bare)
        never = _NEVER_FAILS.search(text) or _TUPLE.match(bare)
        strength = 0 if never else 2 if exact else 1
        is_negative = _NEGATIVE.search(text) is not None
    shown = " ".join(shown.split()).rstrip(";")
    return Statement(line, text, shown, strength, is_negative, values(asserted))


def _without_message(shown: str, bare: str) -> str:
    """An assertion without what it says where it fails."""
    if match := _MESSAGE.match(bare):
        return shown[: len(match[1])]
    match = _LAST_TEXT.search(bare)
    if match and _ASSERTS.search(bare):
        before = bare[: match.start()]
        if before.count(",") >= (1 if not _OF_ONE.search(before) else 0) and "==" not in before:
            return shown[: match.start()] + shown[match.end() :]
    return shown


@lru_cache(maxsize=16384)
def values(text: str) -> tuple[str, ...]:
    """The values that stand in a text, in their order and in one way of writing them."""
    return tuple(_one_way(match) for match in _VALUE.finditer(_INDEX.sub("", text)))


def wider(was: str, now: str) -> bool | None:
    """Whether one assertion lets values through that lie further off; None where that is not all
    that differs."""
    before, after = (_TOLERANCE.search(text) for text in (was, now))
    if before is None or after is None or _TOLERANCE.sub("", was) != _TOLERANCE.sub("", now):
        return None
    return float(after[1]) > float(before[1])


_TOLERANCE = re.compile(
    r"\b(?:abs|rel|delta|atol|rtol|tolerance|epsilon|eps)=(\d+(?:\.\d+)?(?:e-?\d+)?)\b"
)


def rows(code: str) -> list[str]:
    """What may be the cases of a test: brackets that hold values alone."""
    if "CsvSource" in code:
        return _CSV.findall(code)
    return [match[0] for match in _ROW.finditer(_NAMES_OF_CASES.sub("", code))]


def asserting_lines(text: str) -> Counter[str]:
    """The lines that assert something, in a language of which no more is known."""
    lines = (plain(line) for line in text.split("\n") if not _COMMENT.match(line))
    return Counter(line for line in lines if _ASSERTS.search(line[:2000]))


_COMMENT = re.compile(r"\s*(?://|#(?!\[)|\*|/\*|--|;)")


def plain(text: str) -> str:
    """A piece of code in one way of writing it."""
    flat = _SPACES.sub(" ", text).strip().rstrip(";")
    return _TRAILING.sub(r"\1", _AROUND.sub(r"\1", flat)).replace("'", '"').replace("`", '"')


_SPACES = re.compile(r"\s+")
_AROUND = re.compile(r" ?([^\w\s\"'`]) ?")
_TRAILING = re.compile(r",([)\]}])")


def _one_way(match: re.Match[str]) -> str:
    if match["none"]:
        return "None"
    return f'"{match[0].strip(_QUOTES)}"' if match[0][0] in _QUOTES else match[0]


_QUOTES = "\"'`"


# ---- What keeps assertions from failing, or from being reached.

_SWALLOWS = re.compile(
    r"^[ \t]*except\b(?:[ \t(]*(?:\w+\.)?(?:AssertionError|Exception|BaseException)\b[^:\n]*)?:\s*"
    r"(?:(?:pass|return|continue|\.\.\.)(?=\s|$)|(?:print|log\w*|warnings|sys)\b[.(])"
    r"|^[ \t]*except[ \t(]*AssertionError[ \t)]*:"
    r"|^[ \t]*finally:\s*(?:return|break|continue)\b|\bfinally\s*\{\s*(?:return|break|continue)\b"
    r"|^[^\n]*\bsuppress\([^)\n]*(?:AssertionError|Exception|BaseException)\b"
    r"|^[ \t]*let _ =[^\n]*\bcatch_unwind\("
    r"|\bcatch\s*(?:\((?:\w+|[^)\n]*\b(?:Exception|Throwable|Error|AssertionError|Any)\b[\w: ]*)"
    r"\))?\s*\{\s*(?:(?:console|log\w*|System|println|\w+\.printStackTrace)\b[^\n{}]*\s*)*+\}"
    r"|^[ \t]*rescue\b[ \t]*(?:Exception|StandardError|Minitest::Assertion)?[^\n]*\n"
    r"(?:[ \t]*(?:puts|p|print|warn)\b[^\n]*\n)*\s*(?:nil\s*)?end\b"
    r"|\brescue nil\b",
    re.M,
)
_NEVER = re.compile(
    r"\b(?:if|while|unless true)[ (]*(?:False|false|0|None|not True|!true)\b[ )]*[:{\n]"
)
_NOTHING = re.compile(
    r"\bin (?:\[\]|\(\)|\{\}|range\(0\))\s*[:)\]]"
    r"|\b(?:in|range|of) \w+(?:\[:0\]|\.slice\(0, ?0\))"
    r"|\bparametrize\((?:[^\n]|\n(?!def|@))*?,\s*\[\s*\]"
    r"|\.filter\(\s*(?:\(?\w*\)?\s*=>\s*|function\s*\(\w*\)\s*\{\s*return\s+)false\b"
    r"|\bfilter\(\s*lambda\b[^:\n]*:\s*False\b"
    r"|\.each\(\s*\[\s*\]\s*\)|\bof \[\]\s*\)|\[\]\.(?:each|forEach)\b"
)
QUIETS = (
    (_NEVER, "puts {test} under a condition that never holds"),
    (_NOTHING, "leaves {test} in a loop over nothing"),
)
"""How it is written, and the sentence of a finding of it."""

_TRIES = re.compile(r"\b(?:try|begin|do|def)\b")


def swallowed(code: str, assertions: Sequence[str]) -> int:
    """How often the failure of one of these assertions is caught and told to nobody."""
    count = 0
    for match in islice(_SWALLOWS.finditer(code), _MOST):
        start, end = 0, match.start()
        if "suppress" in match[0] or "catch_unwind" in match[0]:
            start = match.start()
            end = start + len(_deeper(code, start))
        elif "rescue nil" in match[0]:
            start = code.rfind("\n", 0, end) + 1
        else:
            for begins in _TRIES.finditer(code, 0, end):
                start = begins.start()
        piece = code[start:end]
        if match[0].lstrip().startswith("except") and _TELLS.search(_deeper(code, match.start())):
            continue
        count += _ASSERTS.search(piece) is not None or _has(piece, assertions)
    return count


_TELLS = re.compile(rf"\braise\b|{_ASSERTS.pattern}", re.M)


_MOST, _BLOCK = 200, 4000
"""So many places of a text are looked at, and so many characters from each: these are few in what
people write."""


def _has(piece: str, assertions: Sequence[str]) -> bool:
    block = plain(piece)
    return any(text in block for text in assertions[: 5 * _MOST])


def _deeper(code: str, start: int) -> str:
    """What of a line stands at `start`, and the lines after it that are further in."""
    first, *lines = code[start : start + _BLOCK].split("\n")
    level = len(first) - len(first.lstrip())
    within = takewhile(lambda line: len(line) - len(line.lstrip()) > level, lines)
    return "\n".join([first, *within])


_INNER = re.compile(
    r"\n(?![^\n]*@)[^\n]*\n(?P<at>[ \t]+(?:(?:async )?(?:def|function|fn) (\w+)\b"
    r"|(?:\w+ )?(?:mut )?(\w+) :?= (?:(?:async|move) )?"
    r"(?:function\b|func\(|lambda\b|->|\([^()\n]*\) ?[=-]>|\|[^|\n]*\| ?\{)))"
)


def uncalled(code: str, assertions: Sequence[str]) -> int:
    """How many functions in a test nothing names again, with assertions in them."""
    count, level = 0, len(code) - len(code.lstrip(" \t"))
    names = Counter(_NAME.findall(code))
    for match in islice(_INNER.finditer(f"\n{code}"), _MOST):
        if len(match["at"]) - len(match["at"].lstrip()) <= level:
            continue
        inner = _deeper(f"\n{code}", match.start("at"))
        count += names[match[2] or match[3]] == 1 and _has(inner, assertions)
    return count


_LATER = re.compile(
    r"^[^\n]*\b(?:(?:setTimeout|setImmediate|setInterval|queueMicrotask|nextTick|new Thread)\("
    r"|threading\.Thread\(target|Thread\(target|thread\s*\{)",
    re.M,
)
_WAITS = re.compile(
    r"\b(?:await|done|resolve|Promise|useFakeTimers|mock\.timers|plan|UncaughtExceptionHandler)\b"
)


def unawaited(code: str, assertions: Sequence[str]) -> int:
    """How often an assertion stands in what runs later, or in a thread, where its failure is told
    to nobody."""
    pieces = (_deeper(code, match.start()) for match in islice(_LATER.finditer(code), _MOST))
    return 0 if _WAITS.search(code) else sum(_has(piece, assertions) for piece in pieces)


_JUMP = re.compile(
    r"^(?P<at>[ \t]*)(?:return|next|continue|break)[ \t]*(?:None[ \t]*)?(?:;|$)", re.M
)


def returns_first(code: str, assertions: Sequence[str]) -> int:
    """How many lines return, or go on with the next round, with assertions after them in the same
    block, which nothing reaches."""
    count = 0
    for match in islice(_JUMP.finditer(code), _MOST):
        level = len(match["at"])
        lines = code[match.end() : match.end() + _BLOCK].split("\n")[1:]
        after = takewhile(
            lambda line: not line.strip() or len(line) - len(line.lstrip()) >= level,  # noqa: B023
            lines,
        )
        count += _has("\n".join(after), assertions)
    return count


_IN_ROUND = r"(?:[^()\"'`]|\"[^\"]*\"|'[^']*'|`[^`]*`)"
_IF = re.compile(
    rf"^(?:if|unless|while)\b\s*(?:\(((?:{_IN_ROUND}|\((?:{_IN_ROUND}|\({_IN_ROUND}*\))*\))*)\)"
    r"(?=\s*(?:[;:{]|$|(?!and\b|or\b|in\b|is\b|not\b|if\b)[a-z]))|(.*?)\s*[:{]?$)"
)
"""The brackets around a condition, and what is done where it holds, are no part of it."""
_AND = re.compile(
    r"^(?!assert\b)([^\"'`{}]+?)\s*(?:&&|\band\b)\s*(?:\w+\.)*(?:assert|expect|ok)\w*[.(]"
)


def condition(old: Sequence[Statement], new: Sequence[Statement]) -> str:
    """One that is new among the statements of a test, "" where there is none."""
    had = {row.text for row in old}
    rows = [row for row in new if row.text not in had]
    matches = ((_IF if row.strength is None else _AND).match(row.shown) for row in rows)
    return next((match[match.lastindex or 1] for match in matches if match), "")
