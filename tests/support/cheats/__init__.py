"""Cheats and their honest twins, as data: docs/reference/compare.md has their table."""
