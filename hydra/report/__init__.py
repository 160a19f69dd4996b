"""What a person or a program sees: events and results as lines, tables and JSON.

Every string an agent wrote is made harmless by `text.clean`, by whoever prints it.
"""
