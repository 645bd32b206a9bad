"""One unit whose rows hold whatever cells hold moves no layer by more than its bound, and no word.

Read in this process: what a child would hide, such as a crash, is seen here.
"""

import pytest

from tests.private.load.neighbours import FORMATS, ROLES, compare

pytestmark = pytest.mark.usefixtures("one_key", "one_salt", "in_this_process")


def campaign(form, seeds, folder, roles=tuple(ROLES)):
    """Roles of the columns with each seed; most are read, and some units move something."""
    results = [
        compare(form, role, seed, folder / f"{role}{seed}") for seed in seeds for role in roles
    ]
    assert sum(read for read, _ in results) >= len(results) // 2
    assert any(moved for _, moved in results)


@pytest.mark.parametrize(
    "seeds", [range(2), pytest.param(range(2, 202), marks=pytest.mark.campaign)]
)
@pytest.mark.parametrize("form", FORMATS)
def test_a_hostile_unit(form, seeds, tmp_path):
    if form in ("folder", "duckdb") and len(seeds) == 2:  # eight queries each
        campaign(form, range(1), tmp_path, ["all"])
    else:
        campaign(form, seeds, tmp_path)
