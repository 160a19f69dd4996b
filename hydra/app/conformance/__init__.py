"""`hydra conformance`: its parts put together in `report.py`; what each of them needs, beside it."""
