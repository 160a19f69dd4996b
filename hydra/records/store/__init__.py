"""The run's folder (docs/architecture.md, "A run on disk"): written while a race runs, read back by
every other command. Documents are replaced atomically; `events.jsonl` only ever grows."""
