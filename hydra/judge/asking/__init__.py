"""What a model is asked of patches, and how its answer is read. It never weighs in a rank.

A model sees the task, the base, and the patches as unnamed A, B, C; what it answers is read as
text of a stranger: whatever it says, something comes of it, and nothing is raised.
"""
