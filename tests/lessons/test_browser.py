"""Every lesson in a real browser: runs, sliders, quizzes, checks, and what a learner's saved copy shows."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from course_lib import COURSE
from course_lib.exercises import find, find_question
from course_lib.exercises.model import Question
from course_lib.setup.copies import work
from tests.support.lab import STEP, Lab, Notebook
from tests.support.notebook_runs import LESSONS, NOTEBOOKS, called, code_cells, live_cells, read

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
expect.set_options(timeout=STEP)

SCREENSHOTS = COURSE / ".screenshots"  # of the last run, for a look
NEVER = ("Loading widget", "Error displaying widget", "model not found", "Traceback")
DEAD = ".jupyter-widgets-error-widget, .jp-mod-error, [data-mime-type='application/vnd.jupyter.stderr']"
RESHAPE = """def patchify(images, patch_size):
    batch, channels, height, width = images.shape
    count = (height // patch_size) * (width // patch_size)
    return images.reshape(batch, count, -1)
"""


@pytest.fixture(scope="module")
def lesson(request, lab, browser):
    """A lesson, open and run from top to bottom; tests of the same lesson share it."""
    (path,) = [path for path in NOTEBOOKS if path.stem.startswith(request.param)]
    notebook = Notebook(lab, browser, f"my_lessons/{path.name}")
    notebook.path, notebook.stored = path, read(path)
    notebook.ran = notebook.command("notebook:run-all-cells")
    yield notebook
    notebook.close()


def of(number: str):
    """Give a test the lesson with that number."""
    return pytest.mark.parametrize("lesson", [number], indirect=True)


def quizzes(notebook) -> dict[str, Question]:
    """The question of each cell that asks one, by the cell's id."""
    calls = {cell.id: called(cell, "quiz") for cell in code_cells(notebook)}
    return {name: find_question(found[0].args[0].value) for name, found in calls.items() if found}


def unwanted(notebook) -> list[str]:
    """What no learner should ever read."""
    shown = " ".join(notebook.page.locator(".jp-Notebook .jp-OutputArea-output").all_inner_texts())
    return [text for text in NEVER if text in shown]


def drawing(cell):
    return cell.locator(".course-panel svg")


def heights(cell) -> list[float]:
    """Heights of the cell's output and of the drawing's place in it."""
    places = (cell.locator(".jp-Cell-outputWrapper"), cell.locator(".course-panel"))
    return [place.bounding_box()["height"] for place in places]


def texts(cell) -> list[str]:
    return drawing(cell).locator("text").all_text_contents()


def linked_cells(lesson) -> list:
    """The cells whose live picture has spots that light up."""
    cells = [lesson.cell(name) for name in live_cells(lesson.stored)]
    return [cell for cell in cells if cell.locator(".course-linked").count()]


def drag_to_the_end(page, slider) -> None:
    """Drag the handle of a slider from where it is, its first value, to the right end."""
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    low, high, value = (float(slider.evaluate(f"slider => slider.{name}")) for name in ("min", "max", "value"))
    page.mouse.move(box["x"] + 8 + (box["width"] - 16) * (value - low) / (high - low), middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, middle, steps=10)
    page.mouse.up()


@pytest.mark.parametrize("lesson", [path.stem[:2] for path in NOTEBOOKS], indirect=True)
def test_a_lesson_runs_and_shows_its_live_parts(lesson):
    assert lesson.ran
    assert lesson.page.locator(DEAD).count() == 0
    assert unwanted(lesson) == []
    for name in live_cells(lesson.stored):
        expect(drawing(lesson.cell(name))).to_be_visible()
    for name, question in quizzes(lesson.stored).items():
        buttons = lesson.cell(name).locator(".course-answers button")
        expect(buttons).to_have_count(len(question.options))
        expect(buttons.first).to_be_visible()
    assert lesson.errors == []
    assert lesson.outside == []


@pytest.mark.parametrize("lesson", [path.stem[:2] for path in LESSONS], indirect=True)
def test_what_belongs_together_lights_up_by_pointer_and_by_keyboard(lesson):
    cells = linked_cells(lesson)
    assert cells
    for cell in cells:
        linked, says, before = cell.locator(".course-linked"), cell.locator(".course-says"), heights(cell)
        links = json.loads(linked.get_attribute("data-links"))
        hint = says.text_content()
        panel, name = [spot[:2] for spot in links["spots"] if spot[1] in links["says"]][-1]  # nothing lies on top of it
        together = {name, *links["lights"].get(name, [])}
        linked.locator(f'[data-panel="{panel}"][data-name="{name}"]').last.hover()
        expect(says).to_have_text(links["says"][name])
        cell.screenshot(path=SCREENSHOTS / f"{lesson.path.stem}_{cells.index(cell)}.png")
        lit = linked.locator(".course-lit")
        assert lit.count() == sum(spot[1] in together for spot in links["spots"]) >= 2
        assert linked.locator(".course-here").get_attribute("data-name") == name
        linked.focus()
        for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
            lesson.page.keyboard.press(key)
        there = linked.locator(".course-here").get_attribute("data-name")
        expect(says).to_have_text(links["says"][there])
        assert linked.locator(".course-here").get_attribute("data-panel") == panel
        lesson.page.keyboard.press("PageDown")
        moved = linked.locator(".course-here").get_attribute("data-panel")
        assert (moved != panel) == (len({spot[0] for spot in links["spots"] if spot[1] in links["says"]}) > 1)
        lesson.page.keyboard.press("Escape")
        expect(says).to_have_text(hint)
        assert lit.count() == 0
        assert heights(cell) == before
    assert lesson.errors == []


@pytest.mark.parametrize("lesson", [path.stem[:2] for path in LESSONS], indirect=True)
def test_each_slider_reaches_both_ends_and_the_picture_follows(lesson):
    for name in live_cells(lesson.stored):
        cell = lesson.cell(name)
        before, panel = heights(cell), cell.locator(".course-panel")
        for slider in cell.get_by_role("slider").all():
            start = slider.input_value()
            for key, end in (("End", "max"), ("Home", "min")):
                shown, moves = panel.inner_html(), slider.input_value() != slider.get_attribute(end)
                slider.focus()
                lesson.page.keyboard.press(key)
                if moves:
                    follows = "([panel, shown]) => panel.innerHTML !== shown"
                    lesson.page.wait_for_function(follows, arg=[panel.element_handle(), shown])
                assert slider.input_value() == slider.get_attribute(end)
                assert panel.get_by_role("alert").count() == 0
                assert heights(cell) == before
            slider.fill(start)
    assert lesson.errors == []


@of("07")
def test_what_is_pointed_at_stays_so_when_a_slider_brings_a_new_drawing(lesson):
    cell = lesson.cell("shuffle-live")
    says = cell.locator(".course-says")
    lesson.page.mouse.move(0, 0)  # a pointer that is already there does not move, and lights nothing up
    cell.locator('[data-panel="image"][data-name="place 3"]').hover()
    before = says.text_content()
    cell.get_by_role("slider", name="Swaps").focus()
    lesson.page.keyboard.press("End")
    expect(says).not_to_have_text(before)
    expect(says).to_have_text(re.compile("^place 3 holds patch "))
    assert cell.locator(".course-lit").count() == 3


@pytest.mark.parametrize("lesson", [path.stem[:2] for path in NOTEBOOKS], indirect=True)
@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_axe_finds_nothing_that_keeps_people_out(lesson, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    checks = [cell.id for cell in code_cells(lesson.stored) if called(cell, "check")]
    for name in live_cells(lesson.stored) + list(quizzes(lesson.stored)) + checks:
        lesson.cell(name)  # JupyterLab draws what was seen once
    lesson.js(f"app.commands.execute('apputils:change-theme', {{theme: '{theme}'}})")
    try:
        found = axe.run(lesson.page, context=".jp-Notebook .jp-OutputArea-output").response["violations"]
    finally:
        lesson.js("app.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
    told = [(one["id"], node["html"][:120]) for one in found for node in one["nodes"]]
    assert told == []


@of("04")
def test_sliders_change_picture_and_text_by_keyboard_and_by_pointer(lesson):
    cell = lesson.cell("grid-run")
    size, _, stride = (cell.get_by_role("slider", name=name) for name in ("Image size", "Patch size P", "Stride S"))
    before, first = heights(cell), drawing(cell).get_attribute("aria-label")
    assert "4 × 4 = 16 patches" in texts(cell)
    stride.focus()
    lesson.page.keyboard.press("ArrowRight")
    expect(drawing(cell)).to_have_attribute("aria-label", re.compile("with stride 8: 3 × 3 = 9 patches"))
    expect(cell.locator(".course-control").nth(2).locator("output")).to_have_text("8")
    assert "3 × 3 = 9 patches" in texts(cell)
    drag_to_the_end(lesson.page, size)
    expect(drawing(cell)).to_have_attribute("aria-label", re.compile("^An image of 64 × 64 pixels"))
    assert "8 × 8 = 64 patches" in texts(cell)
    assert heights(cell) == before
    assert drawing(cell).get_attribute("aria-label") != first


@of("01")
def test_a_typed_sentence_is_shown_as_text_and_never_run(lesson):
    cell = lesson.cell("live-run")
    before = heights(cell)
    cell.get_by_role("textbox", name="Sentence").fill("<b>x</b><script>window.typed = 1</script>")
    expect(drawing(cell).locator("text", has_text="script").first).to_be_visible()
    assert {"<", "b", ">", "x", "script", "id 0"} <= set(texts(cell))
    assert cell.locator(".course-panel :is(b, script)").count() == 0
    assert lesson.js("'typed' in window") is False
    cell.get_by_role("textbox", name="Sentence").fill("")
    expect(cell.get_by_role("alert")).to_have_text("Type at least one word.")
    assert heights(cell) == before


@of("02")
def test_the_token_slider_walks_through_the_sentence(lesson):
    cell = lesson.cell("steps-run")
    before, first = heights(cell), drawing(cell).get_attribute("aria-label")
    cell.get_by_role("slider", name="Token").focus()
    lesson.page.keyboard.press("End")
    expect(drawing(cell)).not_to_have_attribute("aria-label", first)
    last, drawn = drawing(cell).get_attribute("aria-label"), drawing(cell).inner_html()
    lesson.page.keyboard.press("ArrowLeft")
    expect(drawing(cell)).not_to_have_attribute("aria-label", last)
    assert drawing(cell).inner_html() != drawn
    assert heights(cell) == before


@of("01")
def test_a_live_cell_run_again_leaves_no_widget_behind(lesson):
    kernel = "panel.sessionContext.session.kernel"
    counts = f"{kernel}.requestCommInfo({{}}).then(info => Object.keys(info.content.comms).length)"
    cell = lesson.run("live-run")
    once = lesson.js(counts)
    for _ in range(4):
        lesson.run("live-run")
    expect(drawing(cell)).to_have_count(1)
    assert lesson.js(counts) == once > 0
    cell.get_by_role("textbox", name="Sentence").fill("still alive")
    expect(drawing(cell).locator("text", has_text="alive").first).to_be_visible()
    assert unwanted(lesson) == []


@of("02")
def test_a_quiz_explains_the_wrong_option_and_the_right_one(lesson):
    question = find_question("product_or_lookup")
    cell = lesson.cell("predict-quiz")
    wrong = next(option for option in question.options if not option.right)
    right = next(option for option in question.options if option.right)
    for option, verdict in ((wrong, "not quite"), (right, "right")):
        button = cell.get_by_role("button", name=option.text)
        button.click()
        expect(cell.locator(".course-panel")).to_contain_text(f"{option.text}: {verdict}.")
        expect(cell.locator(".course-panel")).to_contain_text(option.because.replace("`", ""))
        expect(button).to_have_attribute("aria-pressed", "true")
    expect(cell.locator("button[aria-pressed=true]")).to_have_count(1)


def write(lesson, name: str, source: str) -> None:
    """Replace a cell's text by keyboard and run it, then the next cell, as a learner does."""
    editor = lesson.cell(name).locator(".cm-content")
    editor.click()
    lesson.page.keyboard.press("ControlOrMeta+A")
    lesson.page.keyboard.insert_text(source)
    lesson.page.keyboard.press("Shift+Enter")
    lesson.page.keyboard.press("Shift+Enter")


@of("04")
def test_an_exercise_is_diagnosed_then_passed_and_lesson_00_counts_it(lesson, lab, browser):
    check = lesson.cell("patchify-check").locator(".jp-OutputArea-output")
    (reshape_alone,) = [wrong for wrong in find("patchify").wrong if wrong.name == "reshape alone"]
    expect(check).to_contain_text("patchify: not attempted yet.")
    write(lesson, "patchify", RESHAPE)
    expect(check).to_contain_text(reshape_alone.because.replace("`", ""))
    expect(check.locator("pre")).to_contain_text("marks what your patch 0 took")
    write(lesson, "patchify", find("patchify").solution_source)
    expect(check).to_contain_text(re.compile(r"patchify: correct on \d+ of \d+ cases"))
    start = Notebook(lab, browser, "my_lessons/00_start_here.ipynb")
    for name in ("setup", "progress-run"):
        start.run(name)
    row = start.cell("progress-run").get_by_role("row").filter(has_text="04 From image to patches")
    expect(row).to_contain_text("1 of 4 solved")
    expect(row).not_to_contain_text(re.compile(r"\bpatchify"))
    start.close()


@of("04")
def test_hint_and_solution_are_buttons_beside_the_check(lesson):
    cell = lesson.cell("count-patches-check")
    write(lesson, "count-patches", find("count_patches").solution_source.replace("+ 1", "- 1", 1))
    told = cell.locator(".course-panel").last
    hint, solution = (cell.get_by_role("button", name=name) for name in ("Hint", "Show a solution"))
    expect(cell.get_by_role("group", name="Help with count_patches")).to_be_visible()
    hint.focus()
    lesson.page.keyboard.press("Enter")
    expect(told).to_contain_text("come out right on every case: line")
    lesson.page.keyboard.press("Enter")
    expect(told).to_contain_text("Hint 1 of")
    lesson.page.keyboard.press("Enter")
    expect(told).to_contain_text("Hint 2 of")
    expect(hint).to_be_focused()
    lesson.page.keyboard.press("Tab")
    lesson.page.keyboard.press("Space")
    expect(told).to_contain_text("count_patches: one solution of several.")
    assert told.evaluate("panel => panel.ariaLive") == "polite"
    cell.screenshot(path=SCREENSHOTS / "check_with_buttons.png")
    write(lesson, "count-patches", find("count_patches").solution_source)
    expect(cell.locator(".course-panel").first).to_contain_text("count_patches: correct on")
    expect(hint).to_have_count(0)
    expect(solution).to_be_visible()
    assert lesson.errors == []


@of("04")
def test_a_check_says_that_its_cell_was_changed_and_not_run(lesson):
    check = lesson.cell("unread-pixels-check")
    solved = find("unread_pixels").solution_source
    write(lesson, "unread-pixels", solved)
    expect(check.locator(".course-panel").first).to_contain_text("unread_pixels: correct on")
    expect(check.locator(".course-changed")).to_have_count(0)
    lesson.cell("unread-pixels").locator(".cm-content").click()
    lesson.page.keyboard.press("ControlOrMeta+A")
    lesson.page.keyboard.insert_text(solved.replace("return", "return 1 +"))
    lesson.run("unread-pixels-check")
    expect(check.locator(".course-changed")).to_contain_text("The cell with unread_pixels on this page is not the one")
    check.screenshot(path=SCREENSHOTS / "check_of_a_changed_cell.png")
    lesson.run("unread-pixels")
    lesson.run("unread-pixels-check")
    expect(check.locator(".course-panel").first).to_contain_text("unread_pixels: on ")
    expect(check.locator(".course-changed")).to_have_count(0)
    assert lesson.errors == []


def test_a_lesson_that_was_run_and_saved_counts_as_left_alone(lab, browser):
    """With the empty cell that JupyterLab adds below the last one, when that is run with Shift+Enter."""
    path = lab.folder / "my_lessons" / "run_and_saved.ipynb"
    shutil.copy(NOTEBOOKS[0], path)
    notebook = Notebook(lab, browser, f"my_lessons/{path.name}")
    notebook.command("notebook:run-all-cells")
    notebook.cell(read(path).cells[-1].id).click()
    notebook.page.keyboard.press("Shift+Enter")
    expect(notebook.page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(read(path).cells) + 1)
    notebook.command("docmanager:save")
    notebook.close()
    before, after = NOTEBOOKS[0].read_bytes(), path.read_bytes()
    assert before != after and len(read(path).cells) == len(read(NOTEBOOKS[0]).cells) + 1
    assert work(path.name, after) == work(path.name, before)


@pytest.fixture(scope="module")
def restarted(lesson, lab):
    """A new server, which knows no kernel, for the saved lesson and for one that JupyterLab does not trust."""
    lesson.command("docmanager:save")
    (mine,) = (lab.folder / "my_lessons").glob("04*.ipynb")
    changed = json.loads(mine.read_text(encoding="utf-8"))
    changed["cells"][0]["source"].append(" By somebody else.")  # which no signature of ours covers
    mine.with_name("foreign.ipynb").write_text(json.dumps(changed), encoding="utf-8")
    again = Lab(lab.folder)
    again.start()
    yield again
    again.stop()


@of("04")
@pytest.mark.parametrize(("name", "trusted"), [("04_image_to_patches", True), ("foreign", False)])
def test_a_saved_copy_shows_pictures_and_questions_without_a_run(name, trusted, restarted, browser):
    copy = Notebook(restarted, browser, f"my_lessons/{name}.ipynb")
    stored = read(restarted.folder / "my_lessons" / f"{name}.ipynb")
    assert copy.js("panel.content.widgets.find(cell => cell.model.id === 'grid-run').model.trusted") is trusted
    for cell in live_cells(stored):
        image = copy.cell(cell).locator(".jp-OutputArea-output img")
        expect(image).to_be_visible()
        assert image.evaluate("image => image.complete && image.naturalWidth") > 100
    for cell, question in quizzes(stored).items():
        expect(copy.cell(cell).locator(".jp-OutputArea-output")).to_contain_text(question.text)
        expect(copy.cell(cell).locator(".jp-OutputArea-output")).to_contain_text(f"a) {question.options[0].text}")
    assert unwanted(copy) == []
    assert copy.page.locator(DEAD).count() == 0
    copy.close()
