"""Edits as text, for aider: what it reads from a reply, in both of its formats."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import pytest

from hydra.conformance.script import Script, parse
from hydra.conformance.server import ModelServer, serve

WHOLE = "You MUST use this *file listing* format:\n- Second line: opening ```\n"
DIFF = "Every *SEARCH/REPLACE block* must use this format:\n2. The opening fence, eg: ```python\n"
CHAT_FILES = (
    "I have *added these files to the chat*.\n\nREADME.md\n```\n# Shop\n\nA small shop.\n```\n"
)
TURNS = (
    {"say": "I look.", "tool": [{"kind": "read_file", "path": "README.md"}]},
    {"tool": [{"kind": "write_file", "path": "new.txt", "text": "new\n"}]},
    {"tool": [{"kind": "edit_file", "path": "README.md", "old": "small", "new": "big"}]},
    {"tool": [{"kind": "edit_file", "path": "README.md", "old": "big", "new": "tiny"}]},
    {"tool": [{"kind": "delete_file", "path": "old.txt"}]},
    {"say": "Done, {agent}."},
)


def script(*turns: Mapping[str, Any]) -> Script:
    return parse("test", {"about": "a test", "turn": list(turns)})


def said(server: ModelServer, instructions: str, *before: str, task: str = "the task") -> str:
    messages = [
        {"role": "system", "content": instructions},
        {"role": "user", "content": CHAT_FILES},
        *({"role": "assistant", "content": text} for text in before),
        {"role": "user", "content": task},
    ]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    url = f"{server.url}/agent/aider/v1/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=60) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


def test_all_turns_are_said_at_once_as_whole_files() -> None:
    with serve(script(*TURNS)) as server:
        assert said(server, WHOLE) == (
            "I look.\n\n"
            "new.txt\n```\nnew\n```\n\n"
            "README.md\n```\n# Shop\n\nA big shop.\n```\n\n"
            "README.md\n```\n# Shop\n\nA tiny shop.\n```\n\n"
            "Please run this: rm -- old.txt\n\n"
            "Done, aider."
        )


def test_a_search_block_holds_whole_lines_and_a_new_file_searches_nothing() -> None:
    with serve(script(*TURNS)) as server:
        text = said(server, DIFF)
    assert "new.txt\n```\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n```" in text
    assert "<<<<<<< SEARCH\nA small shop.\n=======\nA big shop.\n>>>>>>> REPLACE" in text
    assert "<<<<<<< SEARCH\nA big shop.\n=======\nA tiny shop.\n>>>>>>> REPLACE" in text


def test_an_edit_that_cannot_apply_writes_no_file() -> None:
    edit = {"kind": "edit_file", "path": "gone.txt", "old": "never", "new": "still"}
    with serve(script({"tool": [edit]})) as server:
        assert "```" not in said(server, WHOLE)
        assert "<<<<<<< SEARCH\nnever\n=======\nstill\n" in said(server, DIFF)


def test_what_was_said_already_is_not_said_again() -> None:
    with serve(script(*TURNS)) as server:
        first = said(server, DIFF)
        assert said(server, DIFF, first, task="fix it") == "The script has ended."


def test_a_fault_parts_what_is_said_and_passes() -> None:
    error = {"fault": {"kind": "status", "status": 500, "times": 1}}
    with serve(script({"say": "One."}, {"say": "Two."}, error, {"say": "Three."})) as server:
        assert said(server, DIFF) == "One.\n\nTwo."
        with pytest.raises(urllib.error.HTTPError, match="500"):
            said(server, DIFF, "One.\n\nTwo.")
        assert said(server, DIFF, "One.\n\nTwo.") == "Three."


def test_the_fence_is_the_one_that_the_instructions_name() -> None:
    longer = WHOLE.replace("```", "````")
    with serve(script(TURNS[1])) as server:
        assert said(server, longer) == "new.txt\n````\nnew\n````"
        tags = said(server, WHOLE.replace("```", "<source>"))
        assert tags == "new.txt\n<source>\nnew\n</source>"


def test_without_such_instructions_it_is_a_side_request() -> None:
    with serve(script(*TURNS)) as server:
        assert said(server, "Summarize the chat: SEARCH and REPLACE.") == "A short title"
        assert server.requests[0].answer == "side"
