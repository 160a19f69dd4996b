"""Turns as text, for an agent that offers no tools and reads its edits from what is said.

That is aider, whose instructions name one of two formats: `diff` (SEARCH/REPLACE blocks) and
`whole` (a listing of the whole file). It asks once a task, so turns that follow one another are
said at once. It runs no command and removes no file for a reply: such a tool becomes a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hydra.conformance.script import ModelTurn, Script, ScriptTool
from hydra.conformance.tool_mapping import shell_command

_FENCE = re.compile(r"(?:opening |eg: )(`{3,}|<\w+>)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """What a request says about the edits that it wants as text.

    `whole` is the format: a listing of the file, else SEARCH/REPLACE blocks. `fence` opens a
    block, `files` are the files in the chat, `said` what the model said so far.
    """

    whole: bool
    fence: str
    files: Mapping[str, str]
    lines: tuple[str, ...] = ()


def prose(instructions: str, spoken: str, lines: tuple[str, ...]) -> Prose | None:
    """The wanted format, if the instructions name one. `spoken` is what the user said."""
    whole = "*file listing*" in instructions
    if not whole and "SEARCH/REPLACE" not in instructions:
        return None
    fence = match[1] if (match := _FENCE.search(instructions)) else "```"
    listing = re.compile(
        rf"^(\S+)\n{re.escape(fence)}\w*\n(.*?)^{re.escape(_end(fence))}$", re.M | re.S
    )
    return Prose(whole=whole, fence=fence, files=dict(listing.findall(spoken)), lines=lines)


def as_text(script: Script, passage: Prose) -> tuple[Script, int]:
    """The script with every tool said, and the place of the last turn that was said already."""
    files = dict(passage.files)
    turns: list[ModelTurn] = []
    marks: list[set[str]] = []
    open_at = -1  # the turn that what follows is added to, up to the next fault
    for place, turn in enumerate(script.turns):
        model_turn = _stated(turn, passage, files)
        joins = open_at >= 0 and not turn.fault and not model_turn.empty
        turns.append(ModelTurn() if joins else model_turn)
        marks.append(set() if joins else _marks(turn))
        if joins:
            turns[open_at] = _joined(turns[open_at], model_turn)
            marks[open_at] |= _marks(turn)
        elif turn.fault or not model_turn.empty:
            open_at = -1 if turn.fault else place
        if any(t.kind == "read_file" and t["path"] not in passage.files for t in turn.tools):
            open_at = -1  # it has to be put into the chat first: naming it asks for that
    done = [place for place, mark in enumerate(marks) if mark and _was_said(mark, passage.lines)]
    return replace(script, turns=tuple(turns)), max(done, default=-1)


def _marks(turn: ModelTurn) -> set[str]:
    """What a turn's reply holds whatever the files hold: they may have changed since."""
    values = {"write_file": "path", "edit_file": "path", "shell": "command"}
    marks = {tool[values[tool.kind]] for tool in turn.tools if tool.kind in values}
    return marks | ({turn.say.strip()} if turn.say else set())


def _was_said(marks: set[str], lines: tuple[str, ...]) -> bool:
    return any(all(mark in text for mark in marks) for text in lines)


def _joined(first: ModelTurn, then: ModelTurn) -> ModelTurn:
    say = "\n\n".join(text for text in (first.say, then.say) if text)
    think = "\n".join(text for text in (first.think, then.think) if text)
    return replace(first, say=say, think=think, wait=first.wait + then.wait)


def _stated(turn: ModelTurn, passage: Prose, files: dict[str, str]) -> ModelTurn:
    blocks = [turn.say, *(_block(tool, passage, files) for tool in turn.tools)]
    return replace(turn, say="\n\n".join(text for text in blocks if text), tools=())


def _block(tool: ScriptTool, passage: Prose, files: dict[str, str]) -> str:
    if tool.kind in ("read_file", "call"):
        return ""
    if tool.kind not in ("write_file", "edit_file"):
        return f"Please run this: {shell_command(tool)}"
    path = tool["path"]
    had = files.get(path, "")
    old, new = _lines(tool, had)
    if passage.whole and old not in had:
        return f"I cannot edit {path}: the chat does not have that text."
    files[path] = had.replace(old, new, 1) if old else new
    body = files[path]
    if not passage.whole:
        body = f"<<<<<<< SEARCH\n{_ended(old)}=======\n{_ended(new)}>>>>>>> REPLACE\n"
    return f"{path}\n{passage.fence}\n{_ended(body)}{_end(passage.fence)}"


def _lines(tool: ScriptTool, had: str) -> tuple[str, str]:
    """What is replaced and by what, in whole lines, as both formats have it."""
    if tool.kind == "write_file":
        return had, tool["text"]
    old, new = tool["old"], tool["new"]
    at = had.find(old)
    if at < 0:
        return old, new
    start = had.rfind("\n", 0, at) + 1
    end = had.find("\n", at + len(old) - old.endswith("\n"))
    end = len(had) if end < 0 else end + 1
    whole = had[start:end]
    return whole, whole.replace(old, new, 1)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _end(fence: str) -> str:
    return fence.replace("<", "</")
