"""What the CLIs sent, kept in memory without the keys."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Mapping

from msgspec import Struct

SCRUBBED = "[scrubbed]"
_SECRET_NAME = re.compile(r"auth|key|token|secret|cookie", re.IGNORECASE)
_NOT_SECRET = frozenset({"sec-websocket-key"})


class LoggedRequest(Struct, frozen=True, kw_only=True):
    """One request as it is kept. `answer` is the label of what was played back, `place` its turn.

    `headers` has names in lower case; a secret's value reads `[scrubbed]`, which still shows that
    one was sent. `body` is the text of the body. `seconds` counts from the server's start.
    """

    seconds: float
    agent: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: str
    answer: str
    place: int


class RequestLog:
    """Requests in the order of their arrival; safe to use from every handler thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self.requests: list[LoggedRequest] = []

    def add(
        self,
        *,
        agent: str,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: str,
        answer: str,
        place: int,
    ) -> None:
        """Keep one request, scrubbed."""
        secrets = secret_values(headers)
        request = LoggedRequest(
            seconds=time.monotonic() - self._start,
            agent=agent,
            method=method,
            path=without(path, secrets),
            headers={n: SCRUBBED if _secret(n) and v else v for n, v in headers.items()},
            body=without(body, secrets),
            answer=answer,
            place=place,
        )
        with self._lock:
            self.requests.append(request)


def secret_values(headers: Mapping[str, str]) -> list[str]:
    """The values that no log may hold: secret headers', without a scheme such as `Bearer`."""
    values = [value.split()[-1] for name, value in headers.items() if value and _secret(name)]
    return [value for value in values if len(value) >= 6]


def without(text: str, secrets: Iterable[str]) -> str:
    """`text` with every one of `secrets` replaced."""
    for secret in secrets:
        text = text.replace(secret, SCRUBBED)
    return text


def _secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and name.lower() not in _NOT_SECRET
