"""Errors that bad input causes, as tests look at them."""

import pytest


def in_one_line(error, match):
    """Inside, something is refused with a message of one line, which repeats nothing long."""

    def short(caught):
        return "\n" not in str(caught) and len(str(caught)) < 300

    return pytest.raises(error, match=match, check=short)
