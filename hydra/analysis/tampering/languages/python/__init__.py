"""Python's tests, by its own parser: what they ask, and what keeps them from running."""
