"""Upstream fixes of real projects as races: mined, raced by lanes made by rule, and scored."""
