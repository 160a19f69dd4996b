"""What real agent CLIs offered the model, and how they named their folder: shortened from their
requests (arguments only, `*` where one is required; all of them texts but for those in `_KINDS`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FOLDER = "/lane/the shop"

_KINDS: dict[str, dict[str, Any]] = {
    "edits": {"type": "array", "items": {"type": "object"}},
    "files": {"type": "array", "items": {"type": "object"}},
    "commands": {"type": "array", "items": {"type": "string"}},
    "riskLevel": {"type": "string", "enum": ["low", "medium", "high"]},
    "timeout": {"type": "number"},
    "initial_wait": {"type": "integer"},
    "is_background": {"type": "boolean"},
    "edit_mode": {"type": "string", "enum": ["replace", "insert"]},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One CLI in one version: how it names the folder, and its tools."""

    version: str
    folder: str
    tools: dict[str, str]

    def schemas(self) -> dict[str, dict[str, Any]]:
        """The tools with the JSON schema of each."""
        return {name: _schema(arguments.split()) for name, arguments in self.tools.items()}


def _schema(arguments: list[str]) -> dict[str, Any]:
    names = [name.rstrip("*") for name in arguments]
    needed = [name.rstrip("*") for name in arguments if name.endswith("*")]
    properties = {name: _KINDS.get(name, {"type": "string"}) for name in names}
    return {"type": "object", "properties": properties, "required": needed}


OFFERS = {
    "gemini": Offer(
        version="0.61.0",
        folder="temporary directory is: /home/u/.gemini/tmp\n"
        f"- **Workspace Directories:**\n  - {FOLDER}\n- **Directory Structure:**",
        tools={
            "read_file": "file_path* start_line end_line",
            "replace": "file_path* instruction* old_string* new_string* allow_multiple",
            "write_file": "file_path* content*",
            "run_shell_command": "command* description dir_path is_background delay_ms",
        },
    ),
    "qwen": Offer(
        version="0.24.4",
        folder=f"My operating system is: linux\nI'm currently working in the directory: {FOLDER}\n",
        tools={
            "edit": "file_path* old_string* new_string* replace_all",
            "notebook_edit": "notebook_path* cell_id new_source edit_mode",
            "read_file": "file_path* offset limit pages",
            "run_shell_command": "command* is_background timeout description directory",
            "write_file": "file_path* content* record_as_artifact",
        },
    ),
    "opencode": Offer(
        version="1.18.33",
        folder=f"<env>\n  Working directory: {FOLDER}\n  Workspace root folder: {FOLDER}",
        tools={
            "bash": "command* timeout workdir",
            "edit": "filePath* oldString* newString* replaceAll",
            "read": "filePath* offset limit",
            "write": "content* filePath*",
        },
    ),
    "copilot": Offer(
        version="1.0.102",
        folder=f"* Current working directory: {FOLDER}\n* Git repository root: {FOLDER}",
        tools={
            "bash": "command* description* shellId mode detach initial_wait",
            "view": "path* view_range forceReadLargeFiles",
            "create": "path* file_text*",
            "edit": "path* old_str new_str",
        },
    ),
    "pi": Offer(
        version="0.73.1",
        folder=f"Current date: 2026-11-22\nCurrent working directory: {FOLDER}",
        tools={
            "read": "path* offset limit",
            "bash": "command* timeout",
            "edit": "path* edits*",
            "write": "path* content*",
        },
    ),
    "omp": Offer(
        version="18.2.3",
        folder=f"Today: 2026-11-22; current working directory: '{FOLDER}'. Do not repeat\n",
        tools={
            "read": "i* path*",
            "bash": "i* command* env timeout cwd",
            "edit": "i* input*",
            "write": "i* path* content*",
        },
    ),
    "hermes": Offer(
        version="0.19.0",
        folder=f"Current working directory: {FOLDER}\n\nYou are",
        tools={
            "patch": "mode* path old_string new_string replace_all patch",
            "read_file": "path* offset limit",
            "terminal": "command* background timeout workdir pty",
            "write_file": "path* content* cross_profile",
        },
    ),
    "droid": Offer(
        version="0.215.0",
        folder=f"unless you think the environment has changed.\n\n% pwd\n{FOLDER}\n\n",
        tools={
            "Read": "file_path* offset limit",
            "Execute": "summary* command* timeout riskLevelReason* riskLevel* fireAndForget",
            "Edit": "file_path* old_str* new_str* change_all",
            "Create": "file_path* content*",
        },
    ),
    "openclaw": Offer(
        version="2026.9.6",
        folder=f"## Workspace\nWorking directory: {FOLDER}\nSingle global workspace",
        tools={
            "apply_patch": "input*",
            "edit": "path* edits*",
            "exec": "title command* workdir yieldMs background timeoutSeconds",
            "read": "path* offset limit",
            "write": "path* content*",
        },
    ),
    "cline": Offer(
        version="3.0.65",
        folder=f"3. IDE: Terminal Shell\n4. Working Directory: {FOLDER}\n</env>",
        tools={
            "read_files": "files*",
            "run_commands": "commands*",
            "editor": "path* old_text new_text* insert_line",
        },
    ),
}
