"""The public frame of a data set: where and when records may be.

It is known before any record is read; nothing here sees one.
"""

from dpviz.domain.frame import LATTICE_BITS, Domain, default_columns

__all__ = ["LATTICE_BITS", "Domain", "default_columns"]
