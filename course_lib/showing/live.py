"""A drawing that follows its controls, and a picture of its first state where there is no kernel."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from html import escape
from typing import Any, Protocol

from course_lib.showing.controls import Choice, Panel, Slider, Switch, TextBox
from course_lib.showing.drawing import Drawing
from course_lib.showing.picture import Picture

VIEW = "application/vnd.jupyter.widget-view+json"
Control = Slider | Choice | TextBox | Switch


class Live:
    """`draw(**values) -> Drawing`, redrawn as the controls change: Slider, Choice, TextBox, Switch by name.

    With COURSE_WIDGETS=off it is the picture of the first state.
    """

    def __init__(self, draw: Callable[..., Drawing], **controls: Control) -> None:
        if not controls:
            raise ValueError("Live needs at least one control: show draw().picture() where nothing changes")
        for name, control in controls.items():
            if not isinstance(control, Control):
                raise TypeError(
                    f"{name} must be a Slider, Choice, TextBox or Switch, got {type(control).__name__}: take one of"
                    " course_lib.showing.controls"
                )
        self._draw, self._given = draw, controls
        self._values = {name: control.value for name, control in controls.items()}
        self._first = draw(**self._values)  # an author's mistake shows here, not in a half-made widget
        self._picture: Picture | None = None
        self.controls: dict[str, Any] = {}  # name -> widget with a trait `value`, while there is a widget
        self.panel: Any = None  # widget whose `value` is the HTML of the drawing
        self._widget: Any = None
        self._close: weakref.finalize | None = None

    def show(self, **values: object) -> Picture:
        """Picture for the given values; a control that is not named has its first value."""
        return self._draw(**{**self._values, **values}).picture()

    @property
    def widget(self) -> Any:
        """The widget: the controls above the panel. It is made when first asked for."""
        if self._widget is None:
            self._make()
        return self._widget

    def close(self) -> None:
        """Close the widgets; the next display makes new ones."""
        if self._close is not None:
            self._close()
        self._widget, self.panel, self.controls = None, None, {}

    def _make(self) -> None:
        import ipywidgets

        self.controls = {name: given.widget() for name, given in self._given.items()}
        self.panel = Panel(self._html(), self._first).widget()
        self._widget = ipywidgets.VBox([*self.controls.values(), self.panel])
        # The widgets must not keep this object alive, or nobody would ever close them.
        me = weakref.ref(self)

        def redraw(_change: object) -> None:
            # A burst of moves costs two or three drawings and ends with the last: the front end holds a
            # control's next value back until the kernel has answered, and then sends the newest only.
            live = me()
            if live is not None and live.panel is not None:
                live.panel.value = live._html()

        for control in self.controls.values():
            control.observe(redraw, names="value")
        self._close = weakref.finalize(self, close_all, [self._widget, self.panel, *self.controls.values()])
        self._close.atexit = False

    def _html(self) -> str:
        try:
            return self._draw(**{name: control.value for name, control in self.controls.items()}).html()
        except ValueError as error:
            message = str(error)
        except Exception as error:  # shown in place: an exception of a widget's callback would go unseen
            message = f"{type(error).__name__}: {error}"
        return f'<div role="alert">{escape(message)}</div>'

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        if self._picture is None:
            self._picture = self._first.picture()
        bundle, metadata = self._picture._repr_mimebundle_()
        if not widgets_wanted():
            return bundle, metadata
        try:
            view = self.widget.get_view_spec()
        except ImportError:  # no widget library: the picture serves
            return bundle, metadata
        keep_until_rerun(self)
        return {VIEW: view, **bundle}, metadata


def widgets_wanted() -> bool:
    """False where COURSE_WIDGETS=off asks for static pictures."""
    return os.environ.get("COURSE_WIDGETS", "").lower() != "off"


class Closable(Protocol):
    """What has widgets on the page, and closes them."""

    def close(self) -> None:
        """Close the widgets."""


_shown: dict[str, tuple[str, list[Closable]]] = {}  # cell -> its last run, and what that run displayed


def keep_until_rerun(live: Closable) -> None:
    """Hold what was displayed until its cell runs again, then close() it: Out would hold it for ever."""
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    parent = shell.get_parent() if hasattr(shell, "get_parent") else None
    if not parent:
        return  # outside a kernel it lives as long as somebody holds it
    cell = parent.get("metadata", {}).get("cellId") or parent["content"].get("code", "")
    run = parent["header"]["msg_id"]
    last_run, lives = _shown.get(cell, ("", []))
    _shown[cell] = (run, [*lives, live] if last_run == run else [live])
    if last_run != run:
        still = {id(other) for _, others in _shown.values() for other in others}
        for old in lives:
            if id(old) not in still:
                old.close()


def close_all(widgets: list) -> None:
    """Close widgets and their layouts, which are entries in the registry too."""
    for widget in widgets:
        widget.layout.close()
        widget.close()
