"""Sign-in files as the real CLIs write them, with made-up values.

The shapes are those that claude 2.1.330, codex 0.169.0, gemini 0.61.0, qwen 0.24.4, opencode
1.18.33 and pi 0.73.1 wrote when they renewed an expired token of a made-up service on loopback;
that of hermes 0.19.0 is from its code.
"""

from __future__ import annotations

import base64
import copy
import json
import time
from typing import Any

NOW = int(time.time())


def jwt(name: str, *, sub: str = "user-1", account: str = "acc-1", ends: float = 864000) -> str:
    """An access token as OpenAI's, unsigned."""
    auth = {"chatgpt_account_id": account, "chatgpt_plan_type": "pro"}
    claims = {"sub": sub, "iss": "https://auth.openai.com", "exp": NOW + int(ends), "jti": name}
    claims["https://api.openai.com/auth"] = auth
    return ".".join((_part({"alg": "RS256"}), _part(claims), "c2lnbmF0dXJl"))


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def milliseconds(seconds: float) -> int:
    """So many from now."""
    return int((NOW + seconds) * 1000)


CLAUDE, CODEX, PI = ".claude/.credentials.json", ".codex/auth.json", ".pi/agent/auth.json"
OPENCODE, MCP = ".local/share/opencode/auth.json", ".local/share/opencode/mcp-auth.json"
GEMINI, QWEN = ".gemini/oauth_creds.json", ".qwen/oauth_creds.json"
HERMES, CURSOR = ".hermes/auth.json", ".cursor/auth.json"

OWN: dict[str, Any] = {
    CLAUDE: {
        "claudeAiOauth": {
            "accessToken": "sk-ant-oat01-made-up-0",
            "refreshToken": "sk-ant-ort01-made-up-0",
            "expiresAt": milliseconds(-60),
            "refreshTokenExpiresAt": milliseconds(20 * 86400),
            "scopes": ["user:inference"],
            "subscriptionType": "max",
            "accountUuid": "account-1",
        },
        "mcpOAuth": {},
    },
    CODEX: {
        "auth_mode": "chatgpt",
        "OPENAI_API_KEY": None,
        "tokens": {
            "id_token": jwt("id-0", ends=-60),
            "access_token": jwt("access-0", ends=-60),
            "refresh_token": "rt_made-up-0",
            "account_id": "acc-1",
        },
        "last_refresh": "2026-01-02T05:48:33.142157382Z",
    },
    PI: {
        "anthropic": {
            "type": "oauth",
            "refresh": "sk-ant-ort01-made-up-0",
            "access": "sk-ant-oat01-made-up-0",
            "expires": milliseconds(-60),
        },
        "openai-codex": {
            "type": "oauth",
            "access": jwt("pi-0", ends=-60),
            "refresh": "rt_made-up-0",
            "expires": milliseconds(-60),
            "accountId": "acc-1",
        },
        "github-copilot": {
            "type": "oauth",
            "refresh": "ghu_made-up-0",
            "access": "tid=made;exp=1;proxy-ep=proxy.individual.githubcopilot.com;",
            "expires": milliseconds(-60),
        },
        "openai": {"type": "api_key", "key": "made-up-own-key"},
    },
    OPENCODE: {
        "openai": {
            "type": "oauth",
            "refresh": "rt_made-up-0",
            "access": jwt("opencode-0", ends=-60),
            "expires": milliseconds(-60),
            "accountId": "acc-1",
        },
        "openrouter": {"type": "api", "key": "made-up-own-key"},
    },
    MCP: {
        "tracker": {
            "tokens": {
                "accessToken": "made-up-mcp-0",
                "refreshToken": "made-up-mcp-refresh-0",
                "expiresAt": NOW - 60.5,
                "scope": "read",
            },
            "clientInfo": {"clientId": "made-up-client"},
            "serverUrl": "https://tracker.example/mcp",
        }
    },
    GEMINI: {
        "access_token": "ya29.made-up-0",
        "refresh_token": "1//made-up-0",
        "scope": "openid",
        "token_type": "Bearer",
        "id_token": jwt("gemini-0", ends=-60),
        "expiry_date": milliseconds(-60),
    },
    QWEN: {
        "access_token": "made-up-access-0",
        "refresh_token": "made-up-refresh-0",
        "token_type": "Bearer",
        "resource_url": "portal.qwen.ai",
        "expiry_date": milliseconds(-60),
    },
    HERMES: {
        "version": 1,
        "providers": {
            "nous": {
                "inference_base_url": "https://inference.example/v1",
                "access_token": "made-up-access-0",
                "refresh_token": "made-up-refresh-0",
            }
        },
    },
    CURSOR: {"accessToken": "made-up-access-0", "refreshToken": "made-up-refresh-0"},
}

