"""Private models of symbol sequences: movements between cells, pages of a visit, words."""
