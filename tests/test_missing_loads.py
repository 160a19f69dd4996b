"""What Java, PHP, Ruby, make and a linker cannot load is named where the checkout has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra.checks.lacks import lacks
from hydra.workspace.surplus import Surplus

GENERATED = "src/main/java/com/shop/gen/"
FILES = ("lib/rates.rb", "native/libfx.a", "app/Gen/Client.php", "parser.c", "lib/Shop/Local.pm")


@pytest.mark.parametrize(
    ("text", "name", "way"),
    [
        ("A.java:1: error: package com.shop.gen does not exist", GENERATED.rstrip("/"), "--share"),
        ("java.lang.ClassNotFoundException: com.shop.gen.Api", f"{GENERATED}Api.java", "--share"),
        ("NoClassDefFoundError: com/shop/gen/Api", f"{GENERATED}Api.java", "--share"),
        ("in `require': cannot load such file -- rates (LoadError)", "lib/rates.rb", "--copy"),
        ("/usr/bin/ld: cannot find -lfx: No such file", "native/libfx.a", "--copy"),
        ('PHP Fatal error: Class "App\\Gen\\Client" not found', "app/Gen/Client.php", "--copy"),
        ("make: *** No rule to make target 'parser.c', needed by 'a'.", "parser.c", "--copy"),
        ("Can't locate Shop/Local.pm in @INC (@INC: lib)", "lib/Shop/Local.pm", "--copy"),
        ("main.c:1: fatal error: parser.c: No such file or directory", "parser.c", "--copy"),
        ("node: parser.c: not found", "parser.c", "--copy"),
        ("error: package com.other.lib does not exist", "", ""),
        ("/usr/bin/ld: cannot find -lother", "", ""),
        ('Class "Client" not found', "", ""),
    ],
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
