"""What `hydra demo` says before and after its race."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hydra.report.text import clean, wrap


def introduction(folder: Path, task: str, agents: Sequence[str], *, width: int | None) -> str:
    """Before the race: what is about to run, and where. `width` None: nothing is wrapped."""
    lines = (
        f"demo: {len(agents)} scripted agents ({', '.join(agents)}), one real race",
        f"folder: {clean(str(folder))}",
        f"task: {clean(' '.join(task.split()))}",
        "they are scripts: nothing is asked of a service, nothing costs",
    )
    return "".join(f"{line}\n" for text in lines for line in _hung(text, "", width)) + "\n"


def what_next(
    teaches: Mapping[str, str],
    look: Mapping[str, str],
    removal: str,
    *,
    program: str,
    width: int | None,
) -> str:
    """After it: what each patch shows, where to look, how to do the same at home.

    `look` has, by what it is for, a line to copy; `program` is how the user's shell finds hydra. A
    command is never wrapped: it is to be copied.
    """
    column = max(map(len, teaches)) + 4
    lines = ["what the lanes did:"]
    for lane, what in teaches.items():
        lines += _hung(clean(what), f"  {lane}".ljust(column), width)
    for purpose, line in look.items():
        lines += [*_hung(f"{purpose}:", "", width), f"  {line}"]
    lines += [
        *_hung("in your own repository, with Claude Code or Codex installed:", "", width),
        f"  {program} doctor",
        f'  {program} race "what is to be done"',
        f"  {program} compare --html --open",
        f"  {program} merge",
        "remove the demo:",
        f"  {removal}",
    ]
    return "\n" + "".join(f"{line}\n" for line in lines)


def _hung(text: str, head: str, width: int | None) -> list[str]:
    """`text` behind `head`, wrapped to `width`, later lines under its beginning."""
    if width is None:
        return [head + text]
    indent = len(head) or 2
    first, *rest = wrap(text, max(width - indent, 10))
    return [head + first, *(" " * indent + line for line in rest)]
