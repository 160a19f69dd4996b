"""What hostile lanes make of their sign-in files: each in a way of its own.

All that they write has "evil" in it, so that none of it can come to HOME unseen.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.signins import (
    CLAUDE,
    CODEX,
    CURSOR,
    GEMINI,
    HERMES,
    HONEST,
    MCP,
    NOW,
    OPENCODE,
    OWN,
    PI,
    QWEN,
    holder,
    jwt,
    milliseconds,
    renewed,
)


@dataclass(frozen=True)
class Attack:
    """One hostile lane: what it makes of its copy of `file`, and by which words it is refused.

    `data` is what it writes there; with a `script` it does something else (`$F` is the file, `$D`
    its folder, `$T` scratch). `refusal` "" is for what is no sign-in at all, and told of nobody.
    """

    file: str
    refusal: str = ""
    data: str = ""
    script: str = ""

    @property
    def agent(self) -> str:
        """Whose file it is."""
        return next(key for place, key in _AGENTS.items() if self.file.startswith(place))


_AGENTS = {
    ".claude/": "claude",
    ".codex/": "codex",
    ".pi/": "pi",
    ".local/share/opencode/": "opencode",
    ".gemini/": "gemini",
    ".qwen/": "qwen",
    ".hermes/": "hermes",
    ".cursor/": "cursor-agent",
    ".factory/": "droid",
}


def _with(file: str, refusal: str, values: dict[str, Any]) -> Attack:
    """An honest renewal, but for these values, by paths with `>`."""
    return Attack(file, refusal, json.dumps(_changed(renewed(file), values)))


def _only(file: str, refusal: str, values: dict[str, Any]) -> Attack:
    """The user's own, but for these values."""
    return Attack(file, refusal, json.dumps(_changed(copy.deepcopy(OWN[file]), values)))


def _changed(document: Any, values: dict[str, Any]) -> Any:
    for path, value in values.items():
        place, name = holder(document, path)
        place[name] = value
    return document


def _raw(change: Callable[[str], str]) -> str:
    return change(json.dumps(renewed(PI)).replace("made-up-1", "evil-made-up"))


_NONE_NEW = "none of its tokens is new"
_NO_TOKEN = "is no token"
_NO_TIME = "is no time to come"
_NO_JSON = "is no JSON object"
_OTHER = "is another"
_COMMAND = "!touch /tmp/evil"

