"""Neutral tools become what each real agent offers: over HTTP, with its requests shortened."""

from __future__ import annotations

import http.client
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hydra.conformance.script import Script, ScriptTool, parse
from hydra.conformance.server import ModelServer, serve
from hydra.conformance.tool_mapping import harmless, own_call, shell_command
from tests.support.offers import FOLDER, OFFERS

PATH = f"{FOLDER}/a b.txt"
FILES = {
    "read_file": {"path": "a b.txt"},
    "write_file": {"path": "a b.txt", "text": "one {old}\n"},
    "edit_file": {"path": "a b.txt", "old": "one {new}", "new": "two"},
    "shell": {"command": "make"},
}
EDITS = [{"oldText": "one {new}", "newText": "two"}]
ABOUT = "Runs the scripted command"
RISK = "The scripted command changes the working folder only."
READ, WRITE, EDIT, SHELL = FILES
EDIT_TOOL = ScriptTool(kind=EDIT, arguments=FILES[EDIT])

EXPECTED: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "gemini": {
        READ: ("read_file", {"file_path": PATH}),
        WRITE: ("write_file", {"file_path": PATH, "content": "one {old}\n"}),
        EDIT: (
            "replace",
            {
                "file_path": PATH,
                "instruction": "Makes the scripted edit",
                "old_string": "one {new}",
                "new_string": "two",
            },
        ),
        SHELL: ("run_shell_command", {"command": "make", "description": ABOUT}),
    },
    "qwen": {
        READ: ("read_file", {"file_path": PATH}),
        WRITE: ("write_file", {"file_path": PATH, "content": "one {old}\n"}),
        EDIT: ("edit", {"file_path": PATH, "old_string": "one {new}", "new_string": "two"}),
        SHELL: (
            "run_shell_command",
            {"command": "make", "description": ABOUT, "timeout": 600_000},
        ),
    },
    "opencode": {
        READ: ("read", {"filePath": PATH}),
        WRITE: ("write", {"filePath": PATH, "content": "one {old}\n"}),
        EDIT: ("edit", {"filePath": PATH, "oldString": "one {new}", "newString": "two"}),
        SHELL: ("bash", {"command": "make", "timeout": 600_000}),
    },
    "copilot": {
        READ: ("view", {"path": PATH}),
        WRITE: ("create", {"path": PATH, "file_text": "one {old}\n"}),
        EDIT: ("edit", {"path": PATH, "old_str": "one {new}", "new_str": "two"}),
        SHELL: (
            "bash",
            {"command": "make", "description": ABOUT, "mode": "sync", "initial_wait": 600},
        ),
    },
    "pi": {
        READ: ("read", {"path": PATH}),
        WRITE: ("write", {"path": PATH, "content": "one {old}\n"}),
        EDIT: ("edit", {"path": PATH, "edits": EDITS}),
        SHELL: ("bash", {"command": "make", "timeout": 600}),
    },
    "omp": {
        READ: ("read", {"path": PATH, "i": "scripted"}),
        WRITE: ("write", {"path": PATH, "content": "one {old}\n", "i": "scripted"}),
        # Its edits name the version of the file that it has read: a script says them as a call.
        EDIT: ("bash", {"command": shell_command(EDIT_TOOL), "timeout": 600, "i": "scripted"}),
        SHELL: ("bash", {"command": "make", "timeout": 600, "i": "scripted"}),
    },
    "hermes": {
        READ: ("read_file", {"path": PATH}),
        WRITE: ("write_file", {"path": PATH, "content": "one {old}\n"}),
        EDIT: (
            "patch",
            {"mode": "replace", "path": PATH, "old_string": "one {new}", "new_string": "two"},
        ),
        SHELL: ("terminal", {"command": "make", "timeout": 600}),
    },
    "droid": {
        READ: ("Read", {"file_path": PATH}),
        WRITE: ("Create", {"file_path": PATH, "content": "one {old}\n"}),
        EDIT: ("Edit", {"file_path": PATH, "old_str": "one {new}", "new_str": "two"}),
        SHELL: (
            "Execute",
            {
                "command": "make",
                "summary": ABOUT,
                "riskLevel": "low",
                "riskLevelReason": RISK,
                "timeout": 600,
            },
        ),
    },
    "openclaw": {
        READ: ("read", {"path": PATH}),
        WRITE: ("write", {"path": PATH, "content": "one {old}\n"}),
        EDIT: ("edit", {"path": PATH, "edits": EDITS}),
        SHELL: (
            "exec",
            {"command": "make", "title": ABOUT, "yieldMs": 600_000, "timeoutSeconds": 600},
        ),
    },
    "cline": {
        READ: ("read_files", {"files": [{"path": PATH}]}),
        WRITE: ("editor", {"path": PATH, "new_text": "one {old}\n"}),
        EDIT: ("editor", {"path": PATH, "old_text": "one {new}", "new_text": "two"}),
        SHELL: ("run_commands", {"commands": ["make"]}),
    },
}


