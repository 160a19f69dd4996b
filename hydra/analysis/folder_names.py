"""What folders are called that nobody wrote by hand; who needs more, or fewer, says so."""

from __future__ import annotations

PACKAGES = frozenset(
    (
        *(".venv", "venv", "virtualenv", ".tox", ".nox", ".eggs", "__pypackages__"),
        *("node_modules", "bower_components", "elm-stuff"),
    )
)
"""What package managers fill with what others wrote."""

CACHES = frozenset(
    (".hypothesis", ".mypy_cache", ".nyc_output", ".pytest_cache", ".ruff_cache", "__pycache__")
)
"""What tools of tests leave wherever they run."""

OUTPUTS = CACHES | frozenset(
    (
        *("dist", "htmlcov", ".gradle", ".dart_tool"),
        *(".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo", ".angular"),
    )
)
"""What tools and builds leave."""
