"""A pytest plugin that makes nbval compare pictures by presence and text, and tells what each notebook took.

It reaches into nbval (IPyNbCell.compare_outputs, RunningKernel.execute_cell_input, kernel.KernelManager), so nbval is
pinned.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path

import nbformat
import nbval.kernel
import pytest
from jupyter_client import KernelManager
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell

from course_lib.authoring.notebooks import WithoutPorts

SLOW_SECONDS = 5
PICTURES = ("image/png", "image/jpeg")
_progress = pytest.StashKey[Path]()


class Manager(WithoutPorts, KernelManager):
    """nbval's kernels take no port either."""


def pytest_configure(config):
    """Give all tests an empty place for progress, and run cells the way Jupyter runs them."""
    config.stash[_progress] = Path(tempfile.mkdtemp(prefix="course-progress-"))
    os.environ["COURSE_PROGRESS"] = str(config.stash[_progress] / "events.jsonl")
    RunningKernel.execute_cell_input = _execute_cell_input
    nbval.kernel.KernelManager = Manager


def pytest_unconfigure(config):
    shutil.rmtree(config.stash[_progress], ignore_errors=True)


def _execute_cell_input(kernel, source, allow_stdin=None):
    """With its history a kernel knows the cell it runs, so that a trailing `;` hides the result."""
    return kernel.kc.execute(source, store_history=True, allow_stdin=allow_stdin, stop_on_error=False)


def pytest_itemcollected(item):
    """Compare a cell's outputs with pictures replaced by tokens; tell a report the cell's name."""
    if isinstance(item, IPyNbCell):
        strict = item.compare_outputs
        item.compare_outputs = lambda test, stored: strict(tokens(test), tokens(stored))
        item.user_properties.append(("cell", item.cell.get("id", item.name)))


def tokens(outputs):
    """Replace each picture and its text by one token that holds the text; drop the HTML beside it."""
    return [_token(output) if _is_picture(output) else output for output in outputs]


def _is_picture(output) -> bool:
    return any(mime in output.get("data", {}) for mime in PICTURES)


def _token(output):
    data = {mime: value for mime, value in output["data"].items() if mime not in (*PICTURES, "text/html")}
    data["picture"] = data.pop("text/plain", "a picture without text")
    return nbformat.from_dict({**output, "data": data})


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    """Start the kernel of each notebook with no progress, as refresh does."""
    if not isinstance(item, IPyNbCell) or item.parent.kernel is not None:
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_PROGRESS", str(item.config.stash[_progress] / f"{item.path.stem}.jsonl"))
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    """A stored error fails, even where the outputs of a cell are not compared."""
    if isinstance(item, IPyNbCell) and any(out.output_type == "error" for out in item.cell.outputs):
        item.raise_cell_error("The stored output is an error: mend the cell and refresh the notebook")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadfile`, spread the tests that run notebooks by notebook too."""
    from xdist.scheduler import LoadScopeScheduling

    class ByNotebook(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return scope(nodeid)

    return ByNotebook(config, log) if config.getvalue("dist") == "loadfile" else None


def scope(nodeid: str) -> str:
    """Return what one process runs in order: a file, or its tests of one notebook such as `[01_words]`."""
    file, _, test = nodeid.partition("::")
    notebook = re.search(r"\[\d\d_\w+\]$", test)
    return file + notebook.group() if notebook else file


def pytest_terminal_summary(terminalreporter):
    """Print the seconds of each notebook and its slow cells; the reports of all processes end up here."""
    seconds: dict[str, float] = defaultdict(float)
    slow = []
    for report in (one for group in terminalreporter.stats.values() for one in group):
        name = Path(getattr(report, "nodeid", "").partition("::")[0]).name
        if name.endswith(".ipynb") and hasattr(report, "duration"):
            seconds[name] += report.duration
            if report.when == "call" and report.duration > SLOW_SECONDS:
                slow.append((name, dict(report.user_properties)["cell"], report.duration))
    if seconds:
        terminalreporter.section("notebooks")
        for name in sorted(seconds):
            terminalreporter.write_line(f"{name:<40} {seconds[name]:6.1f} s")
        for name, cell, duration in sorted(slow):
            terminalreporter.write_line(f"slow cell: {name}, {cell}: {duration:.1f} s")
