"""Where patches agree: which are the same but for their form, and what several of them changed."""

from hydra.analysis.equivalence.groups import groups
from hydra.analysis.equivalence.normalize import same
from hydra.analysis.equivalence.overlap import alone, shared

__all__ = ["alone", "groups", "same", "shared"]