def everything() -> Script:
    tools = [{"kind": kind, **arguments} for kind, arguments in FILES.items()]
    return parse("everything", {"about": "each tool", "turn": [{"tool": tools}]})


def post(server: ModelServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    try:
        connection.request("POST", path, json.dumps(body))
        answered: dict[str, Any] = json.loads(connection.getresponse().read())
        return answered
    finally:
        connection.close()


def chat_calls(server: ModelServer, agent: str) -> list[tuple[str, dict[str, Any]]]:
    offer = OFFERS[agent]
    functions = [{"name": name, "parameters": p} for name, p in offer.schemas().items()]
    body = {
        "model": "m",
        "messages": [
            {"role": "system", "content": f"You help.\n{offer.folder}"},
            {"role": "user", "content": [{"type": "text", "text": "the task"}]},
        ],
        "tools": [{"type": "function", "function": function} for function in functions],
    }
    answered = post(server, f"/agent/{agent}/v1/chat/completions", body)
    calls = [call["function"] for call in answered["choices"][0]["message"]["tool_calls"]]
    return [(call["name"], json.loads(call["arguments"])) for call in calls]


def gemini_calls(server: ModelServer) -> list[tuple[str, dict[str, Any]]]:
    offer = OFFERS["gemini"]
    functions = [{"name": n, "parametersJsonSchema": p} for n, p in offer.schemas().items()]
    body = {
        "contents": [{"role": "user", "parts": [{"text": offer.folder}, {"text": "the task"}]}],
        "tools": [{"functionDeclarations": functions}],
    }
    answered = post(server, "/agent/gemini/v1beta/models/m:generateContent", body)
    parts = answered["candidates"][0]["content"]["parts"]
    return [(part["functionCall"]["name"], part["functionCall"]["args"]) for part in parts]


@pytest.mark.parametrize("agent", sorted(OFFERS))
def test_each_agent_gets_its_own_tools_with_its_own_arguments(agent: str) -> None:
    with serve(everything()) as server:
        called = gemini_calls(server) if agent == "gemini" else chat_calls(server, agent)
    assert dict(zip(FILES, called, strict=True)) == EXPECTED[agent]


def test_what_a_tool_requires_beside_is_filled_in() -> None:
    schema = {
        "properties": {
            "file_path": {"type": "string"},
            "content": {"type": "string"},
            "why": {"type": "string"},
            "level": {"enum": ["low", "high"]},
            "count": {"type": ["integer", "null"]},
            "notes": {"type": "array"},
            "nested": {"properties": {"flag": {"type": "BOOLEAN"}}, "required": ["flag"]},
            "either": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "unasked": {"type": "string"},
        },
    }
    schema["required"] = [name for name in schema["properties"] if name != "unasked"]  # type: ignore[assignment]
    write = ScriptTool(kind="write_file", arguments=FILES[WRITE])
    name, document = own_call(write, {"write_file": schema}, FOLDER)
    assert (name, document) == (
        "write_file",
        {
            "file_path": PATH,
            "content": "one {old}\n",
            "why": "scripted",
            "level": "low",
            "count": 1,
            "notes": [],
            "nested": {"flag": False},
            "either": 1,
        },
    )
    assert harmless({"type": "object"}) == {}


def test_a_path_stays_relative_where_no_folder_is_named() -> None:
    schemas = OFFERS["pi"].schemas()
    read = ScriptTool(kind="read_file", arguments={"path": "src/x.py"})
    assert own_call(read, schemas, "") == ("read", {"path": "src/x.py"})


def test_a_tool_of_the_same_name_with_other_arguments_is_not_taken() -> None:
    other: dict[str, Any] = {
        "edit": {"properties": {"input": {}}},
        "bash": {"properties": {"command": {}}},
    }
    name, document = own_call(ScriptTool(kind="edit_file", arguments=FILES[EDIT]), other, FOLDER)
    assert name == "bash"
    assert list(document) == ["command"]


def test_a_call_by_name_stays_as_it_is() -> None:
    call = ScriptTool(kind="call", arguments={"name": "todo", "input": {"items": ["{path}"]}})
    assert own_call(call, {}, FOLDER) == ("todo", {"items": ["{path}"]})


def test_where_no_file_tool_is_offered_the_shell_does_the_same(scratch: Path) -> None:
    def run(kind: str, **arguments: str) -> str:
        command = shell_command(ScriptTool(kind=kind, arguments=arguments))
        done = subprocess.run(
            ["sh", "-c", command], cwd=scratch, capture_output=True, text=True, check=True
        )
        return done.stdout

    text = 'it\'s 100% \\n "quoted" $HOME\n'
    run("write_file", path="new dir/it's.txt", text=text)
    run("edit_file", path="new dir/it's.txt", old="it's", new="it was {old}")
    assert run("read_file", path="new dir/it's.txt") == text.replace("it's", "it was {old}")
    run("delete_file", path="new dir/it's.txt")
    assert list((scratch / "new dir").iterdir()) == []
