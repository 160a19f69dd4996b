"""`hydra conformance`: put together in `report.py`; what its parts need stands beside it."""
