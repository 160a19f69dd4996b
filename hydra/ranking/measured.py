"""How often winners were right, on published samples (docs/why/selection.md says which).

Written by `python -m benchmarks.selection --calibrate FILE...`: do not edit. From 20982 pools:
weak2, weak3, weak4, weak8, weak16, strong2, strong3, strong4, strong8, strong16.
"""

from __future__ import annotations

WINNERS: dict[tuple[int, int, bool], tuple[int, float]] = {
    # lanes, those that agree, tied: winners measured, share of them that was right
    (2, 1, False): (2642, 0.50),
    (2, 1, True): (292, 0.30),
    (3, 1, False): (2039, 0.38),
    (3, 1, True): (200, 0.21),
    (3, 2, False): (1579, 0.72),
    (4, 1, False): (1465, 0.36),
    (4, 1, True): (113, 0.22),
    (4, 2, False): (1489, 0.66),
    (4, 2, True): (11, 0.52),
    (4, 3, False): (1171, 0.82),
    (8, 1, False): (465, 0.16),
    (8, 1, True): (16, 0.06),
    (8, 2, False): (446, 0.45),
    (8, 2, True): (2, 0.61),
    (8, 3, False): (935, 0.74),
    (8, 3, True): (1, 0.50),
    (8, 5, False): (980, 0.83),
    (16, 1, False): (112, 0.10),
    (16, 1, True): (2, 0.00),
    (16, 2, False): (150, 0.22),
    (16, 2, True): (1, 0.00),
    (16, 3, False): (201, 0.40),
    (16, 5, False): (1009, 0.82),
}
