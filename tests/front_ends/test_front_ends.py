"""A lesson in Notebook 7, in nbclassic (Notebook 6) and as a page of Voila: a slider and a quiz answer."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import pytest

from course_lib import COURSE
from course_lib.exercises import find_question
from tests.support.lab import COLD_START

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect

LESSON = "my_lessons/04_image_to_patches.ipynb"


def run_in_notebook(page) -> None:
    """Its menu: Run, Run All Cells."""
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()


def run_in_nbclassic(page) -> None:
    """Its menu: Cell, Run All."""
    page.locator("#kernel_indicator_icon[title='Kernel Idle']").wait_for()
    page.locator("#menubar").get_by_text("Cell", exact=True).click()
    page.locator("#run_all_cells").click()


def run_in_voila(page) -> None:
    """It runs every cell before it shows the page."""


def run_until(drawing, page, run_all) -> None:
    """Run the notebook until the drawing is there: what is asked of a kernel that is just starting may be lost."""
    for _ in range(3):
        run_all(page)
        with suppress(sync_api.TimeoutError):
            drawing.wait_for(timeout=COLD_START / 3)
            return
    pytest.fail("the live picture did not come")


WAYS = {
    "notebook": (f"notebooks/{LESSON}", run_in_notebook),
    "nbclassic": (f"nbclassic/notebooks/{LESSON}", run_in_nbclassic),
    "voila": (f"voila/render/{LESSON}", run_in_voila),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_slider_and_a_quiz_answer_in_another_front_end(name, lab, browser):
    try:
        version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed: pip install -r tests/front_ends/requirements.txt")
    path, run_all = WAYS[name]
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(COLD_START)
    page.goto(f"{lab.address}/{path}?{lab.query}")
    live = page.locator(".widget-vbox", has=page.get_by_role("slider", name="Stride S")).last
    drawing, stride = live.locator(".course-panel svg").first, live.get_by_role("slider", name="Stride S")
    run_until(drawing, page, run_all)

    before = drawing.get_attribute("aria-label")
    stride.focus()
    page.keyboard.press("Home")
    expect(drawing).not_to_have_attribute("aria-label", before)
    expect(drawing).to_have_attribute("aria-label", re.compile("with stride 1: 22 × 22 = 484 patches"))

    question = find_question("reshape_strips")
    right = next(option for option in question.options if option.right)
    page.get_by_role("button", name=right.text).click()
    expect(page.locator(".course-panel", has_text=f"{right.text}: right.")).to_be_visible()
    page.screenshot(path=COURSE / ".screenshots" / f"front_end_{name}.png")
    page.close()
