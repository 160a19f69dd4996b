"""Which checks a repository is likely to have, and what sets it up, by the files in it."""
