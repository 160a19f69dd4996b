"""What pi and omp share: the providers whose keys they take, how a model is named."""

from __future__ import annotations

from collections.abc import Mapping

KEYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "CEREBRAS_API_KEY",
    "XAI_API_KEY",
    "OPENROUTER_API_KEY",
    "AI_GATEWAY_API_KEY",
    "ZAI_API_KEY",
    "MISTRAL_API_KEY",
    "MINIMAX_API_KEY",
    "OPENCODE_API_KEY",
    "COPILOT_GITHUB_TOKEN",
)
"""The providers' keys that both name in their help."""

AZURE = (
    "AZURE_OPENAI_BASE_URL",
    "AZURE_OPENAI_RESOURCE_NAME",
    "AZURE_OPENAI_API_VERSION",
    "AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
)
CLOUD_SECRETS = ("AWS_BEARER_TOKEN_BEDROCK", "GOOGLE_CLOUD_API_KEY")

# A cloud's keys open far more than a model: only for who has named what they reach it by.
CLOUDS: Mapping[str, tuple[str, ...]] = {
    "AWS_BEARER_TOKEN_BEDROCK": ("AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION"),
    "GOOGLE_CLOUD_API_KEY": (
        "GOOGLE_CLOUD_API_KEY",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
    ),
}


def split_model(model: str) -> tuple[str, str]:
    """`provider/id` as its two parts, at the first slash; no provider where none is named."""
    provider, slash, name = model.partition("/")
    return (provider, name) if slash and provider and name else ("", model)
