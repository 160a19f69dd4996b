"""Model servers on this machine: where each is asked, and what its answer says. Pure.

What such a server has, nobody here has tried: its models are `guarded` wherever they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

HARNESS = "guarded"
"""How far a local model is trusted to work an agent's tools."""

MOST = 200
"""Models of one server that are listed."""

_LOOPBACK = {
    "": "127.0.0.1",
    "0.0.0.0": "127.0.0.1",  # noqa: S104  what a server listens on is in its variable, too
    "::": "::1",
    "localhost": "127.0.0.1",
    "127.0.0.1": "127.0.0.1",
    "::1": "::1",
}


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
    name = next(
        (value for key in ("name", "id", "model") if isinstance(value := row.get(key), str)), ""
    )
    if not name.strip():
        return None
    # vLLM says `max_model_len`, LM Studio `max_context_length`; Ollama's list has neither.
    sizes = (row.get("max_model_len"), row.get("max_context_length"))
    whole = (size for size in sizes if isinstance(size, int) and not isinstance(size, bool))
    return LocalModel(name[:200], next((size for size in whole if size > 0), None))
