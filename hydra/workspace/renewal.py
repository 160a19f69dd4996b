"""What of a lane's renewed sign-in goes into the user's own: known tokens, and nothing else.

The lane's file is an agent's. The user's own is the base: its text stays as it is, but for the
values of the fields that the agent's descriptor names. All of a file's go, or none. Pure.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from hydra.adapters.contract import TokenFields

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=:|#-]{8,16384}\Z")
"""No quote, space, `!`, `$` or brace: nothing that a program that reads it could run or expand."""

_SECRET = re.compile("token|key|secret", re.IGNORECASE)
"""Names of what makes a sign-in."""

_STAMP = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)\Z")

NEAR_END = 15 * 60.0
"""Seconds before its end from which a token may be renewed. Claude Code does so 5 minutes before,
Gemini too, Qwen half a minute, pi and OpenCode after it (read in their code, run with 2.1.330)."""

_YEAR = 366 * 86400.0

Object = Mapping[str, object]


class Renewal(NamedTuple):
    """What comes of one file: the user's own with its `fields` renewed, or why it stays as it is.

    Neither where nothing was renewed. `stray`: the lane's has changed in more than that.
    `consumed`: it has another refresh token, so the service may take the user's no more. Once it is
    told, `file` is the user's, and `data` is in it.
    """

    data: bytes | None = None
    fields: tuple[str, ...] = ()
    refusal: str = ""
    stray: bool = False
    consumed: bool = False
    file: Path = Path()


class _Unfit(Exception):
    """The lane's may not go back, and why."""


_Change = tuple[tuple[str, ...], object]
"""What is new, and where it stands."""


def renew(
    fields: TokenFields | None, own: bytes, fresh: bytes, *, now: float, refused: bool
) -> Renewal:
    """The user's `own` file with what the lane's `fresh` one has renewed.

    `now` is in seconds since 1970. `refused`: by the lane's own word its service refused the
    sign-in. Without `fields` nothing of the file goes back.
    """
    mine, theirs = parse(own), parse(fresh)
    if fields is None:
        return _unread(mine, theirs)
    if mine is None or theirs is None:
        whose = "yours" if mine is None else "the lane's"
        return Renewal(refusal=f"{whose} is no JSON object", consumed=mine is None)
    consumed = any(_rotations(fields, mine, theirs))
    try:
        changes = list(_changes(fields, mine, theirs, now=now, refused=refused))
    except _Unfit as unfit:
        return Renewal(refusal=str(unfit), consumed=consumed)
    if not changes:
        return Renewal(refusal=_stray(fields, mine, theirs))
    names = tuple(".".join(path) for path, _ in changes)
    data = _spliced(own.decode(), changes).encode()
    return Renewal(data, names, stray=parse(data) != theirs)


def _unread(mine: Object | None, theirs: Object | None) -> Renewal:
    """Of a file without fields: told where a token may be new, not at every date that a CLI writes
    into it."""
    if mine is None or theirs is None or set(_secrets(theirs)) - set(_secrets(mine)):
        return Renewal(refusal="nothing of this file goes back", consumed=True)
    return Renewal()


def _secrets(document: object) -> Iterator[str]:
    waiting = [("", document)]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, dict):
            waiting += node.items()
        elif isinstance(node, list):
            waiting += ((name, item) for item in node)
        elif isinstance(node, str) and node and _SECRET.search(name):
            yield node


def is_signed_out(fields: TokenFields | None, own: bytes, fresh: bytes) -> bool:
    """Whether the lane's is a whole file that lacks a token which the user's has. What is torn may
    be a renewal under way."""
    mine, theirs = parse(own), parse(fresh)
    if mine is None or theirs is None:
        return False
    if fields is None:
        return not any(_secrets(theirs))
    return any(
        _text(_at(mine, path)) and not _text(_at(theirs, path))
        for entry in _entries(fields, mine)
        for path in _token_paths(fields, entry)
    )


