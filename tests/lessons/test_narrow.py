"""JupyterLab in a narrow window, such as a phone's or one at 400 % zoom: room for the notebook, pictures to be read."""

from __future__ import annotations

import pytest

from course_lib import COURSE
from tests.support.lab import STEP, Notebook
from tests.support.notebook_runs import code_cells, read

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
expect.set_options(timeout=STEP)

LESSON = "my_lessons/04_image_to_patches.ipynb"
LIVE, STATIC = "grid-run", "back-run"
OUTPUT = ".jp-OutputArea-output:has(img)"
LETTERS = """svg => svg.getBoundingClientRect().width / svg.getAttribute("width")
  * Math.min(...[...svg.querySelectorAll("text")].map(text => parseFloat(text.getAttribute("font-size"))))"""
SCROLLS = "one => one.scrollWidth > one.clientWidth"


@pytest.fixture(scope="module")
def lesson(lab, browser):
    """Lesson 04, opened and run in a narrow window; what a picture was before its run is in `stored`."""
    notebook = Notebook(lab, browser, LESSON, 390, 844)
    notebook.collapsed = notebook.js("app.shell.leftCollapsed")
    image = notebook.cell(STATIC).locator(f"{OUTPUT} img")
    notebook.stored = image.evaluate("image => [image.width, image.naturalWidth]")
    notebook.ran = notebook.command("notebook:run-all-cells")
    yield notebook
    notebook.close()


@pytest.fixture
def narrow(lesson):
    """The lesson in its narrow window, with nothing focused."""
    lesson.page.set_viewport_size({"width": 390, "height": 844})
    expect(lesson.page.locator("#jp-left-stack")).to_be_hidden()
    return lesson


def rest(lesson) -> None:
    """Wait until what follows the size of the window, or comes into view, is laid out."""
    lesson.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))")


def test_the_file_list_begins_closed_and_leaves_room_for_the_notebook(lesson):
    assert lesson.collapsed and lesson.ran
    assert lesson.js("panel.node.clientWidth") > 300
    assert lesson.errors == []


def test_the_file_list_begins_open_in_a_wide_window_and_gives_way_to_a_narrow_one(lab, browser):
    wide = Notebook(lab, browser, LESSON, 1024, 768)
    files = wide.page.locator("#jp-left-stack")
    expect(files).to_be_visible()
    wide.page.set_viewport_size({"width": 320, "height": 640})  # 1280 pixels at 400 % zoom
    expect(files).to_be_hidden()
    wide.js("app.shell.expandLeft()")  # which is the learner's to do
    expect(files).to_be_visible()
    wide.js("app.shell.collapseLeft()")
    wide.page.set_viewport_size({"width": 1024, "height": 768})
    expect(files).to_be_visible()
    assert wide.errors == []
    wide.close()


def test_a_picture_shrinks_to_letters_that_can_be_read_and_leaves_no_gap(narrow):
    cell = narrow.cell(LIVE)
    svg, panel = cell.locator(".course-panel svg"), cell.locator(".course-panel")
    for width in (390, 320):
        narrow.page.set_viewport_size({"width": width, "height": 844})
        rest(narrow)
        assert svg.evaluate(LETTERS) >= 8 and panel.evaluate(SCROLLS)
        end = sum(svg.bounding_box()[side] for side in ("y", "height"))
        assert 0 <= cell.locator(".course-says").bounding_box()["y"] - end <= 20  # a scroll bar and a margin
        assert not cell.locator(".course-frame, .course-says").evaluate_all(f"all => all.some({SCROLLS})")


def test_what_is_wider_than_the_window_scrolls_by_keyboard(narrow):
    for name, place in ((LIVE, ".course-panel"), (STATIC, OUTPUT)):
        region = narrow.cell(name).locator(place)
        rest(narrow)
        active = narrow.js("panel.content.activeCell.model.id")
        expect(region).to_have_attribute("tabindex", "0")
        region.focus()
        for _ in range(5):
            narrow.page.keyboard.press("ArrowRight")
        narrow.page.wait_for_function("region => region.scrollLeft > 50", arg=region.element_handle())
        assert narrow.js("panel.content.activeCell.model.id") == active
        region.evaluate("region => region.scrollLeft = 0")


def test_the_arrow_keys_bring_what_they_light_up_into_view(narrow):
    cell = narrow.cell(LIVE)
    cell.locator(".course-linked").focus()
    narrow.page.keyboard.press("PageDown")  # to the matrix, right of what is seen
    here, seen = (cell.locator(place).bounding_box() for place in (".course-here", ".course-panel"))
    assert seen["x"] - 1 <= here["x"] and here["x"] + min(here["width"], 100) <= seen["x"] + seen["width"]
    assert cell.locator(".course-panel").evaluate("panel => panel.scrollLeft") > 50
    narrow.page.keyboard.press("Escape")


def test_pictures_without_a_run_keep_their_size(lesson):
    width, pixels = lesson.stored
    assert width == pixels / 2 > 390


@pytest.mark.parametrize("width", [320, 390])
def test_axe_finds_nothing_that_keeps_people_out_of_a_narrow_window(narrow, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    narrow.page.set_viewport_size({"width": width, "height": 844})
    for cell in code_cells(read(COURSE / LESSON.replace("my_lessons", "notebooks"))):
        narrow.cell(cell.id)  # JupyterLab lays out what is seen
        rest(narrow)
    found = axe.run(narrow.page, context=".jp-Notebook .jp-OutputArea").response["violations"]
    assert [(one["id"], node["html"]) for one in found for node in one["nodes"]] == []


@pytest.mark.parametrize("width", [1024, 1280])
def test_in_a_wide_window_a_picture_has_its_size_or_that_of_its_place(lesson, width):
    lesson.page.set_viewport_size({"width": width, "height": 900})
    expect(lesson.page.locator("#jp-left-stack")).to_be_visible()
    rest(lesson)
    cell = lesson.cell(LIVE)
    svg, panel = cell.locator(".course-panel svg"), cell.locator(".course-panel")
    place, box = panel.bounding_box(), svg.bounding_box()
    assert box["width"] == pytest.approx(min(660, place["width"]), abs=1)
    assert place["height"] == pytest.approx(box["height"], abs=1) == pytest.approx(box["width"] * 344 / 660, abs=1)
    assert panel.get_attribute("tabindex") is None and not panel.evaluate(SCROLLS)
    output = lesson.cell(STATIC).locator(OUTPUT)
    expect(output).not_to_have_attribute("tabindex", "0")
    assert not output.evaluate(SCROLLS)
