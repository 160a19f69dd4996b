"""A patch onto the user's branch, without a scratch on their tree (docs/reference/landing.md)."""
