"""The installed CLIs in situations: each a file of data, run as a race, held against what it says.
"""
