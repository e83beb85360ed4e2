"""Pictures from a few shapes, drawn alike as SVG (live) and as PNG (stored)."""

from __future__ import annotations

import base64
import io
import json
import math
import re
import struct
import warnings
import zlib
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from course_lib.showing.fonts import MONO, SANS
from course_lib.showing.picture import Picture

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from torch import Tensor

# Okabe and Ito's palette: told apart with every kind of colour vision.
BLACK, WHITE, GREY, LIGHT = "#000000", "#ffffff", "#767676", "#d9d9d9"
BLUE, SKY, GREEN, YELLOW = "#0072b2", "#56b4e9", "#009e73", "#f0e442"
ORANGE, VERMILION, PURPLE = "#e69f00", "#d55e00", "#cc79a7"

_PALE, _DARK = (247, 251, 255), (8, 48, 107)
_NEGATIVE, _MIDDLE, _POSITIVE = (0, 90, 150), (255, 255, 255), (190, 75, 0)
_READABLE = 8  # pixels that the smallest letters of a drawing keep when it shrinks to a narrow window
_DENSITY = 2  # pixels of the PNG for one pixel of the drawing


def shade(value: float, low: float, high: float) -> str:
    """Colour of `value` on a scale from pale (low) to dark blue (high), cut off at both ends."""
    if not low <= high:
        raise ValueError(f"low must not be above high, got low={low}, high={high}: swap them")
    return _mix(_PALE, _DARK, (value - low) / (high - low) if high > low else 0.0)


def diverge(value: float, limit: float) -> str:
    """Colour of a signed `value`: blue at -limit, white at 0, orange-brown at +limit."""
    if not limit >= 0:
        raise ValueError(f"limit must be 0 or more, got {limit}: pass the largest absolute value")
    part = value / limit if limit else 0.0
    return _mix(_MIDDLE, _NEGATIVE if part < 0 else _POSITIVE, abs(part))


def ink(colour: str) -> str:
    """BLACK or WHITE, whichever reads better on `colour` ("#rrggbb"): the contrast is at least 4.5."""
    _colour(colour)
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return BLACK if luminance > 0.179 else WHITE  # black on it and white on it are equal at 0.179


def channels_to_back(image: Tensor) -> Tensor:
    """(C, H, W) as Drawing.pixels takes it: (H, W) for one channel, (H, W, C) for three."""
    return image[0] if image.shape[0] == 1 else image.permute(1, 2, 0)


