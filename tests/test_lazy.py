"""Slow libraries are loaded at their first use."""

import subprocess
import sys

import pyarrow

from dpviz.lazy import pa


def test_a_library_is_loaded_by_its_first_use_alone():
    code = (
        "import sys; from dpviz.lazy import pa; hasattr(pa, '__wrapped__')\n"
        "before = 'pyarrow' in sys.modules; pa.int64(); print(before, 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
    assert pa.Table is pyarrow.Table
