"""Tests of the plugin that makes nbval compare pictures by presence and text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from nbformat import v4, write

from course_lib import COURSE
from course_lib.authoring.notebooks import KEEP_OUTPUT
from tests.support.nbval_pictures import pytest_terminal_summary, scope

PICTURE = "display({'image/png': 'AAAA', 'text/html': '<img src=1>', 'text/plain': 'a square'}, raw=True)"
WIDGET = """import ipywidgets
view = ipywidgets.IntSlider()._repr_mimebundle_()
display({**view, 'image/png': 'AAAA', 'text/plain': 'a square'}, raw=True)"""
CHECK = "display({'text/html': '<p>right</p>', 'text/plain': 'right'}, raw=True)"
PROGRESS = "import os; print(os.path.exists(os.environ['COURSE_PROGRESS']))"


def shown(**data):
    return v4.new_output("display_data", {name.replace("_", "/"): value for name, value in data.items()})


def printed(text):
    return v4.new_output("stream", name="stdout", text=text)


SQUARE = shown(image_png="AAAA", text_plain="a square")
ERROR = v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
# name: source and stored outputs
PASSING = {
    "equal": (PICTURE, [SQUARE]),
    "other bytes": (PICTURE, [shown(image_png="BBBB", text_plain="a square")]),
    "other html beside a picture": (PICTURE, [shown(image_png="A", text_html="<b>", text_plain="a square")]),
    "widget": (WIDGET, [SQUARE]),
    "result hidden by a semicolon": ("1 + 1;", []),
    "other print, not compared": ("print(1)", [printed("2\n")]),
    "no progress before": (PROGRESS, [printed("False\n")]),
}
FAILING = {
    "picture no longer shown": ("display({'text/plain': 'a square'}, raw=True)", [SQUARE]),
    "picture not stored": (PICTURE, [shown(text_plain="a square")]),
    "one of two pictures": (PICTURE, [SQUARE, SQUARE]),
    "picture in another place": (
        f"{PICTURE}; display({{'text/plain': 'b'}}, raw=True)",
        [shown(text_plain="a square"), shown(image_png="AAAA", text_plain="b")],
    ),
    "other text alternative": (PICTURE, [shown(image_png="AAAA", text_plain="a circle")]),
    "other print": ("print(1)", [printed("2\n")]),
    "other html of a check": (CHECK, [shown(text_html="<p>wrong</p>", text_plain="right")]),
    "error stored": ("print(1)", [ERROR]),
    "error stored, not compared": ("print(1)", [ERROR]),
    "error raised": ("1 / 0", []),
}
CASES = {**PASSING, **FAILING}


def store(path, cases):
    made = v4.new_notebook(metadata={"kernelspec": {"name": "none", "display_name": "none"}})
    for number, (title, (source, outputs)) in enumerate(cases.items()):
        cell = v4.new_code_cell(source, id=f"cell-{number}", execution_count=1, outputs=outputs)
        cell.metadata["tags"] = [KEEP_OUTPUT] if "not compared" in title else []
        made.cells.append(cell)
    write(made, path)


def run_pytest(folder, *options):
    """Run the notebooks of a folder under the plugin; return the lines that pytest printed."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.support.nbval_pictures", "--nbval", "--nbval-current-env"]
    done = subprocess.run(
        [*command, "-rA", "--color=no", "--nbval-cell-timeout=60", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(COURSE), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.stdout.splitlines() + done.stderr.splitlines()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Run all cases as cells of one notebook; return the word that pytest printed for each."""
    folder = tmp_path_factory.mktemp("cases")
    store(folder / "cases.ipynb", CASES)
    found = [re.match(r"([A-Z]+) .*::Cell (\d+)", line) for line in run_pytest(folder, "-p", "no:xdist")]
    words = {int(line[2]): line[1] for line in found if line}
    return {title: words.get(number, "not run") for number, title in enumerate(CASES)}


@pytest.mark.parametrize("title", PASSING)
def test_a_cell_passes_that_shows_the_same_to_a_reader(outcomes, title):
    assert outcomes[title] == "PASSED"


@pytest.mark.parametrize("title", FAILING)
def test_a_cell_fails_that_shows_something_else_to_a_reader(outcomes, title):
    assert outcomes[title] == "FAILED"


def test_two_processes_keep_the_cells_of_a_notebook_in_order_and_tell_its_seconds(tmp_path):
    pytest.importorskip("xdist")
    cells = {"first": ("n = 1", []), "next": ("n += 1", []), "last": ("print(n)", [printed("2\n")])}
    for name in ("a.ipynb", "b.ipynb"):
        store(tmp_path / name, cells)
    lines = run_pytest(tmp_path, "-n", "2", "--dist", "loadfile")
    assert re.search(r"\b6 passed", lines[-1]), lines
    assert [line.split()[0] for line in lines if re.match(r"[ab]\.ipynb +\d+\.\d s$", line)] == [
        "a.ipynb",
        "b.ipynb",
    ]


def test_processes_share_out_files_and_notebooks():
    assert scope("notebooks/01_words.ipynb::Cell 3") == "notebooks/01_words.ipynb"
    assert scope("tests/test_words.py::test_shape[2-3]") == "tests/test_words.py"
    ways = {scope(f"tests/lessons/test_solved.py::test_{name}[01_words]") for name in ("a", "b")}
    assert ways == {"tests/lessons/test_solved.py[01_words]"}


def test_the_summary_adds_up_each_notebook_and_names_slow_cells():
    def report(nodeid, when, duration):
        return SimpleNamespace(nodeid=nodeid, when=when, duration=duration, user_properties=[("cell", "train")])

    a, b = "notebooks/a.ipynb::Cell 0", "notebooks/b.ipynb::Cell 3"
    reports = [
        report(a, "setup", 1.0),
        report(a, "call", 5.5),
        report(b, "call", 0.5),
        report("t.py::t", "call", 9),
    ]
    lines = []
    stats = {"": reports[:1], "passed": reports[1:], "warnings": [object()]}
    pytest_terminal_summary(SimpleNamespace(stats=stats, section=lines.append, write_line=lines.append))
    assert [line.split() for line in lines[1:3]] == [["a.ipynb", "6.5", "s"], ["b.ipynb", "0.5", "s"]]
    assert lines[3:] == ["slow cell: a.ipynb, train: 5.5 s"]
