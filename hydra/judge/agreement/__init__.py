"""Where patches agree: which are the same but for their form, and what several of them changed."""

from hydra.judge.agreement.forms import same
from hydra.judge.agreement.groups import groups
from hydra.judge.agreement.shared import alone, shared

__all__ = ["alone", "groups", "same", "shared"]
