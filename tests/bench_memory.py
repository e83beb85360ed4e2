"""Benchmark: what one learner costs in memory, and how many fit on a server. `python -m tests.bench_memory`.

Runs each lesson in a fresh kernel, with every exercise solved, and prints in MiB what the kernel holds that no other
process can share ("own"), its highest ("peak"), and what pages of libraries it reads ("shared": learners on one server
have them once). Linux only. Where a hub can be started (tests/hub.py), the learner's server and the hub are
measured too. What follows are numbers of lessons: `python -m tests.bench_memory 06 10`.
"""

from __future__ import annotations

import os
import sys

import nbformat

from course_lib.notebooks import NotebookNode, run, solved
from tests.notebook_runs import NOTEBOOKS, read, texts

MEMORY = """
def _memory():
    import re
    text = open("/proc/self/smaps_rollup").read() + open("/proc/self/status").read()
    kib = {name: int(number) for name, number in re.findall(r"^(\\w+):\\s+(\\d+) kB$", text, re.MULTILINE)}
    shared = kib["Rss"] - kib["Anonymous"]
    print(kib["Anonymous"] // 1024, (kib["VmHWM"] - shared) // 1024, shared // 1024, kib["VmData"] // 1024)
_memory()
"""


def measure(notebook: NotebookNode, path, cells=None):
    notebook = solved(notebook)
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"][:cells]
    notebook.cells.append(nbformat.v4.new_code_cell(MEMORY, id="memory"))
    return [int(n) for n in texts(run(notebook, path, OMP_NUM_THREADS="1", **dict(x.split("=") for x in os.environ.get("MORE","").split())).cells[-1])[0][1].split()]


for path in NOTEBOOKS:
    if path.name[:2] in sys.argv[1:] or not sys.argv[1:]:
        for cells in (1, None):
            print(path.name[:2], cells, *measure(read(path), path, cells), flush=True)
