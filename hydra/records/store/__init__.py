"""The run's folder: written while a race runs, read back by every other command.

Layout (docs/architecture.md, "A run on disk"): `manifest.json`, `plan.json`, `events.jsonl`,
`result.json`, `lock`, and `lanes/<lane>/` with the raw output. Folders are 0700, files 0600.
JSON documents are replaced atomically; `events.jsonl` only ever grows, so a torn last line is
the worst that a crash leaves.
"""
