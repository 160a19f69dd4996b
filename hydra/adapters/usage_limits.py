"""A service's limits, known by the words in which a CLI hands them on, and when they reset. Pure.

Seen of Claude Code ("You've hit your session limit · resets 4:20am (Europe/Warsaw)", "Claude AI
usage limit reached|1755806400"), of Codex ("You've hit your usage limit. ... try again in 5 days 22
hours 11 minutes.", "... at Oct 31st, 2025 4:52 PM.") and of Gemini CLI ("reset after 5h12m30s").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

_READ = 4000
"""Characters of a text that are looked at."""

_KINDS = r"(?:usage|message|session|daily|weekly|monthly|(?:\d{1,2}|five)[- ]hour|rate|request)"
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (reason, re.compile(pattern, re.IGNORECASE))
    for reason, pattern in (
        (
            "rate_limit",
            r"\b(?:hit|reached|exceeded|used up) (?:your|the|its|my) (?:[\w-]{1,20} ){0,2}"
            rf"(?:{_KINDS} )(?:[\w-]{{1,20}} )?limits?\b"
            r"|\b(?:hit|reached|exceeded) your (?:[\w-]{1,20} )?limits?\b"
            rf"|\b{_KINDS} limit (?:has been |was )?(?:reached|hit|exceeded)\b"
            r"|\blimit (?:reached|hit|exceeded)\b.{0,20}\bresets?\b"
            r"|\bout of (?:extra |included )?usage\b",
        ),
        (
            "quota",
            r"\bcredit balance is too low\b|\binsufficient.quota\b|\bout of credits?\b"
            r"|\bexceeded your current quota\b",
        ),
        ("overloaded", r"\b(?:model|server|service)s? (?:is|are) (?:currently )?at capacity\b"),
    )
)


def reason_by_words(text: str) -> str:
    """`rate_limit`, `quota` or `overloaded` where `text` says so, else ""."""
    beginning = text[:_READ]
    return next((reason for reason, pattern in _PATTERNS if pattern.search(beginning)), "")


_STAMP = re.compile(r"limit reached\|(\d{10})(\d{3})?\b")
_ISO = re.compile(
    r"\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d))?(?:\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?"
)
_AFTER = re.compile(
    r"\b(?:try again|retry|resets?|available(?: again)?) (?:in|after) "
    r"((?:\d{1,9}(?:\.\d{1,9})? ?(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|ms|[dhms])"
    r"(?:,? (?:and )?|\b|(?=\d))){1,5})",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(ms|[dhms])", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_AT = re.compile(
    r"\b(?:resets?|try again|available again|until)(?: at| on| after)?:? "
    rf"(?:(?P<day>{'|'.join(_DAYS)})[a-z]*,? (?:at )?)?"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]*\.? (?P<date>\d{{1,2}})(?:st|nd|rd|th)?,? "
    r"(?:(?P<year>\d{4}),? )?(?:at )?)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?::\d\d)? ?(?P<half>[ap]\.?m\b)?"
    r"(?: ?\(?(?P<zone>UTC|GMT|[A-Z][A-Za-z_]{1,30}/[A-Za-z_/+-]{1,40})\)?)?",
    re.IGNORECASE,
)


def resets_at(text: str, now: float) -> float | None:
    """When the limit that `text` tells of resets, in seconds since 1970; None where it does not
    say. A time without a zone is this machine's, one without a day the next such time."""
    beginning = text[:_READ]
    if stamp := _STAMP.search(beginning):
        return float(stamp[1])
    if after := _AFTER.search(beginning):
        parts = _PART.findall(after[1].lower())
        return now + sum(float(amount) * _SECONDS[unit] for amount, unit in parts)
    try:
        return next(_moments(beginning, now), None)
    except (
        ValueError,
        LookupError,
        OverflowError,
        OSError,
    ):  # the 31st of February, a zone that is none
        return None


def _moments(text: str, now: float) -> Iterator[float]:
    if iso := _ISO.search(text):
        moment = datetime.fromisoformat(f"{iso[1]}T{iso[2]}:{iso[3] or '00'}{iso[4] or ''}")
        yield moment.timestamp()
    for match in _AT.finditer(text):
        if match["half"] or match["minute"] or match["month"]:
            yield _moment(match, now)


def _moment(match: re.Match[str], now: float) -> float:
    hour = int(match["hour"])
    if half := match["half"]:
        hour = hour % 12 + 12 * (half[0].lower() == "p")
    today = datetime.fromtimestamp(now, _zone(match["zone"]))
    moment = today.replace(hour=hour, minute=int(match["minute"] or 0), second=0, microsecond=0)
    if match["month"]:
        month = 1 + _MONTHS.index(match["month"].lower())
        year = int(match["year"] or today.year)
        moment = moment.replace(year=year, month=month, day=int(match["date"]))
        if not match["year"] and moment < today - timedelta(days=1):
            moment = moment.replace(year=year + 1)
    elif match["day"]:
        moment += timedelta((_DAYS.index(match["day"].lower()) - moment.weekday()) % 7)
        moment += timedelta(7 * (moment <= today))
    elif moment <= today:
        moment += timedelta(days=1)
    if match["zone"] is None:
        moment = moment.replace(tzinfo=None)  # the clock of this machine, by the day's own offset
    return moment.timestamp()


def _zone(name: str | None) -> tzinfo | None:
    if name is None:
        return datetime.now().astimezone().tzinfo
    return UTC if name.upper() in ("UTC", "GMT") else ZoneInfo(name)
