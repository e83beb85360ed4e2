"""Buttons on the page and the message that a press brings, below them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course_lib.showing.controls import Description, Panel
from course_lib.showing.live import VIEW, close_all, keep_until_rerun, widgets_wanted
from course_lib.showing.message import Message


class WithButtons:
    """What stands above (a message, or nothing), the buttons, and the message of the last press.

    `tell` makes the message of what the buttons' value has become.
    """

    def __init__(self, buttons: Description, tell: Callable[[Any], Message], above: Message | None = None) -> None:
        self._buttons, self._tell, self._above = buttons, tell, above
        self._widgets: list[Any] = []

    def bundle(self, stored: dict[str, Any]) -> dict[str, Any]:
        """What a notebook shows: the widget where there are some, and always what is stored in its place."""
        if not widgets_wanted():
            return stored
        try:
            view = self.widget().get_view_spec()
        except ImportError:  # no widget library: what is stored serves
            return stored
        keep_until_rerun(self)
        return {VIEW: view, **stored}

    def widget(self) -> Any:
        """The widget; one that was there before is closed."""
        import ipywidgets

        self.close()
        above = [Panel(_html(self._above)).widget()] if self._above else []
        buttons, told = self._buttons.widget(), Panel("").widget()

        def press(change: dict) -> None:
            told.value = _html(self._tell(change["new"]))

        buttons.observe(press, names="value")
        parts = [*above, buttons, told]
        self._widgets = [ipywidgets.VBox(parts), *parts]
        return self._widgets[0]

    def close(self) -> None:
        """Close the widgets."""
        close_all(self._widgets)
        self._widgets = []


def _html(message: Message) -> str:
    return message._repr_mimebundle_()["text/html"]
