"""Readers of tests, one language a file. Each takes texts by path and gives readings by path."""
