"""A run whose names, contents, words and verdict try to be more than text."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import commit, write
from tests.support.landings import Shelf
from tests.support.pages import PageRun, commit_files, document, event, verdict, write_events

HARM = (
    "</script><script>window.pwned=1;alert(1)</script>",
    "<img src=x onerror=window.pwned=1>",
    '"><svg onload=window.pwned=1>',
    "<!--<script>",
    "javascript:window.pwned=1",
    "]]>{{script}}{{policy}}${window.pwned=1}`",
    "\u202egnp.exe\u2066\u200b\ufeff",
    "\x1b]52;c;cHduZWQ=\x07\x1b[2J\x1b[31mred\x1b[0m",
    "\u2028window.pwned=1\u2029",
    "__proto__",
)


def hostile(repo: Path, scratch: Path) -> PageRun:
    """Names, contents, messages and a verdict that try to be more than text."""
    write(repo, {"src/a.py": "one = 1\n"})
    commit(repo, "One")
    shelf = Shelf.of(repo, scratch)
    lines = "\n".join(HARM)
    files: dict[str, str | bytes | None] = {
        "src/a.py": f"one = 2\n{lines}\n".encode("utf-8", "surrogatepass"),
        "long.py": "x = '" + "a<b>" * 500_000 + "'\n",
        "nul.txt": b"a\0b\x01\xff\n",
        "almost.txt": b"\x01\x02\x7f\xff\xfe not utf-8\n",
        "</script><script>window.pwned=1</script>.html": "<script>window.pwned=1</script>\n",
        "a'b\"c $(touch pwned) `touch pwned`;.py": "1\n",
        "new\nline \u202e.py": "2\n",
        "bytes-\udcff.py": "3\n",
        "__proto__/constructor.js": "var x = `<img src=x onerror=window.pwned=1>`;\n",
        "-rf.py": "4\n",
        "run.sh": "#!/bin/sh\nrm -rf / # <b>\n",
    }
    commit_files(shelf, "codex", files, {"run.sh": "100755"})
    commit_files(shelf, "constructor", {"src/a.py": "one = 3\n"})
    harm = " ".join(HARM)
    words = {"{harm}": harm, **{f"{{harm {n}}}": text for n, text in enumerate(HARM)}}
    events = [
        event(1, 0.0, "agent_started", "codex", pid=1),
        *(event(n, float(n), "message", "codex", text=text) for n, text in enumerate(HARM, 2)),
        event(20, 20.0, "tool_call", "codex", id="1", name=harm, summary=harm),
        event(21, 21.0, "failed", "codex", error="x", message=harm, terminal=True),
        event(22, 22.0, "check_started", "__proto__", check=harm, command=harm),
    ]
    write_events(shelf, events)
    return PageRun(shelf, verdict(shelf, **document("page_hostile", words)))
