"""Which checks a repository is likely to have, by the files that lie in it; nothing is run.

A folder is tested as its own files say; where they say nothing, as those of the folder above do.
Where the top says nothing either, it is the packages below it that are tested, if they are few.
"""
