"""Trials: a patch under the base's own tests, and under the other lanes' new ones."""
