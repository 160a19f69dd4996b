"""What a JSON Web Token says of itself, by its middle part (RFC 7519). Nobody checks its
signature here: its service does."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

_ACCOUNT = ("sub", "iss", "client_id", "azp")
_OPENAI = "https://api.openai.com/auth"
"""Where OpenAI's tokens have their own claims (Codex 0.169.0)."""


def account_differs(own: str, fresh: str) -> bool:
    """Whether `own` names an account, and `fresh` another or none."""
    claims = _claims(own)
    if claims is None:
        return False
    renewed = _claims(fresh)
    pairs = zip(_account(claims), _account(renewed or {}), strict=True)
    return any(claim is not None and claim != other for claim, other in pairs) or renewed is None


def expiry_of(token: object) -> float | None:
    """When it ends, in seconds since 1970; None where it does not say."""
    ends = (_claims(token) or {}).get("exp")
    usable = isinstance(ends, int | float) and not isinstance(ends, bool) and abs(ends) < 1e18
    return ends if usable else None


def _account(claims: Mapping[str, Any]) -> list[object]:
    more = claims.get(_OPENAI)
    named = more.get("chatgpt_account_id") if isinstance(more, dict) else None
    return [*(claims.get(name) for name in _ACCOUNT), named]


def _claims(token: object) -> dict[str, Any] | None:
    parts = token.split(".") if isinstance(token, str) else []
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=="))
    except (ValueError, RecursionError):
        return None
    return claims if isinstance(claims, dict) else None
