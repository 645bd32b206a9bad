"""SQL templates of the query that counts by cell, and how they are filled: public facts only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpviz.lazy import exp, sqlglot
from dpviz.private.load.dialects import as_double

COUNT = """
SELECT cell, {total} AS {number} FROM (
  SELECT :cell AS cell{read} FROM source WHERE :inside
) AS records GROUP BY cell
"""

COUNT_BOUNDED = """
WITH dpviz_records AS (
  SELECT :unit AS unit_value, :cell AS cell{read} FROM source WHERE :inside
),
dpviz_copies AS (
  SELECT unit_value, cell{name},
    ROW_NUMBER() OVER (PARTITION BY unit_value, cell{name} ORDER BY cell) AS copy_number
  FROM dpviz_records
),
dpviz_keys AS (
  SELECT unit_value, cell{name}, copy_number, SUBSTRING(MD5(CONCAT(
    :salt, unit_value, ' ', CAST(cell AS VARCHAR), ' ', {written}CAST(copy_number AS VARCHAR)
    )), 1, 12) AS sort_key
  FROM dpviz_copies
),
dpviz_places AS (
  SELECT cell{name},
    ROW_NUMBER() OVER (PARTITION BY unit_value ORDER BY sort_key, cell{name}, copy_number) AS place
  FROM dpviz_keys
)
SELECT cell, {total} AS {number} FROM dpviz_places WHERE place <= :most GROUP BY cell
"""

WITH_VALUES = {
    "read": ", :amount AS amount",
    "name": ", amount",
    "written": "CAST(amount AS VARCHAR), ' ', ",
}
"""What the templates hold beside the cell where records have values, in steps of their grid: then
records of one unit in one cell are alike where their values are."""


RECORDS = """
SELECT inside, COUNT(*) AS n FROM (
  SELECT CASE WHEN :inside THEN 1 ELSE 0 END AS inside FROM source
) AS records GROUP BY inside
"""


def less_offsets(seconds: Any, borders: Sequence[float], by: Sequence[float]) -> Any:
    """Seconds less what holds from each border on; the first holds before all."""
    if not borders and not by[0]:
        return seconds
    case: Any = exp.case()
    for border, value in reversed([*zip(borders, by[1:], strict=True)]):
        past = exp.GTE(this=seconds.copy(), expression=as_double(border))
        case = case.when(past, as_double(value))
    held = case.else_(as_double(by[0])) if borders else as_double(by[0])
    return exp.paren(exp.Sub(this=seconds.copy(), expression=held))


def filled(template: str, relation: Any, values: dict[str, Any]) -> Any:
    """A template with its values and its source."""
    tree: Any = exp.replace_placeholders(sqlglot.parse_one(template, read="postgres"), **values)
    for from_ in list(tree.find_all(exp.Table)):
        if from_.name == "source":
            from_.replace(exp.alias_(relation.copy(), "source", table=True))
    return tree
