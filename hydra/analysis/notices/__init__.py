"""What a patch touches that deserves a look before it lands, as data.

`facts` is what is known of each file (git.touched gathers it), `places` knows files by their
names, `manifests` reads which packages a project asks for, and `notice` puts it in words. Nothing
here reads, runs or trusts anything.
"""
