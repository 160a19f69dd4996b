"""Cheats and their honest twins, as data: docs/compare.md has the table that they come to."""
