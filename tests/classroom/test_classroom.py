"""What teachers run: the solved edition, and the overview of a class from its records."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import nbformat
import pytest

from course_lib import COURSE
from course_lib.classroom import places
from course_lib.classroom.commands import main
from course_lib.classroom.editions import handout, solved_edition
from course_lib.classroom.overview import Work, class_picture, overview, read_record
from course_lib.classroom.places import ClassError


def record(path, *events):
    """Write a record; an event is (minute, kind, exercise, more)."""
    lines = [
        json.dumps({"time": f"2031-05-01T10:{minute:02}:00+00:00", "kind": kind, "name": name, **more})
        for minute, kind, name, more in events
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def failed(minute, name, diagnosis):
    return minute, "check", name, {"passed": False, "diagnosis": diagnosis}


def passed(minute, name):
    return minute, "check", name, {"passed": True, "diagnosis": None}


@pytest.fixture
def klass(tmp_path):
    first = record(
        tmp_path / "first.jsonl",
        failed(0, "patchify", "reshape alone"),
        (3, "hint", "patchify", {"number": 1}),
        failed(5, "patchify", "reshape alone"),
        passed(12, "patchify"),
        failed(30, "patchify", "raised"),
        passed(31, "project"),
        (32, "quiz", "shared_matrix", {"answer": "a", "passed": False}),
    )
    second = record(tmp_path / "second.jsonl", *(failed(m, "patchify", "reshape alone") for m in range(4)))
    return [first, second]


# ---------------------------------------------------------------- overview


def test_work_is_counted_until_the_first_pass(klass):
    work = read_record(klass[0])
    assert set(work) == {"patchify", "project"}
    assert (work["patchify"].checks, work["patchify"].passed, work["patchify"].hints) == (3, True, 1)
    assert work["patchify"].minutes == 12 and work["patchify"].mistakes == {"reshape alone": 2}
    told = (str(work["patchify"]), str(work["project"]), str(Work()))
    assert told == ("solved 3, 12 min", "solved 1, 1 min", "-")


def test_minutes_hold_the_reading_before_a_check_and_no_break(tmp_path):
    path = record(
        tmp_path / "a.jsonl",
        (0, "quiz", "shared_matrix", {"answer": "a", "passed": False}),
        failed(7, "project", "raised"),  # seven minutes after the quiz
        passed(9, "project"),
        failed(30, "patchify", "raised"),  # a break lies before it
        passed(33, "patchify"),
        failed(13, "unpatchify", "raised"),  # a clock that was set back
    )
    assert {name: done.minutes for name, done in read_record(path).items()} == {
        "project": 9, "patchify": 3, "unpatchify": 0
    }  # fmt: skip


def test_the_overview_tells_who_is_stuck_and_what_was_met(klass, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    overview(klass)
    told = capsys.readouterr().out
    lines = [line.split() for line in told.splitlines()]
    assert lines[:3] == [
        ["first", "second"],
        ["patchify", "solved", "3,", "12", "min", "stuck", "4,", "3", "min"],
        ["project", "solved", "1,", "1", "min", "-"],
    ]
    assert ["patchify", "1", "0", "1", "0", "3", "12"] in lines and ["project", "1", "0", "0", "1", "1", "1"] in lines
    assert "stuck (3 checks or more, none passed):\n  patchify: second\n" in told
    assert "    6 × patchify: reshape alone" in told


def test_a_class_too_wide_for_the_window_is_told_by_exercise(klass, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    overview(klass)
    told = capsys.readouterr().out
    assert "2 learners are too many for a table here: --csv and --picture show each of them." in told
    assert "first" not in told and "patchify: second" in told


def test_the_picture_has_a_square_for_each_learner_and_exercise(klass, tmp_path, capsys):
    target = tmp_path / "class.png"
    overview(klass, picture=target)
    assert target.read_bytes().startswith(b"\x89PNG") and str(target) in capsys.readouterr().out
    learners = {path.stem: read_record(path) for path in klass}
    text = class_picture(learners, ["patchify", "project"]).text
    assert text == "2 learners and 2 exercises, as squares: 2 solved, 0 open, 1 stuck, 1 not tried."
    with pytest.raises(ClassError, match="class.png .* would be replaced"):
        overview(klass, picture=target)
    with pytest.raises(ClassError, match="expected a file that ends in .png, got class.jpg"):
        overview(klass, picture=tmp_path / "class.jpg")


def test_the_table_has_a_line_for_each_learner_and_exercise(klass, tmp_path, capsys):
    table = tmp_path / "class.csv"
    overview(klass, table)
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    assert [(row["learner"], row["exercise"], row["state"]) for row in rows] == [
        ("first", "patchify", "solved"), ("first", "project", "solved"),
        ("second", "patchify", "stuck"), ("second", "project", "not tried"),
    ]  # fmt: skip
    assert rows[0]["lesson"] == "04" and rows[0]["minutes"] == "12.0" and rows[0]["mistakes"] == "2 × reshape alone"
    with pytest.raises(ClassError, match="class.csv .* would be replaced: choose another place, or --force"):
        overview(klass, table)
    overview(klass, table, force=True)


def test_a_record_in_a_learners_folder_has_the_name_of_the_folder(tmp_path, capsys):
    (tmp_path / "third").mkdir()
    overview([record(tmp_path / "third" / "events.jsonl", passed(0, "project"))])
    assert capsys.readouterr().out.split()[0] == "third"


def test_what_is_no_record_is_told(tmp_path):
    foreign = tmp_path / "photo.jsonl"
    foreign.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe" * 10)
    with pytest.raises(ClassError, match="photo.jsonl is no record of progress"):
        read_record(foreign)
    with pytest.raises(ClassError, match="there is no file .*nobody.jsonl"):
        read_record(tmp_path / "nobody.jsonl")
    empty = tmp_path / "new.jsonl"
    empty.write_text("")
    assert read_record(empty) == {}


def test_a_torn_line_and_a_strange_time_do_no_harm(tmp_path):
    path = record(tmp_path / "d.jsonl", failed(0, "patchify", "raised"), passed(9, "patchify"))
    path.write_text(path.read_text() + '{"kind": "check", "name": "proj', encoding="utf-8")
    odd = '{"time": "yesterday", "kind": "check", "name": "project", "passed": true}\n'
    path.write_text(odd + path.read_text(), encoding="utf-8")
    work = read_record(path)
    assert work["patchify"].minutes == 9 and work["project"].passed and work["project"].minutes == 0


def test_two_records_of_one_name_and_an_empty_class_are_told(tmp_path, klass, capsys):
    (tmp_path / "other").mkdir()
    same = record(tmp_path / "other" / "first.jsonl", passed(0, "project"))
    assert main(["overview", str(klass[0]), str(same)]) == 1
    assert "two records are called first" in capsys.readouterr().err
    overview([record(tmp_path / "new.jsonl", (0, "hint", "project", {}))])
    assert "project" in capsys.readouterr().out


# ---------------------------------------------------------------- pages to hand out


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return handout(tmp_path_factory.mktemp("handout"), ["07"], force=False)


def test_a_page_holds_every_picture_with_its_text(pages):
    from bs4 import BeautifulSoup

    notebook = nbformat.read(COURSE / "notebooks" / f"{pages[0].stem}.ipynb", as_version=4)
    outputs = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    images = BeautifulSoup(pages[0].read_text(encoding="utf-8"), "html.parser").find_all("img")
    assert images
    assert [image["alt"] for image in images] == [data["text/plain"] for data in outputs if "image/png" in data]


def test_links_lead_to_pages_and_no_script_is_left(pages):
    from bs4 import BeautifulSoup

    assert [page.name for page in pages] == ["07_place_and_summary.html", "glossary.html"]
    lesson, glossary = (BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser") for page in pages)
    links = {link["href"] for link in lesson.find_all("a", href=True)}
    assert {"glossary.html#class-token", "08_hybrid.html"} <= links
    assert not [link for link in links if ".ipynb" in link or link.startswith("glossary.md")]
    assert glossary.find(id="class-token") is not None
    assert lesson.find("script") is None


def test_an_open_page_asks_nothing_of_the_network(pages):
    from tests.support.lab import a_browser

    with a_browser() as browser:
        shown, asked = browser.new_page(), []
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(pages[0].as_uri())
        shown.wait_for_load_state("networkidle")
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert shown.locator("img").first.evaluate("image => image.naturalWidth") > 100


def test_a_page_is_printed_where_a_browser_is_found(tmp_path):
    try:
        places.browser()
    except ClassError as error:
        pytest.skip(str(error))
    handout(tmp_path, ["00"], force=False, pdf=True)
    assert (tmp_path / "00_start_here.pdf").read_bytes().startswith(b"%PDF")


def test_pages_are_not_replaced_and_a_missing_browser_is_told(pages, monkeypatch, tmp_path):
    with pytest.raises(ClassError, match="07_place_and_summary.html, glossary.html in .* would be replaced"):
        handout(pages[0].parent, ["07"], force=False)
    monkeypatch.setattr(places.shutil, "which", lambda name: None)
    with pytest.raises(ClassError, match="leave out --pdf"):
        handout(tmp_path, ["07"], force=False, pdf=True)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- the solved edition


def test_the_solved_edition_of_a_lesson_is_run_and_passes(tmp_path):
    (made,) = solved_edition(tmp_path / "solved", ["05"], force=False)
    notebook = nbformat.read(made, as_version=4)
    outputs = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = "".join(data.get("text/plain", "") for data in outputs)
    assert made.name.startswith("05_") and shown.count(": correct on ") == 3 and "not attempted" not in shown
    assert not any("..." in cell.source.splitlines() for cell in notebook.cells if cell.cell_type == "code")
    with pytest.raises(ClassError, match="05_.* would be replaced"):
        solved_edition(tmp_path / "solved", ["05"], force=False)


def test_a_solution_that_does_not_pass_is_told(tmp_path, monkeypatch):
    from course_lib.authoring import notebooks

    monkeypatch.setattr(notebooks, "solved", lambda notebook: notebook)  # leaves the gaps
    with pytest.raises(ClassError, match="the solution of project, encoder_parameters, .* does not pass its check"):
        solved_edition(tmp_path, ["05"], force=False)
    assert not list(tmp_path.glob("*.ipynb"))


def test_a_wrong_lesson_and_the_lessons_own_folder_are_refused(tmp_path):
    with pytest.raises(ClassError, match="there is no lesson 42: they are 00 to 10"):
        solved_edition(tmp_path, ["42"], force=False)
    with pytest.raises(ClassError, match="holds the lessons themselves"):
        solved_edition(COURSE / "notebooks", ["05"], force=True)


def test_the_command_works_from_another_folder(klass, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "course_lib", "class", "overview", "first.jsonl", "second.jsonl", "--csv", "out.csv"],
        cwd=tmp_path, env={**__import__("os").environ, "PYTHONPATH": str(COURSE)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "patchify: second" in done.stdout and (tmp_path / "out.csv").exists()
