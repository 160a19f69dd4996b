"""What tokens cost by a list of prices, where an agent tells its tokens and no cost. Pure."""

from __future__ import annotations

from hydra.model import Estimate, Rates, Usage

_MILLION = 1_000_000


def estimate(rates: Rates, usage: Usage) -> Estimate | None:
    """The cost in dollars, or None where it cannot be told: unknown is not zero.

    `input_tokens` has the cached ones in it. What was written into a cache is counted as any other
    token of the prompt. Where a prompt may have been longer than these prices hold for, nothing is
    said: which of them were is not known.
    """
    came, went, cached = usage.input_tokens, usage.output_tokens, usage.cached_tokens
    if usage.cost_usd is not None or came is None or went is None or min(came, went) < 0:
        return None
    if rates.longest is not None and came > rates.longest:
        return None
    at_once = 0
    if rates.cached is not None:
        if cached is None or not 0 <= cached <= came:
            return None
        at_once = cached
    dollars = (came - at_once) * rates.input + went * rates.output + at_once * (rates.cached or 0)
    return Estimate(dollars / _MILLION, rates.read or None, rates.source)
