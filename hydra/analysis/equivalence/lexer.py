"""Tokens of the languages in which white space means little.

Whoever reads half a language must know where it stops: where a text holds what these rules do not
surely read, there are no tokens at all. Rules may join what the language holds apart (that can
only make two texts look different), never the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from hydra.analysis.equivalence.languages import DIRECTIVE, word_set

_OPERATORS = sorted(
    word_set(
        ">>>= >>> <<= >>= === !== **= ... ->* &&= ||= ??= <=> ..= &^= == != <= >= && || ?? ?. ++ "
        "-- += -= *= /= %= &= |= ^= &^ << >> -> => :: := .. ** <- .*"
    ),
    key=lambda name: (len(name), name),
    reverse=True,
)
_OPERATOR = "|".join(map(re.escape, _OPERATORS)) + r"|[][{}();,.<>+\-*%=!&|^~?:@]|/(?![/*])"
_SPACE = r"[ \t\f\v\r]++"
_LINE_COMMENT = r"//[^\n]*+"
_BLOCK_COMMENT = r"/\*(?:[^*]|\*(?!/))*+\*/"
_IDENTIFIER = r"[^\W\d]\w*+"
_NUMBER = r"\.?\d(?:[eEpP][+-]|[\w.])*+"
# A word that stands right before a quote belongs to it: b"", L"", an unknown prefix.
_DOUBLE = rf'(?:{_IDENTIFIER})?"(?:\\.|[^"\\\n])*+"'
_SINGLE = rf"(?:{_IDENTIFIER})?'(?:\\.|[^'\\\n])*+'"
_BACKTICK = r"`(?:\\[\s\S]|\$\{(?:[^{}`\"']|\"[^\"`{}\n]*\"|'[^'`{}\n]*')*+\}|(?!\$\{)[^`\\])*+`"


class Rules(Struct, frozen=True):
    """How one language is read.

    `never` is what these rules cannot read; `kept` which comments stay. At the end of a line
    `semicolons` puts one where Go does, and `lines` keeps the end where it may say something.
    """

    pattern: re.Pattern[str]
    never: re.Pattern[str] | None = None
    directive: re.Pattern[str] = DIRECTIVE
    semicolons: bool = False
    lines: bool = False


def _rules(
    *,
    string: str,
    comment: str = f"{_LINE_COMMENT}|{_BLOCK_COMMENT}",
    term: str = _IDENTIFIER,
    number: str = _NUMBER,
    directive: str = "",
) -> re.Pattern[str]:
    parts = {
        "directive": directive or r"(?!)",
        "space": _SPACE,
        "newline": r"\n",
        "comment": comment,
        "string": string,
        "number": number,
        "word": term,
        # Where a line that begins with # is one token, there is no other #.
        "operator": _OPERATOR if directive else rf"{_OPERATOR}|\#",
    }
    return re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in parts.items()))


_RUST_COMMENT = r"//[^\n]*+|/\*(?:[^*/]|\*(?!/)|/(?!\*))*+\*/"
_RUST_RAW = r"(?:b|c)?r(?P<hashes>\#*+)\"[\s\S]*?\"(?P=hashes)"
_RUST_STRING = (
    rf"{_RUST_RAW}|(?:{_IDENTIFIER})?(?<!r)\"(?:\\[\s\S]|[^\"\\])*+\""
    r"|b?'(?:\\u\{[0-9a-fA-F_]*\}|\\x[0-9a-fA-F]{2}|\\[^\n]|[^'\\\n])'|'[^\W\d]\w*+(?!')"
)
_RUST_WORD = r"(?!(?:b|c)?r\#*\")(?:r\#)?[^\W\d]\w*+"
_C_RAW = r"(?:u8|[uUL])?R\"(?P<mark>[^\s()\\\"]{0,16})\([\s\S]*?\)(?P=mark)\""
_C_DIRECTIVE = (
    r"(?<![^\n])[ \t]*+\#(?:\\\r?\n|/\*(?:[^*]|\*(?!/))*+\*/|\"(?:\\.|[^\"\\\n])*+\"|[^\n\\/]"
    r"|/(?!\*)|\\)*+"
)
_C_DOUBLE = _DOUBLE.replace('"', r'(?<!R)"', 1)
_C_COMMENT = rf"//(?:\\\r?\n|[^\n])*+|{_BLOCK_COMMENT}"
_C_NUMBER = r"\.?\d(?:[eEpP][+-]|'\w|[\w.])*+"

RULES: dict[str, Rules] = {
    "javascript": Rules(
        _rules(string=f"{_DOUBLE}|{_SINGLE}|{_BACKTICK}", term=r"[#]?(?:[^\W\d]|\$)[\w$]*+"),
        never=re.compile(r"</|/>|<!--|-->|^#!", re.M),
        lines=True,
    ),
    "typescript": Rules(
        _rules(string=f"{_DOUBLE}|{_SINGLE}|{_BACKTICK}", term=r"[#]?(?:[^\W\d]|\$)[\w$]*+"),
        never=re.compile(r"<!--|-->|^#!", re.M),
        lines=True,
    ),
    "go": Rules(
        _rules(string=f"{_DOUBLE}|{_SINGLE}|`[^`]*+`"),
        # A comment of `import "C"` is a program, one of an example is what it must print.
        never=re.compile(r'"C"|//\s*(?:unordered\s+)?output:', re.I),
        semicolons=True,
    ),
    "rust": Rules(
        _rules(string=_RUST_STRING, comment=_RUST_COMMENT, term=_RUST_WORD),
        # Comments that document are attributes: macros read them, and tests run what is in them.
        directive=re.compile(rf"{DIRECTIVE.pattern}|^//[/!]|^/\*[*!]", re.I),
    ),
    "java": Rules(
        _rules(
            string=rf'"""(?:\\[\s\S]|(?!""")[^\\])*+"""|(?!""")(?:{_DOUBLE}|{_SINGLE})',
            term=r"[^\W\d][\w$]*+",
        ),
        # Such an escape is read before anything else is.
        never=re.compile(r"\\u+00(?:22|27|2[aAfF]|0[aAdD]|5[cC])"),
    ),
    "csharp": Rules(
        _rules(string=f"{_DOUBLE}|{_SINGLE}", directive=r"(?<![^\n])[ \t]*+\#[^\n]*+"),
        never=re.compile(r'[@$]"|"""'),
    ),
    "c": Rules(
        _rules(
            string=f"{_C_RAW}|{_C_DOUBLE}|{_SINGLE}",
            comment=_C_COMMENT,
            number=_C_NUMBER,
            directive=_C_DIRECTIVE,
        ),
        never=re.compile(r"^[ \t]*\#.*R\"|\?\?/", re.M),
    ),
}

_OPENS_REGEX = re.compile(r"[\[({,;:=&|?+\-*%^~<]|[^\"'`]*[=&|?<*%^]|=>")
_REGEX_WORDS = word_set("return typeof case in delete void throw new instanceof do else")
_UNSURE_WORDS = word_set("of yield await get set static async let extends default")
_REGEX = re.compile(r"/(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*+\]|[^/\\\[\n])++/\w*+")
_INCLUDE = re.compile(r"#\s*(include|import)\s*([<\"][^>\"]+[>\"])\s*(?://.*|/\*.*\*/\s*)?")

_AUTOMATIC = re.compile(
    r"(?!(?:case|chan|const|default|defer|else|for|func|go|goto|if|import|interface|map|package"
    r"|range|select|struct|switch|type|var)$)[^\W\d]\w*|.*[\"'`]|\.?\d.*|\+\+|--|[)\]}]",
    re.S,
)
"""After what Go puts a semicolon at the end of a line: the language's own rule."""

_GOES_ON = word_set("( [ { , ; : . ?. && || ?? = += -= *= ... + - % == === != !== & | ^ =>")
_CONTINUES = word_set(") ] } , ; . ?. && || ?? = += -= == === != !== % ^ & | => : in instanceof")
_AFTER_BRACE = frozenset(("else", "catch", "finally"))


_ENDS_OF_LINES = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
"""What ends a line, and a comment, in some languages and in others does not."""


def tokens(text: str, language: str) -> list[str] | None:
    """The tokens without comments and white space, None where it is not sure what they are."""
    rules = RULES[language]
    if "\0" in text or _ENDS_OF_LINES.search(text) or (rules.never and rules.never.search(text)):
        return None
    out: list[str] = []
    ended, before = False, ""
    for kind, value in _read(text, rules):
        if kind == "unsure":
            return None
        if kind == "space":
            continue
        if kind == "newline" or (kind == "comment" and not rules.directive.search(value)):
            ended = ended or "\n" in value
            continue
        if ended and before:
            out += _end_of_line(before, value, rules)
        ended = kind == "comment" and "\n" in value
        out.append(_spelt(kind, value, rules))
        before = before if kind == "comment" else value
    if before and rules.semicolons:
        out += _end_of_line(before, "", rules)
    return out


def _end_of_line(before: str, after: str, rules: Rules) -> list[str]:
    """What the end of a line means between two tokens."""
    if rules.semicolons:
        return [";"] if _AUTOMATIC.fullmatch(before) else []
    if not rules.lines or before in _GOES_ON or after in _CONTINUES:
        return []
    return [] if before == "}" and after in _AFTER_BRACE else ["\n"]


def _spelt(kind: str, value: str, rules: Rules) -> str:
    """A token as it is compared."""
    if kind == "comment":
        return " ".join(value.split())
    if kind == "directive":
        bare = value.strip(" \t\r").replace("\r\n", "\n")
        match = _INCLUDE.fullmatch(bare)
        return f"#{match[1]} {match[2]}" if match else "#" + bare[1:].lstrip(" \t")
    if rules.lines and value[0] == "'" and '"' not in value and "\\" not in value:
        return f'"{value[1:-1]}"'
    return value


def _read(text: str, rules: Rules) -> Iterator[tuple[str, str]]:
    """Kinds and values; "unsure" is the last where nothing fits."""
    match = rules.pattern.match
    at, size, earlier, before = 0, len(text), "", ""
    while at < size:
        hit = match(text, at)
        if hit is None:
            yield "unsure", ""
            return
        kind, value = str(hit.lastgroup), hit[0]
        if rules.lines and kind == "operator" and value[0] == "/":
            line = _slash(text, at, earlier, before)
            if line is None:
                yield "unsure", ""
                return
            if line:
                kind, value = "string", line
        if kind not in ("space", "newline", "comment"):
            earlier, before = before, value
        at += len(value)
        yield kind, value


def _slash(text: str, at: int, earlier: str, before: str) -> str | None:
    """A regular expression, "" where it is a division, None where nobody can tell."""
    match = _REGEX.match(text, at)
    negated = before == "!" and (not earlier or bool(_OPENS_REGEX.fullmatch(earlier)))
    if not before or negated or before in _REGEX_WORDS or _OPENS_REGEX.fullmatch(before):
        return match[0] if match else None
    if before in _UNSURE_WORDS or before in (")", "}", "++", "--", "!", ">", ">>", ">>>"):
        return None if match else ""
    return ""