class Drawing:
    """Shapes in pixel coordinates, origin top left, drawn in the order in which they were added.

    `text` says in words what a person would see; it may be set later, before the first use.
    """

    def __init__(self, width: int, height: int, text: str = "") -> None:
        if not (0 < width <= 4000 and 0 < height <= 4000):
            raise ValueError(f"width and height must lie in 1..4000 pixels, got {width} x {height}")
        self.width, self.height, self.text = int(width), int(height), text
        self.shapes: list[tuple] = []  # (name of the shape, its numbers and colours)
        self.spots: list[tuple[str, str, float, float, float, float]] = []  # (panel, name, x, y, w, h)
        self.says: dict[str, str] = {}  # name -> what is said when it is pointed at
        self.lights: dict[str, list[str]] = {}  # name -> other names that light up with it

    def rect(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        *,
        fill: str | None = None,
        stroke: str | None = None,
        stroke_width: float = 1,
    ) -> None:
        """Rectangle with its top left corner at (x, y); `fill` and `stroke` are "#rrggbb" or None."""
        self._add("rect", *_finite(x, y, w, h, stroke_width), _colour(fill), _colour(stroke))

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        stroke: str = BLACK,
        width: float = 1.5,
        arrow: bool = False,
    ) -> None:
        """Straight line, with a head at (x2, y2) if `arrow`."""
        x1, y1, x2, y2, width = _finite(x1, y1, x2, y2, width)
        length = math.hypot(x2 - x1, y2 - y1)
        if not arrow or length == 0:
            return self._add("line", x1, y1, x2, y2, width, _colour(stroke))
        part = min((4 + 3 * width) / length, 1)  # of the line that the head takes
        dx, dy = (x2 - x1) * part, (y2 - y1) * part
        foot_x, foot_y = x2 - dx, y2 - dy
        self._add("line", x1, y1, foot_x, foot_y, width, _colour(stroke))
        side_x, side_y = -0.45 * dy, 0.45 * dx
        corners = [(x2, y2), (foot_x + side_x, foot_y + side_y), (foot_x - side_x, foot_y - side_y)]
        self._add("head", corners, _colour(stroke))

    def label(
        self,
        x: float,
        y: float,
        string: str,
        *,
        size: float = 13,
        anchor: str = "start",
        colour: str = BLACK,
        bold: bool = False,
        mono: bool = False,
    ) -> None:
        """One line of text; `y` is the middle of its height, `x` its start, middle or end as `anchor` says.

        A mono character is 0.6 * size wide; allow 0.65 * size for one of running text.
        """
        if anchor not in ("start", "middle", "end"):
            raise ValueError(f'anchor must be "start", "middle" or "end", got {anchor!r}')
        self._add("label", *_finite(x, y, size), _printable(str(string)), anchor, _colour(colour), bold, mono)

    def pixels(self, x: float, y: float, w: float, h: float, array: object) -> None:
        """Crisp pixels in the rectangle; `array` is (H, W) grey or (H, W, 3) RGB, numbers from 0 to 1."""
        values = np.asarray(array, dtype=float)
        if values.ndim not in (2, 3) or values.shape[2:] not in ((), (3,)) or values.size == 0:
            raise ValueError(
                f"expected an array (H, W) or (H, W, 3), got {values.shape}: "
                "take one image, and permute(1, 2, 0) puts the channels last"
            )
        low, high = values.min(), values.max()
        if not (low >= -1e-6 and high <= 1 + 1e-6):
            raise ValueError(f"expected numbers from 0 to 1, got {low:g} to {high:g}: scale them first")
        values = np.repeat(values[:, :, None], 3, axis=2) if values.ndim == 2 else values
        self._add("pixels", *_finite(x, y, w, h), np.rint(values.clip(0, 1) * 255).astype(np.uint8))

    def spot(self, panel: str, name: str, x: float, y: float, w: float, h: float) -> None:
        """A place that lights up: all spots of one name do so together, whatever panel they lie in."""
        x, y, w, h = (round(number, 2) for number in _finite(x, y, w, h))
        self.spots.append((panel, name, x, y, w, h))

    def say(self, name: str, text: str, lights: Sequence[str] = ()) -> None:
        """Let `name` be pointed at: `text` is said, and the names in `lights` light up as well.

        A name that says nothing can only be lit by others.
        """
        self.says[name] = text
        if lights:
            self.lights[name] = list(lights)

    def html(self) -> str:
        """The drawing for a live page: the <svg>, with its spots and what links them in an attribute, if it has any."""
        if not self.spots:
            return self.svg()
        links = {"spots": self.spots, "says": self.says, "lights": self.lights}
        told = json.dumps(links, ensure_ascii=False, separators=(",", ":"))
        return f'<div class="course-linked" data-links="{escape(_printable(told))}">{self.svg()}</div>'

    def _add(self, *shape: object) -> None:
        self.shapes.append(shape)

    @property
    def least(self) -> int:
        """Pixels of width that it needs for its letters to be read; 0 for a drawing without letters."""
        sizes = [shape[3] for shape in self.shapes if shape[0] == "label"]
        return math.ceil(self.width * min(1, _READABLE / min(sizes))) if sizes else 0

    def svg(self) -> str:
        """The drawing as an <svg> element for HTML, white behind it and its text as a label."""
        body = "".join(_svg(shape) for shape in self.shapes)
        words = escape(_printable(self._words()))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{words}" '
            f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}" '
            f'font-family="{SANS},DejaVu Sans,sans-serif" text-rendering="geometricPrecision" '
            f'style="display:block;max-width:100%;min-width:{self.least}px;height:auto;background:#fff">{body}</svg>'
        )

    def picture(self) -> Picture:
        """The drawing as a Picture: a PNG of twice the pixel density, and the text."""
        # The canvas is used without pyplot: no figure is left open, and no setting of the user's changes it.
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from PIL import Image  # matplotlib draws its pictures with it

        size = (self.width / _INCH, self.height / _INCH)
        figure = Figure(figsize=size, dpi=_INCH * _DENSITY, facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        for order, shape in enumerate(self.shapes):
            _artist(axes, shape).set_zorder(order)
        axes.set(xlim=(0, self.width), ylim=(self.height, 0), aspect="auto")
        canvas = FigureCanvasAgg(figure)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # a typed sign that DejaVu Sans lacks
            canvas.draw()
        image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        if not any(shape[0] == "pixels" for shape in self.shapes):
            # Flat colours and the edges of letters: 256 colours show them all, in a quarter of the bytes.
            image = image.quantize(256, dither=Image.Dither.NONE)
        file = io.BytesIO()
        image.save(file, format="png", optimize=True)
        return Picture(file.getvalue(), self._words(), self.width, self.least)

    def _words(self) -> str:
        if not self.text.strip():
            raise ValueError("the drawing has no text: set drawing.text to what a person would see")
        return self.text


def _mix(start: tuple, end: tuple, part: float) -> str:
    if math.isnan(part):
        return GREY  # "not a number" is neither low nor high
    part = min(max(part, 0.0), 1.0)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(start, end, strict=True))


