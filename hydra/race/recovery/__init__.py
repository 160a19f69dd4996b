"""After a crash: ends what is left of a run, takes its patches, closes its record.

docs/reference/recovery.md says what a killed Hydra may leave, and what becomes of it.
"""
