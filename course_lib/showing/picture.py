"""A picture as a notebook keeps it: a PNG, and the words for those who do not see it."""

from __future__ import annotations

import base64
import io
from html import escape


class Picture:
    """A PNG with its text alternative, `width` pixels wide on the page, and at least `least` where that is narrow."""

    def __init__(self, png: bytes, text: str, width: int, least: int = 0) -> None:
        if not text.strip():
            raise ValueError("a picture needs a text that says what a person would see, got an empty one")
        self.png, self.text, self.width, self.least = png, text, width, least

    @classmethod
    def from_figure(cls, fig, text: str) -> Picture:
        """Picture of a matplotlib figure at twice its density; the figure is closed."""
        from matplotlib import pyplot as plt

        file = io.BytesIO()
        fig.savefig(file, format="png", dpi=2 * fig.dpi, facecolor="white", metadata={"Software": None})
        plt.close(fig)  # or the notebook would show it a second time
        png = file.getvalue()
        return cls(png, text, int.from_bytes(png[16:20], "big") // 2)  # bytes 16 to 19 of a PNG are its width

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        data = base64.b64encode(self.png).decode()
        image = (
            f'<img alt="{escape(self.text)}" width="{self.width}" '
            f'style="max-width:100%;min-width:{self.least}px;height:auto" src="data:image/png;base64,{data}">'
        )
        # Without the width a stored PNG would show in its own pixels, twice as wide.
        return (
            {"text/html": image, "image/png": data, "text/plain": self.text},
            {"image/png": {"width": self.width}},
        )
