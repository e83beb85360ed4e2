"""Pages and live pictures look alike on every machine: they bring their own fonts along."""

from __future__ import annotations

import io

import pytest
from fontTools.ttLib import TTFont

from course_lib import COURSE
from course_lib.classroom.editions import handout
from course_lib.classroom.slides import slides
from course_lib.showing.drawing import Drawing
from course_lib.showing.fonts import FILES, LIVE, MONO, SANS, font_faces, live_fonts, woff
from tests.support import lab as tools
from tests.support.lab import Lab, Notebook

# Each text on the page with its width; what is hidden, such as another slide, has none.
WIDTHS = """root => {
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), range = document.createRange(), found = [];
  while (walk.nextNode()) {
    if (walk.currentNode.parentElement.closest(".aria-status")) continue; // which only a screen reader sees
    range.selectNodeContents(walk.currentNode);
    const { width } = range.getBoundingClientRect();
    if (walk.currentNode.data.trim() && width) found.push([walk.currentNode.data, Math.round(100 * width) / 100]);
  }
  return found;
}"""
STATES = "document.fonts.ready.then(() => [...document.fonts].map(face => [face.family, face.status]))"


# ---------------------------------------------------------------- the fonts


@pytest.mark.parametrize("font", FILES)
def test_a_font_has_the_letters_that_are_asked_for_and_its_licence(font):
    made = woff(*font, "ab→\n")
    read = TTFont(io.BytesIO(made))
    assert made[:4] == b"wOFF" and set(read.getBestCmap()) == set(map(ord, "ab→"))
    assert "Permission is hereby granted" in read["name"].getDebugName(13)
    assert "Copyright (c) 2003 by Bitstream" in read["name"].getDebugName(0)
    woff.cache_clear()
    assert woff(*font, "ab→\n") == made


def test_a_live_picture_has_every_sign_of_the_lessons_and_of_the_library():
    texts = [*(COURSE / "notebooks").glob("*.ipynb"), *(COURSE / "course_lib").rglob("*.py")]
    signs = set("".join(path.read_text(encoding="utf-8") for path in texts)) - {"\n"}
    for family, weight, data in live_fonts():
        assert signs <= set(map(chr, TTFont(io.BytesIO(data)).getBestCmap())), (family, weight)


def test_fonts_are_small_and_a_page_gets_the_letters_that_it_has():
    assert sum(len(data) for *_, data in live_fonts()) < 64_000
    few, many = font_faces("<p>a</p>"), font_faces(f"<p>{LIVE}</p>")
    assert len(few) < 60_000 < len(many) and few.count("@font-face") == len(FILES)


def test_a_new_drawing_brings_no_font():
    drawing = Drawing(100, 60, "a word")
    drawing.label(5, 50, "word")
    drawing.label(5, 20, "code", mono=True)
    svg = drawing.svg()
    assert "@font-face" not in svg and len(svg) < 700
    assert svg.count(SANS) == svg.count(MONO) == 1


# ---------------------------------------------------------------- in browsers with and without the fonts of the system


@pytest.fixture(scope="module")
def browsers():
    """One that finds the system's fonts, and one that finds no letter there."""
    with tools.browsers(True, False) as both:
        samples = [sample(browser) for browser in both]
        if samples[0] == samples[1]:
            pytest.skip("this system does not let a browser go without its fonts, or has none")
        yield both


def sample(browser) -> list:
    page = browser.new_page()
    page.set_content("<p>What the system has</p>")
    found = page.evaluate(f"({WIDTHS})(document.body)")
    page.close()
    return found


@pytest.mark.parametrize("number", ["00", "04", "06"])
def test_slides_need_no_font_of_the_system(number, browsers, tmp_path):
    (file,) = slides(tmp_path, [number], force=False)
    seen = []
    for browser in browsers:
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(file.as_uri())
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        places = page.evaluate("Reveal.getSlides().map(one => Reveal.getIndices(one)).map(one => [one.h, one.v])")
        page.evaluate("document.fonts.forEach(face => face.load())")
        assert {status for _, status in page.evaluate(STATES)} == {"loaded"}
        seen.append([])
        for h, v in places:
            page.evaluate(f"Reveal.slide({h}, {v}, 99)")
            seen[-1].append(page.evaluate(f"({WIDTHS})(document.querySelector('.reveal'))"))
        page.close()
    for usual, bare in zip(*seen, strict=True):
        assert usual == bare and usual


@pytest.mark.parametrize("name", ["04_image_to_patches", "glossary"])
def test_a_handout_needs_no_font_of_the_system(name, browsers, tmp_path):
    handout(tmp_path, ["04"], force=False)
    seen = []
    for browser in browsers:
        page = browser.new_page()
        page.goto((tmp_path / f"{name}.html").as_uri())
        assert "error" not in {status for _, status in page.evaluate(STATES)}
        seen.append(page.evaluate(f"({WIDTHS})(document.body)"))
        page.close()
    assert seen[0] == seen[1] and len(seen[0]) > 100


@pytest.fixture(scope="module")
def lab(browsers, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("lab"))
    lab.start()
    yield lab
    lab.stop()


@pytest.mark.parametrize(
    ("file", "name"), [("02_lookup_is_multiplying", "cost-run"), ("04_image_to_patches", "grid-run")]
)
def test_the_text_of_a_live_picture_is_as_wide_as_in_its_stored_one_with_any_fonts(file, name, browsers, lab):
    seen = []
    for browser in browsers:
        notebook = Notebook(lab, browser, f"my_lessons/{file}.ipynb")
        notebook.run("setup")
        svg = notebook.run(name).locator(".course-panel svg")
        svg.wait_for()
        widths = """all => all.map(one => [one.textContent, parseFloat(one.getAttribute("font-size")),
          one.getAttribute("font-family") ?? "", one.getAttribute("font-weight"), one.getComputedTextLength()])"""
        notebook.page.evaluate(STATES)
        seen.append(svg.locator("text").evaluate_all(widths))
        notebook.close()
    assert seen[0] and len(seen[0]) == len(seen[1])
    for text, size, family, weight, width in [*seen[0], *seen[1]]:
        assert width == pytest.approx(drawn_width(text, size, MONO in family, weight), rel=0.002, abs=0.1), text
        assert name == "cost-run" or not family


def drawn_width(text: str, size: float, mono: bool, weight: str | None) -> float:
    """How wide matplotlib draws a text, in the unit of the size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans Mono" if mono else "DejaVu Sans", weight=weight or "normal", size=size)
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
