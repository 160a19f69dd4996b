"""The only spawner but for git's own runner: keeper, streams, limits, and the end of it all."""
