"""The verdict: which patch, why, and how sure. Pure: evidence goes in, sentences come out."""
