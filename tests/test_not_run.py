"""Names that Hydra knows and does not run: refused wherever one may stand, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra.adapters import registry
from hydra.adapters.probe import settings
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.errors import ConfigError, UsageError
from tests.support.command import Hydra


@pytest.mark.parametrize("name", registry.NOT_RUN)
def test_it_is_refused_by_name_wherever_it_stands(tmp_path: Path, name: str) -> None:
    why, instead = registry.NOT_RUN[name]
    with pytest.raises(UsageError) as refused:
        registry.lanes([f"2x{name}:opus@high"])
    assert (refused.value.message, refused.value.hint) == (
        f"Hydra does not run {name}: {why}",
        instead,
    )
    for text in (f'[agents.{name}]\nmodel = "x"', f'[profiles.x]\nagent = "{name}"'):
        (tmp_path / "hydra.toml").write_text(text)
        with pytest.raises(ConfigError) as unset:
            settings.load(None, {"HYDRA_CONFIG": str(tmp_path / "hydra.toml")}, {})
        assert f"Hydra does not run {name}: {why}" in unset.value.message
        assert unset.value.hint == instead


@pytest.mark.slow
@pytest.mark.parametrize("name", ["amp"])
def test_each_command_says_so_also_where_experimental_ones_are_allowed(
    scratch: Path, repo: Path, name: str
) -> None:
    hydra = Hydra(scratch, repo)
    why, instead = registry.NOT_RUN[name]
    for args in (
        ("race", "x", "-a", name, EXPERIMENTAL_FLAG, "--dry-run"),
        ("agents", name),
        ("conformance", name),
    ):
        done = hydra.run(*args)
        assert done.returncode == 2, args
        assert f"Hydra does not run {name}: {why}" in " ".join(done.stderr.split()), args
        assert instead in " ".join(done.stderr.split()), args
    listed = hydra.run("agents")
    assert listed.returncode == 0
    assert name not in listed.stdout.split()
    (hydra.home / "hydra.toml").write_text(f'[agents.{name}]\nmodel = "x"\n')
    done = hydra.run("race", "x", "--dry-run")
    assert done.returncode == 2
    assert f"Hydra does not run {name}: {why}" in " ".join(done.stderr.split())
