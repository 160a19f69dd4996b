"""`hydra.toml` to a checked, frozen `Config` and back, with where each value came from.

Precedence: flags, environment, the repository's file, the user's file, defaults. The repository's
file is a stranger's and may say less (docs/decisions.md, 14; docs/reference/configuration.md has
the table).
"""
