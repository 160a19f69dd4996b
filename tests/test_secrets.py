"""Secrets: what is one, every form it is printed in, and lines made to be slow."""

from __future__ import annotations

import json
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.redaction import MARK, Redactor, looks_secret

VALUE = 'pa/ss "w\u00f6rd"+=\\1234'

FORMS: dict[str, Callable[[str], bytes]] = {
    "raw": lambda value: value.encode(),
    "json": lambda value: json.dumps(value)[1:-1].encode(),
    "json, not ascii": lambda value: json.dumps(value, ensure_ascii=False)[1:-1].encode(),
    "json, escaped slash": lambda value: (
        json.dumps(value, ensure_ascii=False)[1:-1].replace("/", "\\/").encode()
    ),
    "json within json": lambda value: json.dumps(json.dumps(value))[3:-3].encode(),
    "url": lambda value: quote(value, safe="").encode(),
    "url, slash kept": lambda value: quote(value).encode(),
    "url, plus for space": lambda value: quote_plus(value).encode(),
    "base64": lambda value: b64encode(value.encode()),
    "base64 without padding": lambda value: b64encode(value.encode()).rstrip(b"="),
    "base64 for urls": lambda value: urlsafe_b64encode(value.encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_value_goes(form: str) -> None:
    shown = FORMS[form](VALUE)
    line, count = Redactor([VALUE]).redact(b'{"text":"key=' + shown + b'"}')
    assert count == 1
    assert shown.rstrip(b"=") not in line
    assert line.startswith(b'{"text":"key=[redacted]')
    assert line.endswith(b'"}')


@pytest.mark.parametrize("before", ["", "u", "us", "user", "x-access-token"])
@pytest.mark.parametrize("after", ["", "\n", "@h", "@ho"])
def test_a_value_inside_something_longer_in_base64(before: str, after: str) -> None:
    """`Authorization: Basic` holds user:password, so the value stands at any offset."""
    secret = "s3cr3t-t0k3n-value"
    shown = b64encode(f"{before}{secret}{after}".encode())
    line, count = Redactor([secret]).redact(b"Basic " + shown)
    assert count == 1
    content = line.removeprefix(b"Basic ").replace(MARK, b"").rstrip(b"=")
    # Only its neighbours are left, and at either end the character that it shares with them.
    assert len(content) <= (len(before) + len(after)) * 8 / 6 + 2


def test_lower_case_percent_signs() -> None:
    secret = "abc/def+ghi"
    shown = quote(secret, safe="").replace("%2F", "%2f").replace("%2B", "%2b")
    assert Redactor([secret]).redact(shown.encode()) == (MARK, 1)


def test_short_values_and_words_stay() -> None:
    line = b'{"branch":"main","short":"1234567"}'
    assert Redactor(["main", "1234567", ""]).redact(line) == (line, 0)


def test_a_value_that_begins_another_leaves_nothing_of_it() -> None:
    line, count = Redactor(["abcdefgh", "abcdefgh-and-more"]).redact(b"x abcdefgh-and-more y")
    assert (line, count) == (b"x [redacted] y", 1)


def test_every_occurrence_is_counted() -> None:
    line, count = Redactor(["hunter2-hunter2"]).redact(b"hunter2-hunter2 and hunter2-hunter2")
    assert (line, count) == (b"[redacted] and [redacted]", 2)


@pytest.mark.parametrize(
    ("line", "value", "may"),
    [
        (r"a \u2028 \u001b[31m \ud83d\ude00 \n", "made-up-value", False),
        (r"m\u0061de-up-value", "made-up-value", True),
        (r"made\/up", "made/up/value", True),
        (r"sk-\u0061aaaaaaaaaaaaaaaaaaaaaaaa1", "made-up-value", True),
        (r"p\u00E4ss w\u00f6rd", "p\u00e4ss w\u00f6rd", True),
        (r"two\u000alines", "two\nlines-of-it", True),
        ("no escape", "p\u00e4ss w\u00f6rd", False),
    ],
)
def test_escapes_that_may_spell_a_secret(line: str, value: str, may: bool) -> None:
    assert Redactor([value]).may_hide(line.encode()) is may


def test_a_value_is_found_beside_long_names_and_without_any() -> None:
    redactor = Redactor(["made-up-value-of-some-length", "short.one"])
    name = b"a" * 40
    for line in (b"x made-up-value-of-some-length y short.one", b"short.one"):
        for around in (b"%s", name + b" %s " + name):
            clean, count = redactor.redact(around % line)
            assert count == line.count(b"made") + 1
            assert b"made" not in clean
            assert b"short" not in clean


def test_a_value_of_bytes_that_are_not_text() -> None:
    """The environment hands such a value on with surrogates in it."""
    secret = b"caf\xe9-token-1".decode("utf-8", "surrogateescape")
    assert Redactor([secret]).redact(b"a caf\xe9-token-1 b") == (b"a [redacted] b", 1)


# Made up, in the shape of each service's keys.
_LETTERS = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
SHAPES = {
    "openai": "sk-proj-" + _LETTERS,
    "anthropic": "sk-ant-api03-" + _LETTERS + "-_" + _LETTERS,
    "github": "ghp_" + _LETTERS,
    "github app": "ghs_" + _LETTERS,
    "github fine-grained": "github_pat_11" + _LETTERS + "_" + _LETTERS,
    "gitlab": "glpat-" + _LETTERS[:20],
    "aws": "AKIA" + "ABCDEFGH01234567",
    "aws, temporary": "ASIA" + "ABCDEFGH01234567",
    "google": "AIza" + _LETTERS[:35],
    "npm": "npm_" + _LETTERS,
    "slack": "xoxb-" + "123456789012-" + _LETTERS,
    "jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        *((b"", b""), (b"key=", b" "), (b'"', b'"'), (b"https://x:", b"@host"), (b"\\n", b"\\n")),
        *((b"%3D", b"%26"), (b"\\u003d", b"\\u0026"), (b"Bearer ", b"\\")),
    ],
)
def test_the_shapes_of_known_keys(shape: str, before: bytes, after: bytes) -> None:
    line, count = Redactor([]).redact(before + SHAPES[shape].encode() + after)
    assert (line, count) == (before + MARK + after, 1)


@pytest.mark.parametrize(
    "text",
    [
        "task-force-of-the-united-kingdoms-2026",
        "sk-circle-fade-dot-animation-class",
        "4be1c02f9d3a4be1c02f9d3a4be1c02f9d3a4be1",
        "123e4567-e89b-12d3-a456-426614174000",
        "AKIA_IS_A_PREFIX_OF_KEYS",
        "eyJ" * 40,
        "npm_config_cache npm_lifecycle_event",
    ],
)
def test_what_only_looks_like_a_key_stays(text: str) -> None:
    assert Redactor([]).redact(text.encode()) == (text.encode(), 0)


_HOSTILE = {
    "eyJ": b"eyJ" * 30000,
    "dotted": b".eyJ" * 30000,
    "escaped": b"\\neyJ" * 30000,
    "headers only": (b" eyJ" + b"a" * 1030) * 90,
    "headers and half payloads": b"eyJaaaaaaaaaaaaaaaaaaaa.eyJaaaaaaaaa " * 3000,
    "sk-": b" sk-" * 30000,
    "sk- without a digit": (b" sk-" + b"a" * 300) * 300,
    "runs": (b"a" * 20 + b" ") * 4500,
    "almost runs": (b"a" * 19 + b" ") * 4500,
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_a_line_made_to_be_slow(name: str) -> None:
    """100 ms is the promise for 90 kB; it takes about 1, so a busy machine does not fail it."""
    redactor = Redactor([VALUE])
    best = min(_seconds(redactor, _HOSTILE[name]) for _ in range(3))
    assert best < 0.1


def test_time_grows_with_the_length_and_no_faster() -> None:
    redactor = Redactor([])
    short = min(_seconds(redactor, b"eyJ" * 30_000) for _ in range(5))
    long = min(_seconds(redactor, b"eyJ" * 300_000) for _ in range(3))
    assert long < 40 * short  # 10 if linear, 100 if quadratic


def _seconds(redactor: Redactor, line: bytes) -> float:
    started = time.thread_time()  # of the processor, whoever else wants it
    redactor.redact(line)
    return time.thread_time() - started


@pytest.mark.slow
@given(
    st.lists(st.text(min_size=8, max_size=24).filter(lambda name: name.isprintable()), max_size=3),
    st.sampled_from(sorted(FORMS)),
    st.binary(max_size=20),
)
def test_no_value_survives_in_any_form(values: list[str], form: str, noise: bytes) -> None:
    redactor = Redactor(values)
    shown = [FORMS[form](value) for value in values if value not in MARK.decode()]
    line, count = redactor.redact(noise + b"|".join(shown) + noise)
    assert all(content.rstrip(b"=") not in line for content in shown)
    assert count >= len(set(shown)) or len({*values}) < len(values)


@given(st.binary(max_size=200))
def test_without_secrets_nothing_changes_but_shapes(line: bytes) -> None:
    redacted, count = Redactor([]).redact(line)
    assert count == redacted.count(MARK) - line.count(MARK)
    assert count or redacted == line


# --- windows over long lines -----------------------------------------------------------------


def _in_windows(redactor: Redactor, line: bytes, size: int) -> bytes:
    buffer, out = b"", b""
    for start in range(0, len(line), size):
        buffer += line[start : start + size]
        cut = redactor.cut(buffer)
        out += redactor.redact(buffer[:cut])[0]
        buffer = buffer[cut:]
        assert len(buffer) <= 3 * redactor.overlap + size
    return out + redactor.redact(buffer)[0]


@pytest.mark.parametrize("secret", [VALUE, SHAPES["jwt"], SHAPES["anthropic"], "long-" * 3000])
@pytest.mark.parametrize("size", [1000, 7001])
def test_a_secret_across_windows_is_seen_wherever_it_stands(secret: str, size: int) -> None:
    redactor = Redactor([VALUE, "long-" * 3000])
    overlap = redactor.overlap
    for at in (0, size - 3, overlap - 2, overlap, 2 * overlap + 5, 3 * overlap):
        line = b"." * at + b" " + secret.encode() + b" " + b"." * (4 * overlap)
        assert _in_windows(redactor, line, size) == redactor.redact(line)[0]


def test_the_overlap_is_the_longest_secret_less_one() -> None:
    assert Redactor(["x" * 20_000]).overlap >= 20_000 - 1
    assert Redactor([]).overlap == Redactor(["12345678"]).overlap


def _names(text: str) -> list[str]:
    return text.split()


# --- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    _names(
        """ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN OPENAI_API_KEY CODEX_API_KEY NPM_TOKEN
        GITHUB_TOKEN
    AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY DB_PASSWORD PGPASSWORD GITHUB_PAT SENTRY_DSN
    my_secret CLAUDE_CODE_OAUTH_TOKEN"""
    ),
)
def test_names_of_secrets(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name",
    _names(
        """PATH HOME SSH_AUTH_SOCK MAX_TOKENS CLAUDE_CODE_MAX_OUTPUT_TOKENS GIT_AUTHOR_NAME
        KEYMAP
    ANTHROPIC_BASE_URL AWS_SHARED_CREDENTIALS_FILE TOKENIZERS_PARALLELISM XDG_SESSION_ID
    COMPASS"""
    ),
)
def test_names_of_what_is_no_secret(name: str) -> None:
    assert not looks_secret(name)
