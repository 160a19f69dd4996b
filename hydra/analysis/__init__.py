"""What a patch does, read without running it."""
