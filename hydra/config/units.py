"""Durations and sizes as people write them: "1h30m", "10s", "100MB", "4MiB"."""

import re

from hydra.errors import ConfigError

_DURATION_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION = re.compile(
    "".join(
        rf"(?:(?P<{unit}>\d{{1,30}}(?:\.\d{{1,18}})?)\s*{unit}\s*)?" for unit in _DURATION_UNITS
    )
)

# The largest unit first, so that `format_size` meets the shortest form first. Decimal and binary
# units are both common (git and npm print one, cgroups and ulimit the other), so a bare "4M" is
# refused rather than guessed.
_SIZE_UNITS = {
    "TiB": 1024**4,
    "TB": 1000**4,
    "GiB": 1024**3,
    "GB": 1000**3,
    "MiB": 1024**2,
    "MB": 1000**2,
    "KiB": 1024,
    "kB": 1000,
    "B": 1,
}
_SIZE_BY_NAME = {unit.lower(): factor for unit, factor in _SIZE_UNITS.items()}
_SIZE = re.compile(r"(?P<number>\d{1,18}(?:\.\d{1,6})?)\s*(?P<unit>[A-Za-z]*)")


def duration(text: str) -> float:
    """Seconds, to the millisecond, from "90s", "10m", "1h30m", "1.5h", "500ms", "2d".

    Raises `ConfigError` with a sentence; a number without a unit is told apart from nonsense.
    """
    line = text.strip()
    if _bare_number(line):
        raise ConfigError(f'{line} is a duration without a unit: write "{line}m" or "{line}s"')
    match = _DURATION.fullmatch(line)
    if not line or match is None:
        raise ConfigError(f'"{text}" is not a duration: write it as "90s", "10m" or "1h30m"')
    parts = [(float(match[unit]), _DURATION_UNITS[unit]) for unit in _DURATION_UNITS if match[unit]]
    return round(sum(number * factor for number, factor in parts), 3)


def size(text: str) -> int:
    """Bytes from "100MB", "4MiB", "1.5GB", "512B". Raises `ConfigError` with a sentence."""
    line = text.strip()
    if _bare_number(line):
        raise ConfigError(f'{line} is a size without a unit: write "{line}MB" or "{line}MiB"')
    match = _SIZE.fullmatch(line)
    factor = _SIZE_BY_NAME.get(match["unit"].lower()) if match else None
    if match is None or factor is None:
        raise ConfigError(f'"{text}" is not a size: write it as "100MB", "4MiB" or "2GiB"')
    number = match["number"]
    return round(float(number) * factor) if "." in number else int(number) * factor


def format_duration(seconds: float) -> str:
    """The text that `duration` reads back to exactly `seconds`."""
    if seconds != int(seconds):
        return f"{seconds!r}s"
    remaining, text = int(seconds), ""
    for unit, factor in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, remaining = divmod(remaining, factor)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


def format_size(count: int) -> str:
    """The shortest text that `size` reads back to exactly `count` bytes."""
    for unit, factor in _SIZE_UNITS.items():
        if count and count % factor == 0:
            return f"{count // factor}{unit}"
    return f"{count}B"


def _bare_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None
