"""Drawings and pictures: both back ends, escaping, exact pixels, colours."""

import base64
import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib import pyplot as plt

from course_lib.showing import drawing
from course_lib.showing.drawing import BLACK, BLUE, WHITE, Drawing, diverge, ink, shade
from course_lib.showing.picture import Picture

NASTY = "<script>alert('1')</script> & \"quoted\" <b>\x00\ud800\n$x^2$"
SVG = "{http://www.w3.org/2000/svg}"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def one_of_each(text="one of each shape"):
    made = Drawing(120, 80, text)
    made.rect(5, 5, 20, 10, fill=BLUE, stroke=BLACK, stroke_width=2)
    made.line(5, 40, 60, 40)
    made.line(5, 60, 60, 70, arrow=True)
    made.label(70, 20, "label", size=11, anchor="middle", bold=True, mono=True)
    made.pixels(80, 40, 20, 30, np.linspace(0, 1, 6).reshape(3, 2))
    return made


def image_of(picture):
    return np.rint(plt.imread(io.BytesIO(picture.png))[:, :, :3] * 255).astype(int)


def contrast(first, second):
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_svg_is_well_formed_and_says_what_it_shows():
    root = ET.fromstring(one_of_each("eight cells").svg())
    assert root.tag == SVG + "svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == "eight cells"
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("120", "80", "0 0 120 80")
    assert "background:#fff" in root.get("style")


def test_text_may_be_set_after_drawing():
    made = one_of_each("")
    made.text = "said later"
    assert ET.fromstring(made.svg()).get("aria-label") == "said later"


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_drawing_without_text_is_refused(text):
    made = one_of_each(text)
    with pytest.raises(ValueError, match=r"drawing\.text"):
        made.svg()
    with pytest.raises(ValueError, match=r"drawing\.text"):
        made.picture()


def test_markup_in_labels_and_text_stays_text():
    made = Drawing(300, 40, NASTY)
    made.label(5, 20, NASTY)
    root = ET.fromstring(made.svg())
    assert [element.tag for element in root.iter()] == [SVG + "svg", SVG + "text"]
    assert root.find(SVG + "text").text.startswith("<script>alert('1')</script> & \"quoted\" <b>")
    assert root.get("aria-label").startswith("<script>alert('1')</script>")
    html = made.picture()._repr_mimebundle_()[0]["text/html"]
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_dollar_signs_are_drawn_as_typed():
    made = Drawing(80, 30, "x")
    made.label(5, 15, r"$\frac{$")  # an error in matplotlib's mathematics
    assert (image_of(made.picture()) < 255).any()


def test_signs_that_the_font_lacks_give_no_warning(recwarn):
    made = Drawing(80, 30, "x")
    made.label(5, 15, "漢字")
    made.picture()
    assert not recwarn.list


def test_png_has_twice_the_pixels():
    picture = one_of_each().picture()
    assert picture.png.startswith(PNG_SIGNATURE)
    assert image_of(picture).shape == (160, 240, 3)
    assert picture.width == 120
    assert image_of(Drawing(29, 229, "odd sizes").picture()).shape == (458, 58, 3)


def test_png_is_the_same_each_time_and_whatever_the_user_set():
    expected = one_of_each().picture().png
    with plt.rc_context({"font.family": "serif", "savefig.bbox": "tight", "axes.facecolor": "black"}):
        assert one_of_each().picture().png == expected


def test_both_back_ends_draw_the_same_shapes(monkeypatch):
    made, artists = one_of_each(), []
    artist = drawing._artist
    monkeypatch.setattr(drawing, "_artist", lambda *args: artists.append(artist(*args)) or artists[-1])
    made.picture()
    elements = [element.tag.removeprefix(SVG) for element in ET.fromstring(made.svg())]
    assert elements == ["rect", "line", "line", "polygon", "text", "image"]
    names = [type(a).__name__ for a in artists]
    assert names == ["Rectangle", "Line2D", "Line2D", "Polygon", "Text", "AxesImage"]


def test_neither_form_shrinks_below_letters_of_8_pixels():
    made = Drawing(300, 80, "two sizes of letters")
    assert made.least == 0
    made.label(5, 20, "large", size=16)
    assert made.least == 150
    made.label(5, 50, "small", size=10)
    assert made.least == 240
    assert "min-width:240px" in made.svg()
    assert "min-width:240px" in made.picture()._repr_mimebundle_()[0]["text/html"]
    made.label(5, 70, "smaller", size=6)
    assert made.least == 300


def test_later_shapes_cover_earlier_ones():
    made = Drawing(20, 20, "covered")
    made.line(0, 10, 20, 10, stroke=WHITE, width=20)
    made.rect(0, 0, 20, 20, fill=BLUE)
    made.pixels(10, 0, 10, 20, np.zeros((2, 2)))  # matplotlib of itself puts lines above areas above images
    image = image_of(made.picture())
    assert image[20, 10].tolist() == [0, 0x72, 0xB2]
    assert image[20, 30].tolist() == [0, 0, 0]


