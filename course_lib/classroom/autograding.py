"""What nbgrader_config.py sets, so that nbgrader gives a point for a passed check and for nothing else."""

from __future__ import annotations

import os
from typing import Any

import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.preprocessors import ClearHiddenTests, Execute, NbGraderPreprocessor

from course_lib.authoring.notebooks import CELL_SECONDS, ThisPython
from course_lib.grading import PASSED


def configure(c: Any) -> None:
    """Set in nbgrader's configuration what the lessons need."""
    c.ClearSolutions.code_stub = {"python": "..."}
    c.Execute.timeout = CELL_SECONDS
    c.Execute.iopub_timeout = 30  # seconds until a kernel that was interrupted has said so, on a busy machine
    # A file that was handed in, or that a cell writes, is never imported in place of a library.
    c.Execute.extra_arguments = ["--InteractiveShellApp.ignore_cwd=True"]
    usual = Autograde()
    c.Autograde.sanitize_preprocessors = [Restore, *usual.sanitize_preprocessors]
    c.Autograde.autograde_preprocessors = [Run if step is Execute else step for step in usual.autograde_preprocessors]
    c.GenerateFeedback.preprocessors = [*GenerateFeedback().preprocessors, ClearHiddenTests]


class Restore(NbGraderPreprocessor):
    """Marks the cells of a submission as they were marked when they were released.

    JupyterLab copies nbgrader's marks where a cell is copied or split, and nbgrader gives up a submission with two
    cells of one name, or with marks that were changed. Of several cells the last one counts. A test cell that is
    missing comes back at the end. The text of test cells is restored by nbgrader itself.
    """

    def preprocess(self, nb: Any, resources: Any) -> Any:
        """Replace nbgrader's metadata in all cells by what the gradebook says."""
        given = resources["nbgrader"]
        with Gradebook(given["db_url"]) as gradebook:
            released = _released_cells(gradebook.find_notebook(given["notebook"], given["assignment"]))
        for cell in reversed(nb.cells):
            name = cell.metadata.pop("nbgrader", {}).get("grade_id")
            if name in released:
                cell.metadata.nbgrader = released.pop(name).metadata.nbgrader
        nb.cells += [cell for cell in released.values() if "points" in cell.metadata.nbgrader]
        return nb, resources


def _released_cells(notebook: Any) -> dict[str, Any]:
    """The cells for solutions, tests and tasks by name, as the gradebook knows them."""
    graded = {cell.name: cell.max_score for cell in notebook.grade_cells}
    tasks = {cell.name: cell.max_score for cell in notebook.task_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    cells = {}
    for known in notebook.source_cells:
        name = known.name
        code = known.cell_type == "code"
        cells[name] = (nbformat.v4.new_code_cell if code else nbformat.v4.new_markdown_cell)(known.source)
        cells[name].metadata.nbgrader = nbformat.from_dict(
            {"schema_version": 3, "grade_id": name, "grade": name in graded, "solution": name in solutions,
             "task": name in tasks, "locked": known.locked, "checksum": known.checksum,
             "cell_type": known.cell_type}
        )  # fmt: skip
        if name in graded or name in tasks:
            cells[name].metadata.nbgrader.points = {**graded, **tasks}[name]
    return cells


class Run(Execute):
    """Runs a notebook as nbgrader's Execute does, and makes an error of every test cell that did not pass.

    nbgrader gives the points of a test cell that shows no error, also where it never ran. And where the kernel dies
    or hangs, it gives up the whole submission; here the rest of the cells stays as it is, and grading goes on.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, kernel_manager_class=ThisPython, **kwargs)

    def start_new_kernel(self, **kwargs: Any) -> None:
        settings = {"COURSE_PROGRESS": "off", "COURSE_WIDGETS": "off"}
        super().start_new_kernel(env={**os.environ, **settings}, **kwargs)

    def preprocess(self, nb: Any, resources: Any = None, km: Any = None) -> Any:
        self.ended = ""
        return super().preprocess(nb, resources, km)

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> Any:
        """Run a cell, unless the kernel has died or hangs, and judge it."""
        if not self.ended:
            try:
                super().preprocess_cell(cell, resources, index)
            except (DeadKernelError, CellTimeoutError) as error:
                hangs = isinstance(error, CellTimeoutError)
                self.ended = "Python hangs and cannot be stopped" if hangs else "Python has died"
                cell.outputs.append(_error(f"{self.ended}, in this cell. Nothing below it was run."))
        if cell.cell_type == "code" and utils.is_grade(cell) and not utils.is_solution(cell):
            judge(cell, self.ended)
        return cell, resources


def judge(cell: Any, ended: str = "") -> None:
    """Give a test cell an error output unless it shows that the check passed; take away warnings if it does."""
    errors = any(output.output_type == "error" for output in cell.outputs)
    if not errors and not ended and any(PASSED in output.get("data", {}) for output in cell.outputs):
        # nbgrader takes text on stderr, such as a warning of torch, for an error
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    elif not errors:
        cell.outputs.append(_error(f"No point: {ended or 'this check did not run to its end'}."))


def _error(text: str) -> Any:
    return nbformat.v4.new_output("error", ename="NoPoint", evalue=text, traceback=[text])
