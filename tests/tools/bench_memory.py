"""Benchmark: what one learner costs in memory, and how many fit on a server. On Linux.

`python -m tests.tools.bench_memory` runs the lessons (or those named: 06 10), every exercise solved, each in a fresh
kernel with the limit and the settings of the hub. MiB of the kernel alone: after the set-up cell, at its highest, at
the end. Library pages are shared: all learners of a server have them once. Where a hub can be started, as root, it is
measured too, with the server of one learner, and the number of learners that fit is printed.
"""

from __future__ import annotations

import re
import resource
import statistics
import sys
from pathlib import Path

import nbformat
import psutil

from course_lib import COURSE
from course_lib.authoring.notebooks import run, solved
from course_lib.classroom import hub
from tests.support.hub import Hub, Learner, missing
from tests.support.notebook_runs import NOTEBOOKS, code_cells, read, texts

SYSTEM = 700  # MiB for the operating system and a web server
LOOK = "print(open('/proc/self/smaps_rollup').read(), open('/proc/self/status').read())"


def numbers(text: str) -> tuple[int, int, int]:
    """MiB that a process has for itself, at its highest and now, and of shared pages, out of what Linux tells."""
    kib = {name: int(size) for name, size in re.findall(r"^\s*(\w+):\s+(\d+) kB$", text, re.MULTILINE)}
    shared = kib["Rss"] - kib["Anonymous"]
    return (kib["VmHWM"] - shared) // 1024, kib["Anonymous"] // 1024, shared // 1024


def of_process(process: psutil.Process) -> tuple[int, int, int]:
    return numbers("".join(Path(f"/proc/{process.pid}/{name}").read_text() for name in ("smaps_rollup", "status")))


def of_lesson(path: Path, cells: int | None = None) -> tuple[int, int, int]:
    """The same for a kernel that ran the first `cells` cells of a lesson, or all of them."""
    notebook = solved(read(path))
    notebook.cells = [*code_cells(notebook)[:cells], nbformat.v4.new_code_cell(LOOK, id="look")]
    return numbers(texts(run(notebook, path, PYTHONPATH=str(COURSE), **hub.THRIFT).cells[-1])[0][1])


def of_hub() -> tuple[int, int]:
    """MiB of the hub with its proxy and all library pages of a learner's server, and of the server alone."""
    running = Hub(["learner_1"])
    try:
        running.start()
        learner = Learner(running, "learner_1")
        assert learner.login("secret of a learner")
        learner.start()
        first = psutil.Process(running.process.pid)
        processes = [first, *first.children(recursive=True)]
        servers = [one for one in processes if "jupyterhub.singleuser" in one.cmdline()]
        assert len(servers) == 1
        own, shared = of_process(servers[0])[1:]
        return shared + sum(sum(of_process(one)[1:]) for one in processes if one not in servers), own
    finally:
        running.remove()


def main(only: list[str]) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (hub.KERNEL, resource.RLIM_INFINITY))  # the kernels have it too
    print("lesson  after set-up  highest  at the end  shared")
    rows = []
    for path in NOTEBOOKS:
        if not only or path.name[:2] in only:
            rows.append((of_lesson(path, 1)[1], *of_lesson(path)))
            print("{:6}  {:12}  {:7}  {:10}  {:6}".format(path.name[:2], *rows[-1]), flush=True)
    if missing():
        print(f"hub and servers were not measured: {missing()}")
        return
    begun, *columns = zip(*rows, strict=True)
    begun, (highest, end, shared) = statistics.median(begun), map(max, columns)
    once, server = of_hub()
    print(f"hub, proxy and libraries of the servers, once: {once} MiB; the server of one learner: {server} MiB")
    for gib in (8, 24):
        left = gib * 1024 - SYSTEM - once - shared
        fit = [left // (server + kernel) for kernel in (begun, end, highest)]
        told = "{} GiB: {} learners with a kernel each, {} after the heaviest lesson, {} all at its highest at once"
        print(told.format(gib, *map(int, fit)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
