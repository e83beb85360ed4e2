"""Controls of a live picture: labelled, usable by keyboard, and checked on the Python side.

A control is a plain description. Its widget is made when a notebook shows it, so that a lesson with
COURSE_WIDGETS=off imports no widget library.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_lib.showing.fonts import live_fonts

if TYPE_CHECKING:
    from course_lib.showing.drawing import Drawing


class Description:
    """What a front end shows: a label, a value, and settings that never change."""

    label = ""
    value: Any
    settings: dict[str, Any]

    def clean(self, value: object, old: object = None) -> object:
        """What `value` becomes when somebody sets it, or `old` where it makes no sense."""
        return value

    def widget(self) -> Any:
        """A new widget of this description, with a trait `value`."""
        return _widget_class()(self)


class Slider(Description):
    """A number from `min` in steps of `step`, to `max` or the last step before it."""

    def __init__(self, label: str, min: float, max: float, value: float, step: float = 1) -> None:
        if not (min < max and step > 0 and min <= value <= max):
            raise ValueError(
                "expected min < max, min <= value <= max and step > 0, "
                f"got min={min}, max={max}, value={value}, step={step}"
            )
        last = round(min + step * math.floor((max - min) / step + 1e-9), 10)  # a handle cannot go beyond it
        self.label, self.settings = label, {"min": min, "max": last, "step": step}
        self.value = self.clean(value)

    def clean(self, value: object, old: object = None) -> object:
        """The nearest allowed number; what is no number leaves `old` as it was."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return old
        low, high, step = self.settings["min"], self.settings["max"], self.settings["step"]
        return round(min(max(low + step * round((value - low) / step), low), high), 10)


class Choice(Description):
    """One of `options` (texts or numbers)."""

    def __init__(self, label: str, options: Sequence[str | int | float], value: str | float) -> None:
        if value not in options:
            raise ValueError(f"value must be one of the options {list(options)}, got {value!r}")
        self.label, self.value, self.settings = label, value, {"options": list(options)}

    def clean(self, value: object, old: object = None) -> object:
        """`value` if it is an option, else `old`."""
        return next((option for option in self.settings["options"] if option == value), old)


class TextBox(Description):
    """A line of text of at most `length` characters."""

    def __init__(self, label: str, value: str, length: int = 80) -> None:
        self.label, self.settings = label, {"length": length}
        self.value = self.clean(value)

    def clean(self, value: object, old: object = None) -> object:
        """`value` cut to the allowed length, or `old` if it is no text."""
        return value[: self.settings["length"]] if isinstance(value, str) else old


class Switch(Description):
    """On or off."""

    def __init__(self, label: str, value: bool) -> None:
        self.label, self.value, self.settings = label, value, {}

    def clean(self, value: object, old: object = None) -> object:
        """`value` if it is True or False, else `old`."""
        return value if isinstance(value, bool) else old


class Answers(Description):
    """A question with one button for each option; `value` is the place of the chosen one, or None."""

    def __init__(self, label: str, options: Sequence[str]) -> None:
        self.label, self.value, self.settings = label, None, {"options": list(options)}

    def clean(self, value: object, old: object = None) -> object:
        """`value` if it is the place of an option, else `old`."""
        return value if value in range(len(self.settings["options"])) and not isinstance(value, bool) else old


class Buttons(Description):
    """Buttons in a row that can be pressed again; `value` is [place of the last one, presses so far], or None.

    `code` is the cell that defines `name`, as it was run: where the page shows it changed since, a line says so.
    """

    def __init__(self, label: str, options: Sequence[str], name: str = "", code: str = "") -> None:
        self.label, self.value = label, None
        self.settings = {"options": list(options), "name": name, "code": code}

    def clean(self, value: object, old: object = None) -> object:
        """`value` if it is the place of a button and a count, else `old`."""
        fits = isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value)
        return value if fits and value[0] in range(len(self.settings["options"])) else old  # type: ignore[index]


class Panel(Description):
    """The place of what is shown: `value` is HTML, which the front end never writes.

    With `drawing`, the first one, it keeps the size of that, brings the fonts for letters, and has, if there are spots
    in it, a line below that says what is pointed at.
    """

    def __init__(self, value: str, drawing: Drawing | None = None) -> None:
        self.value, self.settings = value, {}
        if drawing is not None:
            self.settings = {
                "width": drawing.width,
                "height": drawing.height,
                "least": drawing.least,
                "linked": bool(drawing.spots),
                "fonts": live_fonts(),
            }


@functools.cache
def _widget_class() -> type:
    import anywidget
    import traitlets

    class Control(anywidget.AnyWidget):
        _esm = Path(__file__).with_name("controls.js")
        _css = Path(__file__).with_name("controls.css")
        kind = traitlets.Unicode().tag(sync=True)
        label = traitlets.Unicode().tag(sync=True)
        settings = traitlets.Dict().tag(sync=True)
        value: Any = traitlets.TraitType().tag(sync=True)  # Any would let None pass unchecked

        def __init__(self, control: Description) -> None:
            self.control = control
            super().__init__(
                kind=type(control).__name__, label=control.label, settings=control.settings, value=control.value
            )

        @traitlets.validate("value")
        def _clean(self, proposal):
            return self.control.clean(proposal["value"], self.value)

    return Control
