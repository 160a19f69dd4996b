"""Bringing a patch onto the user's branch without a scratch on their tree (docs/landing.md)."""
