"""Which of a user's folders hold keys, by their names."""

from __future__ import annotations

from pathlib import PurePath

from hydra.sandbox.tables import AGENT_PLACES, SECRET_PLACES


def exposed_place(folder: str) -> str:
    """What a lane's own copy of `folder` would show that no agent may see; "" for nothing.

    Both are named from HOME, as `.config`. An agent's folder itself is nothing: to name it is to
    ask for a copy of it. What holds one would bring the sign-ins of others along.
    """
    named = PurePath(folder)
    secret = [place for place in SECRET_PLACES if named.is_relative_to(place)]
    held_in = [p for p in (*SECRET_PLACES, *AGENT_PLACES) if named in PurePath(p).parents]
    return next(iter((*secret, *held_in)), "")
