"""The public frame of a data set: where and when records may be, known before any of them is read.

Nothing here sees a record.
"""

from dpviz.domain.frame import LATTICE_BITS, Domain, default_columns

__all__ = ["LATTICE_BITS", "Domain", "default_columns"]