def _finite(*numbers: float) -> list[float]:
    if not all(math.isfinite(n) for n in numbers):
        raise ValueError(f"coordinates and sizes must be finite numbers, got {numbers}")
    return [float(n) for n in numbers]


def _colour(colour: str | None) -> str | None:
    # Names of colours are not the same in CSS and matplotlib, so only one notation is taken.
    if colour is not None and not re.fullmatch("#[0-9a-fA-F]{6}", colour):
        raise ValueError(f'a colour is written "#rrggbb", got {colour!r}: use one of drawing\'s constants')
    return colour


def _printable(string: str) -> str:
    # XML allows neither control characters nor halves of surrogate pairs, and a label is one line.
    string = re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", string)
    return re.sub("[\ud800-\udfff\ufffe\uffff]", "\ufffd", string)


# The two back ends, shape by shape, in the same pixels. matplotlib counts the canvas in inches and widths of
# lines and letters in points. A label hangs by its baseline in both, which no font moves.
_INCH = 64  # pixels; a power of two, so that no rounding takes the last pixel away
_POINT = 72 / _INCH  # points for one pixel
_BASELINE = 0.36  # from the middle of a line of text down to its baseline, as a part of the size


def _svg(shape: tuple) -> str:
    match shape:
        case "rect", x, y, w, h, width, fill, stroke:
            return (
                f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill or "none"}" '
                f'stroke="{stroke or "none"}" stroke-width="{width:g}" shape-rendering="crispEdges"/>'
            )
        case "line", x1, y1, x2, y2, width, stroke:
            return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" stroke-width="{width:g}"/>'
        case "head", corners, fill:
            return f'<polygon points="{" ".join(f"{x:g},{y:g}" for x, y in corners)}" fill="{fill}"/>'
        case "label", x, y, size, string, anchor, colour, bold, mono:
            # Blanks are kept, so that code looks as it does in the PNG.
            font = f' font-family="{MONO},DejaVu Sans Mono,monospace"' if mono else ""
            font += ' font-weight="bold"' if bold else ""
            return (
                f'<text x="{x:g}" y="{y + _BASELINE * size:g}" font-size="{size:g}px" fill="{colour}" '
                f'text-anchor="{anchor}"{font} '
                f'style="white-space:pre">{escape(string)}</text>'
            )
        case "pixels", x, y, w, h, values:
            return (
                f'<image x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" preserveAspectRatio="none" '
                'style="image-rendering:pixelated" '
                f'href="data:image/png;base64,{base64.b64encode(_png(values)).decode()}"/>'
            )
    raise ValueError(f"there is no shape {shape[0]!r}")


def _artist(axes: Axes, shape: tuple) -> Artist:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon, Rectangle

    match shape:
        case "rect", x, y, w, h, width, fill, stroke:
            return axes.add_patch(
                Rectangle(
                    (x, y),
                    w,
                    h,
                    facecolor=fill or "none",
                    snap=False,
                    edgecolor=stroke or "none",
                    linewidth=width * _POINT if stroke else 0,
                )
            )
        case "line", x1, y1, x2, y2, width, stroke:
            return axes.add_line(
                Line2D([x1, x2], [y1, y2], color=stroke, linewidth=width * _POINT, solid_capstyle="butt", snap=False)
            )
        case "head", corners, fill:
            return axes.add_patch(Polygon(corners, facecolor=fill, linewidth=0))
        case "label", x, y, size, string, anchor, colour, bold, mono:
            side = {"start": "left", "middle": "center", "end": "right"}[anchor]
            family, weight = "DejaVu Sans Mono" if mono else "DejaVu Sans", "bold" if bold else "normal"
            return axes.text(
                x,
                y + _BASELINE * size,
                string,
                fontsize=size * _POINT,
                color=colour,
                ha=side,
                va="baseline",
                fontfamily=family,
                fontweight=weight,
                parse_math=False,
                usetex=False,
            )
        case "pixels", x, y, w, h, values:
            return axes.imshow(values, extent=(x, x + w, y + h, y), interpolation="nearest", origin="upper")
    raise ValueError(f"there is no shape {shape[0]!r}")


def _png(values: np.ndarray) -> bytes:
    """A PNG of (H, W, 3) bytes, one pixel for each."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width, _ = values.shape
    rows = np.pad(values.reshape(height, -1), ((0, 0), (1, 0)))  # each row begins with 0: no filter
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows.tobytes()))
        + chunk(b"IEND", b"")
    )
