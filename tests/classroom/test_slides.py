"""Slides of the lessons: what is on them, what only the speaker sees, and that they fit and need no network."""

from __future__ import annotations

import hashlib
import re

import pytest
from bs4 import BeautifulSoup

from course_lib import COURSE
from course_lib.classroom import slides as made
from course_lib.classroom import teaching
from course_lib.classroom.places import ClassError
from course_lib.classroom.slides import slides
from course_lib.exercises import find, find_question
from course_lib.exercises.lessons import LESSONS
from tests.support.lab import STEP, a_browser
from tests.support.notebook_runs import NOTEBOOKS, called, code_cells, each, exercise_names, read

REVEAL = COURSE / "course_lib" / "classroom" / "reveal"
MEASURE = """() => {
  const slide = Reveal.getCurrentSlide().querySelector(".slide"), body = slide.querySelector(".body");
  const walk = document.createTreeWalker(body, NodeFilter.SHOW_TEXT), range = document.createRange();
  const boxes = [...body.querySelectorAll("*")].map(one => one.getBoundingClientRect()), letters = [];
  while (walk.nextNode()) {
    if (!walk.currentNode.data.trim()) continue;
    range.selectNodeContents(walk.currentNode);
    boxes.push(range.getBoundingClientRect());
    letters.push(parseFloat(getComputedStyle(walk.currentNode.parentElement).fontSize));
  }
  const foot = slide.querySelector(".foot").getBoundingClientRect();
  return {
    inside: slide.getBoundingClientRect().height === 720 && boxes.every(
      box => box.left >= 0 && box.right <= 1280 - 50 && box.top >= 0 && box.bottom <= foot.top),
    filled: boxes.some(box => box.width * box.height > 1000),
    smallest: Math.min(99, ...letters),
  };
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    slides(folder, ["00", "04"], force=False)
    return folder


@pytest.fixture(scope="module")
def deck(folder):
    """Lesson 04 as (page, notebook)."""
    page = (folder / "04_image_to_patches.slides.html").read_text(encoding="utf-8")
    return BeautifulSoup(page, "html.parser"), read(COURSE / "notebooks" / "04_image_to_patches.ipynb")


@pytest.fixture(scope="module")
def browser():
    with a_browser(fonts=False) as browser:
        yield browser


@pytest.fixture
def show(browser, folder):
    """Opens a deck without a network; what it asks for beside files and what goes wrong is in `errors`."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(STEP)
    errors = []

    def only_files(route):
        if route.request.url.startswith(folder.as_uri()):
            return route.continue_()
        errors.append(route.request.url)
        return route.abort()

    def opened(number):
        (file,) = folder.glob(f"{number}_*.slides.html")
        page = context.new_page()
        page.on("console", lambda said: said.type in ("error", "warning") and errors.append(said.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        return page

    context.route("**/*", only_files)
    yield opened
    context.close()
    assert errors == []


def places(page) -> list[list[int]]:
    return page.evaluate("Reveal.getSlides().map(one => Reveal.getIndices(one)).map(one => [one.h, one.v])")


def place(page) -> list[int]:
    return page.evaluate("[Reveal.getIndices().h, Reveal.getIndices().v]")


def slide_of(soup, heading: str, kind: str = ""):
    """The first slide under a heading, or the first of a kind."""
    found = [h2.find_parent("section") for h2 in soup.find_all("h2") if h2.get_text() == heading]
    return next(one for one in found if not kind or one.select(f".slide.{kind}"))


# ---------------------------------------------------------------- what is on them


def test_the_files_of_reveal_are_what_their_table_says():
    rows = re.findall(r"^\| `(\S+)` \| .+ \| `(\w{64})` \|$", (REVEAL / "README.md").read_text(), re.MULTILINE)
    assert dict(rows) == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in REVEAL.iterdir()
        if path.name not in ("README.md", ".gitattributes")
    }
    assert {"reveal.js", "reveal.css", "reset.css", "notes.js", "LICENSE"} <= dict(rows).keys()


def test_a_deck_opens_with_the_lesson_and_has_a_stack_for_each_section(deck):
    soup, notebook = deck
    stacks = soup.select(".slides > section")
    opening = stacks[0].section.get_text("\n")
    (lesson,) = (one for one in LESSONS if one.number == "04")
    assert all(part in opening for part in ("04", lesson.title, lesson.question, f"{lesson.minutes} minutes"))
    sources = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert [stack.h2.get_text() for stack in stacks[1:]] == re.findall(r"^## (.+)$", sources, re.MULTILINE)


def test_every_picture_is_there_with_its_text(deck):
    soup, notebook = deck
    data = [output.get("data", {}) for cell in code_cells(notebook) for output in cell.outputs]
    stored = [(one["image/png"].strip(), one["text/plain"]) for one in data if "image/png" in one]
    shown = [(image["src"].removeprefix("data:image/png;base64,"), image["alt"]) for image in soup.find_all("img")]
    assert stored and shown == stored


def test_code_and_what_it_prints_are_there_but_no_imports_and_no_checks(deck):
    soup, notebook = deck
    seen = "\n".join(one.get_text() for one in soup.select(".slide pre"))
    for cell in code_cells(notebook):
        left_out = cell.id == "setup" or called(cell, "check") or called(cell, "quiz")
        assert (cell.source in seen) != bool(left_out), cell.id
        assert all(o.text.rstrip() in seen for o in cell.outputs if o.output_type == "stream"), cell.id
    assert "not attempted" not in soup.get_text()


def test_a_question_keeps_its_answer_for_the_speaker(deck):
    soup, notebook = deck
    asked = [find_question(call[0].args[0].value) for cell in code_cells(notebook) if (call := called(cell, "quiz"))]
    found = soup.select(".slide.question")
    assert len(found) == len(asked) > 0
    for slide, question in zip(found, asked, strict=True):
        assert question.text in slide.get_text()
        assert [li.get_text() for li in slide.find_all("li")] == [option.text for option in question.options]
        letter, right = next((letter, one) for letter, one in zip("abcde", question.options, strict=False) if one.right)
        notes = slide.find_next_sibling("aside").get_text()
        assert notes.startswith(f"{letter}) right. {right.because.replace('`', '')}")
        assert all(option.because.replace("`", "") not in slide.get_text() for option in question.options)


def test_an_exercise_has_its_gap_and_the_wrong_answers_to_expect_but_no_solution(deck):
    soup, _ = deck
    text, helps = soup.get_text(), teaching.helps()
    for name in exercise_names(COURSE / "notebooks" / "04_image_to_patches.ipynb"):
        section = slide_of(soup, f"Exercise: {name}")
        assert section.pre.get_text().rstrip().endswith("...")
        notes = section.aside.get_text()
        for wrong in find(name).wrong:
            assert f"{wrong.name}: {wrong.because.replace('`', '')}" in notes
            assert helps.get((name, wrong.name), "") in notes
        body = find(name).solution_source.partition("\n")[2]
        assert body and body not in text


def test_what_to_ask_stands_with_the_question_of_its_section(deck):
    soup, _ = deck
    headings = ["The tempting reshape", "Patches that overlap"]
    rows = teaching.asked_in("04_image_to_patches.ipynb", headings)
    assert list(rows) == headings
    for heading, (row,) in rows.items():
        notes = slide_of(soup, heading, "question").aside.get_text()
        assert all(part.replace("`", "") in notes for part in row)


def test_the_speaker_knows_beforehand_what_people_get_wrong(deck):
    soup, notebook = deck
    (wrong,) = (cell.source for cell in notebook.cells if cell.id == "wrong")
    assert "- They compare shapes only." in wrong and "They compare shapes only." in soup.aside.get_text()


@each(NOTEBOOKS)
def test_the_speaker_is_told_which_pictures_are_live(path):
    from tests.lessons.test_browser import live_cells

    notebook = read(path)
    found = [slide for section in made._sections(notebook) for slide in made._section(*section)]
    texts = [slide.body for slide in found if "this picture is live" in slide.notes]
    names = live_cells(notebook)
    data = [cell.outputs[-1].data for cell in code_cells(notebook) if cell.id in names]
    assert len(texts) == len(names) and all(
        one["image/png"].strip() in text for one, text in zip(data, texts, strict=True)
    )


def test_links_lead_to_slides_that_are_there_or_to_the_web(folder):
    links = {}
    for path in folder.glob("*.slides.html"):
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        links[path.name[:2]] = [(link["href"], link.get("target")) for link in soup.select(".slides a")]
    assert {href for href, target in links["00"] if not target} == {path.name for path in folder.iterdir()}
    assert links["04"] and all(href.startswith("https://") and target for href, target in links["04"])


def test_a_cell_too_full_for_one_slide_is_divided_and_stays_readable():
    text, line = "word " * 60, "print('a line of code')\n"
    one = list(made._fitted("Heading", "word " * 20, line * 3, "printed"))
    several = list(made._fitted("Heading", text, line * 19, "printed\n" * 12))
    assert len(one) == 1 and len(several) == 3
    for slide in [*one, *several]:
        sizes = [int(size) for size in re.findall(r"font-size: (\d+)px", slide.body)]
        assert min(sizes) >= made.READABLE[1]
    assert made._sizes("", "x" * 96, "")[1] == 18 and made._sizes("", "x" * 40, "")[1] == made.CODE_SIZES[0]


def test_slides_are_not_replaced_without_force(folder):
    with pytest.raises(ClassError, match="00_start_here.slides.html in .* would be replaced: .* --force"):
        slides(folder, ["00"], force=False)
    assert slides(folder, ["00"], force=True) == [folder / "00_start_here.slides.html"]


# ---------------------------------------------------------------- in a browser


@pytest.mark.parametrize("number", ["00", "04"])
def test_every_slide_fits_and_can_be_read_and_the_network_is_left_alone(show, number):
    page = show(number)
    found = places(page)
    assert len(found) > 10
    for h, v in found:
        page.evaluate(f"Reveal.slide({h}, {v}, 99)")
        measured = page.evaluate(MEASURE)
        assert measured["inside"] and measured["filled"] and measured["smallest"] >= 16, (h, v, measured)


def test_arrows_lead_through_the_deck_and_bring_what_is_printed(show):
    page = show("04")
    page.keyboard.press("ArrowDown")
    assert place(page) == [0, 1]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert place(page) == [1, 1]
    printed = page.locator("section.present .printed")
    assert page.locator("section.present .code").last.is_visible() and not printed.is_visible()
    page.keyboard.press("ArrowDown")
    printed.wait_for(state="visible")
    assert place(page) == [1, 1]
    page.keyboard.press("ArrowRight")
    assert place(page)[0] == 2


def test_the_speaker_view_opens_from_a_file_and_follows(show):
    page = show("04")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    notes = opened.value.locator(".speaker-controls-notes .value")
    notes.get_by_text("What people get wrong").wait_for()
    page.keyboard.press("ArrowRight")
    notes.get_by_text("d) right.").wait_for()
    shown = opened.value.frame_locator("#current-slide iframe").locator("section.present h2")
    shown.get_by_text("Why not pixels?").last.wait_for()


def test_axe_finds_nothing_that_keeps_people_out(show):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page = show("04")
    made_of = "one => one.querySelector('.slide').className + ['.code', 'table'].map(part => !!one.querySelector(part))"
    kinds = page.evaluate(f"Reveal.getSlides().map({made_of})")
    told = []
    for number, (h, v) in enumerate(places(page)):
        if kinds[number] in kinds[:number]:
            continue  # one of each kind tells
        page.evaluate(f"Reveal.slide({h}, {v}, 99)")
        found = axe.run(page).response["violations"]
        told += [(h, v, one["id"], node["html"][:150]) for one in found for node in one["nodes"]]
    assert told == []
