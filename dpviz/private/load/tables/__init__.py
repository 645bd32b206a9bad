"""Tables of records in files: one module per format, one common interface.

A new format is a new file here that declares itself: see :mod:`.formats`.

A file is recognised by its first bytes, then held against its name: a file that is not what its
name says is refused. Parsers' own messages are dropped, since they may quote records.
"""
