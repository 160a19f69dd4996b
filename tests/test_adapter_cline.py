"""What the contract suite cannot see of Cline: stdin is a pipe, and its settings are Hydra's."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from hydra.adapters import cline, codex
from hydra.race.attempt import _stdin_queue
from hydra.race.context import AttemptContext
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.request import Permission

FLAGS = frozenset(flag.name for flag in cline.ADAPTER.table)
FOUND = DetectResult(adapter="cline", binary=Path("/opt/cline"), flags=FLAGS)
REQUEST = SpawnRequest(prompt="Do it", worktree=Path("/lane/shop"), home=Path("/lane/own"))


def _settings(permission: Permission) -> dict[str, Any]:
    built = cline.ADAPTER.build_command(replace(REQUEST, permission=permission), FOUND)
    ((path, data),) = built.files
    assert dict(built.env)["CLINE_GLOBAL_SETTINGS_PATH"] == str(path)
    assert path.parent == Path("/lane/own")
    document: dict[str, Any] = json.loads(data)
    return document


@pytest.mark.parametrize("permission", [Permission.PLAN, Permission.EDIT])
def test_with_a_narrow_permission_its_shell_is_off(permission: Permission) -> None:
    assert "run_commands" in _settings(permission)["disabledTools"]


@pytest.mark.parametrize("permission", [Permission.FULL_AUTO, Permission.DEFAULT])
def test_with_a_wide_one_it_is_not_and_telemetry_is_off(permission: Permission) -> None:
    assert _settings(permission) == {"telemetryOptOut": True, "autoUpdateEnabled": False}


def test_with_config_the_users_own_settings_are_left_in_place() -> None:
    built = cline.ADAPTER.build_command(replace(REQUEST, permission=Permission.CONFIG), FOUND)
    assert built.files == ()
    assert "CLINE_GLOBAL_SETTINGS_PATH" not in dict(built.env)
    assert "--auto-approve" not in built.args


def test_its_stdin_is_a_pipe_that_holds_the_prompt_and_ends() -> None:
    command = SimpleNamespace(stdin=b"Do it")
    inlet = _stdin_queue(
        cast(AttemptContext, SimpleNamespace(adapter=cline.ADAPTER, command=command)), None
    )
    assert inlet is not None
    assert inlet.unsent == len(b"Do it")
    assert not inlet.write(b"more")
    assert (
        _stdin_queue(
            cast(AttemptContext, SimpleNamespace(adapter=codex.ADAPTER, command=command)), None
        )
        is None
    )
