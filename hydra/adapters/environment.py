"""Which environment variables a lane's processes get: an allowlist, and that agent's own names.

Never git's, never an ssh agent's socket, never a rival's key (peers that pass everything on hand
each agent every other agent's credentials).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hydra.adapters import contract
from hydra.adapters.contract import Descriptor

SHARED = contract.names(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM HTTP_PROXY HTTPS_PROXY"
    " ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR"
    " NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO NODE_OPTIONS NVM_DIR"
    " VIRTUAL_ENV POETRY_VIRTUALENVS_PATH HATCH_DATA_DIR WORKON_HOME PYENV_ROOT RUSTUP_HOME GOPATH"
    " GOROOT JAVA_HOME"
)
"""Names every lane gets: what a tool needs to be found and to reach its service."""


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether `name` is one of `patterns`; a trailing `*` makes one a prefix."""
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )


def names(
    descriptor: Descriptor, present: Iterable[str], extra: Iterable[str] = ()
) -> tuple[str, ...]:
    """Those of the names in `present` that this agent's processes get; `extra` by the user."""
    texts = tuple(present)
    lines = [*SHARED, *descriptor.environment, *extra]
    for switch, more in descriptor.environment_if.items():
        if switch in texts:
            lines += more
    return tuple(name for name in texts if matches(name, lines))


def select(
    descriptor: Descriptor, environ: Mapping[str, str], extra: Iterable[str] = ()
) -> dict[str, str]:
    """The part of `environ` that this agent's processes get; `extra` are names the user added."""
    return {name: environ[name] for name in names(descriptor, environ, extra)}


def secret_values(descriptor: Descriptor, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values in `environ` to be redacted from everything this agent writes."""
    secret = descriptor.secret_environment
    return tuple(value for name, value in environ.items() if value and matches(name, secret))
