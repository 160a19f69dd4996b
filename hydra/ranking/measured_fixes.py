"""How often the first patch of a race was right that a test proved, on upstream's fixes.

Written by `python -m benchmarks.fixes calibrate`: do not edit.
"""

from __future__ import annotations

FIXES: dict[tuple[int, int], tuple[int, float]] = {
    # others that agree, others that do not: fixes, share of them in which it was right
    (0, 0): (70, 0.974),
    (0, 1): (1, 0.536),
    (1, 0): (33, 0.931),
    (1, 1): (1, 0.536),
    (2, 0): (13, 0.762),
}
