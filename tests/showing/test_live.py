"""Live drawings: the bundle, redrawing, errors in place, and widgets that are closed again."""

import base64
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ipywidgets.widgets import widget as registry

from course_lib.showing.controls import Choice, Slider, Switch, TextBox
from course_lib.showing.drawing import Drawing
from course_lib.showing.live import Live

VIEW = "application/vnd.jupyter.widget-view+json"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def widgets_on(monkeypatch):
    monkeypatch.delenv("COURSE_WIDGETS", raising=False)


def square(size, word="word"):
    if size == 13:
        raise ValueError(f"no <b>13</b> here: {word}")
    if size == 14:
        raise KeyError("<lost>")
    drawing = Drawing(100, 60, f"a square of {size}, {word}")
    drawing.rect(0, 0, size, size, fill="#0072b2")
    drawing.label(5, 50, word)
    return drawing


def live_square():
    return Live(square, size=Slider("Size", 1, 20, 5), word=TextBox("Word", "word"))


def test_running_it_carries_view_picture_and_text():
    live = live_square()
    bundle, metadata = live._repr_mimebundle_()
    assert set(bundle) == {VIEW, "text/html", "image/png", "text/plain"}
    assert metadata == {"image/png": {"width": 100}}
    assert bundle[VIEW]["model_id"] == live.widget.model_id
    assert base64.b64decode(bundle["image/png"]) == square(5).picture().png
    assert bundle["text/plain"] == "a square of 5, word"


def test_switched_off_it_is_the_picture(monkeypatch):
    monkeypatch.setenv("COURSE_WIDGETS", "off")
    assert live_square()._repr_mimebundle_() == square(5).picture()._repr_mimebundle_()


def test_switched_off_it_imports_no_widget_library():
    code = """if True:
        import sys
        from course_lib.showing.drawing import Drawing
        from course_lib.showing.controls import Choice, Slider, Switch, TextBox
        from course_lib.showing.live import Live
        live = Live(lambda **values: Drawing(9, 9, str(values)), a=Slider("A", 0, 9, 1),
                    b=Choice("B", [1, 2], 1), c=Switch("C", True), d=TextBox("D", "text"))
        heavy = {"ipywidgets", "anywidget", "matplotlib.pyplot"}
        print(sorted(live._repr_mimebundle_()[0]), heavy & set(sys.modules))
    """
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "COURSE_WIDGETS": "off"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "['image/png', 'text/html', 'text/plain'] set()"


