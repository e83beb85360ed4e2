"""The bar that shows how far a training has come."""

from __future__ import annotations

import time
from html import escape
from typing import Any

from course_lib.showing.controls import Panel
from course_lib.showing.live import VIEW, close_all, keep_until_rerun, widgets_wanted


class ProgressBar:
    """A bar that a training moves: call it with (done, all). Without widgets nothing is shown."""

    def __init__(self, label: str) -> None:
        self.label, self._last = label, 0.0
        self._panel: Any = None  # the widget, while there is one

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._panel is not None and (now - self._last > 0.1 or done == total):
            self._last = now
            self._panel.value = self._html(done / total)

    def _html(self, part: float) -> str:
        label = escape(self.label)
        return f'<label>{label} <progress max="1" value="{part:.3f}"></progress> {part:.0%}</label>'

    def show(self) -> ProgressBar:
        """Display the bar above what the cell shows next."""
        from IPython.display import display

        display(self)
        return self

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        text = f"{self.label}: a bar shows how far it has come"
        bundle: dict[str, Any] = {"text/plain": text, "text/html": f"<p>{escape(text)}.</p>"}
        if not widgets_wanted():
            return bundle
        try:
            self._panel = Panel(self._html(0.0)).widget()
        except ImportError:  # no widget library
            return bundle
        keep_until_rerun(self)
        return {VIEW: self._panel.get_view_spec(), **bundle}

    def close(self) -> None:
        """Close the widget."""
        close_all([self._panel] if self._panel is not None else [])
        self._panel = None
