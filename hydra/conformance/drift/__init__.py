"""What two versions of a CLI have differently, from their recordings, and whether Hydra minds.

Nothing here is a list of what Hydra needs: it is found by taking the thing away from the older
recording and asking the adapter again (docs/reference/conformance.md).
"""
