"""The page of `hydra compare --html`: one file, no request (docs/reference/compare.md)."""
