"""What is done for a lane beside its agent: a warm index, its sign-in, what its own files tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

import trio

from hydra.race.transcript import AgentTranscript
from hydra.text import join_names
from hydra.workspace.private import LaneWorkspace
from hydra.workspace.renewal import Renewal

SETTLE_AFTER = 1.5
"""Seconds after opening before the collector's index is refreshed: git calls a file racy that was
written within the index's own second."""
CREDENTIAL_TICK = 2.0
SIDE_FILES = 5.0
"""Seconds for reading what an agent's own records tell."""


Tell = Callable[[Renewal], None]


async def maintain(workspace: LaneWorkspace, transcript: AgentTranscript, tell: Tell) -> None:
    """What is done while an agent thinks: a warm index, and fresh credentials. Until cancelled."""
    await trio.sleep(SETTLE_AFTER)
    await trio.to_thread.run_sync(_quietly, workspace.warm_index)
    while True:
        await trio.sleep(CREDENTIAL_TICK)
        if workspace.credentials_changed() or workspace.unsynced_credentials:
            again = partial(workspace.sync_credentials_back, refused=transcript.sign_in_refused)
            await trio.to_thread.run_sync(_quietly, again)
            _tell(workspace, tell)
        await trio.to_thread.run_sync(_quietly, workspace.refresh_credentials)


async def sync_credentials_back(
    workspace: LaneWorkspace, transcript: AgentTranscript, tell: Tell
) -> str:
    """Renewed tokens go to the user's own folder, whatever else is being ended.

    A sentence where they could not: a service may have taken the old ones back.
    """
    try:
        with trio.CancelScope(shield=True):
            again = partial(workspace.sync_credentials_back, refused=transcript.sign_in_refused)
            await trio.to_thread.run_sync(again)
    except Exception as error:  # no lane ends for it
        why = getattr(error, "strerror", None) or error
        return f"its renewed sign-in could not be given back ({why})"
    finally:
        _tell(workspace, tell, last=True)
    return ""


def notice_text(notice: Renewal, sign_in_hint: str = "") -> str:
    """One line for a person; `sign_in_hint` is the agent's own, as "run `codex login`"."""
    if notice.fields:
        stray = "; what else it changed there did not" * notice.stray
        return (
            f"its renewed sign-in went back to {notice.file} ({join_names(notice.fields)}){stray}"
        )
    hint = f"; if yours no longer works, {sign_in_hint or 'sign in again'}" * notice.consumed
    return f"its renewed sign-in did not go back to {notice.file}: {notice.refusal}{hint}"


def notice_data(notice: Renewal) -> dict[str, object]:
    """The same for programs."""
    return {
        "file": str(notice.file),
        "fields": list(notice.fields),
        "refusal": notice.refusal,
        "consumed": notice.consumed,
    }


def _tell(workspace: LaneWorkspace, tell: Tell, *, last: bool = False) -> None:
    for notice in workspace.sign_in_notices(last=last):
        tell(notice)


async def side_files(workspace: LaneWorkspace, patterns: Iterable[str]) -> dict[str, bytes]:
    """What stands in the agent's own records, by pattern; what cannot be read soon is not there."""
    contents: dict[str, bytes] = {}

    def read(pattern: str) -> None:
        contents[pattern] = workspace.side_file(pattern)

    # An agent can make that folder large, deep and odd.
    with trio.move_on_after(SIDE_FILES, shield=True):
        for pattern in patterns:
            await trio.to_thread.run_sync(_quietly, partial(read, pattern), abandon_on_cancel=True)
    return dict(contents)


def _quietly(work: Callable[[], None]) -> None:
    # Conveniences that are done again (or not needed) at the end: no lane ends for them.
    with suppress(Exception):
        work()
