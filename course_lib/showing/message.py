"""A message on the page: text in a coloured frame."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

COLOURS = {"right": "#009e73", "wrong": "#d55e00", "open": "#0072b2"}  # Okabe and Ito: told apart by everyone


@dataclass(frozen=True)
class Message:
    """Text in a coloured frame, with the same words as plain text."""

    message: str
    kind: str
    lines: str = ""  # set in a fixed-width font

    def __repr__(self) -> str:
        return self.message + (f"\n{self.lines}" if self.lines else "")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(self.message).replace("\n", "<br>"))
        lines = f'<pre style="margin:6px 0 0;line-height:1.35">{escape(self.lines)}</pre>' if self.lines else ""
        html = (
            f'<div style="border-left:5px solid {COLOURS[self.kind]};padding:6px 12px;margin:4px 0;'
            f'max-width:60em">{text}{lines}</div>'
        )
        return {"text/html": html, "text/plain": repr(self)}
