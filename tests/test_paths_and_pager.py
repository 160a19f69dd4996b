"""Where Hydra's folders lie, and which pager it asks for a diff."""

from __future__ import annotations

import pytest

from hydra.errors import ConfigError, Refused
from hydra.paths import cache_dir, home_dir, state_dir, user_config_file
from hydra.process.foreground import page, pager_of


def test_no_folder_of_hydras_is_relative() -> None:
    for ask, name in (
        (state_dir, "HYDRA_STATE_DIR"),
        (cache_dir, "HYDRA_CACHE_DIR"),
        (user_config_file, "HYDRA_CONFIG"),
    ):
        with pytest.raises(ConfigError, match=f"{name} is not an absolute path"):
            ask({name: "here/below"})


@pytest.mark.parametrize("home", [".", "~", "home/x", "/dev/null"])
def test_what_can_be_no_home_is_refused_by_name(home: str) -> None:
    with pytest.raises(ConfigError, match=f"HOME is (not an absolute path|no folder): {home}"):
        home_dir({"HOME": home})


def test_state_may_not_lie_under_tmp() -> None:
    with pytest.raises(Refused, match="under /tmp"):
        state_dir({"HYDRA_STATE_DIR": "/tmp/x"})


@pytest.mark.parametrize(
    ("config", "environ", "expected"),
    [
        ({}, {}, "less"),
        ({}, {"PAGER": "more"}, "more"),
        ({"core.pager": "delta"}, {"PAGER": "more"}, "delta"),
        ({"core.pager": "delta", "pager.diff": "bat"}, {}, "bat"),
        ({"core.pager": "delta", "pager.diff": "false"}, {}, ""),
        ({"core.pager": "delta", "pager.diff": "true"}, {}, "delta"),
        ({"core.pager": "delta"}, {"GIT_PAGER": "own"}, "own"),
        ({"core.pager": "delta"}, {"GIT_PAGER": ""}, ""),
    ],
)
def test_the_pager_is_gits(config: dict[str, str], environ: dict[str, str], expected: str) -> None:
    assert pager_of(config, environ) == expected


def test_a_pager_that_is_not_there_hides_nothing(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    page(b"the diff\n", "no-such-pager-anywhere")
    assert b"the diff\n" in capfdbinary.readouterr().out
