"""What a CLI wrote, without the machine and the moment: paths, times, identities, ports, keys.

The same text always gives the same text, and what was different stays different: a session and a
message keep two names. Scrubbed once is scrubbed for good: a second time changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

HOME = "/home/user"
WORKTREE = "/lane/shop"
MOMENT = "2026-01-01T00:00:00.000Z"
KEY = "sk-made-up"

_DASHED = re.compile(r"[^A-Za-z0-9]")

_PATTERNS = (
    # Keys, whole ones and what a CLI shows of one (`sk-test-***67890`). Every key is made up here.
    (re.compile(r"\bsk-[A-Za-z0-9_-]*[A-Za-z0-9*_-]{8,}"), KEY),
    (re.compile(r"(127\.0\.0\.1|localhost):\d+"), r"\1:8080"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)"), MOMENT),
    (re.compile(r'(?<=":)( ?)1[6-9]\d{8}(?:\.\d+)?(?=[,}\]])'), r"\g<1>1767225600"),
    (re.compile(r'(?<=":)( ?)1[6-9]\d{11}(?=[,}\]])'), r"\g<1>1767225600000"),
    # Waits are drawn at random (1.0 to 1.25 of a step), unless the service named whole seconds.
    (re.compile(r'"(retry_delay_ms)": ?(?!\d*000\b)\d+(?:\.\d+)?'), r'"\1":500'),
    (re.compile(r'"(?!retry_delay_ms)(\w+_ms|\w+Ms)": ?\d+(?:\.\d+)?'), r'"\1":10'),
    (re.compile(r'"(\w*(?:duration|elapsed)\w*?)(_seconds|Seconds)": ?\d+(?:\.\d+)?'), r'"\1\2":1'),
    (re.compile(r"(?i)(wall time:? )\d+(?:\.\d+)?( seconds?)"), r"\g<1>0.1\2"),
    (re.compile(r"(?<![\w.-])/(?:home/(?!user\b)[^./\"\s\\][^/\"\s\\]*|root)(?=/)"), HOME),
    (re.compile(r'(?<=")/[^" ]*(?=/\.(?:claude|codex)[/"])'), HOME),
    (re.compile(r"(?<=/claude-)\d+/[^/\"]+(?=/)"), "1000/-lane-shop"),
    (re.compile(r"/cc-socks/\d+\.sock"), "/cc-socks/1000.sock"),
    # Where npm has put the CLI itself.
    (re.compile(r"(?<![\w.-])/[^\s\"'():\\]{1,200}?/(?=node_modules/)"), "/opt/"),
    # Where the probes were asked, and their HOME; argparse may break a path at any hyphen.
    (re.compile(r"/[\w/.-]{1,100}/hydra-\s?conformance-\w+(?:/older)?/probes/home\b"), HOME),
    (re.compile(r"/[\w/.-]{1,100}/hydra-\s?conformance-\w+"), "/scratch"),
    (re.compile(r"\bhydra-probe-\w+"), "hydra-probe"),
    # Where pip has, and a session's name that is its moment (Hermes Agent).
    (re.compile(r"(?<![\w.-])/[^\s\"'():\\]{1,200}?/(?=(?:lib|bin)/python3)"), "/opt/venv/"),
    (re.compile(r"\b20\d{6}_\d{6}_[0-9a-f]{6}\b"), "20260101_000000_000000"),
    # Where Hydra's own state was, the name of a lane's ground.
    (re.compile(r"(?<=/state/g/)[0-9a-f]{8}|(?<=-state-g-)[0-9a-f]{8}"), "00000000"),
)
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_IDENTITIES = re.compile(
    rf"{_UUID}|(?<=\"task_id\":\")\w+|(?<=\"agent_id\":\")\w+|(?<=\"parent_task_id\":\")\w+"
    r"|(?<=\"run_id\":\")[\w-]+|(?<=tasks/)\w+(?=\.output)|(?<=tool-results/)\w+(?=\.)"
    r"|(?<=with ID: )\w+|(?<=agentId: )\w+|\b(?:msg|resp|req|call)_hydra_\w+"
)
_SERVERS = re.compile(r"(\w+_hydra_)\w+")


def scrub(text: str, places: Mapping[str, str] = MappingProxyType({})) -> str:
    """`text` without this machine's paths, times, ports, keys and random identities.

    `places` are paths of this run to what each is called instead; a longer one goes first. Each
    identity keeps a name of its own, numbered as they come in this text.
    """
    for path in sorted(filter(None, places), key=len, reverse=True):
        name = places[path]
        text = text.replace(path, name).replace(_DASHED.sub("-", path), _DASHED.sub("-", name))
    for pattern, stable in _PATTERNS:
        text = pattern.sub(stable, text)
    return _IDENTITIES.sub(_Names(), text)


class _Names:
    """Gives each identity the next name, and the same one the same name."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def __call__(self, match: re.Match[str]) -> str:
        identity, number = match[0], len(self._seen) + 1
        served = _SERVERS.fullmatch(identity)
        if served:
            name = f"{served[1]}{number}"
        else:
            name = f"00000000-0000-4000-8000-{number:012}" if len(identity) == 36 else f"id{number}"
        return self._seen.setdefault(identity, name)
