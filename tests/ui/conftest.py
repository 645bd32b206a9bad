"""Pages without a browser."""

from functools import cache

import pytest


@pytest.fixture(scope="package", autouse=True)
def components_are_looked_for_once():
    """Streamlit reads the metadata of all that is installed for each app that a test opens.

    That was more than half of what these tests took.
    """
    from streamlit.components.v2 import manifest_scanner

    once = cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", once)
        yield
