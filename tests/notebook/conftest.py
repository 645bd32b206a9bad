"""The releases of the tests of exports."""

from tests.exports.conftest import pair, records, sensitive

__all__ = ["pair", "records", "sensitive"]