PLAIN = {
    ".gemini/.env": "GEMINI_API_KEY=made-up\n",
    ".gemini/gemini-credentials.json": '{"sealed": "made-up"}',
    ".gemini/google_accounts.json": '{"active": "a@b.example", "old": []}',
    ".qwen/.env": "OPENAI_API_KEY=made-up\n",
    ".hermes/.env": "OPENROUTER_API_KEY=made-up\n",
    ".factory/auth.v2.file": "made-up-sealed",
    ".factory/auth.v2.key": "made-up-key",
}
"""What is no sign-in of fields."""


def text(file: str) -> str:
    """The user's own file, by its own hand: nothing here is as `json.dumps` would have it."""
    if file in PLAIN:
        return PLAIN[file]
    return json.dumps(OWN[file], indent=3, separators=(" ,", ":")) + "\n\n"


def renewed(file: str) -> Any:
    """The file as an honest CLI renews it."""
    own = copy.deepcopy(OWN[file])
    for path, value in HONEST[file].items():
        place, name = holder(own, path)
        place[name] = value
    return own


def holder(node: Any, path: str) -> tuple[Any, str]:
    *outer, name = path.split(">")
    for step in outer:
        node = node[step]
    return node, name


HONEST: dict[str, dict[str, Any]] = {
    CLAUDE: {
        "claudeAiOauth>accessToken": "sk-ant-oat01-made-up-1",
        "claudeAiOauth>refreshToken": "sk-ant-ort01-made-up-1",
        "claudeAiOauth>expiresAt": milliseconds(8 * 3600),
        "claudeAiOauth>refreshTokenExpiresAt": milliseconds(19 * 86400),
    },
    CODEX: {
        "tokens>id_token": jwt("id-1", ends=3600),
        "tokens>access_token": jwt("access-1"),
        "tokens>refresh_token": "rt_made-up-1",
        "last_refresh": time.strftime("%Y-%m-%dT%H:%M:%S.142157382Z", time.gmtime(NOW)),
    },
    PI: {
        "anthropic>access": "sk-ant-oat01-made-up-1",
        "anthropic>refresh": "sk-ant-ort01-made-up-1",
        "anthropic>expires": milliseconds(3300),
    },
    OPENCODE: {
        "openai>access": jwt("opencode-1"),
        "openai>refresh": "rt_made-up-1",
        "openai>expires": milliseconds(3600),
    },
    MCP: {
        "tracker>tokens>accessToken": "made-up-mcp-1",
        "tracker>tokens>refreshToken": "made-up-mcp-refresh-1",
        "tracker>tokens>expiresAt": NOW + 3600.25,
    },
    GEMINI: {
        "access_token": "ya29.made-up-1",
        "id_token": jwt("gemini-1", ends=3600),
        "expiry_date": milliseconds(3600),
    },
    QWEN: {
        "access_token": "made-up-access-1",
        "refresh_token": "made-up-refresh-1",
        "expiry_date": milliseconds(21600),
    },
}
