"""Planning: from what must hold to the least ε, before anything is paid and from no record.

This room sees public knowledge only: bounds, wishes, a synthetic proxy or a public table, releases.
"""
