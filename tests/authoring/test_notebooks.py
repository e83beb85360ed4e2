"""Tests of running, cleaning, refreshing and solving notebooks."""

from __future__ import annotations

import os
import socket
import tempfile
from types import SimpleNamespace

import pytest
from jupyter_client.connect import LocalPortCache
from nbformat import reads, v4
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel

from course_lib.authoring import notebooks
from course_lib.authoring.notebooks import (
    KEEP_OUTPUT,
    WIDGET_VIEW,
    NotebookError,
    clean,
    dumps,
    main,
    refresh,
    run,
    solved,
)

SHOW = """
from IPython.display import display
import ipywidgets
view = ipywidgets.IntSlider()._repr_mimebundle_()
display({**view, "text/html": "<img>", "image/png": "AAAA", "text/plain": "a square"}, raw=True)
"""
CELLS = {
    "prints": "print('one', flush=True); print('two')",
    "shows": SHOW,
    "hides": "1 + 1;",
    "result": "import os; os.environ['COURSE_PROGRESS'].endswith('events.jsonl'), os.getcwd()[-6:]",
    "clock": "import time; time.perf_counter_ns()",
}


def notebook(cells):
    """Make a notebook of code cells as an editor leaves it: counts out of order, metadata of its own."""
    made = [v4.new_code_cell(source, id=name, execution_count=9) for name, source in cells.items()]
    for cell in made:
        cell.metadata.update(execution={"iopub.execute_input": "2020-01-01"}, collapsed=False, tags=[])
        if cell.id == "clock":
            cell.metadata["tags"] = [KEEP_OUTPUT]
    return v4.new_notebook(
        cells=made,
        metadata={"widgets": {"state": {}}, "kernelspec": {"name": "mine", "display_name": "Mine"}},
    )


def by_name(text):
    return {cell.id: cell for cell in reads(text, as_version=4).cells}


@pytest.fixture(scope="module")
def refreshed(tmp_path_factory):
    """Refresh a notebook twice; return its path, its text after each time, and what refresh returned."""
    path = tmp_path_factory.mktemp("course") / "lesson.ipynb"
    path.write_text(dumps(notebook(CELLS)), encoding="utf-8")
    changed, first = refresh(path), path.read_text(encoding="utf-8")
    changed_again, second = refresh(path), path.read_text(encoding="utf-8")
    return SimpleNamespace(path=path, first=first, second=second, changed=(changed, changed_again))


def test_refreshing_twice_gives_the_same_bytes(refreshed):
    assert refreshed.first == refreshed.second
    assert refreshed.changed == (True, False)


def test_a_refreshed_notebook_holds_stable_metadata_only(refreshed):
    stored = reads(refreshed.first, as_version=4)
    assert stored.metadata == notebooks.METADATA
    assert {name: dict(cell.metadata) for name, cell in by_name(refreshed.first).items() if cell.metadata} == {
        "clock": {"tags": [KEEP_OUTPUT], "output_of": stored.cells[-1].metadata.output_of}
    }
    assert [cell.execution_count for cell in stored.cells] == [1, 2, 3, 4, 5]
    assert [cell.id for cell in stored.cells] == list(CELLS)
    assert refreshed.first.endswith("}\n")


def test_a_refreshed_notebook_holds_what_its_cells_show(refreshed):
    cells = by_name(refreshed.first)
    assert [output.text for output in cells["prints"].outputs] == ["one\ntwo\n"]
    assert [output.data for output in cells["shows"].outputs] == [{"image/png": "AAAA", "text/plain": "a square"}]
    assert cells["hides"].outputs == []


def test_a_notebook_runs_in_its_folder_with_progress_in_an_empty_place(refreshed):
    output = by_name(refreshed.first)["result"].outputs[0]
    assert output.data["text/plain"] == repr((True, str(refreshed.path.parent)[-6:]))


def test_a_tagged_cell_shows_anew_when_its_source_changed(refreshed, tmp_path):
    stored = reads(refreshed.first, as_version=4)
    old = stored.cells[-1].outputs
    stored.cells = stored.cells[-1:]
    stored.cells[0].source += "  # changed"
    path = tmp_path / "changed.ipynb"
    path.write_text(dumps(stored), encoding="utf-8")
    refresh(path)
    new = reads(path.read_text(encoding="utf-8"), as_version=4).cells[0].outputs
    assert new[0].data["text/plain"].isdigit() and new[0].data != old[0].data


