"""A drawing that follows its controls, and a picture of its first state where there is no kernel."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from html import escape
from typing import Protocol

from course_lib.showing.controls import Panel
from course_lib.showing.drawing import Drawing
from course_lib.showing.picture import Picture

VIEW = "application/vnd.jupyter.widget-view+json"


class Live:
    """`draw(**values) -> Drawing`, redrawn as the controls change: Slider, Choice, TextBox, Switch by name.

    Controls of ipywidgets are taken too. With COURSE_WIDGETS=off it is the picture of the first state.
    """

    def __init__(self, draw: Callable[..., Drawing], **controls: object) -> None:
        if not controls:
            raise ValueError("Live needs at least one control: show draw().picture() where nothing changes")
        self._draw, self._given = draw, controls
        self._values = {name: control.value for name, control in controls.items()}
        self._first = draw(**self._values)  # an author's mistake shows here, not in a half-made widget
        self._picture: Picture | None = None
        self.controls: dict[str, object] = {}  # name -> widget with a trait `value`, while there is a widget
        self.panel = None  # widget whose `value` is the HTML of the drawing
        self._widget = None
        self._close = None

    def show(self, **values: object) -> Picture:
        """Picture for the given values; a control that is not named has its first value."""
        return self._draw(**{**self._values, **values}).picture()

    @property
    def widget(self) -> object:
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

        for name, given in self._given.items():
            if hasattr(given, "observe"):
                for part in _parts(given):
                    part.open()  # does nothing unless an earlier close() closed it
                self.controls[name] = given
            else:
                self.controls[name] = given.widget()
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
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
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


def _parts(widget: object) -> list:
    """A widget's own helpers, which are entries in the registry too, and itself."""
    return [part for part in (widget.layout, getattr(widget, "style", None), widget) if part is not None]


def close_all(widgets: list) -> None:
    """Close widgets and what belongs to them."""
    for widget in widgets:
        for part in _parts(widget):
            part.close()
