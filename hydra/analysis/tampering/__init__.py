"""What a patch did to its tests and to what runs them, and what looks like working around them.

`findings` reads the texts of a patch and never runs them; what it cannot read, it says. The
trials ask the others which files to put back on the base's version, or to bring elsewhere, and
which code may change what runs the tests.
"""