@pytest.mark.parametrize("shape", [(3, 5), (3, 5, 3), (1, 1), (7, 4)])
def test_pixels_are_exact_and_in_place(shape):
    values = np.random.default_rng(0).random(shape)
    height, width = shape[:2]
    made = Drawing(100, 90, "pixels")
    made.pixels(10, 20, 10 * width, 8 * height, values)
    image = image_of(made.picture())
    rgb = np.broadcast_to(values.reshape(height, width, -1), (height, width, 3))
    expected = np.rint(rgb * 255).astype(int)
    found = image[2 * 20 : 2 * (20 + 8 * height), 2 * 10 : 2 * (10 + 10 * width)]
    assert np.array_equal(found, expected.repeat(16, axis=0).repeat(20, axis=1))
    assert (image[:40] == 255).all()
    assert (image[:, :20] == 255).all()
    assert (image[40 + 16 * height :] == 255).all()


def test_pixels_in_the_svg_are_the_same_numbers():
    values = np.random.default_rng(1).random((4, 6, 3))
    made = Drawing(50, 50, "pixels")
    made.pixels(0, 0, 48, 32, values)
    element = ET.fromstring(made.svg()).find(SVG + "image")
    data = base64.b64decode(element.get("href").removeprefix("data:image/png;base64,"))
    found = np.rint(plt.imread(io.BytesIO(data)) * 255).astype(int)
    assert np.array_equal(found, np.rint(values * 255).astype(int))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((1, 3, 4, 4)), "expected an array"),
        (np.zeros((3, 4, 4)), "permute"),
        (np.zeros((0, 4)), r"\(0, 4\)"),
        (np.full((2, 2), 255.0), "from 0 to 1"),
        (np.full((2, 2), np.nan), "from 0 to 1"),
    ],
)
def test_wrong_arrays_are_refused(array, message):
    with pytest.raises(ValueError, match=message):
        Drawing(10, 10, "x").pixels(0, 0, 10, 10, array)


def test_wrong_arguments_are_refused():
    made = Drawing(10, 10, "x")
    with pytest.raises(ValueError, match="rrggbb"):
        made.rect(0, 0, 1, 1, fill='red" onload="alert(1)')
    with pytest.raises(ValueError, match="finite"):
        made.line(0, 0, float("nan"), 1)
    with pytest.raises(ValueError, match="anchor"):
        made.label(0, 0, "x", anchor="center")
    with pytest.raises(ValueError, match="width and height"):
        Drawing(0, 10, "x")
    assert made.shapes == []


def test_no_figure_stays_open():
    one_of_each().picture()
    figure, axes = plt.subplots()
    axes.plot([0, 1])
    Picture.from_figure(figure, "a line")
    assert plt.get_fignums() == []


def test_picture_of_a_figure_has_twice_the_pixels():
    figure = plt.figure(figsize=(3, 2), dpi=100)
    picture = Picture.from_figure(figure, "nothing yet")
    assert image_of(picture).shape == (400, 600, 3)
    assert picture.width == 300


def test_picture_shows_itself_as_html_png_and_text():
    picture = one_of_each('say "a & b"').picture()
    bundle, metadata = picture._repr_mimebundle_()
    assert metadata == {"image/png": {"width": 120}}  # or a stored picture would show twice as wide
    assert set(bundle) == {"text/html", "image/png", "text/plain"}
    assert base64.b64decode(bundle["image/png"]) == picture.png
    assert bundle["text/plain"] == 'say "a & b"'
    assert 'alt="say &quot;a &amp; b&quot;"' in bundle["text/html"]
    assert bundle["image/png"] in bundle["text/html"]


def test_a_picture_without_text_is_refused():
    with pytest.raises(ValueError, match="text"):
        Picture(b"", " ", 10)


def test_shade_goes_from_pale_to_dark_in_even_steps():
    colours = [shade(value, -2, 8) for value in range(-2, 9)]
    against_white = [contrast(colour, WHITE) for colour in colours]
    assert against_white == sorted(against_white)
    assert len(set(colours)) == 11
    assert shade(-100, -2, 8) == colours[0]
    assert shade(100, -2, 8) == colours[-1]
    assert shade(3, 3, 3) == colours[0]


def test_diverge_is_white_at_nought_and_differs_by_sign():
    assert diverge(0, 5) == diverge(0, 0) == WHITE
    assert diverge(3, 5) != diverge(-3, 5)
    assert diverge(-50, 5) == diverge(-5, 5)
    assert abs(contrast(diverge(5, 5), WHITE) - contrast(diverge(-5, 5), WHITE)) < 3


def test_not_a_number_is_grey():
    assert shade(float("nan"), 0, 1) == diverge(float("nan"), 1) == drawing.GREY


def test_scales_refuse_bounds_the_wrong_way_round():
    with pytest.raises(ValueError, match="swap"):
        shade(0, 2, 1)
    with pytest.raises(ValueError, match="limit"):
        diverge(0, -1)


def test_ink_reads_on_every_colour():
    greys = [f"#{level:02x}{level:02x}{level:02x}" for level in range(256)]
    scales = [shade(v, 0, 200) for v in range(201)] + [diverge(v, 100) for v in range(-100, 101)]
    named = [value for name, value in vars(drawing).items() if name.isupper() and str(value).startswith("#")]
    assert len(named) == 11
    assert min(contrast(ink(colour), colour) for colour in greys + scales + named) >= 4.5
