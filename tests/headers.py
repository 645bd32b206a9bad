"""The header of a release's table, and other ones in its place."""

import json

from dpviz.releases.files import KEY


def header_of(table):
    return json.loads(table.schema.metadata[KEY])


def with_header(table, header):
    return table.replace_schema_metadata({**table.schema.metadata, KEY: json.dumps(header)})
