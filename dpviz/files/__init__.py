"""Files on their way in and out: limits, first bytes, a process to parse them in, whole writing.

Nothing here knows what a file holds.
"""
