"""The repositories that live tests race in: one with everything a user may have, one with traps."""

from __future__ import annotations

import json
from pathlib import Path

from tests.live.support import AGENTS, Place

CLAUDE_TEXT = "The shop's Claude rule: prices are in cents."
AGENTS_TEXT = "The shop's agents rule: names are in lower case."
HOOK_EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")


def lived_in(place: Place) -> None:
    """A repository with a branch, a tag, a stash, hooks, settings, staged and other changes."""
    repo = place.repo
    (repo / "src").mkdir(parents=True)
    (repo / "README.md").write_text("# Shop\n\nA small shop.\n")
    (repo / "src/pager.py").write_text("def pages(n, size):\n    return n // size\n")
    (repo / ".gitignore").write_text("*.log\n.env\n")
    place.hand_over()
    place.git("init", "-q", "-b", "main")
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.com"), ("x.y", "z")):
        place.git("config", name, value)
    place.git("add", "-A")
    place.git("commit", "-qm", "First commit")
    place.git("tag", "v1")
    place.git("branch", "feature")
    (repo / "src/pager.py").write_text("stashed\n")
    place.git("stash", "push", "-q", "-m", "for later")
    _hooks(repo)
    (repo / "staged.txt").write_text("staged\n")
    place.git("add", "staged.txt")
    (repo / "src/pager.py").write_text("def pages(n, size):\n    return -(-n // size)\n")
    (repo / "untracked.txt").write_text("untracked\n")
    (repo / ".env").write_text("PASSWORD=hunter2\n")
    place.hand_over()


def _hooks(repo: Path) -> None:
    # Each would leave a file in .git, and the fingerprint would show it.
    for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit"):
        hook = repo / ".git/hooks" / name
        hook.write_text(f'#!/bin/sh\ntouch "$(dirname "$0")/../ran-{name}"\n')
        hook.chmod(0o755)


def with_traps(place: Place) -> None:
    """A repository whose own agent settings run commands; each leaves a `mark-...` file.

    The marks lie in the agent's working folder, where writing is allowed: a mark that is not
    there was not made, rather than refused by the confinement.
    """
    repo = place.repo
    (repo / ".claude").mkdir(parents=True)
    (repo / ".codex").mkdir()
    (repo / "README.md").write_text("# Shop\n\nA small shop.\n")
    (repo / "CLAUDE.md").write_text(CLAUDE_TEXT + "\n")
    (repo / "AGENTS.md").write_text(AGENTS_TEXT + "\n")
    (repo / ".claude/settings.json").write_text(json.dumps(_claude_settings()))
    servers = {"trap": _mark_command("mcp"), "trap2": _mark_command("mcp2")}
    (repo / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (repo / ".codex/config.toml").write_text(_codex_settings())
    place.hand_over()
    place.git("init", "-q", "-b", "main")
    place.git("add", "-A")
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    place.git(*identity, "commit", "-qm", "First commit")


def _claude_settings() -> dict[str, object]:
    def hook(event: str) -> list[dict[str, object]]:
        command = {"type": "command", "command": f"touch mark-hook-{event}"}
        return [{"matcher": "", "hooks": [command]}]

    return {
        "hooks": {event: hook(event) for event in HOOK_EVENTS},
        "apiKeyHelper": "touch mark-helper; echo sk-ant-from-the-helper-0123456789",
        "statusLine": {"type": "command", "command": "touch mark-status"},
        "enableAllProjectMcpServers": True,
    }


def _mark_command(name: str) -> dict[str, object]:
    return {"command": "sh", "args": ["-c", f"touch mark-{name}"]}


def _codex_settings() -> str:
    return (
        'notify = ["sh", "-c", "touch mark-notify"]\n'
        "[mcp_servers.trap]\n"
        'command = "sh"\nargs = ["-c", "touch mark-codex-mcp"]\n'
        "[[hooks.SessionStart]]\n"
        "[[hooks.SessionStart.hooks]]\n"
        'type = "command"\ncommand = "touch mark-codex-hook"\n'
    )


def marks(folder: Path) -> list[str]:
    """The traps that went off below `folder`."""
    return sorted({path.name for path in folder.rglob("mark-*")})


def settings(place: Place, *, codex: Path | None = None) -> None:
    """The account's own settings: Codex's base URL, and a file of each agent to keep as it is."""
    own = codex or place.home / ".codex"
    own.mkdir(parents=True, exist_ok=True)
    (own / "config.toml").write_text(f'openai_base_url = "{place.server.url}/v1"\n')
    claude = place.home / ".claude"
    claude.mkdir(parents=True, exist_ok=True)
    (claude / "settings.json").write_text('{"cleanupPeriodDays": 30}\n')
    place.hand_over()


def edited_by(agent: str) -> dict[str, str]:
    """What the script `edit` leaves in a lane's patch."""
    assert agent in AGENTS
    return {"README.md": "M", f"created-by-{agent}.txt": "A"}
