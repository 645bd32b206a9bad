"""Planning: find the least ε for accuracy targets, before any payment, from no record.

This room sees public knowledge only: bounds, wishes, a synthetic proxy or a public table, releases.
"""
