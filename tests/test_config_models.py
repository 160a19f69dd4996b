"""`[models.<name>]`: the user's own models."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hydra.config.load import load
from hydra.config.schema import Config, OwnModel
from hydra.errors import ConfigError


def user(text: str) -> Config:
    return load(user=("user.toml", text))


def test_an_entry_as_it_stands() -> None:
    text = (
        '[models.large]\nid = "gw/7"\nfamily = "claude"\naliases = ["big"]\ncontext = 9\n'
        'input_price = 2\noutput_price = 0.5\ncached_price = 0\nprices_read = "2026-11-22"\n'
    )
    config = user(text)
    model = OwnModel("gw/7", "claude", ("big",), 9, None, 2, 0.5, 0, "2026-11-22")
    assert config.models == {"large": model}
    assert user(text.replace('"2026-11-22"', "2026-11-22")) == config  # TOML's own date
    assert replace(user("[models.large]\n"), sources={}) == Config()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[models.a]\nfamily = "x"', "user.toml, line 2: [models.a] has no id"),
        ('[models.A]\nid = "x"', 'no model can be called "A"'),
        ('[models."a.b"]\nid = "x"', 'no model can be called "a.b"'),
        ('[models.a]\nid = "-x"', 'takes the name of a model, not "-x"'),
        ('[models.a]\nid = "x"\ninput_price = 3', "[models.a] has half of its prices"),
        ('[models.a]\nid = "x"\noutput_price = 3', "[models.a] has half of its prices"),
        ('[models.a]\nid = "x"\ncached_price = 3', "[models.a] has half of its prices"),
        (
            '[models.a]\nid = "x"\ninput_price = -1\noutput_price = 1',
            "takes a number of 0 to 100000, not -1",
        ),
        ('[models.a]\nid = "x"\nprices_read = "2026-13-01"', "takes a day"),
        ('[models.a]\nid = "x"\nprices_read = "20261122"', "takes a day"),
        (
            '[models.a]\nid = "x"\n[models.b]\nid = "y"\naliases = ["A"]',
            '"a" already stands for the model a',
        ),
        ('[models.a]\nname = "x"', "unknown key"),
        ('models = "x"', "models is a section"),
    ],
)
def test_what_is_refused(text: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        user(text)
    assert line in caught.value.message
