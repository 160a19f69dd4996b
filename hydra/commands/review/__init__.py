"""What a model is asked of patches, and how its answer is read.

What it remarks weighs in no rank; its tests weigh by how they end. It sees the task, the base, and
the patches as unnamed A, B, C; what it answers is read as text of a stranger: whatever it says,
something comes of it, and nothing is raised.
"""
