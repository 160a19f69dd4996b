"""The model servers of this machine: what they have, asked on loopback alone, and only when asked.

Nobody here has tried their models: each is `guarded` wherever it is shown.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlsplit

HARNESS = "guarded"
"""How far a local model is trusted to work an agent's tools."""
MOST = 200
"""Models of one server that are listed."""
LONGEST = 2.0
"""Seconds for all of them together."""
_BYTES = 1024 * 1024
# What a server listens on is in its variable, too.
_LOOPBACK = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "localhost": "127.0.0.1"}  # noqa: S104
_LOOPBACK |= {"127.0.0.1": "127.0.0.1", "::": "::1", "::1": "::1"}


class ServerKind(NamedTuple):
    """One kind of server. `variable` holds `host:port` where it is not `port`; `path` is asked."""

    name: str
    variable: str
    port: int
    path: str


KINDS = (
    ServerKind("Ollama", "OLLAMA_HOST", 11434, "/api/tags"),
    ServerKind("LM Studio", "HYDRA_LMSTUDIO_HOST", 1234, "/v1/models"),
    ServerKind("vLLM", "HYDRA_VLLM_HOST", 8000, "/v1/models"),
)


class LocalModel(NamedTuple):
    """One model that a server has; `context` in tokens, None where it does not say."""

    id: str
    context: int | None = None


class Server(NamedTuple):
    """One server as it was found. `problem` says why nothing of it is known, "" where it answered;
    `is_up` is False where nothing listens."""

    name: str
    url: str
    models: tuple[LocalModel, ...] = ()
    problem: str = ""
    is_up: bool = True


def discover(environ: Mapping[str, str]) -> tuple[Server, ...]:
    """Every kind of server, in the order of `KINDS`. Takes `LONGEST` seconds at most."""
    urls = {kind: base_url(kind, environ) for kind in KINDS}
    servers = {kind: Server(kind.name, url, problem=_UNANSWERED) for kind, url in urls.items()}
    threads = [
        threading.Thread(target=lambda k=kind: servers.update({k: _ask(k, urls[k])}), daemon=True)
        for kind in KINDS
    ]
    end = monotonic() + LONGEST
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, end - monotonic()))
    return tuple(servers[kind] for kind in KINDS)


_UNANSWERED = f"no answer within {LONGEST:g} s"


def _ask(kind: ServerKind, url: str) -> Server:
    if not url:
        why = f"{kind.variable} names no port of this machine's loopback: it is not asked"
        return Server(kind.name, url, problem=why, is_up=False)
    try:
        connection = HTTPConnection(urlsplit(url).netloc, timeout=2 * LONGEST)
        connection.request("GET", kind.path)
        response = connection.getresponse()
        data = response.read(_BYTES + 1)
    except ConnectionRefusedError:
        return Server(kind.name, url, is_up=False)
    except (OSError, HTTPException) as error:
        return Server(kind.name, url, problem=str(error) or type(error).__name__)
    if len(data) > _BYTES:
        return Server(kind.name, url, problem=f"its answer is over {_BYTES} bytes")
    try:
        models = models_of(json.loads(data)) if response.status == 200 else None
    except (ValueError, RecursionError):
        models = None
    if models is None:
        why = f"it answered with status {response.status}, and no list of models"
        return Server(kind.name, url, problem=why)
    return Server(kind.name, url, models)


def base_url(kind: ServerKind, environ: Mapping[str, str]) -> str:
    """`http://127.0.0.1:11434`; "" where its variable names a machine that is not this one."""
    text = environ.get(kind.variable, "").strip()
    try:
        place = urlsplit(text if "//" in text else f"//{text}")
        port = place.port or (80 if place.scheme == "http" else kind.port)
        host = _LOOPBACK.get((place.hostname or "").lower(), "")
    except ValueError:
        return ""
    if not host or place.scheme not in ("", "http") or "@" in place.netloc:
        return ""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def models_of(answer: object) -> tuple[LocalModel, ...] | None:
    """What `/api/tags` or `/v1/models` lists; None where it is no such answer."""
    if not isinstance(answer, dict):
        return None
    rows = answer.get("models") if isinstance(answer.get("models"), list) else answer.get("data")
    if not isinstance(rows, list):
        return None
    models = [_model(row) for row in rows[:MOST] if isinstance(row, dict)]
    return tuple(model for model in models if model is not None)


def _model(row: Mapping[str, object]) -> LocalModel | None:
    names = (row.get("name"), row.get("id"), row.get("model"))
    name = next((value for value in names if isinstance(value, str)), "")
    # vLLM says `max_model_len`, LM Studio `max_context_length`; Ollama's list has neither.
    sizes = (row.get("max_model_len"), row.get("max_context_length"))
    whole = (size for size in sizes if type(size) is int and size > 0)
    return LocalModel(name[:200], next(whole, None)) if name.strip() else None
