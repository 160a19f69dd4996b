"""Languages that are read by lines: comment lines, blank lines and white space at the ends go.

What is inside a string or a document that runs over lines must stay as it is. So these readers
stop to touch anything from the first line on of which that is not certain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hydra.judge.agreement.comments import DIRECTIVE

_SURE = re.compile(r"""(?:[^'"\\#]++|'[^']*+'|"(?:\\.|[^"\\])*+"|\\.|(?<=\s)#.*|#)*+\\?""")
_STRING = re.compile(r"""'[^']*+'|"(?:\\.|[^"\\])*+\"""")
_HEREDOC = re.compile(r"<<[-~]?\s*[\"'`\\A-Za-z_]")
_RUBY_HEREDOC = re.compile(r"<<[-~]?[\"'`A-Za-z_]")
_RUBY = re.compile(r"%[qQwWiIrxs]?[^\w\s=]|^=begin|^__END__|`")
_ARITHMETIC = re.compile(r"\$\(|`")
_RUN = re.compile(r"require(?:_relative)?\s*\(?\s*(['\"])[\w./-]+\1\s*\)?")


def shell(text: str) -> str:
    """A shell's script: indentation goes too. A carriage return is part of the script."""
    return "\n".join(_lines(text, _doubtful_shell, indented=False))


def ruby(text: str) -> str:
    """Ruby: indentation goes too; runs of `require` are sorted."""
    return "\n".join(_runs(_lines(text.replace("\r\n", "\n"), _doubtful_ruby, indented=False)))


def make(text: str) -> str:
    """A makefile: only blank lines and comment lines outside of recipes."""
    return "\n".join(_lines(text.replace("\r\n", "\n"), _doubtful_make, indented=True))


def plain(text: str) -> str | None:
    """A language that nobody here reads: ends of lines, and blank lines; None if in doubt."""
    if _OVER_LINES.search(text):
        return None
    lines = [line.rstrip(" \t\r") for line in text.split("\n")]
    odd = any(line.count('"') % 2 or line.count("'") % 2 or line.endswith("\\") for line in lines)
    return None if odd else "\n".join(line for line in lines if line)


_OVER_LINES = re.compile(r"\"\"\"|'''|`|<<|\[=*\[|R\"|[@$]\"|\\\\|=begin|__END__|\r(?!\n)")
"""What opens text that may run over lines, in one language or another."""


def _lines(text: str, doubtful: Callable[[str], bool], *, indented: bool) -> Iterator[str]:
    lines = text.split("\n")
    joined = False
    for at, line in enumerate(lines):
        bare = line.strip(" \t")
        recipe = indented and line.startswith("\t")
        comment = bare.startswith("#") and not recipe and not (at == 0 and bare.startswith("#!"))
        if doubtful(line) or (joined and comment):
            yield "\0"
            yield from lines[at:]
            return
        if not joined and ((comment and not DIRECTIVE.search(bare)) or not (bare or recipe)):
            continue
        kept = joined or indented or line.endswith("\\")
        yield line if kept else bare
        joined = line.endswith("\\") and not comment


def _doubtful_shell(line: str) -> bool:
    if line.lstrip(" \t").startswith("#"):
        return False
    if _HEREDOC.search(line) or not _SURE.fullmatch(line) or re.search(r"\\[ \t]+$", line):
        return True
    nested = _ARITHMETIC.search(line)
    return bool(nested) and (line.count("(") != line.count(")") or line.count("`") % 2 > 0)


def _doubtful_ruby(line: str) -> bool:
    if line.lstrip(" \t").startswith("#"):
        return False
    if _RUBY_HEREDOC.search(line) or not _SURE.fullmatch(line):
        return True
    bare = _STRING.sub('""', line)
    if _RUBY.search(bare):
        return True
    if "#{" in line and line.count("{") != line.count("}"):
        return True
    # What is left of a regular expression with quotes in it.
    return "/" in bare or bool(re.search(r"\?[\"']", line))


def _doubtful_make(line: str) -> bool:
    """A definition over lines, and a comment that its last character carries on."""
    if line.startswith("\t"):
        return False
    if line.lstrip(" ").startswith("#"):
        return line.endswith("\\")
    return bool(re.match(r" *(?:override +|export +)*define\b", line))


def _runs(lines: Iterator[str]) -> Iterator[str]:
    run: list[str] = []
    for line in lines:
        if _RUN.fullmatch(line):
            run.append(line)
            continue
        yield from sorted(run)
        run = []
        yield line
    yield from sorted(run)


_BLOCK = re.compile(r"(?:^|[\s:-])[|>][-+0-9]{0,2}(?:\s+#.*)?$")
_KEY = re.compile(r"\s*(?:- +)*[\w./-]+:(?:\s|$)|---")


def yaml(text: str) -> str:
    """YAML: comment lines, blank lines before a key, white space at the ends.

    A block's lines stay as they are (the lines below it that are indented deeper than its key's
    line), and so does everything from the first quote on that is not closed on its line.
    """
    return "\n".join(_yaml(text.replace("\r\n", "\n").split("\n")))


def _yaml(lines: list[str]) -> Iterator[str]:
    block, blank = -1, 0
    for at, line in enumerate(lines):
        bare = line.strip(" ")
        indent = len(line) - len(line.lstrip(" "))
        if block >= 0 and (not bare or indent > block):
            yield line
            continue
        block = -1
        if "\t" in line or "\r" in line or not _SURE.fullmatch(line) or _document(line):
            yield "\0"
            yield from lines[at:]
            return
        if not bare:
            blank += 1
            continue
        if bare.startswith("#") and not DIRECTIVE.search(bare):
            continue
        if not _KEY.match(line):
            yield from [""] * blank
        blank = 0
        yield line.rstrip(" ")
        block = indent if _BLOCK.search(line) else -1


def _document(line: str) -> bool:
    """A block whose lines may stand no deeper than its own line, and what says how to read on."""
    if line.startswith(("---", "%")):
        return line.rstrip() != "---"
    return bool(_BLOCK.search(line)) and not _KEY.match(line) and not line.lstrip().startswith("- ")