ATTACKS = {
    # What a program that reads the file would run, or obey.
    "command_for_key": _only(
        PI, _OTHER, {"anthropic": {"type": "api_key", "key": _COMMAND, "access": "evil-evil"}}
    ),
    "new_command": _only(PI, _NONE_NEW, {"evil": {"type": "api_key", "key": _COMMAND}}),
    "command_in_token": _with(PI, _NO_TOKEN, {"anthropic>access": _COMMAND}),
    "command_in_refresh": _with(PI, _NO_TOKEN, {"anthropic>refresh": "$(touch evil-evil)"}),
    "backticks": _with(PI, _NO_TOKEN, {"anthropic>access": "`evil-evil-evil`"}),
    "escaped_command": Attack(
        PI, _NO_TOKEN, _raw(lambda text: text.replace('"sk-ant-oat01-', '"\\u0021touch-', 1))
    ),
    "own_key_made_oauth": _only(
        PI, _NONE_NEW, {"openai": {"type": "oauth", "access": "evil-evil", "refresh": "evil-evil"}}
    ),
    "address_in_copilots_token": _only(
        PI,
        _NONE_NEW,
        {"github-copilot": {"type": "oauth", "access": "proxy-ep=proxy.evil.example"}},
    ),
    "wellknown_added": _only(
        OPENCODE,
        _NONE_NEW,
        {"https://evil.example": {"type": "wellknown", "key": "EVIL", "token": "evil-evil"}},
    ),
    "wellknown_instead": _only(
        OPENCODE, _OTHER, {"openai": {"type": "wellknown", "key": "EVIL", "token": "evil-evil"}}
    ),
    "api_key_replaced": _only(
        OPENCODE, _NONE_NEW, {"openrouter": {"type": "api", "key": "evil-evil"}}
    ),
    "api_made_oauth": _only(
        OPENCODE,
        _NONE_NEW,
        {
            "openrouter": {
                "type": "oauth",
                "access": "evil-evil",
                "refresh": "evil-evil",
                "expires": 0,
            }
        },
    ),
    "enterprise_address": _only(OPENCODE, _NONE_NEW, {"openai>enterpriseUrl": "evil.example"}),
    "mcp_server": _with(
        MCP, "its serverUrl is another", {"tracker>serverUrl": "https://evil.example"}
    ),
    "mcp_client": _only(MCP, _NONE_NEW, {"tracker>clientInfo": {"clientId": "evil"}}),
    "mcp_new_server": _only(MCP, _NONE_NEW, {"evil": {"tokens": {"accessToken": "evil-evil"}}}),
    "qwens_address": _only(QWEN, _NONE_NEW, {"resource_url": "evil.example"}),
    "geminis_refresh_token": _only(GEMINI, _NONE_NEW, {"refresh_token": "1//evil-evil"}),
    "geminis_env": Attack(".gemini/.env", "nothing of this file", "NODE_OPTIONS=evil\n"),
    "geminis_sealed": Attack(".gemini/gemini-credentials.json", "nothing of this file", "evil"),
    "geminis_accounts": Attack(".gemini/google_accounts.json", "", '{"active": "evil"}'),
    "qwens_env": Attack(".qwen/.env", "nothing of this file", "OPENAI_BASE_URL=evil\n"),
    "hermes_env": Attack(".hermes/.env", "nothing of this file", "HERMES_CMD=evil\n"),
    "hermes_address": _only(
        HERMES,
        "",
        {"providers>nous>inference_base_url": "https://evil.example"},
    ),
    "hermes_token": _only(
        HERMES, "nothing of this file", {"providers>nous>access_token": "evil-evil"}
    ),
    "cursor": _only(CURSOR, "nothing of this file", {"accessToken": "evil-evil"}),
    "droids_sealed": Attack(".factory/auth.v2.file", "nothing of this file", "evil"),
    "droids_key": Attack(".factory/auth.v2.key", "nothing of this file", "evil"),
    "codex_api_key": _only(CODEX, _NONE_NEW, {"OPENAI_API_KEY": "evil-evil"}),
    "codex_mode": _only(CODEX, _NONE_NEW, {"auth_mode": "evil"}),
    "claudes_servers": _only(
        CLAUDE, _NONE_NEW, {"mcpOAuth": {"evil": {"accessToken": "evil-evil"}}}
    ),
    "claudes_scopes": _only(CLAUDE, _NONE_NEW, {"claudeAiOauth>scopes": ["evil"]}),
    # Another account's.
    "codex_account": _with(CODEX, "its account_id is another", {"tokens>account_id": "evil"}),
    "codex_account_in_jwt": _with(
        CODEX, "another account's", {"tokens>access_token": jwt("evil", account="evil")}
    ),
    "codex_subject": _with(
        CODEX, "another account's", {"tokens>id_token": jwt("evil", sub="evil")}
    ),
    "codex_no_jwt": _with(CODEX, "another account's", {"tokens>access_token": "evil-evil-evil"}),
    "codex_refresh_alone": _only(
        CODEX, "it has no new access_token", {"tokens>refresh_token": "rt_evil-evil"}
    ),
    "claude_account": _with(
        CLAUDE, "its accountUuid is another", {"claudeAiOauth>accountUuid": "evil"}
    ),
    "pi_account": _with(PI, "its accountId is another", {"openai-codex>accountId": "evil"}),
    # Times.
    "codex_stamp_to_come": _with(
        CODEX, "no time that has been", {"last_refresh": "2099-01-01T00:00:00Z"}
    ),
    "codex_stamp": _with(CODEX, "no time that has been", {"last_refresh": "evil"}),
    "codex_ends_late": _with(
        CODEX, _NO_TIME, {"tokens>access_token": jwt("evil", ends=4000 * 86400)}
    ),
    "ends_late": _with(PI, _NO_TIME, {"anthropic>expires": milliseconds(400 * 86400)}),
    "ends_in_seconds": _with(PI, _NO_TIME, {"anthropic>expires": NOW + 3600}),
    "ends_as_text": _with(PI, "is no number", {"anthropic>expires": "evil"}),
    "ends_as_true": _with(PI, "is no number", {"anthropic>expires": True}),
    "ends_never": Attack(
        PI,
        "is no number",
        _raw(lambda text: text.replace(str(HONEST[PI]["anthropic>expires"]), "1e999")),
    ),
    "ends_beyond_floats": _with(PI, "is no number", {"anthropic>expires": 10**400}),
    "claude_refresh_ends": _with(
        CLAUDE, _NO_TIME, {"claudeAiOauth>refreshTokenExpiresAt": milliseconds(4000 * 86400)}
    ),
    "mcp_ends_in_milliseconds": _with(MCP, _NO_TIME, {"tracker>tokens>expiresAt": NOW * 1000.0}),
    # Tokens that are none.
    "token_as_object": _with(PI, _NO_TOKEN, {"anthropic>access": {"evil": "evil"}}),
    "token_as_list": _with(PI, _NO_TOKEN, {"anthropic>access": ["evil-evil"]}),
    "token_gone": _with(PI, _NO_TOKEN, {"anthropic>refresh": None}),
    "token_short": _with(PI, _NO_TOKEN, {"anthropic>access": "evil"}),
    "token_long": _with(PI, _NO_TOKEN, {"anthropic>access": "evil" * 5000}),
    "token_of_lines": _with(PI, _NO_TOKEN, {"anthropic>access": "evil-evil\nevil"}),
    "token_with_null": _with(PI, _NO_TOKEN, {"anthropic>access": "evil-evil\0"}),
    "token_of_no_character": _with(PI, _NO_TOKEN, {"anthropic>access": "evil-evil\ud800"}),
    "refresh_alone": _only(PI, "it has no new access", {"anthropic>refresh": "evil-evil"}),
    # Files that are none.
    "prototype": _only(PI, _NONE_NEW, {"__proto__": {"evil": {"type": "oauth"}}}),
    "twice": Attack(PI, _NO_JSON, _raw(lambda text: '{"anthropic": "evil", ' + text[1:])),
    "byte_order_mark": Attack(PI, _NO_JSON, _raw(lambda text: "\ufeff" + text)),
    "not_a_number": Attack(PI, _NO_JSON, _raw(lambda text: text[:-1] + ', "x": NaN}')),
    "deep": Attack(PI, _NO_JSON, _raw(lambda text: text[:-1] + ', "x": ' + "[" * 90000)),
    "long_number": Attack(PI, _NO_JSON, _raw(lambda text: text[:-1] + f', "x": {"9" * 5000}}}')),
    "torn": Attack(PI, _NO_JSON, _raw(lambda text: text[:-40])),
    "commands": Attack(PI, _NO_JSON, "#!/bin/sh\ntouch /tmp/evil\n"),
    "list": Attack(PI, _NO_JSON, '["evil-evil", "evil-evil"]'),
    "utf16": Attack(PI, _NO_JSON, script="echo evil | iconv -t UTF-16 > $F"),
    "huge": Attack(PI, script="head -c 3000000 /dev/zero | tr '\\0' x > $F"),
    "link": Attack(
        PI, script=f"cat > $T/x <<'EOT'\n{json.dumps(renewed(PI))}\nEOT\nln -sf $T/x $F"
    ),
    "hard_link": Attack(PI, _NO_JSON, script="echo evil > $D/x; ln -f $D/x $F"),
    "pipe": Attack(PI, script="rm $F; mkfifo $F"),
    "folder": Attack(PI, script="rm $F; mkdir $F; echo evil > $F/auth.json"),
    "gone": Attack(PI, script="rm $F"),
    "swapped": Attack(
        PI,
        _NO_JSON,
        script="echo evil > $D/1; echo '{}' > $D/2; "
        "for i in 1 2 3 4 5 6 7 8; do cp $D/2 $D/3; mv $D/3 $F; cp $D/1 $D/3; mv $D/3 $F; done",
    ),
    "folder_on_the_way": Attack(
        OPENCODE,
        script='H="${TMPDIR%/*}/home"; mkdir -p $T/opencode; mv $H/more-1 $H/away; '
        f"ln -s $T $H/more-1; cat > $T/opencode/auth.json <<'EOT'\n"
        f"{json.dumps(renewed(OPENCODE))}\nEOT\n",
    ),
}
