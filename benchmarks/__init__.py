"""What Hydra costs, as ratios against named baselines: `python -m benchmarks`."""
