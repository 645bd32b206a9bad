"""Screenshots as small pictures, and how far apart two of them are.

``DPVIZ_KEEP=1 uv run pytest tests/browser/test_pages.py`` writes the kept ones in ``kept`` anew.
They are coarse on purpose: they notice a lost map, sidebar or theme, not another font.
"""

import io
import os
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

FOLDER = Path(__file__).with_name("kept")
WIDTH = 160
COLOURS = 48
TOLERANCE = 5.0
"""Mean absolute difference of 0–255 that a picture may have from the kept one."""
SHIFT = 3
"""Rows by which a picture may be moved against the kept one."""


def small(png):
    """A screenshot of any width at 160 pixels, blurred so that letters become lines."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.BOX)
    return image.filter(ImageFilter.GaussianBlur(1))


def distance(one, other):
    """Mean absolute difference of two pictures; of other sizes, that of white and black.

    The least over a few rows up and down: a line that is a little higher moves all below it.
    """
    if one.size != other.size:
        return 255.0
    first, second = (np.asarray(each.convert("RGB"), np.float64) for each in (one, other))
    rows = len(first)
    return min(
        float(
            np.abs(
                first[max(by, 0) : rows + min(by, 0)] - second[max(-by, 0) : rows - max(by, 0)]
            ).mean()
        )
        for by in range(-SHIFT, SHIFT + 1)
    )


def tolerance(image):
    """How far a picture may be from this kept one: half of its ink, or a lost page passes."""
    pixels = np.asarray(image.convert("RGB")).reshape(-1, 3)
    shades, counts = np.unique(pixels, axis=0, return_counts=True)
    ground = Image.new("RGB", image.size, tuple(shades[counts.argmax()].tolist()))
    return min(TOLERANCE, distance(image, ground) / 2)


def reference(name):
    """A kept picture."""
    if not (FOLDER / f"{name}.png").exists():
        pytest.fail(f"no kept picture of {name}: look at the page, then set DPVIZ_KEEP=1")
    with Image.open(FOLDER / f"{name}.png") as image:
        return image.convert("RGB")


def still(shoot, seconds=4.0):
    """The small picture of a page that has stopped drawing: two screenshots that are the same."""
    image, before = small(shoot()), None
    while before is None or distance(image, before) > 0:
        time.sleep(seconds)
        image, before = small(shoot()), image
    return image


def check(name, shoot, patience=20.0):
    """Compare screenshots with the kept one until one is like it; ``$DPVIZ_KEEP`` keeps it instead.

    A page may still be drawing after all its scripts have run: a picture that stays wrong fails.
    """
    if os.environ.get("DPVIZ_KEEP"):
        FOLDER.mkdir(exist_ok=True)
        still(shoot).quantize(COLOURS).save(FOLDER / f"{name}.png", optimize=True)
        return
    end = time.monotonic() + patience
    known = reference(name)
    while (far := distance(small(shoot()), known)) >= tolerance(known):
        if time.monotonic() > end:
            pytest.fail(f"{name} is {far:.1f} from the kept picture: look, then DPVIZ_KEEP=1")
        time.sleep(0.5)
