"""An edit as omp's line-anchored patch, made from what its `read` tool said of the file.

[README.md#AD98]        the file and the tag of what was read
1:# Shop                its lines, numbered
"""

from __future__ import annotations

import re

_READ = re.compile(r"^\[([^\]\n#]+)#([0-9A-F]{4})\]\n((?:\d+:[^\n]*(?:\n|$))+)", re.MULTILINE)
_LINE = re.compile(r"^(\d+):(.*)$", re.MULTILINE)


def anchored(path: str, old: str, new: str, spoken: str) -> str:
    """The patch that puts `new` for `old`; "" where the last reading of the file lacks `old`."""
    reads = [match for match in _READ.finditer(spoken) if _same(path, match[1])]
    if not reads:
        return ""
    name, tag, lines = reads[-1].groups()
    numbered = _LINE.findall(lines)
    text = "".join(f"{line}\n" for _, line in numbered)
    at = text.find(old)
    if at < 0:
        return ""
    first = text.count("\n", 0, at)
    last = text.count("\n", 0, at + len(old.removesuffix("\n")))
    was = "".join(f"{line}\n" for _, line in numbered[first : last + 1])
    body = "".join(f"+{line}\n" for line in was.replace(old, new, 1).splitlines())
    where = f"{numbered[first][0]}.={numbered[last][0]}"
    return f"[{name}#{tag}]\n" + (f"PUT {where}:\n{body}" if body else f"CUT {where}\n")


def _same(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")
