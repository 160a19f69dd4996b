"""Places a scripted agent as an executable in a folder for PATH, with its answers to probes."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hydra.adapters import detection
from hydra.commands.demo.script import Step, check
from hydra.commands.demo.wires.base import USAGE
from hydra.paths import fixtures

Answer = dict[str, object]

DRIVER = Path(__file__).with_name("agent.py")

VERSION_TEXTS = {
    "claude": "{} (Claude Code)",
    "codex": "codex-cli {}",
    "cursor-agent": "{}",
}
"""What each CLI prints for `--version`, on stdout."""

HELP_TEXTS: Mapping[str, Mapping[str, str]] = {
    "claude": {"--help": "help.txt"},
    "codex": {"exec --help": "exec-help.txt", "--help": "help.txt"},
    "cursor-agent": {"--help": "help.txt"},
}
"""The arguments that ask for help, the narrower first, and the recorded answer's file name."""

CLAUDE_STATUS = """{
  "loggedIn": %s,
  "authMethod": "%s",
  "apiProvider": "firstParty"
}
"""
CURSOR_STATUS = '{"status":"%s","isAuthenticated":%s}\n'

SIGNED_IN: Mapping[str, Answer] = {
    "claude": {"words": ["auth", "status"], "stdout": CLAUDE_STATUS % ("true", "claude.ai")},
    "codex": {"words": ["login", "status"], "stderr": "Logged in using ChatGPT\n"},
    "cursor-agent": {"words": ["status"], "stdout": CURSOR_STATUS % ("authenticated", "true")},
}
"""Answers to each CLI's own sign-in question (claude 2.1.330, codex 0.169.0; cursor by docs)."""


def place(
    folder: Path,
    agent: str,
    steps: Sequence[Step],
    *,
    name: str = "",
    version: str = "",
    answers: Sequence[Answer] = (),
    cases: Sequence[tuple[str, Sequence[Step]]] = (),
    help_texts: Mapping[str, str] | None = None,
    applies: str = "",
    usage: Mapping[str, float] | None = USAGE,
    more: str = "",
    **extra: object,
) -> Path:
    """Makes the executable `FOLDER/bin/NAME` that poses as `agent`; the bin folder.

    `name` is what the executable is called, by default the adapter's key; `version` its number,
    by default that of the newest recorded help text.
    `answers` to probes go before the usual ones: `{"words": [...], "stdout", "stderr", "exit",
    "pause"}`; the first is given whose words stand in argv in that order.
    `cases` are steps instead of `steps` where a text is found in folder, arguments or prompt, or is
    its `/LANE/`.
    `help_texts` maps argument words to a text, instead of the recorded ones.
    `applies` is the permission mode (claude) or sandbox (codex) it tells, if not the one asked.
    `usage`: the tokens and cost that are reported; None reports none. `more` is Python that adds
    steps to `STEPS`, and may have a `before(script_path, script, argv, stdin, wire)`, called before
    an answer (`wire` None) and before a run; `extra` is in the script for it. Raises `ValueError`
    on an unknown step.
    """
    for documents in (steps, *(chosen for _, chosen in cases)):
        check(documents)
    name = name or agent
    version = version or newest_version(agent)
    helps = recorded_helps(agent) if help_texts is None else help_texts
    text = VERSION_TEXTS[agent].format(version)
    script: dict[str, object] = {
        "agent": agent,
        "version": text,
        "applies": applies,
        "usage": usage,
        "answers": [
            *answers,
            {"words": ["--version"], "stdout": text + "\n"},
            *({"words": terms.split(), "stdout": shown} for terms, shown in helps.items()),
            SIGNED_IN[agent],
            {"words": ["sandbox"]},
        ],
        "cases": [{"when": when, "steps": list(chosen)} for when, chosen in cases],
        "steps": list(steps),
        "more": more,
        **extra,
    }
    return _write(folder, name, script)


def _write(folder: Path, name: str, script: Mapping[str, object]) -> Path:
    # The interpreter itself, not a virtual environment's link to it: -S and -I want no site.
    terms = [os.path.realpath(sys.executable), "-I", "-S", str(DRIVER)]
    shim = folder / "bin" / name
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.unlink(missing_ok=True)
    # The shell reads two lines of it. No path stands in the third that a confined lane would see
    # because a program names it.
    text = json.dumps(script).replace("/", "\\/")
    shim.write_text(f'#!/bin/sh\nexec {shlex.join(terms)} "$0" "$@"\n{text}\n')
    shim.chmod(0o755)
    return shim.parent


def newest_version(agent: str) -> str:
    """The newest version of `agent` whose help text is recorded."""
    names = [path.name for path in (fixtures() / "adapters" / agent).iterdir() if path.is_dir()]
    return max(names, key=detection.order)


def recorded_helps(agent: str) -> dict[str, str]:
    """What the real CLI of that version prints for help, by the arguments that ask for it."""
    recorded = fixtures() / "adapters" / agent / newest_version(agent)
    return {terms: (recorded / file).read_text() for terms, file in HELP_TEXTS[agent].items()}
