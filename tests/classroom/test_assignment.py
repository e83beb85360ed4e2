"""The lessons as assignments for nbgrader, whose own programs release, grade and give feedback here."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from course_lib import COURSE, lessons, vit
from course_lib.authoring.notebooks import exercise_definition
from course_lib.checking import check
from course_lib.classroom.assignment import assignment, relinked, source_edition
from course_lib.classroom.commands import main
from course_lib.classroom.places import ClassError
from course_lib.exercises import all_exercises
from course_lib.grading import is_ours
from tests.support.notebook_runs import NOTEBOOKS, each, exercise_names, has_tag, read

pytest.importorskip("nbgrader", reason="nbgrader is not installed")

LESSON = "05_one_matrix_for_every_patch"
EXERCISES = ("project", "encoder-parameters", "channels-last-weight")


def run_nbgrader(folder, *arguments, **more):
    """Run nbgrader in a course folder; what it wrote."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(COURSE), **more},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


def named(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


# ---------------------------------------------------------------- what is released


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    assignment(folder, [], force=False)
    run_nbgrader(folder, "generate_assignment", "--no-db", "*")
    return folder


@each(NOTEBOOKS)
def test_a_learner_gets_the_cells_of_the_lesson(course, path):
    lesson, released = read(path), read(course / "release" / path.stem / path.name)
    assert [(cell.id, cell.cell_type, cell.source) for cell in released.cells] == [
        (cell.id, cell.cell_type, relinked(cell.source) if cell.cell_type == "markdown" else cell.source)
        for cell in lesson.cells
    ]
    marks = [cell.metadata.get("nbgrader", {}) for cell in released.cells]
    tests = [mark for mark in marks if mark.get("grade")]
    assert len(tests) == sum(mark.get("solution", False) for mark in marks) == len(exercise_names(path))
    assert all(test.locked and test.points == 1 for test in tests)


@each(NOTEBOOKS)
def test_the_solutions_of_the_source_pass_their_checks(path):
    answers = [cell.source for cell in source_edition(read(path)).cells if has_tag(cell, "exercise")]
    setup = named(read(path), "setup").source
    for answer in answers:
        names = {"__name__": "answers"}
        exec(f"{setup}\n{answer}", names)
        name = exercise_definition(nbformat.v4.new_code_cell(answer)).name
        assert check(names[name]).passed, name
        assert "### BEGIN SOLUTION" in answer and "..." not in answer.splitlines()


def test_links_lead_to_the_folders_beside(course):
    found = 0
    for file in [*course.glob("release/*/*.ipynb"), *course.glob("release/*/glossary.md")]:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".ipynb":
            text = "\n".join(cell.source for cell in read(file).cells if cell.cell_type == "markdown")
        local = re.findall(r"\]\((?!https?:)([^)\s#]+\.(?:ipynb|md))", text)
        assert [target for target in local if not (file.parent / target).exists()] == []
        found += len(local)
    assert found > 100


def test_the_table_of_lessons_leads_to_the_folders_beside(course, monkeypatch):
    for folder, address in [(course / "release" / LESSON, "../04_image_to_patches/"), (COURSE / "notebooks", "")]:
        monkeypatch.chdir(folder)
        table = lessons.overview()._repr_mimebundle_()["text/html"]
        assert f'<a href="{address}04_image_to_patches.ipynb">' in table


def test_the_open_task_is_marked_by_hand_and_its_scheme_stays_with_the_teacher(course):
    name = "10_small_vision_transformer"
    source, released = (named(read(course / step / name / f"{name}.ipynb"), "open") for step in ("source", "release"))
    assert released.metadata.nbgrader.task and released.metadata.nbgrader.points == 10
    assert "a limit that the learner names" in source.source and "a limit" not in released.source


# ---------------------------------------------------------------- what is graded


PROJECT = "def project(patches, weight, bias):\n    return torch.stack([patch @ weight.T for patch in patches]) + bias"
COUNT = "def encoder_parameters(patch_length, tokens, dimension):\n    return (patch_length + 1 + tokens) * dimension"
TURN = (
    "def channels_last_weight(weight, channels, patch_size):\n"
    "    return weight.unflatten(1, (channels, -1)).transpose(1, 2).flatten(1)"
)
PATCHED = """\
import course_lib.checking as checking
from course_lib.judging.verdict import Verdict
checking.judge = lambda *_: Verdict(True, "fine")
check = print"""


def right(notebook):
    """Right in other ways, with a warning, a check that was deleted, and an exercise cell that was copied."""
    named(notebook, "project").source = PROJECT
    warns = COUNT.replace("    return", '    import warnings\n    warnings.warn("slow")\n    return')
    named(notebook, "encoder-parameters").source = warns
    named(notebook, "channels-last-weight").source = TURN
    first_try = copy.deepcopy(named(notebook, "project"))
    first_try.update(id="first-try", source="def project(patches, weight, bias):\n    return patches")
    notebook.cells.insert(notebook.cells.index(named(notebook, "project")), first_try)
    notebook.cells.remove(named(notebook, "encoder-parameters-check"))


def wrong(notebook):
    """One wrong, one not attempted, one right."""
    named(notebook, "project").source = "def project(patches, weight, bias):\n    return patches @ weight.T"
    named(notebook, "channels-last-weight").source = TURN


def cheat(notebook):
    """A library that was patched, a check that was edited, and the course's own function."""
    notebook.cells.insert(1, nbformat.v4.new_code_cell(PATCHED))
    named(notebook, "project").source = "def project(patches, weight, bias):\n    return patches"
    named(notebook, "encoder-parameters").source = "def encoder_parameters(*sizes):\n    return 0"
    named(notebook, "encoder-parameters-check").source = 'print("correct on 4 of 4 cases")'
    own = "from course_lib.exercises.channels_last_weight import channels_last_weight"
    named(notebook, "channels-last-weight").source = own


def crash(notebook):
    """One right, one whose check is never run, one that ends Python."""
    named(notebook, "project").source = PROJECT
    named(notebook, "encoder-parameters-check").metadata.tags = ["skip-execution"]
    named(notebook, "channels-last-weight").source = f"{TURN}\nimport os\nos._exit(0)"


def loop(notebook):
    """A cell without an end, then two right ones."""
    named(notebook, "project").source = "while True:\n    pass"
    named(notebook, "encoder-parameters").source = COUNT
    named(notebook, "channels-last-weight").source = TURN


POINTS = {right: [1, 1, 1], wrong: [0, 0, 1], cheat: [0, 0, 0], crash: [1, 0, 0], loop: [0, 1, 1]}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course folder in which the submissions were graded; of the lesson, only the exercises are kept."""
    folder = tmp_path_factory.mktemp("graded")
    (source,) = assignment(folder, ["05"], force=False)
    notebook = read(source)
    kept = {"setup", *EXERCISES, *(f"{name}-check" for name in EXERCISES)}
    notebook.cells = [cell for cell in notebook.cells if cell.id in kept]
    nbformat.write(notebook, source)
    run_nbgrader(folder, "generate_assignment", LESSON)
    for learner in POINTS:
        submission = read(folder / "release" / LESSON / f"{LESSON}.ipynb")
        learner(submission)
        (folder / "submitted" / learner.__name__ / LESSON).mkdir(parents=True)
        nbformat.write(submission, folder / "submitted" / learner.__name__ / LESSON / f"{LESSON}.ipynb")
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write('c.Execute.timeout_func = lambda cell: 2 if "while True" in cell.source else 120\n')
    run_nbgrader(folder, "autograde", LESSON, COURSE_PROGRESS=str(folder / "events.jsonl"))
    run_nbgrader(folder, "generate_feedback", LESSON)
    return folder


def feedback(folder, learner):
    page = (folder / "feedback" / learner.__name__ / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")
    return BeautifulSoup(page, "html.parser").get_text()


@pytest.mark.parametrize("learner", POINTS, ids=lambda learner: learner.__name__)
def test_points_are_given_for_passed_checks_alone(graded, learner):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{graded / 'gradebook.db'}") as book:
        notebook = book.find_submission_notebook(LESSON, LESSON, learner.__name__)
        points = {grade.name: grade.auto_score for grade in notebook.grades}
    assert [points[f"{name}-check"] for name in EXERCISES] == POINTS[learner]
    assert f"Score: {sum(POINTS[learner]):.1f} / 3.0" in feedback(graded, learner)


@pytest.mark.parametrize(
    ("learner", "told"),
    [
        (right, "project: correct on"),
        (wrong, "project: no point (bias forgotten)"),
        (wrong, next(one.because for one in all_exercises()["project"].wrong if one.name == "bias forgotten")),
        (wrong, "encoder_parameters: no point (not attempted)"),
        (cheat, "channels_last_weight: no point, since this is the course's own code"),
        (crash, "No point: this check did not run to its end"),
        (crash, "Python has died, in this cell"),
        (crash, "No point: Python has died"),
        (loop, "CellTimeoutError"),
    ],
)
def test_the_feedback_says_what_was_found(graded, learner, told):
    assert told in feedback(graded, learner)


def test_the_feedback_shows_the_cells_as_the_learner_knows_them(graded):
    assert "check(project)" in feedback(graded, wrong) and "HIDDEN" not in feedback(graded, wrong)


def test_grading_writes_no_progress(graded):
    assert not (graded / "events.jsonl").exists()


def test_code_of_the_course_is_told_from_an_answer():
    class Inherits(vit.PatchTokens):
        pass

    class Own(vit.PatchTokens):
        def __init__(self):
            pass

        def forward(self, images):
            return images

    assert is_ours(vit.PatchTokens) and is_ours(Inherits) and is_ours(vit.vit_parameters)
    assert not is_ours(Own) and not is_ours(named) and not is_ours(None) and not is_ours(5)


# ---------------------------------------------------------------- the folder


def test_a_lesson_is_added_and_the_teachers_settings_stay(tmp_path, capsys):
    assert main(["assignment", str(tmp_path), "--only", "00"]) == 0
    assert "nbgrader autograde 00_start_here " in capsys.readouterr().out
    config = tmp_path / "nbgrader_config.py"
    config.write_text(config.read_text() + 'c.CourseDirectory.course_id = "vectors"\n')
    assert main(["assignment", str(tmp_path), "--only", "05"]) == 0
    assert config.read_text().endswith('"vectors"\n')
    assert {path.name for path in (tmp_path / "source").iterdir()} == {"00_start_here", LESSON}


def test_nothing_is_replaced_and_another_course_is_left_alone(tmp_path):
    (source,) = assignment(tmp_path, ["00"], force=False)
    source.write_text(json.dumps({"edited": True}))
    with pytest.raises(ClassError, match="00_start_here.ipynb in .* would be replaced"):
        assignment(tmp_path, ["00"], force=False)
    assert json.loads(source.read_text()) == {"edited": True}
    assignment(tmp_path, ["00"], force=True)
    assert read(source).cells
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    with pytest.raises(ClassError, match="belongs to another course: choose another folder"):
        assignment(tmp_path, ["05"], force=True)
    assert not (tmp_path / "source" / LESSON).exists()
