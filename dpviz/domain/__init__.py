"""The public frame of a data set: where and when records may be.

It is known before any record is read; nothing here sees one.
"""

from dpviz.domain.columns import default_columns
from dpviz.domain.frame import LATTICE_BITS, Domain

__all__ = ["LATTICE_BITS", "Domain", "default_columns"]
