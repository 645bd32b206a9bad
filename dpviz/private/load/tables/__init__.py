"""Tables of records in files: one module per format, one common interface.

To add a format, write a module here and register it in :mod:`.formats`.

A file is recognised by its first bytes, and refused if its name says another format. The messages
of parsers are dropped, since they may quote records.
"""