def parse(data: bytes) -> dict[str, object] | None:
    """A JSON object in UTF-8, without a byte order mark, NaN or a name that stands twice."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name stands twice")
    return members


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _changes(
    fields: TokenFields, mine: Object, theirs: Object, *, now: float, refused: bool
) -> Iterator[_Change]:
    for entry in _entries(fields, mine):
        changes = list(_entry_changes(fields, entry, mine, theirs, now))
        if changes and not (refused or _is_due(fields, entry, mine, now)):
            raise _Unfit("yours is not near its end, and no refusal of it was seen")
        yield from changes


def _entries(fields: TokenFields, mine: Object) -> Iterator[tuple[str, ...]]:
    """Where the user's own file has a sign-in of this kind."""
    for name in fields.entries:
        names = [(key,) for key in mine] if name == "*" else [(name,) if name else ()]
        for path in names:
            entry = _at(mine, path)
            if isinstance(entry, dict) and (not fields.kind or entry.get("type") == fields.kind):
                yield path


def _entry_changes(
    fields: TokenFields, entry: tuple[str, ...], mine: Object, theirs: Object, now: float
) -> Iterator[_Change]:
    _same_account(fields, entry, mine, theirs)
    if not any(_text(_at(theirs, path)) for path in _token_paths(fields, entry)):
        return  # signed out of this one
    changes = list(_tokens(fields, entry, mine, theirs, now))
    if not changes:
        return
    access = _path(entry, fields.access)
    if _at(mine, access) and changes[0][0] != access:
        raise _Unfit(f"it has no new {_label(access)}")
    yield from changes
    for path in _paths(entry, fields.expiries):
        yield from _expiry(fields, path, mine, theirs, now)
    for path in _paths(entry, fields.stamps):
        yield from _stamp(path, mine, theirs, now)


def _same_account(
    fields: TokenFields, entry: tuple[str, ...], mine: Object, theirs: Object
) -> None:
    kinds = ("type",) if fields.kind else ()
    for path in _paths(entry, (*kinds, *fields.account)):
        value, fresh = _at(mine, path), _at(theirs, path)
        if value is not None and fresh is not None and fresh != value:
            raise _Unfit(f"its {_label(path)} is another")


def _tokens(
    fields: TokenFields, entry: tuple[str, ...], mine: Object, theirs: Object, now: float
) -> Iterator[_Change]:
    for path in _token_paths(fields, entry):
        value, fresh = _at(mine, path), _at(theirs, path)
        further = path in _paths(entry, fields.tokens)
        if fresh == value or (fresh is None and further):
            continue  # a service need not give an ID token each time
        label = _label(path)
        if not isinstance(value, str) or not value:
            raise _Unfit(f"yours has no {label}")
        if not isinstance(fresh, str) or not _TOKEN.match(fresh):
            raise _Unfit(f"its {label} is no token")
        if account_differs(value, fresh):
            raise _Unfit(f"its {label} is another account's")
        ends = expiry_of(fresh) if path == _path(entry, fields.access) else None
        if ends is not None:
            _check_expiry(label, ends, expiry_of(value), now)
        yield path, fresh


def _expiry(
    fields: TokenFields, path: tuple[str, ...], mine: Object, theirs: Object, now: float
) -> Iterator[_Change]:
    unit = 1 if fields.seconds else 1000
    value, fresh = _number(_at(mine, path)), _at(theirs, path)
    if value is None or fresh is None or fresh == value:
        return
    number = _number(fresh)
    if number is None:
        raise _Unfit(f"its {_label(path)} is no number")
    _check_expiry(_label(path), number / unit, value / unit, now)
    yield path, fresh


def _check_expiry(label: str, ends: float, own: float | None, now: float) -> None:
    # One that is over is still the one that counts where Hydra was killed and comes back late.
    if ends > now + _YEAR or ends <= min(now, now if own is None else own):
        raise _Unfit(f"its {label} is no time to come within a year")


