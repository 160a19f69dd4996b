"""Git, synchronous and hardened: the user's repository, the run's patches, the collector."""