def test_without_a_widget_library_it_is_the_picture(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert set(live_square()._repr_mimebundle_()[0]) == {"text/html", "image/png", "text/plain"}


def test_a_control_redraws_as_a_plain_call_does():
    live = live_square()
    assert live.widget.children == (*live.controls.values(), live.panel)
    assert live.panel.value == square(5).svg()
    live.controls["size"].value = 9
    assert live.panel.value == square(9).svg()
    live.controls["word"].value = "other"
    assert live.panel.value == square(9, "other").svg()
    assert live.show(size=9, word="other").png == square(9, "other").picture().png
    assert live.show(size=7).text == "a square of 7, word"


def test_the_stored_picture_stays_that_of_the_first_state():
    live = live_square()
    assert live.widget.children[0].value == 5
    live.controls["size"].value = 9
    assert live._repr_mimebundle_()[0]["image/png"] == square(5).picture()._repr_mimebundle_()[0]["image/png"]
    live.controls["size"].value = 11
    assert live._repr_mimebundle_()[0]["text/plain"] == "a square of 5, word"


def test_errors_are_shown_in_place_as_text():
    live = live_square()
    live._repr_mimebundle_()
    height = live.panel.settings["height"]
    live.controls["word"].value = "<script>alert(1)</script>"
    live.controls["size"].value = 13
    assert "no &lt;b&gt;13&lt;/b&gt; here: &lt;script&gt;" in live.panel.value
    assert "<b>" not in live.panel.value
    assert "<script" not in live.panel.value
    live.controls["size"].value = 14
    assert "KeyError" in live.panel.value
    assert "&lt;lost&gt;" in live.panel.value
    assert live.panel.settings["height"] == height == 60
    live.controls["size"].value = 6
    assert live.panel.value == square(6, "<script>alert(1)</script>").svg()


def test_a_plain_call_raises_what_draw_raises():
    with pytest.raises(ValueError, match="13"):
        live_square().show(size=13)
    with pytest.raises(TypeError, match="colour"):
        live_square().show(colour="red")


def test_a_draw_that_fails_at_once_raises_where_it_was_written():
    with pytest.raises(ValueError, match="13"):
        Live(square, size=Slider("Size", 1, 20, 13))
    with pytest.raises(ValueError, match="at least one control"):
        Live(square)


def test_another_control_is_refused_with_what_to_take():
    import ipywidgets

    told = "size must be a Slider, Choice, TextBox or Switch, got IntSlider: take one of course_lib.showing.controls"
    with pytest.raises(TypeError, match=told):
        Live(square, word=TextBox("Word", "word"), size=ipywidgets.IntSlider(min=1, max=20, value=5))
    with pytest.raises(TypeError, match="size must be a Slider, Choice, TextBox or Switch, got int:"):
        Live(square, size=5)


def test_making_it_makes_no_widget():
    before = len(registry._instances)
    live = live_square()
    live.show(size=3)
    assert len(registry._instances) == before


def test_fifty_runs_leave_no_widget_behind():
    gc.collect()
    before = len(registry._instances)
    for _ in range(50):
        live = live_square()
        live._repr_mimebundle_()
        live.controls["size"].value = 9
    assert len(registry._instances) > before
    del live
    gc.collect()
    assert len(registry._instances) == before


def test_closing_and_showing_again_starts_afresh():
    live = live_square()
    first = live._repr_mimebundle_()
    live.controls["size"].value = 9
    live.close()
    live.close()
    again = live._repr_mimebundle_()
    assert again[0][VIEW] != first[0][VIEW]
    assert live.panel.value == square(5).svg()


def test_running_a_cell_again_in_a_kernel_closes_what_it_showed():
    from jupyter_client.manager import start_new_kernel

    make = (
        "from course_lib.showing.controls import Slider\nfrom course_lib.showing.live import Live\n"
        "from course_lib.showing.drawing import Drawing\nfrom ipywidgets.widgets import widget as registry\n"
        "from IPython.display import display\n"
        "def draw(n): return Drawing(9, 9, str(n))\n"
    )
    cell = "display(Live(draw, n=Slider('N', 1, 9, 2)))\nLive(draw, n=Slider('N', 1, 9, 2))"
    counts = []
    manager, client = start_new_kernel(cwd=str(ROOT))

    def run(code, **more):
        reply = client.execute_interactive(code, timeout=60, output_hook=lambda _message: None, **more)
        assert reply["content"]["status"] == "ok", reply["content"]
        return reply["content"]["user_expressions"]

    try:
        run(make)
        for _ in range(5):
            run(cell)
            answer = run("", user_expressions={"n": "len(registry._instances)"})
            counts.append(int(answer["n"]["data"]["text/plain"]))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert counts[0] > 0  # both are live, though nothing but the page holds the first
    assert counts == counts[:1] * 5


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(7, 7), (0, 1), (99, 20), (6.4, 6), (True, 5), ("9", 5), (None, 5), (float("nan"), 5), (float("inf"), 5)],
)
def test_a_slider_keeps_to_its_numbers(sent, kept):
    slider = Slider("Size", 1, 20, 5).widget()
    slider.value = sent
    assert slider.value == kept
    assert type(slider.value) is int
    slider.close()


def test_a_slider_with_steps_lands_on_them():
    assert [Slider("P", 4, 15, 4, step=4).clean(v) for v in (4, 6.5, 11, 15, 99)] == [4, 8, 12, 12, 12]
    assert Slider("P", 4, 15, 4, step=4).settings["max"] == 12  # where the handle of the page ends
    assert Slider("Share", 0, 1, 0.3, step=0.1).value == 0.3
    for wrong in ((5, 5, 5, 1), (0, 9, 10, 1), (0, 9, 1, 0)):
        with pytest.raises(ValueError, match="min < max"):
            Slider("Size", *wrong)


def test_the_other_controls_keep_to_their_values():
    choice, text, switch = Choice("C", ["a", 2], "a"), TextBox("T", "abcdef", length=4), Switch("S", True)
    assert [choice.clean(v, "a") for v in (2, "z", None)] == [2, "a", "a"]
    assert text.value == "abcd"
    assert text.clean(5, "old") == "old"
    assert [switch.clean(v, True) for v in (False, "no", 0)] == [False, True, True]
    with pytest.raises(ValueError, match="one of the options"):
        Choice("C", ["a"], "b")
