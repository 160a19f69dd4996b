"""Which variables an agent's processes get."""

from __future__ import annotations

from hydra.adapters.environment import names, secret_values
from hydra.adapters.registry import get


def test_a_clouds_keys_go_only_to_who_reaches_the_model_through_it() -> None:
    claude = get("claude").descriptor
    texts = ("PATH", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "ANTHROPIC_API_KEY")
    assert names(claude, texts) == ("PATH", "ANTHROPIC_API_KEY")
    with_bedrock = (*texts, "CLAUDE_CODE_USE_BEDROCK")
    assert names(claude, with_bedrock) == with_bedrock


def test_no_agent_gets_a_rivals_key_or_gits_words() -> None:
    texts = ("ANTHROPIC_API_KEY", "CODEX_API_KEY", "GIT_DIR", "SSH_AUTH_SOCK", "CURSOR_API_KEY")
    assert names(get("codex").descriptor, texts) == ("CODEX_API_KEY",)
    assert names(get("claude").descriptor, texts) == ("ANTHROPIC_API_KEY",)
    assert names(get("cursor-agent").descriptor, texts) == ("CURSOR_API_KEY",)


def test_a_name_the_user_adds_is_passed_on() -> None:
    assert names(get("codex").descriptor, ("ACME_KEY",), ("ACME_*",)) == ("ACME_KEY",)


def test_secret_values_are_known_by_name() -> None:
    values = {"ANTHROPIC_API_KEY": "made-up", "ANTHROPIC_BASE_URL": "http://x", "PATH": "/bin"}
    assert secret_values(get("claude").descriptor, values) == ("made-up",)
