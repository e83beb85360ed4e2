"""Moves every slider and choice of every live picture that a running notebook has shown. Runs in its kernel."""

from __future__ import annotations

import itertools
import json
import re

from course_lib.showing import live


def ends(control) -> list:
    """The values at which a control is tried; none for a line of text."""
    if control.kind == "Slider":
        return [control.settings["max"], control.settings["min"]]
    return control.settings["options"] if control.kind == "Choice" else []


def tell() -> None:
    """Print, as JSON, how many moves there were and what was wrong, a line for each fault."""
    shown = [one for _, lives in live._shown.values() for one in lives if isinstance(one, live.Live)]
    faults, moves = [], 0
    for one in shown:
        moves += _walk(one, faults)
    print(json.dumps({"live": len(shown), "moves": moves, "faults": faults}))


def _walk(one: live.Live, faults: list[str]) -> int:
    """Each control to its ends, the others as they were; then all of them to every corner."""
    kept = {name: control.value for name, control in one.controls.items()}
    tried = {name: ends(control) for name, control in one.controls.items() if hasattr(control, "settings")}
    for name, values in tried.items():
        seen = {_move(one, {**kept, name: value}, faults) for value in values}
        if values and len(seen) == 1:
            faults.append(f"{name} changes nothing")
    corners = list(
        itertools.product(*([values[0], values[-1]] if values else [kept[name]] for name, values in tried.items()))
    )
    for corner in corners:
        _move(one, {**kept, **dict(zip(tried, corner, strict=True))}, faults)
    return sum(map(len, tried.values())) + len(corners)


def _move(one: live.Live, values: dict, faults: list[str]) -> str:
    for name, value in values.items():
        one.controls[name].value = value
    html = one.panel.value
    if 'role="alert"' in html:
        faults.append(f"{values}: {html}")
    elif (height := int(re.search(r'<svg[^>]*? height="(\d+)"', html)[1])) > one.panel.settings["height"]:
        faults.append(f"{values}: {height} pixels high, {one.panel.settings['height']} are reserved")
    elif not re.search(r'aria-label="[^"]{20,}"', html):
        faults.append(f"{values}: no text")
    return html
