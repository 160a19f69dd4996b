"""Aider's flags: what a lane's line is made of. Names and defaults are those of 0.86.2."""

from __future__ import annotations

from hydra.adapters.flags import Flag
from hydra.adapters.prompts import as_stdin, prefaced
from hydra.errors import AgentError

PROMPT_FILE, EVENTS_FILE = "aider-message.txt", "aider-events.jsonl"
PROMPT_BYTES = 10_000_000

MESSAGE = Flag(
    name="--message-file", purpose="to give it the task", required=True, drops=("plain_text",)
)
YES = Flag(
    name="--yes-always",
    purpose="to run without a terminal",
    required=True,
    drops=("force_edit_mode", "approval_controls"),
)
MODEL = Flag(name="--model", purpose="to choose a model")
MODE = Flag(name="--chat-mode", purpose="for --permission plan")
EFFORT = Flag(name="--reasoning-effort", purpose="to choose how hard the model thinks")
READ = Flag(
    name="--read",
    purpose="to show it the repository's instructions",
    loss="it does not see the repository's instructions",
)
EVENTS = Flag(
    name="--analytics-log",
    purpose="to know what it used and how it ended",
    drops=("emits_usage",),
    loss="its figures are those that it rounds, and its end is told from its text alone",
)

_COMMITS = "to leave its work for Hydra to take"
QUIET: tuple[tuple[Flag, str], ...] = (
    (Flag(name="--no-auto-commits", purpose=_COMMITS, required=True), ""),
    (Flag(name="--no-dirty-commits", purpose=_COMMITS, required=True), ""),
    (Flag(name="--no-gitignore", purpose="to leave .gitignore as it is", required=True), ""),
    (Flag(name="--no-analytics", purpose="to send nothing about its use"), ""),
    (Flag(name="--no-check-update", purpose="to stay as it is"), ""),
    (Flag(name="--no-show-release-notes", purpose="to open no browser"), ""),
    (Flag(name="--disable-playwright", purpose="to install nothing"), ""),
    (Flag(name="--no-detect-urls", purpose="to fetch no page that the task names"), ""),
    (Flag(name="--no-show-model-warnings", purpose="to ask nothing about the model"), ""),
    (Flag(name="--no-pretty", purpose="to write plain text"), ""),
    (Flag(name="--no-fancy-input", purpose="to do without a terminal"), ""),
    (Flag(name="--no-watch-files", purpose="to do this task alone"), ""),
    (Flag(name="--no-restore-chat-history", purpose="to begin anew"), ""),
    (Flag(name="--input-history-file", purpose="to leave no file in the worktree"), "/dev/null"),
    (Flag(name="--chat-history-file", purpose="to leave no file in the worktree"), "/dev/null"),
    # What the repository's own .aider.conf.yml could name, and aider would run.
    (Flag(name="--no-suggest-shell-commands", purpose="to run no command"), ""),
    (Flag(name="--no-auto-lint", purpose="to run no command of the repository's"), ""),
    (Flag(name="--no-auto-test", purpose="to run no command of the repository's"), ""),
    (Flag(name="--no-notifications", purpose="to run no command of the repository's"), ""),
    (Flag(name="--lint-cmd", purpose="to run no command of the repository's"), "true"),
    (Flag(name="--test-cmd", purpose="to run no command of the repository's"), "true"),
    (Flag(name="--load", purpose="to run no commands from a file"), "/dev/null"),
)
"""What is turned off, each with the flag's value where it takes one."""

TABLE = (MESSAGE, YES, MODEL, MODE, EFFORT, READ, EVENTS, *(flag for flag, _ in QUIET))

SETTINGS = (
    *("--verbose", "--no-git", "--no-analytics", "--no-check-update"),
    *("--chat-history-file", "/dev/null", "--input-history-file", "/dev/null"),
    *("--set-env", "LITELLM_LOCAL_MODEL_COST_MAP=True", "--list-models", "no-such-model"),
)
"""Shows its settings, from its own files and variables, and ends."""

ENVIRONMENT = (
    # No .env: one of the repository's could send the user's key to another server.
    ("PYTHON_DOTENV_DISABLED", "1"),
    ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
    # Without a name and an address git has, aider writes some into the repository's settings.
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "user.name"),
    ("GIT_CONFIG_VALUE_0", "aider"),
    ("GIT_CONFIG_KEY_1", "user.email"),
    ("GIT_CONFIG_VALUE_1", "aider@localhost"),
    # It breaks its lines at the terminal's width.
    ("COLUMNS", "4000"),
)


def as_message(preface: str, prompt: str, *, adapter: str) -> bytes:
    """The prompt as its message file holds it. Raises `AgentError` for what aider cannot read.

    A `/` or `!` at the head would be a command of aider's, and of a shell's: a line break before
    it makes it a text.
    """
    text = prefaced(preface, prompt)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise AgentError(
            "aider reads its task as UTF-8, and this one has bytes that are none",
            adapter=adapter,
            hint="write the task in UTF-8",
            reason="prompt",
        )
    head = "\n" if text[:1] in ("/", "!") else ""
    return as_stdin(head + text, adapter=adapter, limit=PROMPT_BYTES, unit="bytes")
