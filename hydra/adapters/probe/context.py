"""Where probes run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from hydra.process.sandbox.masks import Masks
from hydra.records.plan import Confinement


class ProbeContext(Struct, frozen=True, kw_only=True):
    """Where probes run: the environment, HOME, how things are confined, configured paths.

    `extra_names` are the variables that the user gave an agent beyond its own: a provider of
    their own keeps its key there. `confirm_sign_in` asks a CLI even where a key or a file says that
    it is signed in; `fresh` asks all of them, whatever is remembered.
    """

    environ: Mapping[str, str]
    home: Path
    confinement: Confinement
    state: Path
    paths: Mapping[str, str]
    extra_names: Mapping[str, tuple[str, ...]]
    cache_file: Path | None = None
    confirm_sign_in: bool = False
    fresh: bool = False
    show: tuple[str, ...] = ()
    """What the user's own settings show to every agent: a program may need it to start."""
    masks: Masks | None = None
    """Where they are under way already; else they are looked for once for all programs."""