def test_an_error_names_notebook_cell_and_error_and_leaves_the_file(tmp_path, capsys):
    path = tmp_path / "broken.ipynb"
    before = dumps(notebook({"fine": "print(1)", "breaks": "1 / 0", "later": "print(2)"}))
    path.write_text(before, encoding="utf-8")
    assert main([str(path), str(tmp_path / "missing.ipynb")]) == 1
    told = capsys.readouterr().err
    assert "broken.ipynb, cell breaks: ZeroDivisionError: division by zero" in told
    assert f"there is no file {tmp_path / 'missing.ipynb'}" in told
    assert path.read_text(encoding="utf-8") == before
    assert os.listdir(tmp_path) == ["broken.ipynb"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [("while True: pass", "took longer than 1 s"), ("import os; os._exit(1)", "the kernel died")],
)
def test_a_cell_that_never_ends_or_kills_the_kernel_is_told(tmp_path, source, reason):
    with pytest.raises(NotebookError, match=f"a.ipynb, cell bad: {reason}"):
        run(notebook({"bad": source}), tmp_path / "a.ipynb", timeout=1)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no files to speak through")
def test_a_port_that_somebody_else_takes_first_does_no_harm(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(LocalPortCache, "find_available_port", lambda cache, ip: port)
        done = run(notebook({"a": "print(6 * 7)"}), tmp_path / "a.ipynb")
        RunningKernel(CURRENT_ENV_KERNEL_NAME, tmp_path, startup_timeout=20).stop()
    assert done.cells[0].outputs[0].text == "42\n"


def test_a_kernel_starts_where_the_folder_of_temporary_files_has_a_long_path(tmp_path, monkeypatch):
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    done = run(notebook({"a": "print(6 * 7)"}), tmp_path / "a.ipynb")
    assert done.cells[0].outputs[0].text == "42\n"


def test_cleaning_joins_neighbouring_pieces_of_one_stream_only():
    made = notebook({"a": ""})
    made.cells[0].outputs = [
        v4.new_output("stream", name=name, text=text)
        for name, text in [("stdout", "1\n"), ("stdout", "2\n"), ("stderr", "3\n"), ("stdout", "4\n")]
    ]
    joined = [(output.name, output.text) for output in clean(made).cells[0].outputs]
    assert joined == [("stdout", "1\n2\n"), ("stderr", "3\n"), ("stdout", "4\n")]


def test_cleaning_keeps_html_without_a_picture_and_leaves_its_argument_alone():
    made = notebook({"a": ""})
    data = {WIDGET_VIEW: {"model_id": "1"}, "text/html": "<p>", "text/plain": "p"}
    made.cells[0].outputs = [v4.new_output("display_data", data, metadata={WIDGET_VIEW: {}})]
    before = dumps(made)
    output = clean(made).cells[0].outputs[0]
    assert output.data == {"text/html": "<p>", "text/plain": "p"} and output.metadata == {}
    assert dumps(made) == before
    assert clean(clean(made)) == clean(made)


def exercise(source):
    made = notebook({"write": source})
    made.cells[0].metadata.tags = ["exercise"]
    return made


@pytest.fixture
def one_exercise(monkeypatch):
    known = {"double": SimpleNamespace(solution_source="def double(n):\n    return 2 * n\n")}
    monkeypatch.setattr("course_lib.exercises.find", known.__getitem__)


def test_solving_fills_the_gap_and_keeps_the_lines_around_it(one_exercise):
    source = "import math\n\n\n@staticmethod\ndef double(n):\n    '''n -> 2n'''\n    ...\n\n\nafter = 1"
    made = solved(exercise(source))
    assert made.cells[0].source == ("import math\n\n\ndef double(n):\n    return 2 * n\n\n\nafter = 1")
    assert made.cells[0].execution_count is None


@pytest.mark.parametrize(
    ("source", "error", "told"),
    [
        ("def treble(n):\n    ...", LookupError, "cell write: no exercise is named 'treble'"),
        ("def double(n):\n    return n", ValueError, "cell write: double has no gap"),
        ("double = None", ValueError, "cell write is tagged exercise, but defines no"),
    ],
)
def test_solving_refuses_what_is_no_known_exercise_with_a_gap(one_exercise, source, error, told):
    with pytest.raises(error, match=told):
        solved(exercise(source))
