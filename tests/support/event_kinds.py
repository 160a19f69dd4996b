"""The kinds of Hydra's own events, as docs/reference/events.md has them."""

from __future__ import annotations

import re
from pathlib import Path

_PAGE = Path(__file__).parents[2] / "docs/reference/events.md"

HYDRA_KINDS = re.findall(
    r"^\| `([a-z_]+)` \|", _PAGE.read_text().partition("## From Hydra")[2], re.MULTILINE
)
