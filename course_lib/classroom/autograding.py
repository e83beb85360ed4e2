"""What nbgrader_config.py sets, so that nbgrader gives a point for a passed check and for nothing else."""

from __future__ import annotations

import os
from typing import Any

import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbgrader import utils
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute

from course_lib.grading import PASSED
from course_lib.notebooks import CELL_SECONDS, ThisPython


def configure(c: Any) -> None:
    """Set in nbgrader's configuration what the lessons need."""
    c.ClearSolutions.code_stub = {"python": "..."}
    c.OverwriteCells.add_missing_cells = True  # a test cell that was deleted still runs
    c.Execute.timeout = CELL_SECONDS
    c.Execute.iopub_timeout = 30  # on a busy machine, until an interrupted kernel has said so
    # A file that was handed in, or that a cell writes, is never imported in place of a library.
    c.Execute.extra_arguments = ["--InteractiveShellApp.ignore_cwd=True"]
    steps = Autograde().autograde_preprocessors
    c.Autograde.autograde_preprocessors = [Run if step is Execute else step for step in steps]


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
    """Give a test cell an error output unless it shows that the check passed; without warnings if it does."""
    errors = any(output.output_type == "error" for output in cell.outputs)
    if not errors and not ended and any(PASSED in output.get("data", {}) for output in cell.outputs):
        # nbgrader takes text on stderr, such as a warning of torch, for an error
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    elif not errors:
        cell.outputs.append(_error(f"No point: {ended or 'this check did not run to its end'}."))


def _error(text: str) -> Any:
    return nbformat.v4.new_output("error", ename="NoPoint", evalue=text, traceback=[text])
