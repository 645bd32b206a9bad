"""Pages without a browser."""

from functools import cache

import pytest
from streamlit.testing.v1 import AppTest


@pytest.fixture(scope="package")
def patches():
    """Patches for all tests of this folder, undone after them."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="package", autouse=True)
def components_are_looked_for_once(patches):
    """Streamlit reads the metadata of all that is installed for each app that a test opens.

    That was more than half of what these tests took.
    """
    from streamlit.components.v2 import manifest_scanner

    once = cache(manifest_scanner.scan_component_manifests)
    patches.setattr(manifest_scanner, "scan_component_manifests", once)


@pytest.fixture(scope="package", autouse=True)
def a_page_is_waited_for_asleep(patches):
    """Streamlit looks a thousand times a second whether the page has run, and takes its turns."""
    from streamlit.testing.v1 import local_script_runner as runners

    gives_up = runners.require_widgets_deltas

    def joined(runner, timeout):
        runner._script_thread.join(timeout)
        if runner._script_thread.is_alive():
            gives_up(runner, 0)

    patches.setattr(runners, "require_widgets_deltas", joined)


@pytest.fixture(scope="package", autouse=True)
def no_run_of_a_page_ends_in_a_traceback(patches):
    """Whatever a test looks at afterwards; the captured log says which one it was."""
    run = AppTest._run

    def checked(app, *arguments, **options):
        run(app, *arguments, **options)
        assert [each.value for each in app.exception] == []
        return app

    patches.setattr(AppTest, "_run", checked)
