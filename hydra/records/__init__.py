"""The records that travel between the rooms: times are seconds as floats, paths absolute."""