def _stamp(path: tuple[str, ...], mine: Object, theirs: Object, now: float) -> Iterator[_Change]:
    value, fresh = _at(mine, path), _at(theirs, path)
    if not isinstance(value, str) or fresh is None or fresh == value:
        return
    if not isinstance(fresh, str) or not _STAMP.match(fresh) or _seconds(fresh) > now + 86400:
        raise _Unfit(f"its {_label(path)} is no time that has been")
    yield path, fresh


def _seconds(stamp: str) -> float:
    from datetime import UTC, datetime  # few renewals have one

    try:
        return datetime.fromisoformat(stamp[:19]).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise _Unfit("a time in it is none") from None


def _is_due(fields: TokenFields, entry: tuple[str, ...], mine: Object, now: float) -> bool:
    """Whether the user's own token may well have been renewed by now; true where none can know."""
    if fields.silent:
        return True
    ends = next(map(_number, (_at(mine, path) for path in _paths(entry, fields.expiries))), None)
    access = _at(mine, _path(entry, fields.access))
    own = expiry_of(access) if ends is None else ends / (1 if fields.seconds else 1000)
    return own is None or own - now <= NEAR_END


def _rotations(fields: TokenFields, mine: Object, theirs: Object) -> Iterator[str]:
    """The lane's refresh tokens that are not the user's."""
    for entry in _entries(fields, mine) if fields.refresh else ():
        path = _path(entry, fields.refresh)
        fresh = _text(_at(theirs, path))
        if fresh != _at(mine, path):
            yield fresh


def _stray(fields: TokenFields, mine: Object, theirs: Object) -> str:
    """Why nothing of it goes back although it is another file; "" for one that signed out."""
    if theirs == mine or any(
        not _text(_at(theirs, path))
        for entry in _entries(fields, mine)
        for path in _paths(entry, (fields.access,))
    ):
        return ""
    return "none of its tokens is new, and nothing else of it goes back"


def _spliced(text: str, changes: list[_Change]) -> str:
    """`text` with new values in their places, and every other byte as it was."""
    spans = sorted(((_span(text, path), value) for path, value in changes), reverse=True)
    for (begin, end), value in spans:
        text = text[:begin] + json.dumps(value) + text[end:]
    return text


def _span(text: str, path: tuple[str, ...]) -> tuple[int, int]:
    span = _after_space(text, 0), len(text)
    for name in path:
        span = _members(text, span[0])[name]
    return span


_decoder = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


def _members(text: str, at: int) -> dict[str, tuple[int, int]]:
    """Where each value of the object at `at` begins and ends. The text is known to be JSON."""
    spans: dict[str, tuple[int, int]] = {}
    while text[at] in "{,":
        at = _after_space(text, at + 1)
        if text[at] == "}":
            break
        name, at = _decoder.raw_decode(text, at)
        begin = _after_space(text, _after_space(text, at) + 1)
        _, end = _decoder.raw_decode(text, begin)
        spans[cast(str, name)] = (begin, end)
        at = _after_space(text, end)
    return spans


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _path(entry: tuple[str, ...], name: str) -> tuple[str, ...]:
    return (*entry, *name.split("."))


def _token_paths(fields: TokenFields, entry: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The access token's first."""
    return _paths(entry, tuple(filter(None, (fields.access, fields.refresh, *fields.tokens))))


def _paths(entry: tuple[str, ...], names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return (_path(entry, name) for name in names)


def _at(node: object, path: tuple[str, ...]) -> object:
    for name in path:
        node = node.get(name) if isinstance(node, dict) else None
    return node


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    """A number that can be reckoned with: no text, no infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e18 else None


def _label(path: tuple[str, ...]) -> str:
    # Names are the user's own and the descriptor's; never the agent's.
    return path[-1]


# ---- What a JSON Web Token says of itself, by its middle part (RFC 7519). Nobody checks its
# signature here: its service does.

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
