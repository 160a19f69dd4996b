"""The records that travel between the rooms: frozen, typed, and without any I/O.

Times are seconds as floats unless a name says otherwise; paths are absolute. `asked` is what a race
is asked for, `agents` what an agent is and what it is handed, `planned` what is decided before
anything runs, `outcomes` what came of it.
"""
