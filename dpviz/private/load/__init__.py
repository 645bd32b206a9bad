"""The loading room: from files, folders and tables to records inside the vault.

Reading is a chain: parse, type, clip, group by (unit, id), bound, index. What becomes of a record
depends on that record alone and, in bounding, on the other records of its own privacy unit: an id
is the text as it is decoded, a record that cannot be read is dropped like one outside the domain,
and only the schema (columns, declared types, CRS, size) is ever refused, or a container that its
library cannot decode. So adding or removing one privacy unit among the decoded rows, in any
format, moves the index by at most K records (K = 1 where a record is the unit), and nothing else
that is shown or written depends on the records.
"""
