"""Hydra: race coding agents on one task, each in its own git worktree, and keep every patch."""

__version__ = "0.1.0"
