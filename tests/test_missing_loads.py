"""What Java, PHP, Ruby, make and a linker cannot load is named where the checkout has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra.checks.lacks import lacks
from hydra.workspace.surplus import Surplus
from tests.support.tables import table_rows

GENERATED = "src/main/java/com/shop/gen/"
FILES = ("lib/rates.rb", "native/libfx.a", "app/Gen/Client.php", "parser.c", "lib/Shop/Local.pm")


@pytest.mark.parametrize(
    ("text", "name", "way"),
    table_rows("missing_loads", "what_a_tool_cannot_load_is_named_with_the_option"),
)
def test_what_a_tool_cannot_load_is_named_with_the_option(
    scratch: Path, text: str, name: str, way: str
) -> None:
    for path in (*FILES, f"{GENERATED}Api.java"):
        (scratch / path).parent.mkdir(parents=True, exist_ok=True)
        (scratch / path).touch()
    missing = lacks(text, Surplus(top=scratch, ignored=(*FILES, GENERATED)))
    assert [lack.name for lack in missing] == [name] * bool(name)
    assert [lack.option for lack in missing] == [way] * bool(way)
