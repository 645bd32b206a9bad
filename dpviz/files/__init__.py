"""File handling: size limits, format detection, sandboxed parsing, atomic writing.

Nothing here depends on the content of a file.
"""
