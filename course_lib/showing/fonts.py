"""DejaVu, cut to the letters that are shown: slides, handouts and live pictures carry it, and look alike everywhere.

The fonts are those that matplotlib brings along and draws the stored pictures with. Their copyright and licence
(DejaVu and Bitstream Vera, in LICENSE_DEJAVU beside matplotlib's files) stay inside each font that is made here.
"""

from __future__ import annotations

import base64
import functools
import io
from pathlib import Path

SANS, MONO = "course-sans", "course-mono"  # names of our own, so that no font of the system is taken for them
FILES = {
    (SANS, "400"): "DejaVuSans.ttf",
    (SANS, "700"): "DejaVuSans-Bold.ttf",
    (MONO, "400"): "DejaVuSansMono.ttf",
    (MONO, "700"): "DejaVuSansMono-Bold.ttf",
}
# A live picture may have to show what a learner types: Latin and Greek letters, and signs of the lessons.
LIVE = "".join(map(chr, [*range(0x20, 0x7F), *range(0xA0, 0x180), *range(0x391, 0x3CA)])) + "–—‘’“”…•⁰⁸⁻←↑→↓−√∞≈≠≤≥"


@functools.cache
def woff(family: str, weight: str, letters: str) -> bytes:
    """One of FILES as a web font with those of `letters` that it has; KeyError for a font that is not among them."""
    import matplotlib
    from fontTools import subset  # matplotlib needs it too
    from fontTools.ttLib import TTFont

    options = subset.Options(hinting=False, layout_features=["kern", "liga"], name_IDs=["*"])  # names hold the licence
    options.drop_tables += ["FFTM", "MATH"]
    path = Path(matplotlib.get_data_path(), "fonts", "ttf", FILES[family, weight])
    with TTFont(path, recalcTimestamp=False, lazy=True) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(text=letters)
        subsetter.subset(font)
        font.flavor = "woff"
        file = io.BytesIO()
        font.save(file)
    return file.getvalue()


def live_fonts() -> list[list]:
    """The fonts of a live picture as [family, weight, bytes]."""
    return [[*font, woff(*font, LIVE)] for font in FILES if font != (MONO, "700")]  # no picture has bold code


def font_faces(page: str) -> str:
    """CSS that brings the fonts to a page of HTML, with the letters that it has."""
    letters = "".join(sorted({*page, *map(chr, range(0x20, 0x7F))}))  # numbers of lists are in no text
    rule = '@font-face {{ font-family: "{}"; font-weight: {}; src: url(data:font/woff;base64,{}) format("woff"); }}\n'
    return "".join(rule.format(*font, base64.b64encode(woff(*font, letters)).decode()) for font in FILES)
